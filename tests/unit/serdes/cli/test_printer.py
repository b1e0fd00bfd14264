from __future__ import annotations

import io
import json
import struct
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from contractlog.clients import AssociationDraft, Resource
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.serdes.avro import AvroSerializer
from contractlog.serdes.cli.avro_files import AvroFileReader
from contractlog.serdes.cli.printer import AvroFilePrinter, RecordPrinter
from contractlog.serdes.context import SerializationContext
from contractlog.serdes.schema_ids import header_schema_id_serializer
from contractlog.serdes.subject_names import SubjectNameStrategyType
from contractlog.serdes.wire import VALUE_ID_HEADER

if TYPE_CHECKING:
    from confluent_kafka import Message

    from contractlog.clients import Registry


def _message(value: bytes | None, headers: list[tuple[str, bytes | None]] | None = None) -> Message:
    fake: Any = SimpleNamespace(
        key=lambda: None,
        value=lambda: value,
        headers=lambda: headers,
        partition=lambda: 0,
        offset=lambda: 3,
        timestamp=lambda: (0, 0),
    )
    return cast("Message", fake)


def _printed(printer: RecordPrinter, schema_id: int) -> None:
    printer.print(_message(struct.pack(">BI", 0, schema_id) + b"\x02"))


def test_an_id_of_another_subject_is_the_first_thing_said(
    registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bytes that would decode make no difference: the audit says so, and both have to agree."""
    registry.register("orders-value", SchemaDraft('"int"'))
    foreign = registry.register("aircraft-value", SchemaDraft('"long"')).schema_id
    registry.delete_subject("aircraft-value")
    printer = RecordPrinter(registry, "orders", envelope=False, as_json=False)
    _printed(printer, foreign)
    out, said = capsys.readouterr()
    assert out == ""
    assert f"WRONG_SUBJECT (schema id {foreign}): the id belongs to `aircraft-value`" in said
    assert printer.damaged == 1


@pytest.mark.parametrize("name", ["a\nb", "a\x85b", "\u202ex", "::error::x", "##[error]x", "\ud800"])
def test_damage_as_json_is_valid_whatever_names_it_has(
    name: str, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    text = '{"type":"object","additionalProperties":{"type":"integer"}}'
    own = registry.register("orders-value", SchemaDraft(text, SchemaType.JSON)).schema_id
    printer = RecordPrinter(registry, "orders", envelope=False, as_json=True)
    printer.print(_message(struct.pack(">BI", 0, own) + json.dumps({name: "no"}).encode()))
    said = capsys.readouterr().err.removesuffix("\n")
    assert json.loads(said)["schema_id"] == own
    assert said.isprintable()
    assert "##" not in said


def test_damage_names_the_field_in_quotes(registry: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    schema = '{"type":"record","name":"R","fields":[{"name":"at","type":"string"}]}'
    own = registry.register("orders-value", SchemaDraft(schema)).schema_id
    printer = RecordPrinter(registry, "orders", envelope=False, as_json=False)
    printer.print(_message(struct.pack(">BI", 0, own) + b"\x08a"))
    assert f"orders partition 0 offset 3 value: TRUNCATED at `at` (schema id {own}): " in capsys.readouterr().err


def test_an_id_of_a_deleted_version_of_the_subject_is_its_own(
    registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    own = registry.register("orders-value", SchemaDraft('"int"')).schema_id
    registry.delete_subject("orders-value")
    _printed(RecordPrinter(registry, "orders", envelope=False, as_json=False), own)
    assert capsys.readouterr().out == "1\n"


def test_a_topic_without_a_subject_takes_any_id(registry: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    any_id = registry.register("aircraft-value", SchemaDraft('"long"')).schema_id
    _printed(RecordPrinter(registry, "orders", envelope=False, as_json=False), any_id)
    assert capsys.readouterr().out == "1\n"


ORDER = '{"type": "record", "name": "acme.Order", "fields": [{"name": "id", "type": "int"}]}'


def _serialized(registry: Registry, value: Any, draft: str = ORDER, **options: Any) -> Message:
    context = SerializationContext("orders", "value", [])
    data = AvroSerializer(registry, draft, **options)(value, context)
    return _message(data, cast("list[tuple[str, bytes | None]]", context.headers))


def test_a_guid_in_a_header_says_the_schema_and_the_envelope_its_id(
    registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    message = _serialized(registry, {"id": 7}, schema_id_serializer=header_schema_id_serializer)
    schema_id = registry.version("orders-value", "latest").schema_id
    printer = RecordPrinter(registry, "orders", envelope=True, as_json=False)
    printer.print(message)
    out, said = capsys.readouterr()
    line = json.loads(out)
    assert (line["value"], line["value_schema_id"], said) == ({"id": 7}, schema_id, "")
    assert line["headers"][0]["key"] == VALUE_ID_HEADER


def test_an_id_in_a_header_says_the_schema(registry: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    schema_id = registry.register("orders-value", SchemaDraft('"int"')).schema_id
    printer = RecordPrinter(registry, "orders", envelope=False, as_json=False)
    printer.print(_message(b"\x02", [(VALUE_ID_HEADER, struct.pack(">BI", 0, schema_id))]))
    assert capsys.readouterr().out == "1\n"


def test_json_values_with_a_guid_in_a_header_are_read(registry: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    schema = registry.register("orders-value", SchemaDraft('{"type": "object"}', SchemaType.JSON))
    guid = registry.schema_by_id(int(schema.schema_id)).guid
    assert guid is not None
    printer = RecordPrinter(registry, "orders", envelope=False, as_json=False)
    printer.print(_message(b'{"a":1}', [(VALUE_ID_HEADER, b"\x01" + bytes.fromhex(guid.replace("-", "")))]))
    assert capsys.readouterr().out == '{"a":1}\n'


def test_a_guid_of_another_subject_is_refused_as_its_id_is(
    registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.register("orders-value", SchemaDraft('"int"'))
    foreign = registry.register("aircraft-value", SchemaDraft('"long"'))
    guid = registry.schema_by_id(int(foreign.schema_id)).guid or ""
    printer = RecordPrinter(registry, "orders", envelope=False, as_json=False)
    printer.print(_message(b"\x02", [(VALUE_ID_HEADER, b"\x01" + bytes.fromhex(guid.replace("-", "")))]))
    assert f"WRONG_SUBJECT (schema id {foreign.schema_id}): the id belongs to `aircraft-value`" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("strategy", ["RECORD", "TOPIC_RECORD"])
def test_records_of_subjects_named_after_them_are_read_beside_a_subject_of_the_topic(
    registry: Registry, capsys: pytest.CaptureFixture[str], strategy: str
) -> None:
    registry.register("orders-value", SchemaDraft('"int"'))
    message = _serialized(registry, {"id": 7}, subject_name_strategy_type=strategy)
    for given in (None, SubjectNameStrategyType(strategy)):
        RecordPrinter(registry, "orders", envelope=False, as_json=False, strategy=given).print(message)
    assert capsys.readouterr() == ('{"id":7}\n' * 2, "")
    printer = RecordPrinter(registry, "orders", envelope=False, as_json=False, strategy=SubjectNameStrategyType.TOPIC)
    printer.print(message)
    assert "and to no version of `orders-value`" in capsys.readouterr().err


def test_a_given_strategy_refuses_subjects_of_another(registry: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    message = _serialized(registry, {"id": 7})
    printer = RecordPrinter(registry, "orders", envelope=False, as_json=False, strategy=SubjectNameStrategyType.RECORD)
    printer.print(message)
    assert "belongs to `orders-value`, and to no version of `acme.Order`" in capsys.readouterr().err


@pytest.mark.parametrize("subject", ["shared", ":.eu:shared"])
def test_records_of_an_associated_subject_are_read_in_its_context(
    registry: Registry, capsys: pytest.CaptureFixture[str], subject: str
) -> None:
    registry.register("orders-value", SchemaDraft('"int"'))
    registry.register(subject, SchemaDraft(ORDER))
    registry.bind(Resource("orders", "lkc-1", "lkc-1:orders"), [AssociationDraft(subject=subject)])
    message = _serialized(registry, {"id": 7}, auto_register_schemas=False)
    for strategy in (None, SubjectNameStrategyType.ASSOCIATED):
        RecordPrinter(registry, "orders", envelope=True, as_json=False, strategy=strategy).print(message)
    out, said = capsys.readouterr()
    assert ([json.loads(line)["value"] for line in out.splitlines()], said) == ([{"id": 7}] * 2, "")


def test_headers_are_printed_as_they_are(registry: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    schema_id = registry.register("orders-value", SchemaDraft('"int"')).schema_id
    body = struct.pack(">BI", 0, schema_id) + b"\x02"
    printer = RecordPrinter(registry, "orders", envelope=True, as_json=False)
    printer.print(_message(body, [("trace", b"1"), ("trace", None), ("raw", b"\xff")]))
    printer.print(_message(body))
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["headers"] == [
        {"key": "trace", "value": "1"},
        {"key": "trace", "value": None},
        {"key": "raw", "hex": "ff"},
    ]
    assert second["headers"] == []


def test_values_of_all_versions_are_written_to_a_file_in_the_newest(
    registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    newer = ORDER.replace("]}", ', {"name": "note", "type": ["null", "string"], "default": null}]}')
    old = _serialized(registry, {"id": 1})
    new = _serialized(registry, {"id": 2, "note": "n"}, newer)
    stream = io.BytesIO()
    printer = AvroFilePrinter(registry, "orders", stream, strategy=None)
    for message in (old, _message(None), _message(b"plain"), new):
        printer.print(message)
    printer.end()
    said = capsys.readouterr().err
    assert "NOT_FRAMED" in said
    assert "1 tombstone left out" in said
    file = AvroFileReader(io.BytesIO(stream.getvalue()), "orders.avro")
    assert list(file.values()) == [(1, {"id": 1, "note": None}), (2, {"id": 2, "note": "n"})]
    assert printer.damaged == 1


def test_a_topic_without_values_gives_a_file_without_records(registry: Registry) -> None:
    registry.register("orders-value", SchemaDraft(ORDER))
    stream = io.BytesIO()
    AvroFilePrinter(registry, "orders", stream, strategy=None).end()
    file = AvroFileReader(io.BytesIO(stream.getvalue()), "orders.avro")
    assert (list(file.values()), file.parsed.root.root.name) == ([], "acme.Order")

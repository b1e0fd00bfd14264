from __future__ import annotations

from io import BytesIO, TextIOWrapper
from typing import TYPE_CHECKING

import pytest

from contractlog.clients import AssociationDraft, Resource
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.schema import SchemaDraft
from contractlog.serdes.cli.input_interruption import Interruption, read_lines
from contractlog.serdes.cli.record_encoder import ProducerRecord, RecordEncoder
from contractlog.serdes.subject_names import SubjectNameStrategyType

if TYPE_CHECKING:
    from contractlog.clients import Registry


def _reader(registry: Registry, *, envelope: bool = False) -> RecordEncoder:
    registry.register("orders-value", SchemaDraft('{"type": "array", "items": "int"}'))
    return RecordEncoder(registry, "orders", schema=None, key_field=None, envelope=envelope)


@pytest.mark.parametrize("envelope", [False, True])
def test_a_tombstone_needs_a_key(registry: Registry, *, envelope: bool) -> None:
    reader = _reader(registry, envelope=envelope)
    with pytest.raises(UsageError, match=r"line 4: null would be a tombstone.*--envelope"):
        reader.encode_line(4, '{"value": null}' if envelope else "null")
    if envelope:
        assert reader.encode_line(5, '{"key": "k", "value": null}') == ProducerRecord(b"k", None, None, [])


def test_a_line_that_is_no_json_has_one_place(registry: Registry) -> None:
    with pytest.raises(UsageError, match=r"^line 7 is not JSON: Expecting ',' delimiter \(column 3\)$"):
        _reader(registry).encode_line(7, "[1\n")


def test_a_value_that_does_not_fit_is_named_by_its_line_and_field(registry: Registry) -> None:
    schema = SchemaDraft('{"type": "record", "name": "R", "fields": [{"name": "id", "type": "int"}]}')
    reader = RecordEncoder(registry, "rows", schema=schema, key_field=None, envelope=False)
    with pytest.raises(UsageError, match=r"^line 7: INT_OUT_OF_RANGE: id: "):
        reader.encode_line(7, '{"id": 2147483648}\n')


def test_a_line_that_is_no_utf_8_is_told_by_its_number() -> None:
    source = TextIOWrapper(BytesIO(b"1\n2\n[\xff]\n"), encoding="utf-8", errors="surrogateescape")
    read = read_lines(source, Interruption())
    assert [next(read), next(read)] == [(1, "1\n"), (2, "2\n")]
    with pytest.raises(UsageError, match=r"^line 3 is no UTF-8 \(column 2\)$"):
        next(read)


def test_values_go_to_the_associated_subject(registry: Registry) -> None:
    registry.register("shared", SchemaDraft('"int"'))
    registry.bind(Resource("orders", "lkc-1", "lkc-1:orders"), [AssociationDraft(subject="shared")])
    reader = RecordEncoder(registry, "orders", schema=None, key_field=None, envelope=False)
    assert reader.encode_line(1, "7").value == b"\0\0\0\0\x01\x0e"
    with pytest.raises(UsageError, match="nothing is registered as `orders-value`"):
        RecordEncoder(
            registry,
            "orders",
            schema=None,
            key_field=None,
            envelope=False,
            strategy=SubjectNameStrategyType.TOPIC,
        )


def test_an_envelope_holds_headers_beside_those_of_every_record(registry: Registry) -> None:
    registry.register("orders-value", SchemaDraft('"int"'))
    reader = RecordEncoder(registry, "orders", schema=None, key_field=None, envelope=True, headers=[("all", b"1")])
    assert reader.encode_line(1, '{"value": 7, "headers": {"a": null}}').headers == [("a", None), ("all", b"1")]
    with pytest.raises(UsageError, match=r"^line 2: headers read"):
        reader.encode_line(2, '{"value": 7, "headers": 1}')

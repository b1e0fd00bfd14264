"""Serializers start from a folder of pulled schemas, without a registry."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contractlog.clients.cli.pull.lock_writer import write_lock
from contractlog.clients.cli.pull.pulled_files import PulledFile
from contractlog.clients.cli.pull.runner import _pull_subjects
from contractlog.clients.lock_file import LOCK
from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.errors import NotFound, SchemaNotFound, UsageError
from contractlog.compatibility.schema import Reference, SchemaDraft, SchemaType
from contractlog.serdes import SerializationContext
from contractlog.serdes.avro import AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from contractlog.serdes.errors import DecodeError
from contractlog.serdes.folder import FolderSource
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer
from contractlog.serdes.schema_ids import header_schema_id_serializer

if TYPE_CHECKING:
    from contractlog.clients import Registry

MONEY = '{"type": "fixed", "name": "shop.Money", "size": 2}'
BILL = '{"type": "record", "name": "Bill", "fields": [{"name": "sum", "type": "shop.Money"}]}'
WIDER = (
    '{"type": "record", "name": "Bill", "fields": '
    '[{"name": "sum", "type": "shop.Money"}, {"name": "note", "type": "string", "default": ""}]}'
)
LEANING = (Reference("shop.Money", "money", 1),)
CONTEXT = SerializationContext("bills")


def pull(registry: Registry, out: Path, *subjects: str, history: bool = True) -> list[PulledFile]:
    options = Namespace(out=out, history=history, force=False, context="", all=False, manifest=None)
    pulled = [written for written in _pull_subjects(registry, subjects, options) if isinstance(written, PulledFile)]
    write_lock(registry, pulled, out)
    return pulled


@pytest.fixture
def folder(registry: Registry, tmp_path: Path) -> Path:
    registry.register("money", SchemaDraft(MONEY))
    registry.register("bills-value", SchemaDraft(BILL, references=LEANING, metadata=Metadata(properties={"a": "1"})))
    registry.register("bills-value", SchemaDraft(WIDER, references=LEANING, metadata=Metadata(properties={"a": "3"})))
    registry.register("notes-value", SchemaDraft('{"title": "Note", "type": "object"}', SchemaType.JSON))
    pull(registry, tmp_path, "bills-value", "notes-value")
    return tmp_path


def test_records_are_the_same_as_with_the_registry(registry: Registry, folder: Path) -> None:
    source = FolderSource(folder)
    for number, text, value in ((1, BILL, {"sum": b"ab"}), (2, WIDER, {"sum": b"ab", "note": "x"})):
        draft = SchemaDraft(text, references=LEANING)
        written = AvroSerializer(source, draft)(value, CONTEXT)
        assert written is not None
        assert int.from_bytes(written[1:5]) == registry.version("bills-value", number).schema_id
        assert AvroDeserializer(source)(written, CONTEXT) == AvroDeserializer(registry)(written, CONTEXT) == value
        assert asyncio.run(AsyncAvroSerializer(source, draft)(value, CONTEXT)) == written
    notes = SerializationContext("notes")
    written = JSONSerializer(None, source, conf={"auto.register.schemas": False, "use.latest.version": True})({}, notes)
    assert JSONDeserializer(None, schema_registry_client=source)(written, notes) == {}


def test_versions_guids_and_metadata_are_known(registry: Registry, folder: Path) -> None:
    source = FolderSource(folder)
    assert source.versions("bills-value") == [1, 2]
    assert source.latest_with_metadata("bills-value", {"a": "1"}).version == 1
    for found in (registry.version("bills-value", 1), registry.version("bills-value", "latest")):
        assert found.guid is not None
        assert source.schema_by_guid(found.guid).schema_id == found.schema_id
        assert source.schema_by_id(found.schema_id, subject="bills-value").version == found.version
    headers: list[tuple[str, Any]] = []
    context = SerializationContext("bills", headers=headers)
    draft = SchemaDraft(BILL, references=LEANING)
    serializer = AvroSerializer(source, draft, schema_id_serializer=header_schema_id_serializer)
    assert serializer({"sum": b"ab"}, context) == b"ab"
    assert AvroDeserializer(source)(b"ab", context) == {"sum": b"ab"}


def test_missing_schemas_are_not_found(folder: Path) -> None:
    source = FolderSource(folder)
    with pytest.raises(NotFound, match="nothing can be registered"):
        AvroSerializer(source, '"int"').prepare("bills")
    with pytest.raises(DecodeError, match="99"):
        AvroDeserializer(source)(b"\0\0\0\0\x63", CONTEXT)
    absences: list[tuple[Any, ...]] = [
        (source.version, "bills-value", 3),
        (source.version, "other", "latest"),
        (source.latest_with_metadata, "bills-value", {"a": "2"}),
        (source.schema_by_guid, "0" * 32),
    ]
    for ask, *given in absences:
        with pytest.raises(NotFound, match=f"^`{folder}` contains no "):
            ask(*given)
    with pytest.raises(SchemaNotFound, match=f"^`{folder}` contains no schema of the id 2: pull it again"):
        source.schema_by_id(2, subject=":.other:bills-value")


def test_a_file_that_was_edited_is_not_taken_for_its_id(folder: Path) -> None:
    file = folder / "1" / "bills-value.avsc"
    file.write_text(file.read_text().replace("sum", "sun"))
    with pytest.raises(UsageError, match="is not what was pulled as id 2"):
        FolderSource(folder)
    file.unlink()
    with pytest.raises(UsageError, match="cannot be read"):
        FolderSource(folder)


def test_a_folder_that_was_not_pulled_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contractlog pull"):
        FolderSource(tmp_path)
    entries = '{"format": "contractlog.lock/1", "schemas": [%s]}'
    other = f"^`{tmp_path / LOCK}` is not of the format contractlog.lock/1, which `contractlog pull` writes"
    for text, said in (
        ("{", "cannot be read .* which `contractlog pull` writes: restore it, or remove it and run"),
        ("[]", other),
        ("{}", other),
        ('{"format": "other"}', other),
        (entries % "1", other),
        (entries % '{"id": 7}', "is none that `contractlog pull` writes, of id 7"),
    ):
        (tmp_path / LOCK).write_text(text)
        with pytest.raises(UsageError, match=said):
            FolderSource(tmp_path)


def test_pulling_again_replaces_what_changed_and_keeps_the_rest(registry: Registry, tmp_path: Path) -> None:
    registry.register("one-value", SchemaDraft('"int"'))
    registry.register("two-value", SchemaDraft('"string"'))
    pull(registry, tmp_path, "one-value", "two-value", history=False)
    registry.set_level("NONE", "one-value")
    newer = registry.register("one-value", SchemaDraft('"bytes"'))
    pull(registry, tmp_path, "one-value", history=False)
    source = FolderSource(tmp_path)
    assert source.version("one-value", "latest").schema_id == newer.schema_id
    assert source.versions("one-value") == [2]
    assert source.version("two-value", "latest").version == 1
    (tmp_path / "two-value.avsc").unlink()
    pull(registry, tmp_path, "one-value", history=False)
    with pytest.raises(NotFound):
        FolderSource(tmp_path).version("two-value", "latest")


def test_subjects_of_other_contexts_keep_their_ids(registry: Registry, tmp_path: Path) -> None:
    registry.register("plain", SchemaDraft('"long"'))
    inner = registry.register(":.other:bills-value", SchemaDraft('"int"'))
    pull(registry, tmp_path, "plain", ":.other:bills-value")
    source = FolderSource(tmp_path)
    context = SerializationContext(":.other:bills")
    written = AvroSerializer(source, '"int"')(1, context)
    assert written == b"\0" + inner.schema_id.to_bytes(4) + b"\2"
    assert AvroDeserializer(source)(written, context) == 1

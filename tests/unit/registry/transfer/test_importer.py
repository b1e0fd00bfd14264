"""Imports into a store with data, and rejected imports."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from contractlog.compatibility.association_values import Lifecycle
from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import SchemaType
from contractlog.registry.storage.associations import StoredAssociation
from contractlog.registry.storage.change_log import hash_settings, list_changes_after
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import ScopeSettings
from contractlog.registry.transfer.database_access import read_database
from contractlog.registry.transfer.importer import import_contents
from contractlog.registry.transfer.registry_contents import (
    RegistryContents,
    RetiredId,
    TransferredSchema,
    TransferredVersion,
)
from contractlog.registry.transfer.report import TransferReport

S = Subject(".", "s")


def make_snapshot(**texts: str) -> RegistryContents:
    """Versions of ``s`` by id (``id1``, ``id2`` …), numbered in order."""
    found = RegistryContents()
    for number, (name, text) in enumerate(texts.items(), 1):
        schema_id = int(name.removeprefix("id"))
        found.schemas[".", schema_id] = TransferredSchema(".", schema_id, SchemaType.AVRO, text, created_at=schema_id)
        found.versions[S, number] = TransferredVersion(S, number, schema_id, schema_id)
    found.raise_counters()
    return found


def brought(store: Store, *pictures: RegistryContents) -> TransferReport:
    for one in pictures:
        report = TransferReport()
        import_contents(store, one, report)
    return report


def now(store: Store) -> RegistryContents:
    with store.open_snapshot() as snapshot:
        return read_database(snapshot)


def test_another_content_for_an_id_is_refused(store: Store) -> None:
    before = brought(store, make_snapshot(id1='"int"'))
    assert before.conflicts == []
    report = brought(store, make_snapshot(id1='"long"', id2='"string"'))
    assert "the id 1 of context . has different content here" in report.conflicts
    assert set(now(store).schemas) == {(".", 1)}


def test_the_same_content_spelled_differently_is_the_same(store: Store) -> None:
    report = brought(store, make_snapshot(id1='"int"'), make_snapshot(id1='{"type": "int"}'))
    assert (report.conflicts, now(store).schemas[".", 1].text) == ([], '"int"')


def test_another_id_for_a_version_is_refused(store: Store) -> None:
    report = brought(store, make_snapshot(id1='"int"'), make_snapshot(id2='"int"'))
    assert report.conflicts == ["version 1 of s has the id 2 in the source and 1 here"]


GUID = "00000000-0000-0000-0000-00000000aaa{}"


def with_guids(contents: RegistryContents, guids: dict[int, str]) -> RegistryContents:
    for schema_id, guid in guids.items():
        contents.schemas[".", schema_id] = replace(contents.schemas[".", schema_id], guid=guid)
    return contents


def test_a_guid_of_another_content_here_is_refused(store: Store) -> None:
    shared = GUID.format(1)
    first = with_guids(make_snapshot(id1='"int"'), {1: shared})
    second = RegistryContents(positions={(".a", 7): "line 3"})
    second.schemas[".a", 7] = TransferredSchema(".a", 7, SchemaType.AVRO, '"bytes"', guid=shared)
    assert brought(store, first, second).conflicts == [
        f"line 3: the id 7 of context .a has the guid {shared}, which the id 1 of context . has with different content"
    ]
    assert set(now(store).schemas) == {(".", 1)}


def test_two_contents_of_a_source_with_one_guid_are_refused(store: Store) -> None:
    source = with_guids(make_snapshot(id1='"int"', id2='"long"'), dict.fromkeys((1, 2), GUID.format(1)))
    assert brought(store, source).conflicts == [
        f"the id 2 of context . has the guid {GUID.format(1)}, which the id 1 of context . has with different content"
    ]
    assert now(store).schemas == {}


def test_a_guid_of_equal_texts_with_different_metadata_is_refused_unless_it_is_encrypted(store: Store) -> None:
    def source(marker: str) -> RegistryContents:
        contents = with_guids(make_snapshot(id1='"int"', id2='"int"'), dict.fromkeys((1, 2), GUID.format(1)))
        for key, schema in contents.schemas.items():
            metadata = Metadata(properties={"a": f"cipher {schema.id}", marker: "true"})
            contents.schemas[key] = replace(schema, metadata=metadata)
        return contents

    assert len(brought(store, source("plain")).conflicts) == 1
    assert brought(store, source("__enc__")).conflicts == []


def test_another_guid_for_an_id_with_the_same_content_is_refused(store: Store) -> None:
    pictures = [with_guids(make_snapshot(id1='"int"'), {1: GUID.format(number)}) for number in (1, 1, 2)]
    assert brought(store, *pictures[:2]).conflicts == []
    assert brought(store, pictures[2]).conflicts == [
        f"the id 1 of context . has the guid {GUID.format(2)} in the source and {GUID.format(1)} here"
    ]
    assert now(store).schemas[".", 1].guid == GUID.format(1)


def test_a_source_without_guids_agrees_with_every_guid(store: Store) -> None:
    with_guid = with_guids(make_snapshot(id1='"int"'), {1: GUID.format(1)})
    assert brought(store, with_guid, make_snapshot(id1='"int"')).conflicts == []


def test_a_content_has_one_guid_in_several_contexts(store: Store) -> None:
    source = make_snapshot(id1='"int"')
    source.schemas[".eu", 4] = replace(source.schemas[".", 1], context=".eu", id=4)
    assert brought(store, source, source).conflicts == []
    assert set(now(store).schemas) == {(".", 1), (".eu", 4)}


def test_hard_deleted_ids_are_imported_only_with_the_same_content(store: Store) -> None:
    gone = RegistryContents()
    gone.deletions.versions = {(S, 1, 1)}
    assert brought(store, make_snapshot(id1='"int"'), gone).conflicts == []
    assert set(now(store).retired) == {(".", 1)}
    (refusal,) = brought(store, make_snapshot(id1='"long"')).conflicts
    assert refusal.startswith("the id 1 of context . was hard-deleted here and had different content: import it")
    assert "contractlog db forget-context . --confirm ." in refusal
    assert brought(store, make_snapshot(id1='"int"')).conflicts == []
    assert (set(now(store).schemas), now(store).retired) == ({(".", 1)}, {})


def test_an_id_that_the_source_deleted_for_good_is_not_taken_from_who_uses_it(store: Store) -> None:
    deleted = RegistryContents(retired={(".", 1): RetiredId(5)})
    assert brought(store, make_snapshot(id1='"int"'), deleted).conflicts == [
        "the id 1 of context . was hard-deleted in the source, but is in use here"
    ]


def test_the_source_says_what_is_soft_deleted(store: Store) -> None:
    live = make_snapshot(id1='"int"', id2='"long"')
    deleted = make_snapshot(id1='"int"', id2='"long"')
    deleted.versions[S, 2] = replace(deleted.versions[S, 2], deleted_at=99)
    assert brought(store, live, deleted).done["versions soft-deleted"] == 1
    assert now(store).versions[S, 2].deleted_at == 99
    assert brought(store, live).done["versions restored"] == 1
    assert now(store).versions[S, 2].deleted_at is None


def test_an_import_keeps_additional_objects(store: Store) -> None:
    brought(store, make_snapshot(id1='"int"', id2='"long"'), make_snapshot(id1='"int"'))
    assert set(now(store).versions) == {(S, 1), (S, 2)}


def test_new_ids_begin_above_all_that_came(store: Store) -> None:
    brought(store, RegistryContents(contexts={".": 50, ".eu": 7}))
    assert now(store).contexts == {".": 50, ".eu": 7}
    brought(store, RegistryContents(contexts={".": 3, ".eu": 8}))
    assert now(store).contexts == {".": 50, ".eu": 8}


def test_the_journal_tells_of_each_effect_and_who_brought_it(store: Store) -> None:
    deleted = make_snapshot(id1='"int"')
    deleted.versions[S, 1] = replace(deleted.versions[S, 1], deleted_at=99)
    deleted.settings[S] = {"compatibilityLevel": "NONE"}
    brought(store, deleted, deleted)
    with store.open_snapshot() as snapshot:
        lines = list_changes_after(snapshot, 0, 100)
    assert [(line.sequence, line.action, line.target) for line in lines] == [
        (1, "version.registered", "s/1"),
        (2, "version.soft_deleted", "s/1"),
        (3, "settings.changed", "s"),
    ]
    assert {line.actor for line in lines} == {"contractlog import"}
    assert '"bypass":"IMPORT"' in (lines[0].details or "")


def test_the_journal_tells_of_settings_by_the_hashes_that_the_api_would_have_told(store: Store) -> None:
    set_here, unset = ScopeSettings(level=Level.NONE, mode=Mode.READONLY), RegistryContents()
    store.transact(lambda transaction: transaction.configure(S, ScopeSettings(level=Level.FULL))).result()
    one = RegistryContents(settings={S: {"compatibilityLevel": "NONE"}}, modes={S: "READONLY"})
    unset.deletions.settings, unset.deletions.modes = {S}, {S}
    brought(store, one, unset)
    with store.open_snapshot() as snapshot:
        lines = list_changes_after(snapshot, 0, 100)
    hashes = [hash_settings(ScopeSettings(level=Level.FULL)), hash_settings(set_here)]
    assert [(line.target, line.before, line.after) for line in lines] == [
        ("s", None, hashes[0]),
        ("s", *hashes),
        ("s", hashes[1], None),
    ]
    told = [json.loads(line.details or "{}") for line in lines]
    assert told[1] == {"set": {"level": "NONE", "mode": "READONLY"}, "bypass": "IMPORT"}


@pytest.mark.parametrize("text", ["{ no json", "x" * 5_000_000])
def test_unparsable_schemas_are_stored_verbatim_and_counted(store: Store, text: str) -> None:
    report = brought(store, make_snapshot(id1=text))
    assert [one.kind.name for one in report.oddities] == ["VERBATIM"]
    assert now(store).schemas[".", 1].text == text


def associated(guid: str, name: str, resource_id: str = "r1") -> RegistryContents:
    """An association of ``s`` with a topic."""
    contents = make_snapshot(id1='"int"')
    contents.associations[guid] = StoredAssociation(
        guid, S, resource_id, name, "lkc-1", "topic", guid, Lifecycle.WEAK, frozen=False
    )
    return contents


def test_the_id_of_a_resource_is_not_imported_for_another_one(store: Store) -> None:
    assert brought(store, associated("value", "orders")).conflicts == []
    refused = "topic lkc-1:returns has the id r1 in the source, which is that of topic lkc-1:orders here"
    assert brought(store, associated("key", "returns")).conflicts == [refused]
    assert set(now(store).associations) == {"value"}
    renamed = associated("value", "returns")  # it replaces the one that has the id
    assert brought(store, renamed).conflicts == []
    removed_first = associated("key", "orders")
    removed_first.deletions.associations.add("value")
    assert brought(store, removed_first).conflicts == []
    assert set(now(store).associations) == {"key"}


def test_a_source_whose_resources_share_an_id_is_imported_as_it_is(store: Store) -> None:
    source = associated("value", "orders")
    source.associations |= associated("key", "returns").associations
    for _ in range(2):
        assert brought(store, source).conflicts == []
    assert set(now(store).associations) == {"key", "value"}

"""Contents that an import keeps although its source does not have them."""

from __future__ import annotations

from dataclasses import replace

from contractlog.compatibility.association_values import Lifecycle
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import SchemaType
from contractlog.registry.storage.associations import StoredAssociation
from contractlog.registry.storage.store import Store
from contractlog.registry.transfer.database_access import read_database
from contractlog.registry.transfer.importer import import_contents
from contractlog.registry.transfer.kept_contents import describe_kept_contents
from contractlog.registry.transfer.registry_contents import RegistryContents, TransferredSchema, TransferredVersion
from contractlog.registry.transfer.report import TransferReport

S = Subject(".", "s")
GLOBAL = Subject(".", "")


def make_source() -> RegistryContents:
    source = RegistryContents()
    for number in (1, 2, 3):
        source.schemas[".", number] = TransferredSchema(
            ".", number, SchemaType.AVRO, f'{{"type":"fixed","name":"F{number}","size":1}}'
        )
        source.versions[S, number] = TransferredVersion(S, number, number, 1, 9 if number == 1 else None)
    source.settings = {GLOBAL: {"compatibilityLevel": "FULL"}, S: {"compatibilityLevel": "NONE"}}
    source.modes = {S: Mode.READONLY}
    source.associations["g"] = StoredAssociation("g", S, "r", "t", "ns", "topic", "value", Lifecycle.WEAK, False)  # noqa: FBT003
    source.raise_counters()
    return source


def import_again(store: Store, source: RegistryContents) -> list[str]:
    """Import, and describe what is kept."""
    report = TransferReport()
    import_contents(store, source, report)
    assert report.conflicts == []
    with store.open_snapshot() as snapshot:
        return describe_kept_contents(source, read_database(snapshot))


def test_nothing_is_kept_of_a_source_that_did_not_change(store: Store) -> None:
    for _ in range(2):
        assert import_again(store, make_source()) == []


def test_deletions_that_a_later_import_does_not_copy_are_named(store: Store) -> None:
    import_again(store, make_source())
    changed = make_source()
    for number in (1, 2):  # hard-deleted; version 1 was soft-deleted before
        del changed.versions[S, number], changed.schemas[".", number]
    changed.versions[S, 3] = replace(changed.versions[S, 3], deleted_at=5)  # this is copied
    changed.settings = {GLOBAL: {"compatibilityLevel": "BACKWARD"}}  # and this
    changed.modes, changed.associations = {}, {}
    assert import_again(store, changed) == [
        "live versions 1 (s version 2)",
        "settings 1 (s)",
        "modes 1 (s)",
        "associations 1 (t/value)",
    ]

"""An imported export results in the same export."""

from __future__ import annotations

from hypothesis import given, settings

from contractlog.registry.storage.store import Store
from contractlog.registry.transfer.database_access import read_database
from contractlog.registry.transfer.file_format import format_content_lines, format_lines, read_lines
from contractlog.registry.transfer.importer import import_contents, plan_import
from contractlog.registry.transfer.registry_contents import RegistryContents
from contractlog.registry.transfer.report import TransferReport

from support.snapshots import empty_store, snapshots


def exported(store: Store) -> list[str]:
    with store.open_snapshot() as snapshot:
        return list(format_content_lines(read_database(snapshot)))


def imported(store: Store, state: RegistryContents) -> TransferReport:
    report = TransferReport()
    import_contents(store, state, report)
    return report


@settings(max_examples=10, deadline=None)
@given(state=snapshots())
def test_an_export_of_an_import_of_an_export_is_that_export(state: RegistryContents) -> None:
    with empty_store() as first, empty_store() as second:
        assert imported(first, state).conflicts == []
        lines = exported(first)
        read = read_lines(iter(format_lines(first_picture(first), {"journal": 0})), TransferReport())
        assert imported(second, read).conflicts == []
        assert exported(second) == lines


def first_picture(store: Store) -> RegistryContents:
    with store.open_snapshot() as snapshot:
        return read_database(snapshot)


@settings(max_examples=10, deadline=None)
@given(state=snapshots())
def test_importing_again_changes_nothing(state: RegistryContents) -> None:
    with empty_store() as store:
        assert imported(store, state).conflicts == []
        before, report = exported(store), TransferReport()
        import_contents(store, state, report)
        assert not any(report.done.values())
        assert exported(store) == before


@settings(max_examples=10, deadline=None)
@given(state=snapshots())
def test_a_dry_run_tells_what_an_import_does_and_writes_nothing(state: RegistryContents) -> None:
    with empty_store() as store:
        before, told, done = exported(store), TransferReport(), TransferReport()
        with store.open_snapshot() as snapshot:
            plan_import(snapshot, state, told)
        assert exported(store) == before
        import_contents(store, state, done)
        assert told.done == done.done

"""What is exported can be imported, and is the same again."""

from __future__ import annotations

from hypothesis import given, settings

from contractlog.registry.moving.importing import bring, foreseen
from contractlog.registry.moving.lines import read_lines, state_lines, written
from contractlog.registry.moving.picture import Picture
from contractlog.registry.moving.report import Report
from contractlog.registry.moving.stored import pictured
from contractlog.registry.storage.protocol import Store

from support.pictures import empty_store, pictures


def exported(store: Store) -> list[str]:
    with store.reading() as snapshot:
        return list(state_lines(pictured(snapshot)))


def imported(store: Store, picture: Picture) -> Report:
    report = Report()
    bring(store, picture, report)
    return report


@settings(max_examples=10, deadline=None)
@given(picture=pictures())
def test_an_export_of_an_import_of_an_export_is_that_export(picture: Picture) -> None:
    with empty_store() as first, empty_store() as second:
        assert imported(first, picture).conflicts == []
        lines = exported(first)
        read = read_lines(iter(written(first_picture(first), {"journal": 0})), Report())
        assert imported(second, read).conflicts == []
        assert exported(second) == lines


def first_picture(store: Store) -> Picture:
    with store.reading() as snapshot:
        return pictured(snapshot)


@settings(max_examples=10, deadline=None)
@given(picture=pictures())
def test_importing_again_changes_nothing(picture: Picture) -> None:
    with empty_store() as store:
        assert imported(store, picture).conflicts == []
        before, report = exported(store), Report()
        assert bring(store, picture, report).empty
        assert not any(report.done.values())
        assert exported(store) == before


@settings(max_examples=10, deadline=None)
@given(picture=pictures())
def test_a_dry_run_tells_what_an_import_does_and_writes_nothing(picture: Picture) -> None:
    with empty_store() as store:
        before, told, done = exported(store), Report(), Report()
        with store.reading() as snapshot:
            foreseen(snapshot, picture, told)
        assert exported(store) == before
        bring(store, picture, done)
        assert told.done == done.done

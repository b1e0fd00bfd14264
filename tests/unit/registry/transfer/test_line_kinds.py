"""Each kind of line is imported on each database: alone, with others, and repeatedly."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.registry.storage.store import Store
from contractlog.registry.transfer.database_access import read_database
from contractlog.registry.transfer.file_format import format_content_lines, read_lines
from contractlog.registry.transfer.importer import import_contents
from contractlog.registry.transfer.report import TransferReport

from support.export_lines import DEK, EVERY_KIND, VERSION, Line, create_export

FIRST: Line = {"kind": "context", "name": ".", "next_id": 1}
ALONE = [line for line in EVERY_KIND if line["kind"] not in {"version", "dek"}]


def imported(store: Store, *lines: Line) -> TransferReport:
    report = TransferReport()
    state = read_lines(create_export(*lines), report)
    import_contents(store, state, report)
    return report


def exported(store: Store) -> list[dict[str, Any]]:
    with store.open_snapshot() as snapshot:
        return [json.loads(line) for line in format_content_lines(read_database(snapshot))]


@pytest.mark.parametrize("line", ALONE, ids=lambda line: f"{line['kind']}-{line.get('id', '')}")
def test_a_line_is_imported_as_the_only_one_and_again(store: Store, line: Line) -> None:
    assert imported(store, line).conflicts == []
    assert line in exported(store)
    assert not any(imported(store, line).done.values())


def test_a_version_alone_is_refused_by_its_line(store: Store) -> None:
    with pytest.raises(
        UsageError,
        match=r"line 2 of the file: version 2 of :\.eu:orders has the id 3, which no line of the file gives a content",
    ):
        imported(store, VERSION)


def test_a_dek_alone_is_refused_by_its_line(store: Store) -> None:
    with pytest.raises(
        UsageError, match=r"line 2 of the file: the DEK pii/:\.eu:orders/AES256_SIV/2 has the KEK pii, "
    ):
        imported(store, DEK)


def test_all_kinds_are_imported_together_and_again(store: Store) -> None:
    assert imported(store, *EVERY_KIND).conflicts == []
    assert exported(store) == [FIRST, *EVERY_KIND]
    again = imported(store, *EVERY_KIND)
    assert (again.conflicts, any(again.done.values())) == ([], False)
    for line in ALONE:
        assert not any(imported(store, line).done.values())

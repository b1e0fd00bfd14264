"""The index of a pulled folder: what may stand in it, as it is merged and edited like any file of a repository."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients.pull_index import (
    INDEX,
    PulledSchema,
    file_digests,
    pulled_files,
    read_index,
    write_index,
)
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import RegisteredSchema

ENTRY: dict[str, Any] = {
    "subject": "orders-value",
    "version": 1,
    "id": 1,
    "file": "orders-value.avsc",
    "sha256": "00",
    "references": [{"name": "a", "subject": "b", "version": 1}],
}
VALUES = [None, [], [1], {}, {"a": 1}, 5, 1.5, True, "", "\0", "\ud800", "../x", "x" * 5_000, 10**30]
ANOTHER = PulledSchema(RegisteredSchema(2, '"int"', subject=Subject.parse("another"), version=1), None)

uses = pytest.mark.parametrize(
    "use",
    [read_index, file_digests, pulled_files, lambda folder: write_index(folder, [ANOTHER])],
    ids=["read", "digests", "references", "write"],
)


@uses
@pytest.mark.parametrize("member", ENTRY)
def test_an_entry_with_any_value_is_used_or_is_a_usage_error(
    tmp_path: Path, use: Callable[[Path], object], member: str
) -> None:
    without = {name: value for name, value in ENTRY.items() if name != member}
    for entry in (without, *({**ENTRY, member: value} for value in VALUES)):
        (tmp_path / INDEX).write_text(json.dumps({"format": "contractlog.pulled/1", "schemas": [entry]}))
        with suppress(UsageError):
            use(tmp_path)


@uses
@pytest.mark.parametrize("text", ["[" * 100_000, "[]", "null", '{"format": "contractlog.pulled/1", "schemas": [5]}'])
def test_a_file_that_is_no_index_is_a_usage_error(tmp_path: Path, use: Callable[[Path], object], text: str) -> None:
    (tmp_path / INDEX).write_text(text)
    if use is pulled_files:
        assert pulled_files(tmp_path) == {}  # another program's file of this name
        return
    with pytest.raises(UsageError, match=INDEX):
        use(tmp_path)

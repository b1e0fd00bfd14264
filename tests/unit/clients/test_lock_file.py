"""The index of a pulled folder may be merged and edited like any file of a repository."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients.lock_file import (
    LOCK,
    LOCK_FORMATS,
    PulledSchema,
    file_digests,
    list_locked_files,
    load_locked_schemas,
    locked_context,
    read_lock_entries,
    update_lock,
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
VALUES = [None, [], [1], {}, {"a": 1}, 5, 1.5, True, "", "\0", "\ud800", "../x", "x" * 5_000, 10**30, math.inf]
ANOTHER = PulledSchema(RegisteredSchema(2, '"int"', subject=Subject.parse("another"), version=1), None)

uses = pytest.mark.parametrize(
    "use",
    [
        load_locked_schemas,
        read_lock_entries,
        locked_context,
        file_digests,
        list_locked_files,
        lambda out: update_lock(out, [ANOTHER]),
    ],
    ids=["read", "locked", "context", "digests", "references", "write"],
)


indexes = pytest.mark.parametrize("index", LOCK_FORMATS)


@indexes
@uses
@pytest.mark.parametrize("member", ENTRY)
def test_an_entry_with_any_value_is_used_or_is_a_usage_error(
    tmp_path: Path, use: Callable[[Path], object], member: str, index: str
) -> None:
    without = {name: value for name, value in ENTRY.items() if name != member}
    for entry in (without, *({**ENTRY, member: value} for value in VALUES)):
        (tmp_path / index).write_text(json.dumps({"format": LOCK_FORMATS[index], "schemas": [entry]}))
        with suppress(UsageError):
            use(tmp_path)


@indexes
@uses
@pytest.mark.parametrize("member", ["name", "subject", "version"])
def test_a_reference_with_a_value_of_another_type_is_a_usage_error(
    tmp_path: Path, use: Callable[[Path], object], member: str, index: str
) -> None:
    for value in (None, [1], {}, 1.5, True, math.inf, "1" if member == "version" else 1):
        entry = {**ENTRY, "references": [{**ENTRY["references"][0], member: value}]}
        (tmp_path / index).write_text(json.dumps({"format": LOCK_FORMATS[index], "schemas": [entry]}))
        if use is locked_context:
            assert locked_context(tmp_path) == ""
        elif use is list_locked_files and index != LOCK:
            assert list_locked_files(tmp_path) == {}
        else:
            with pytest.raises(UsageError, match="is none that `contractlog pull` writes"):
                use(tmp_path)


@indexes
@uses
@pytest.mark.parametrize(
    "text", ["[" * 100_000, "[]", "null", "<<<<<<< ours", '{"format": "contractlog.pulled/1", "schemas": [5]}']
)
def test_a_file_that_is_no_index_is_a_usage_error(
    tmp_path: Path, use: Callable[[Path], object], text: str, index: str
) -> None:
    (tmp_path / index).write_text(text)
    if use is list_locked_files and index != LOCK:
        assert list_locked_files(tmp_path) == {}  # another program's file of this name
        return
    with pytest.raises(UsageError, match=f"{index}.*restore it, or remove it"):
        use(tmp_path)


def test_an_earlier_index_moves_to_the_lock(tmp_path: Path) -> None:
    (tmp_path / "orders-value.avsc").write_text('"int"')
    (tmp_path / "pulled.json").write_text(json.dumps({"format": "contractlog.pulled/1", "schemas": [ENTRY]}))
    before = list_locked_files(tmp_path)
    update_lock(tmp_path, [ANOTHER])
    assert {path.name for path in tmp_path.iterdir()} == {"orders-value.avsc", LOCK}
    assert before
    assert list_locked_files(tmp_path) == before
    assert [each["subject"] for each in json.loads((tmp_path / LOCK).read_text())["schemas"]] == [
        "another",
        "orders-value",
    ]


def test_a_lock_is_read_before_a_file_of_the_earlier_name(tmp_path: Path) -> None:
    update_lock(tmp_path, [ANOTHER])
    (tmp_path / "pulled.json").write_text("of another program")
    update_lock(tmp_path, [])
    assert [each.schema.text for each in load_locked_schemas(tmp_path)] == ['"int"']
    assert (tmp_path / "pulled.json").exists()


@pytest.mark.parametrize("file", ["/dev/zero", "../outside.avsc", "a/../../outside.avsc"])
def test_a_lock_of_a_file_outside_of_the_folder_is_a_usage_error(tmp_path: Path, file: str) -> None:
    (tmp_path / LOCK).write_text(json.dumps({"format": LOCK_FORMATS[LOCK], "schemas": [{**ENTRY, "file": file}]}))
    for use in (load_locked_schemas, read_lock_entries, list_locked_files, file_digests):
        with pytest.raises(UsageError, match="none that `contractlog pull` writes"):
            use(tmp_path)


def test_a_lock_that_never_ends_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / LOCK).symlink_to("/dev/zero")
    for use in (load_locked_schemas, read_lock_entries, list_locked_files, file_digests, locked_context):
        with pytest.raises(UsageError, match="not a regular file"):
            use(tmp_path)

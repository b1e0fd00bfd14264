"""Files that are not exports, are truncated, or contradict themselves."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.registry.transfer.file_format import FORMAT, read_lines, split_lines
from contractlog.registry.transfer.report import TransferReport

HEADER = {"format": FORMAT}
SCHEMA = {"kind": "schema", "context": ".", "id": 1, "type": "AVRO", "schema": '"int"', "created": 1}
VERSION = {"kind": "version", "subject": "s", "version": 1, "id": 1, "created": 1}


def lines(*bodies: dict[str, Any]) -> list[str]:
    return [json.dumps(one) for one in (HEADER, *bodies, {"kind": "end", "lines": len(bodies) + 2})]


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ([], "the file is empty"),
        (['{"format": "contractlog.export/99"}'], "the first line does not have"),
        (lines(SCHEMA, VERSION)[:-1], "the file ends early, after 3 lines"),
        (lines(SCHEMA, VERSION)[:2] + lines(SCHEMA, VERSION)[3:], "should have 4 lines, and has 3"),
        ([*lines(), "{}"], "line 3 of the file follows its end"),
        (["nothing"], "this is not a file of `contractlog export`"),
        (lines({"kind": "other"}), "line 2 of the file is of an unknown kind: 'other'"),
        (lines(VERSION), "line 2 of the file: version 1 of s has the id 1, which no line of the file gives a content"),
        (lines(SCHEMA | {"id": -1}), "line 2 of the file cannot be read: `id`: -1 is not a number from 0"),
        (
            lines(SCHEMA | {"id": "1"}),
            "line 2 of the file cannot be read: `id`: '1' is not a number from 0 to 2147483647",
        ),
        (
            lines(SCHEMA, VERSION | {"version": 0}),
            "line 3 of the file cannot be read: `version`: 0 is not a number from 1",
        ),
        (lines(SCHEMA | {"schema": "\0"}), "contains a NUL"),
        (
            lines(SCHEMA, VERSION | {"subject": ":.::.amb:s"}),
            "line 3 of the file cannot be read: The specified subject ':.amb:s' is not a valid.",
        ),
        (lines({"kind": "mode", "scope": ":.::.amb:s", "mode": "READONLY"}), "The specified subject ':.amb:s'"),
        (
            lines({"kind": "context", "name": ".", "next_id": 2**31 + 1}),
            "2147483649 is not a number from 1 to 2147483648",
        ),
        (lines({"kind": "schema"}), "line 2 of the file cannot be read: it has no"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_by_its_line(file: list[str], reason: str) -> None:
    with pytest.raises(UsageError, match=reason.replace("(", r"\(")):
        read_lines(file, TransferReport())


@pytest.mark.parametrize(
    ("bodies", "conflict"),
    [
        (
            [SCHEMA, SCHEMA | {"schema": '"long"'}],
            "line 3: the id 1 of context . has another content in an earlier line",
        ),
        (
            [SCHEMA, SCHEMA | {"id": 2, "schema": '"long"'}, VERSION, VERSION | {"id": 2}],
            "line 5: version 1 of s has another id in an earlier line",
        ),
        (
            [SCHEMA, VERSION, {"kind": "retired", "context": ".", "id": 1}],
            "the id 1 of context . is retired and in use, both, by the file (line 4, line 3)",
        ),
    ],
)
def test_a_file_that_contradicts_itself_is_told(bodies: list[dict[str, Any]], conflict: str) -> None:
    report = TransferReport()
    read_lines(lines(*bodies), report)
    assert report.conflicts == [conflict]


def test_counters_are_above_every_id_whatever_the_file_says() -> None:
    context = {"kind": "context", "name": ".", "next_id": 1}
    state = read_lines(lines(context, SCHEMA, VERSION, {"kind": "retired", "context": ".", "id": 7}), TransferReport())
    assert state.contexts == {".": 8}


def test_lines_are_split_as_a_file_does_and_endless_ones_rejected() -> None:
    text = "a\n\n" + "b" * 9 + "\r\nc"
    assert list(split_lines(io.StringIO(text, newline=None), longest=10)) == list(io.StringIO(text, newline=None))
    with pytest.raises(UsageError, match="line 3 of the file has more than 9 characters"):
        list(split_lines(io.StringIO(text, newline=None), longest=9))

"""Responses to an uploaded export, which may come from anything that listens at the URL."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contractlog.compatibility.errors import Forbidden, Unreachable
from contractlog.registry.transfer.report import Oddity, OddityKind, TransferReport
from contractlog.registry.transfer.upload import _merge_response

URL = "http://registry:8081"
REPORT: dict[str, Any] = {
    "done": {"subjects": 2},
    "conflicts": ["line 3"],
    "oddities": [{"kind": "HIDDEN", "where": "a", "detail": "b"}],
}


def merge(content: object, status: int = 200) -> TransferReport:
    report = TransferReport()
    _merge_response(URL, status, json.dumps(content).encode(), report)
    return report


def test_a_report_is_added_to_that_of_the_caller() -> None:
    report = merge(REPORT)
    assert (report.done, report.conflicts) == ({"subjects": 2}, ["line 3"])
    assert report.oddities == [Oddity(OddityKind.HIDDEN, "a", "b")]


@pytest.mark.parametrize(
    "change",
    [
        {"done": [1]},
        {"done": None},
        {"done": {"subjects": "2"}},
        {"done": {"subjects": None}},
        {"done": {"subjects": True}},
        {"conflicts": {"a": 1}},
        {"conflicts": "text"},
        {"conflicts": [["nested"]]},
        {"oddities": 5},
        {"oddities": [None]},
        {"oddities": [{"kind": "UNHEARD_OF", "where": "a", "detail": "b"}]},
        {"oddities": [{"kind": ["HIDDEN"], "where": "a", "detail": "b"}]},
        {"oddities": [{"kind": "HIDDEN", "where": 1, "detail": "b"}]},
        {"oddities": [{"kind": "HIDDEN", "where": "a", "detail": None}]},
        {"oddities": [{"kind": "HIDDEN", "where": "a"}]},
    ],
    ids=json.dumps,
)
def test_a_body_of_another_shape_is_not_a_report(change: dict[str, Any]) -> None:
    with pytest.raises(Unreachable, match="200 and a body that is not an import report"):
        merge(REPORT | change)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"5",
        b'"conflicts"',
        b'["conflicts"]',
        b'{"conflicts":[]}',
        b'{"error_code":1e999,"message":""}',
        b'{"error_code":{},"message":""}',
        b'{"conflicts":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    ],
    ids=lambda content: repr(content[:40]),
)
def test_other_content_is_not_a_report(content: bytes) -> None:
    report = TransferReport()
    with pytest.raises(Unreachable, match="200 and a body that is not an import report"):
        _merge_response(URL, 200, content, report)
    assert report == TransferReport()


def test_an_error_is_raised_as_such() -> None:
    with pytest.raises(Forbidden, match="no permission"):
        merge({"error_code": 40301, "message": "no permission"}, 403)

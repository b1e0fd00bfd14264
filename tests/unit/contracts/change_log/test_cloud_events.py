"""Entries of the change log as CloudEvents; events that disagree with their data are rejected."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.contracts.change_log.cloud_events import format_cloud_event, parse_cloud_event
from contractlog.contracts.change_log.recorded_change import ChangeLogHead, RecordedChange, format_details

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
DETAILS = st.dictionaries(st.text(max_size=5), JSON, max_size=3).map(format_details)
CHANGE = RecordedChange(4, 1_795_824_409_188, "ci", "version.registered", "s/1", None, "af", '{"id":1}').follow(
    "0" * 64
)


@given(st.integers(1, 2**60), st.integers(0, 2**60), st.text(max_size=5), st.text(max_size=5), DETAILS)
def test_an_event_has_every_member_of_its_entry(sequence: int, at: int, actor: str, target: str, details: str) -> None:
    change = RecordedChange(sequence, at, actor, "settings.changed", target, "b", None, details).follow("0" * 64)
    event = format_cloud_event(change, head=ChangeLogHead(sequence, change.hash))
    parsed = parse_cloud_event(json.dumps(event))
    assert parsed == change
    assert parsed.compute_hash() == change.hash


def test_an_event_has_the_attributes_of_the_specification() -> None:
    event = format_cloud_event(CHANGE, source="/here", head=ChangeLogHead(9, "ab"))
    del event["data"]
    assert event == {
        "specversion": "1.0",
        "id": CHANGE.hash,
        "source": "/here",
        "type": "contractlog.version.registered",
        "subject": "s/1",
        "time": "2026-11-28T00:06:49.188Z",
        "datacontenttype": "application/json",
        "sequence": "4",
        "contractloghead": "9:ab",
    }


@pytest.mark.parametrize(
    "change",
    [
        {"specversion": "0.3"},
        {"id": "x"},
        {"type": "contractlog.version.deleted"},
        {"subject": "t/1"},
        {"time": "2026-11-28T00:06:49.189Z"},
        {"sequence": "5"},
        {"data": None},
        {"data": {"sequence": True}},
        {"data": {**CHANGE.body(), "details": [1]}},
        {"data": {**CHANGE.body(), "after": 1}},
        {"data": {**CHANGE.body(), "reviewer": "mallory"}},
        {"actor": "mallory"},
        {"data_base64": "e30="},
    ],
)
def test_an_event_that_disagrees_with_its_data_is_rejected(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_cloud_event(json.dumps({**format_cloud_event(CHANGE), **change}))


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ('"actor":', '"actor":"mallory","actor":'),
        ('"data":', '"data":{"actor":"mallory"},"data":'),
        ('"sequence":4', '"sequence":NaN,"sequence":4'),
        ('"sequence":4', '"sequence":Infinity'),
    ],
)
def test_a_name_that_occurs_twice_is_rejected(part: str, change: str) -> None:
    line = json.dumps(format_cloud_event(CHANGE), separators=(",", ":"))
    assert part in line
    with pytest.raises(ValueError, match=r".+"):
        parse_cloud_event(line.replace(part, change))


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, "1"])
def test_a_line_that_is_no_event_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_cloud_event(text)

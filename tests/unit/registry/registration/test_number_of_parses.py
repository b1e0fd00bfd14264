"""A registration parses a long text as rarely as possible."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from contractlog.registry.registration import parser

#: Stored schemas may have it; new ones may not: the default is not an int.
REFUSED = json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int", "default": "text"}]})


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each parse was strict."""
    strict: list[bool] = []
    parse = parser._parse

    def counting(*arguments: Any, **options: Any) -> Any:
        strict.append(options["strict"])
        return parse(*arguments, **options)

    monkeypatch.setattr(parser, "_parse", counting)
    return strict


def test_a_refused_first_version_is_parsed_once(http: httpx2.Client, parses: list[bool]) -> None:
    answer = http.post("/subjects/s/versions", json={"schema": REFUSED})
    assert answer.json()["error_code"] == 42201
    assert parses == [True]


def test_a_refused_later_version_is_parsed_once_more_to_look_it_up(http: httpx2.Client, parses: list[bool]) -> None:
    assert http.post("/subjects/s/versions", json={"schema": '"int"'}).status_code == 200
    first = http.post("/subjects/t/versions", json={"schema": REFUSED}).json()
    parses.clear()
    later = http.post("/subjects/s/versions", json={"schema": REFUSED}).json()
    assert parses == [True, False]
    assert later["message"] == first["message"].replace("subject=t", "subject=s")


def test_an_invalid_schema_meets_the_mode_of_its_subject_first(http: httpx2.Client) -> None:
    http.put("/mode/s", json={"mode": "READONLY"})
    assert http.post("/subjects/s/versions", json={"schema": REFUSED}).json()["error_code"] == 42205

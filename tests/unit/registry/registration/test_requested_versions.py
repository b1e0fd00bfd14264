"""The version that a registration requires: any, the next one, or a number."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.registration.request import (
    AnyVersion,
    ExactVersion,
    NextVersion,
    RegistrationRequest,
    RequestedVersion,
    parse_requested_version,
)

INT, LONG, STRING = '"int"', '"long"', '"string"'


@pytest.mark.parametrize(
    ("number", "requested", "required"),
    [
        (None, AnyVersion(), None),
        (0, AnyVersion(), None),
        (-1, NextVersion(), None),
        (7, ExactVersion(7), 7),
        (-5, ExactVersion(-5), None),
    ],
)
def test_a_number_becomes_a_requested_version(
    number: int | None, requested: RequestedVersion, required: int | None
) -> None:
    assert parse_requested_version(number) == requested
    request = RegistrationRequest(subject=Subject.parse("s"), draft=SchemaDraft(INT), version=requested)
    assert request.number == required


@pytest.mark.parametrize(
    ("schema", "number", "outcome"),
    [
        (INT, None, 1),  # any version with the content is the result
        (INT, 0, 1),
        (INT, 1, 1),
        (INT, -5, 1),
        (INT, -1, 3),  # only the latest would be
        (LONG, -1, 2),
        (STRING, -1, 3),
        (STRING, 3, 3),
        (INT, 3, 3),
        (STRING, 4, 42201),
        (STRING, 2, 42201),
        (STRING, -5, 42201),  # no version has this number
    ],
)
def test_a_requested_version_decides_on_the_result(
    http: httpx2.Client, schema: str, number: int | None, outcome: int
) -> None:
    http.put("/config/s", json={"compatibility": "NONE"})
    for text in (INT, LONG):
        assert http.post("/subjects/s/versions", json={"schema": text}).status_code == 200
    body: dict[str, Any] = {"schema": schema} | ({} if number is None else {"version": number})
    answer = http.post("/subjects/s/versions", json=body).json()
    assert answer.get("error_code", answer.get("version")) == outcome

"""Hostile schemas sent to a server have the expected responses.

The bound here only tells a response from a hang; ``benchmarks/registry/hostile_schemas.py`` prints how long each one
takes, and how long other callers wait meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx2
import pytest

from support.hostile_requests import ResponseSummary, send_hostile_requests
from support.hostile_schemas import HOSTILE

HANGS = 120.0  #: seconds

TAKEN, INVALID, TOO_LARGE = (200, None), (422, 42201), (413, 413)
FITS, BREAKS = (200, True), (200, False)

#: What registering it is answered, and what checking its variant against it under BACKWARD.
EXPECTED: dict[str, tuple[ResponseSummary, ResponseSummary]] = {
    "900 levels of arrays": (INVALID, INVALID),
    "60 levels of arrays": (TAKEN, FITS),
    "1 MB of nesting": (TOO_LARGE, TOO_LARGE),
    "1 MB of open brackets": (INVALID, INVALID),
    "1 MB of quotes": (TOO_LARGE, TOO_LARGE),
    "1 MB of escapes": (TOO_LARGE, TOO_LARGE),
    "1 MB of open comments": (INVALID, INVALID),
    "an enum of 100,000 symbols": (TOO_LARGE, TOO_LARGE),
    "an enum of 50,000 symbols": (TAKEN, BREAKS),
    "a record of 50,000 fields": (TOO_LARGE, TOO_LARGE),
    "a record of 20,000 fields": (TAKEN, FITS),
    "a union of 8,000 records": (INVALID, INVALID),
    "a union of 1,000 records": (TAKEN, FITS),
    "a union of 1,000 records of one name": (TAKEN, FITS),
    "a union of 300 records of one name that lead on": (TAKEN, FITS),
    "22 MB of resolved text": (TAKEN, FITS),
    "25 records that all name each other": (TAKEN, FITS),
    "a number of 5,000 digits": (INVALID, INVALID),
    "a default nested as deep as its type": (TAKEN, FITS),
    "defaults that fill each other": (INVALID, INVALID),
    "a fan-out of 99 references": (INVALID, INVALID),  # the chain ends where it is deeper than is allowed
    "10 MB of references": (TAKEN, BREAKS),
    "JSON: 250 levels": (INVALID, INVALID),
    "JSON: 60 levels of properties": (TAKEN, FITS),
    "JSON: 60 levels of not": (TAKEN, FITS),
    "JSON: 5,000 properties": (TAKEN, FITS),
    "JSON: 5,000 properties closed": (TAKEN, FITS),
    "JSON: 500 of 5,000 properties": (TAKEN, FITS),
    "JSON: 1,000 levels": (INVALID, INVALID),
    "JSON: 3,000 arrays that differ": (TAKEN, BREAKS),
    "JSON: an enum of 100,000": (TOO_LARGE, TOO_LARGE),
    "JSON: nested oneOf of width 6 and depth 6, by reference": (TAKEN, FITS),
    "JSON: nested oneOf of width 6 and depth 4": (TAKEN, FITS),
    "JSON: nested oneOf of width 6 and depth 6": (TOO_LARGE, TOO_LARGE),
    "JSON: oneOf of 100 objects": (TAKEN, FITS),
    "JSON: oneOf of 1,000 types": (TAKEN, BREAKS),  # the work limit
    "JSON: a fan-out of 16 references": (TAKEN, FITS),
    "JSON: a fan-out of 60 references": (TAKEN, FITS),
    "JSON: a fan-out of 60 references in oneOf": (TAKEN, FITS),
    "JSON: a cycle of 500 references": (TAKEN, FITS),
    "JSON: a reference to itself": (TAKEN, FITS),
    "JSON: a chain of 3,000 references": (TAKEN, FITS),
    "JSON: an exponential pattern": (TAKEN, FITS),
    "JSON: nested counted repetition": (TAKEN, FITS),
    "JSON: 1,000 patterns over 1,000 names": (TAKEN, BREAKS),  # the work limit
    "JSON: an integer of 5,000 digits": (INVALID, INVALID),
    "JSON: an exponent beyond all": (INVALID, INVALID),
    "JSON: a reference to a URL": (INVALID, INVALID),
    "JSON: a reference to a file": (INVALID, INVALID),
    "JSON: 1 MB of nesting": (TOO_LARGE, TOO_LARGE),
    "JSON: 1 MB of quotes": (TOO_LARGE, TOO_LARGE),
}

#: Bodies that are hostile before there is a schema, and what both endpoints say of them.
BODIES: dict[str, tuple[bytes, str]] = {
    "a schema of 1,000 objects": (b'{"schema":' * 1_000 + b"1" + b"}" * 1_000, "Expected `str | null`, got `object`"),
    "an unknown member of 1,000 levels": (b'{"x":' + b"[" * 1_000 + b"]" * 1_000 + b"}", "is not JSON"),
    "an unknown member of 100,000 levels": (b'{"x":' + b"[" * 100_000, "is not JSON"),
    "100,000 open brackets": (b"[" * 100_000, "Expected `object`, got `array`"),
    "an integer of 5,000 digits": (b'{"version":' + b"9" * 5_000 + b"}", "Integer value out of range"),
}


@pytest.fixture(scope="module")
def client(registry_url: str) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=registry_url, timeout=HANGS) as one:
        assert one.post("/subjects/neighbour/versions", json={"schema": '"int"'}).status_code == 200
        yield one


def test_each_hostile_schema_has_an_expected_answer() -> None:
    assert list(EXPECTED) == list(HOSTILE)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_hostile_schema_is_answered_as_expected(client: httpx2.Client, name: str) -> None:
    assert tuple(request.summary for request in send_hostile_requests(client, name)) == EXPECTED[name]
    assert client.get("/subjects/neighbour/versions/latest").status_code == 200


@pytest.mark.parametrize("name", BODIES)
def test_a_hostile_body_is_answered_as_expected(client: httpx2.Client, name: str) -> None:
    content, reason = BODIES[name]
    for path in ("/subjects/body/versions", "/compatibility/subjects/body/versions"):
        answer = client.post(path, content=content)
        assert (answer.status_code, answer.json()["error_code"]) == (400, 400)
        assert reason in answer.json()["message"]


def test_a_schema_that_is_huge_when_written_out_names_each_type_once(client: httpx2.Client) -> None:
    graph = json.dumps(HOSTILE["22 MB of resolved text"].text())
    told = client.post("/subjects/graph/versions", json={"schema": graph}).json()
    answer = client.get(f"/schemas/ids/{told['id']}?format=resolved")
    assert answer.status_code == 200
    assert len(answer.content) < 2 * len(graph)

"""Hostile schemas have the expected outcome, without hangs, crashes or huge memory.

Work is counted in steps, so each outcome is the same on every machine; what hangs is ended. No schema takes more than
400 MB, twice what any takes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from support import hostile_schemas

MEGABYTES = 400

NESTED = "refused: the text is nested more than 128 levels deep"
NO_JSON = "refused: this is not JSON"
WIDER = "accepted; variant: AVRO_TYPE_CHANGED"
JSON_WIDER = "accepted; variant: JSON_TYPE_NARROWED / JSON_EXACT_TYPE"
BRANCHES = "accepted; variant: JSON_COMBINED_TYPE_SUBSCHEMAS_CHANGED"
LIMIT = "WORK_LIMIT_EXCEEDED"

#: Where the policies differ, STRICT comes first, then LENIENT where it differs, EXACT last.
EXPECTED = {
    "900 levels of arrays": NESTED,
    "60 levels of arrays": WIDER,
    "1 MB of nesting": NESTED,
    "1 MB of open brackets": NESTED,
    "1 MB of quotes": NO_JSON,
    "1 MB of escapes": NO_JSON,
    "1 MB of open comments": NO_JSON,
    "an enum of 100,000 symbols": "refused: the schema has more than 50000 symbols",
    "an enum of 50,000 symbols": "accepted; variant: AVRO_ENUM_SYMBOLS_MISSING",
    "a record of 50,000 fields": "refused: the schema has more than 20000 fields",
    "a record of 20,000 fields": WIDER,
    "a union of 8,000 records": "refused: a union of 8000 branches is over the limit of 1000",
    "a union of 1,000 records": WIDER,
    "a union of 1,000 records of one name": "accepted; variant: WORK_LIMIT_EXCEEDED",
    "a union of 300 records of one name that lead on": "accepted; variant: WORK_LIMIT_EXCEEDED",
    "22 MB of resolved text": WIDER,
    "25 records that all name each other": WIDER,
    "a number of 5,000 digits": "refused: a number of 5000 characters is longer than the limit of 1000",
    "a default nested as deep as its type": WIDER,
    "defaults that fill each other": "refused when new: checking the defaults takes more than 200000 steps",
    "a fan-out of 99 references": "accepted; variant: AVRO_TYPE_CHANGED",
    "10 MB of references": "accepted; variant: AVRO_FIELD_DEFAULT_MISSING",
    "JSON: 250 levels": NESTED,
    "JSON: 60 levels of properties": JSON_WIDER,
    "JSON: 60 levels of not": "accepted; variant: JSON_NOT_TYPE_EXTENDED / JSON_EXACT_COMBINED",
    "JSON: 5,000 properties": JSON_WIDER,
    "JSON: 5,000 properties closed": f"accepted; variant: JSON_TYPE_NARROWED / {LIMIT}",
    "JSON: 500 of 5,000 properties": JSON_WIDER,
    "JSON: 1,000 levels": NESTED,
    "JSON: 3,000 arrays that differ": f"{BRANCHES} / JSON_EXACT_VALUE",
    "JSON: an enum of 100,000": "accepted; variant: JSON_ENUM_ARRAY_CHANGED / JSON_EXACT_VALUE",
    "JSON: nested oneOf of width 6 and depth 6, by reference": f"{BRANCHES} / compatible / JSON_EXACT_COMBINED",
    "JSON: nested oneOf of width 6 and depth 4": f"{BRANCHES} / compatible / JSON_EXACT_COMBINED",
    "JSON: nested oneOf of width 6 and depth 6": "refused: the schema has more than 20000 objects",
    "JSON: oneOf of 100 objects": "accepted; variant: WORK_LIMIT_EXCEEDED",
    "JSON: oneOf of 1,000 types": "accepted; variant: WORK_LIMIT_EXCEEDED",
    "JSON: a fan-out of 16 references": f"{BRANCHES} / {LIMIT}",
    "JSON: a fan-out of 60 references": f"{BRANCHES} / {LIMIT}",
    "JSON: a fan-out of 60 references in oneOf": f"{BRANCHES} / {LIMIT}",
    "JSON: a cycle of 500 references": JSON_WIDER,
    "JSON: a reference to itself": "accepted; variant: compatible",
    "JSON: a chain of 3,000 references": f"accepted; variant: JSON_TYPE_NARROWED / {LIMIT}",
    "JSON: an exponential pattern": "accepted; variant: compatible / JSON_EXACT_TYPE",
    "JSON: nested counted repetition": "accepted; variant: compatible / JSON_UNDECIDED",
    "JSON: 1,000 patterns over 1,000 names": (
        f"accepted; variant: JSON_PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL,{LIMIT} / {LIMIT}"
    ),
    "JSON: an integer of 5,000 digits": "refused: a number of 5000 characters is longer than the limit of 1000",
    "JSON: an exponent beyond all": "refused when new: not a schema of draft-07: a number outside the range of a",
    "JSON: a reference to a URL": 'refused when new: "http://127.0.0.1:9/never" is neither in the schema nor among its',
    "JSON: a reference to a file": 'refused when new: "file:///etc/passwd" is neither in the schema nor among its',
    "JSON: 1 MB of nesting": "refused: the schema has more than 20000 objects",
    "JSON: 1 MB of quotes": NO_JSON,
}

#: Hostile inputs that were measured against other registries, and the name each has here.
MEASURED = {
    "Avro schema nested 900 deep": "900 levels of arrays",
    "JSON text nested deeper than 994 containers": "JSON: 1,000 levels",
    "JSON Schema 250 levels": "JSON: 250 levels",
    "Avro enum of 100,000 symbols": "an enum of 100,000 symbols",
    "Avro record of 50,000 fields": "a record of 50,000 fields",
    "union of 8,000 records": "a union of 8,000 records",
    "record graph, each level naming the previous one twice, 18 levels": "22 MB of resolved text",
    "JSON Schema allOf of two refs to the next definition, 16 levels": "JSON: a fan-out of 16 references",
    "pattern ^(a+)+$": "JSON: an exponential pattern",
    "nested counted repetition": "JSON: nested counted repetition",
    "uniqueItems with 3,000 arrays": "JSON: 3,000 arrays that differ",
    "enum of 100,000": "JSON: an enum of 100,000",
    "integer literal of 5,000 digits": "JSON: an integer of 5,000 digits",
    "$ref to http://": "JSON: a reference to a URL",
    "$ref to file://": "JSON: a reference to a file",
}

HEAVY = {name for name, outcome in EXPECTED.items() if LIMIT in outcome or "fan-out" in name} | {
    "a record of 20,000 fields",
    "JSON: 5,000 properties",
    "JSON: 500 of 5,000 properties",
    "JSON: a cycle of 500 references",
    "JSON: an enum of 100,000",
    "JSON: nested oneOf of width 6 and depth 4",
    "JSON: nested oneOf of width 6 and depth 6, by reference",
}  #: some seconds together


def meet(names: Iterable[str]) -> dict[str, Any]:
    """What happened to each of them, in processes of their own."""
    environment = {"PYTHONPATH": str(Path(hostile_schemas.__file__).parent.parent), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, hostile_schemas.__file__, *names], capture_output=True, text=True, check=True, env=environment
    )
    return {each["name"]: each for each in map(json.loads, done.stdout.splitlines())}


@pytest.fixture(scope="module")
def light() -> dict[str, Any]:
    return meet(EXPECTED.keys() - HEAVY)


@pytest.fixture(scope="module")
def heavy() -> dict[str, Any]:
    return meet(HEAVY)


def judge(each: dict[str, Any]) -> None:
    assert each["outcome"].startswith(EXPECTED[each["name"]]), each
    assert each["megabytes"] < MEGABYTES, each


def test_each_hostile_schema_has_an_expected_outcome() -> None:
    assert EXPECTED.keys() == hostile_schemas.HOSTILE.keys()
    assert EXPECTED.keys() >= set(MEASURED.values())


@pytest.mark.parametrize("name", sorted(EXPECTED.keys() - HEAVY))
def test_hostile_schemas_end_as_expected(light: dict[str, Any], name: str) -> None:
    judge(light[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(HEAVY))
def test_hostile_schemas_that_take_all_their_steps_end_as_expected(heavy: dict[str, Any], name: str) -> None:
    judge(heavy[name])

"""Documented differences from Java Avro in reading, each with its smallest case."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.readers_and_writers import AvroReader
from contractlog.serdes.errors import DecodeError

from support.avro_codec_comparison import KNOWN_DIFFERENCES
from support.avro_codecs import encode_zigzag, parse, record
from support.java_avro import JavaProcess

pytestmark = [pytest.mark.integration, pytest.mark.spark]

PAGE = Path(__file__).parents[3] / "docs" / "serdes.md"


@dataclass(frozen=True)
class Case:
    """Bytes of a writer, what a reader makes of them here, and in Java: a value as it is told, or part of an error."""

    name: str
    writer: Any
    body: bytes
    reader: Any
    ours: Any
    java: Any


ENUM = {"type": "enum", "name": "E", "symbols": ["A"]}
CENTS = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}
NANOS = {"type": "long", "logicalType": "timestamp-nanos"}
DAY = {"type": "int", "logicalType": "date"}
NONE = record()
SELF = record(("again", "Self"), name="Self")
ALIASED = {**record(("b", "int"), name="n.R"), "fields": [{"name": "b", "type": "int", "aliases": ["a"]}]}
INSIDE = {**record(("a", "R"), name="n.I"), "namespace": "n"}
NUMBERS = {"type": "array", "items": "int"}
WORDS = {"type": "map", "values": "string"}

CASES = [
    Case("moment that Python has no type for", NANOS, b"\x02", NANOS, 1, {"instant": "1"}),
    Case("moment that Python has no type for", DAY, encode_zigzag(2**31 - 1), DAY, 2**31 - 1, {"date": str(2**31 - 1)}),
    Case("bytes that are no text", record(("a", "bytes")), b"\x02\xff", record(("a", "string")), Outcome.BAD_UTF8,
         {"o": {"a": "\ufffd"}}),
    Case("raw value that breaks the reader's logical type", record(("a", "bytes")), b"\x04\x7f\xff",
         record(("a", CENTS)), Outcome.LOGICAL_TYPE, {"o": {"a": {"decimal": "32767 2"}}}),
    Case("branch under another namespace", ENUM, b"\x00", [{**ENUM, "name": "n.E"}, "null"], "A", "expecting union"),
    Case("name or alias that Java's decoder takes in another way", record(("a", "int")), b"\x02", ALIASED, {"b": 1},
         "missing required field b"),
    Case("default of a later branch", NONE, b"", record(("a", [WORDS, "boolean"], True)), {"a": True},
         {"o": {"a": {"o": {}}}}),
    Case("default of a later branch", NONE, b"", record(("a", [NUMBERS, "null"], None)), {"a": None},
         {"o": {"a": []}}),
    Case("default of a later branch", NONE, b"", record(("a", [ENUM, "string"], "Z")), {"a": "Z"}, "enum value"),
    Case("endless default", NONE, b"", record(("a", ["R", "float"], 1.5)), {"a": 1.5}, "StackOverflowError"),
    Case("recursive type that Java's decoder cannot follow", record(("a", {"type": "array", "items": SELF})), b"\x00",
         record(("a", {"type": "array", "items": SELF})), {"a": []}, "StackOverflowError"),
    Case("schema that only one side parses", record(("a", ["null", INSIDE])), b"\x00", record(("a", ["null", INSIDE])),
         {"a": None}, "Undefined schema: n.R"),
]  # fmt: skip


def test_each_class_has_a_case_and_a_row() -> None:
    assert {case.name for case in CASES} == set(KNOWN_DIFFERENCES)
    section = PAGE.read_text(encoding="utf-8").partition("## Differences from Java Avro")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + len(KNOWN_DIFFERENCES)


@pytest.mark.parametrize("case", CASES, ids=[f"{case.name}-{index}" for index, case in enumerate(CASES)])
def test_a_class_of_difference_has_its_smallest_case(java_avro: JavaProcess, case: Case) -> None:
    reader = AvroReader(parse(case.writer), parse(case.reader))
    if isinstance(case.ours, Outcome):
        with pytest.raises(DecodeError) as caught:
            reader.decode(case.body)
        assert caught.value.outcome is case.ours
    else:
        assert reader.decode(case.body) == case.ours
    question = {"op": "fates", "writer": [json.dumps(case.writer)], "reader": [json.dumps(case.reader)]}
    [answer] = java_avro.ask([question | {"bodies": [case.body.hex()]}])
    if isinstance(case.java, str):
        [fate] = answer.get("fates", [[None]])
        assert case.java in str(answer.get("error") or fate[0] or fate[3])
    else:
        assert answer["fates"][0][4] == case.java

"""Comparison of parser, texts, engine and messages with Java Avro and Confluent's checker.

The long part runs the full sizes; ``python -m support.avro_java_comparison`` prints what they met.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.formats import compare_schemas
from contractlog.compatibility.level import Level
from contractlog.compatibility.verdict_messages import format_messages

from support.avro_codecs import parse, write_and_read
from support.avro_java_comparison import JavaComparison, compare_acceptance, compare_messages, compare_verdicts
from support.avro_normalization_comparison import KNOWN_DIFFERENCES, compare_normalization
from support.java_avro import JavaProcess, avro_version

pytestmark = [pytest.mark.integration, pytest.mark.spark]

GOLDEN = Path(__file__).parents[2] / "unit" / "compatibility" / "cases" / "canonical" / "avro.json"
NORMALIZED = GOLDEN.with_name("avro_normalized.json")
FULL = pytest.mark.slow


def record(name: str, *fields: Any, **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": one, "type": kind} for one, kind in fields], **more}


def agrees(proof: JavaComparison) -> None:
    assert proof.unassigned == {}


def test_the_golden_texts_are_javas(java_avro: JavaProcess) -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    answers = java_avro.ask([{"op": "parse", "schema": [case["text"]]} for case in golden])
    assert [answer["canonical"] for answer in answers] == [case["canonical"] for case in golden]


def test_the_golden_normalized_texts_are_the_references(java_confluent: JavaProcess) -> None:
    golden = json.loads(NORMALIZED.read_text(encoding="utf-8"))
    answers = java_confluent.ask([{"op": "normalize", "schema": [case["text"]]} for case in golden])
    assert [answer["normalized"] for answer in answers] == [case["normalized"] for case in golden]


@pytest.mark.parametrize("strict", [True, False], ids=["new", "stored"])
@pytest.mark.parametrize("count", [1_000, pytest.param(20_000, marks=FULL)])
def test_acceptance_texts_and_fingerprints_are_javas(java_avro: JavaProcess, count: int, *, strict: bool) -> None:
    proof = compare_acceptance(java_avro, Random(count), count, strict=strict)  # noqa: S311 - the same schemas in every run
    agrees(proof)
    assert proof.counts["accepted by both"] > count / 3
    assert proof.counts["refused by both"] > count / 5


@pytest.mark.parametrize(("count", "least"), [(2_000, 3), pytest.param(50_000, 100, marks=FULL)])
def test_verdicts_are_javas_and_java_reads_what_they_admit(java_avro: JavaProcess, count: int, least: int) -> None:
    proof = compare_verdicts(java_avro, Random(count), count)  # noqa: S311 - the same pairs in every run
    agrees(proof)
    assert proof.counts["pairs"] >= count
    assert proof.list_rare_features(least) == []
    assert proof.counts["values read"] > count


TEXTS = pytest.mark.skipif(
    avro_version() != "1.12.1", reason=f"texts are those of Java Avro 1.12.1; this pyspark has {avro_version()}"
)


@TEXTS
@pytest.mark.parametrize("refusals", [500, pytest.param(10_000, marks=FULL)])
def test_messages_are_the_references_to_the_letter(
    java_avro: JavaProcess, java_confluent: JavaProcess, refusals: int
) -> None:
    proof = compare_messages(java_avro, java_confluent, Random(refusals), refusals)  # noqa: S311 - the same pairs in every run
    agrees(proof)
    assert proof.counts["to the letter"] > 0.9 * proof.counts["refusals"]
    assert proof.counts["paths through a branch"] > 0.05 * proof.counts["refusals"]


PLACES = {
    "a union becomes one of its branches": (
        record("R", ("n", "int")), record("R", ("n", ["null", "int"])), [("TYPE_MISMATCH", "/fields/0/type/0")],
    ),
    "below a map": (
        {"type": "map", "values": {"type": "array", "items": "int"}},
        {"type": "map", "values": ["null", {"type": "array", "items": "string"}]},
        [("TYPE_MISMATCH", "/values/0"), ("TYPE_MISMATCH", "/values/1/items")],
    ),
    "below an array in a map": (
        {"type": "map", "values": {"type": "array", "items": "int"}},
        {"type": "map", "values": {"type": "array", "items": ["int", "string"]}},
        [("TYPE_MISMATCH", "/values/items/1")],
    ),
    "a record in a union read by a record": (
        record("R", ("n", "int")), ["null", record("R")],
        [("TYPE_MISMATCH", "/0"), ("READER_FIELD_MISSING_DEFAULT_VALUE", "/1/fields/0")],
    ),
    "two unions, one inside the other's branch": (
        {"type": "array", "items": ["null", {"type": "map", "values": "int"}]},
        {"type": "array", "items": ["null", {"type": "map", "values": ["int", "string"]}]},
        [("MISSING_UNION_BRANCH", "/items/1")],
    ),
    "a changed type, then unions with it": (
        record("R", ("f", record("G", ("a", "int"))), ("n", "int"), ("g", ["null", "G"]),
               ("h", {"type": "map", "values": {"type": "array", "items": ["null", "G"]}})),
        record("R", ("f", record("G")), ("n", "string"), ("g", ["null", "G"]),
               ("h", {"type": "map", "values": {"type": "array", "items": ["null", "G"]}})),
        [("READER_FIELD_MISSING_DEFAULT_VALUE", "/fields/0/type/fields/0"), ("TYPE_MISMATCH", "/fields/1/type"),
         ("MISSING_UNION_BRANCH", "/fields/2/type/1"), ("MISSING_UNION_BRANCH", "/fields/3/type/values/items/1")],
    ),
    "a changed type inside another, then unions with both, one renamed by alias": (
        record("R", ("f", record("Y", ("x", record("G", ("a", "int"))), aliases=["X"])), ("g", ["null", "Y"]),
               ("h", ["null", {"type": "array", "items": "Y"}]), ("i", ["null", "G"])),
        record("R", ("f", record("X", ("x", record("G")))), ("g", ["null", "X"]),
               ("h", ["null", {"type": "array", "items": "X"}]), ("i", ["null", "G"])),
        [("READER_FIELD_MISSING_DEFAULT_VALUE", "/fields/0/type/fields/0/type/fields/0"),
         *(("MISSING_UNION_BRANCH", f"/fields/{index}/type/1") for index in (1, 2, 3))],
    ),
    "a changed recursive type, then a union with it": (
        record("R", ("f", record("G", ("n", ["null", "G"]), ("a", "int"))), ("g", ["null", "G"])),
        record("R", ("f", record("G", ("n", ["null", "G"]))), ("g", ["null", "G"])),
        [("READER_FIELD_MISSING_DEFAULT_VALUE", "/fields/0/type/fields/1"),
         ("MISSING_UNION_BRANCH", "/fields/1/type/1")],
    ),
}  # fmt: skip


@TEXTS
@pytest.mark.parametrize("case", PLACES)
def test_a_path_names_the_branch_of_the_writers_union_and_keeps_what_leads_to_it(
    java_avro: JavaProcess, case: str
) -> None:
    reader, writer, expected = PLACES[case]
    (theirs,) = java_avro.ask([{"op": "compare", "reader": [json.dumps(reader)], "writer": [json.dumps(writer)]}])
    assert [(kind, path) for kind, path, _ in theirs["findings"]] == expected
    verdict = check_compatibility(parse(reader), [ParsedVersion(1, parse(writer))], Level.BACKWARD)
    told = [text for text in format_messages(verdict) if text.startswith("{errorType")]
    assert [(kind, f"path '{path}'" in text) for text, (kind, path) in zip(told, expected, strict=True)] == [
        (kind, True) for kind, _ in expected
    ]


@pytest.mark.parametrize("count", [1_000, pytest.param(20_000, marks=FULL)])
def test_normalized_texts_are_the_references_to_the_letter(java_confluent: JavaProcess, count: int) -> None:
    proof = compare_normalization(java_confluent, Random(count), count)  # noqa: S311 - the same schemas in every run
    assert {name: case for name, case in proof.smallest.items() if name not in KNOWN_DIFFERENCES} == {}
    assert proof.counts["same canonical"] > 0.98 * count
    assert proof.counts["same normalized"] > 0.85 * count
    assert proof.counts["another text than the canonical"] > 0.8 * count
    assert all(proof.counts[name] for name in KNOWN_DIFFERENCES)


def test_a_verdict_under_an_open_assumption_is_what_java_admits_and_cannot_read(java_avro: JavaProcess) -> None:
    kinds = {
        "B": record("B", ("a", ["null", "A"])),
        "A": record("A", ("b", ["null", "B"]), ("n", "long")),
    }
    inner = {**kinds["A"], "fields": [{"name": "b", "type": ["null", kinds["B"]]}, {"name": "n", "type": "long"}]}
    changed = {**inner, "fields": [inner["fields"][0], {"name": "n", "type": "string"}]}
    writer = record("R", ("u", inner), ("v", "B"))
    reader = record("R", ("u", [changed, record("D", aliases=["A"])]), ("v", "B"))
    texts = {"reader": [json.dumps(reader)], "writer": [json.dumps(writer)]}
    theirs, data = java_avro.ask([{"op": "compare", **texts}, {"op": "decode", **texts, "seed": 1, "count": 50}])
    assert theirs["findings"] == []
    assert "error" in data
    assert {finding.check for finding in compare_schemas(parse(reader), parse(writer))} == {"AVRO_TYPE_CHANGED"}


@pytest.mark.parametrize(
    ("writer", "value", "reader", "read"),
    [
        pytest.param(
            record("R", ("u", ["null", {"type": "enum", "name": "E", "symbols": ["A"]}])),
            {"u": "A"},
            record("R", ("u", ["null", {"type": "enum", "name": "n.E", "symbols": ["A"]}, "int"])),
            {"u": "A"},
            id="branch under another namespace",
        ),
        pytest.param(
            record("R", ("a", "int")),
            {"a": 1},
            record("n.R") | {"fields": [{"name": "b", "type": "int", "aliases": ["a"]}]},
            {"b": 1},
            id="field alias under another namespace",
        ),
        pytest.param(
            record("R"),
            {},
            record("R") | {"fields": [{"name": "a", "type": [{"type": "array", "items": "int"}, "null"],
                                       "default": None}]},
            {"a": None},
            id="default of a later branch",
        ),
    ],
)  # fmt: skip
def test_valid_data_that_javas_decoder_cannot_read_is_read(
    java_avro: JavaProcess, writer: Any, value: Any, reader: Any, read: Any
) -> None:
    texts = {"reader": [json.dumps(reader)], "writer": [json.dumps(writer)]}
    theirs, data = java_avro.ask([{"op": "compare", **texts}, {"op": "decode", **texts, "seed": 1, "count": 20}])
    assert theirs["findings"] == []
    assert "error" in data
    assert list(compare_schemas(parse(reader), parse(writer))) == []
    assert write_and_read(writer, value, reader) == read

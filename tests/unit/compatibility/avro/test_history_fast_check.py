"""The check of merged versions accepts exactly the histories without findings."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.avro.interned_shapes import AvroShape
from contractlog.compatibility.avro.schema_format import AVRO_FORMAT
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.formats import compare_schemas, parse_schema, select_breaking
from contractlog.compatibility.level import Level
from contractlog.compatibility.memo import Memo
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft
from contractlog.compatibility.step_budget import StepBudget, StepBudgetExceeded

from support.avro_schemas import AvroSchemaGenerator, evolve_schema

reads_all, shape = AVRO_FORMAT.reads_all, AVRO_FORMAT.build_shape


def parsed(schema: Any) -> ParsedSchema:
    return parse_schema(SchemaDraft(json.dumps(schema)), strict=False)


def shaped(schema: Any, memo: Memo) -> AvroShape:
    made = shape(parsed(schema), memo)
    assert made is not None
    return made


def reads(reader: Any, writers: list[Any], memo: Memo) -> bool:
    some = frozenset(shaped(writer, memo) for writer in writers)
    return reads_all(shaped(reader, memo), some, Policy.STRICT, memo, StepBudget(1_000_000))


def findings(reader: Any, writer: Any) -> tuple[Finding, ...]:
    return select_breaking(compare_schemas(parsed(reader), parsed(writer)), Policy.STRICT)


def history(random: Random, length: int) -> list[Any]:
    """Versions of a schema, each made from one before it."""
    versions = [AvroSchemaGenerator(random).schema()]
    while len(versions) < length:
        version = evolve_schema(random.choice(versions), random, random.randint(0, 2))
        try:
            parsed(version)
        except InvalidSchema:
            continue
        versions.append(version)
    return versions


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_quick_look_agrees_with_the_comparison_in_detail(random: Random) -> None:
    memo = Memo()
    versions = history(random, 5)
    clean = {(i, j): not findings(a, b) for i, a in enumerate(versions) for j, b in enumerate(versions)}
    for i, reader in enumerate(versions):
        for j, writer in enumerate(versions):
            assert reads(reader, [writer], memo) == clean[i, j]
        assert reads(reader, versions, memo) == all(clean[i, j] for j in range(len(versions)))
    assert [reads(a, [b], memo) for a in versions for b in versions] == list(clean.values())


@settings(max_examples=50, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(Level))
def test_a_memo_changes_no_verdict(random: Random, level: Level) -> None:
    versions = [parsed(version) for version in history(random, 6)]
    memo = Memo(shapes=random.choice([5, 50, 5_000]), verdicts=random.choice([5, 50, 5_000]))
    earlier = [ParsedVersion(number, version) for number, version in enumerate(versions)]
    for candidate in versions:
        assert check_compatibility(candidate, earlier, level, memo=memo) == check_compatibility(
            candidate, earlier, level
        )


def record(name: str, *fields: tuple[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": n, "type": kind} for n, kind in fields], **more}


def open_pair(number: str, *others: Any) -> dict[str, Any]:
    b = record("B", ("a", ["null", "A"]))
    a = record("A", ("b", ["null", b]), ("n", number))
    return record("R", ("u", [a, *others] if others else a), ("v", "B"))


def test_a_verdict_under_an_open_assumption_is_not_held() -> None:
    memo = Memo()
    reader, writer = open_pair("string", record("D", aliases=["A"])), open_pair("long")
    for _ in range(2):
        assert not reads(reader, [writer], memo)
    recursive = record("L", ("next", ["null", "L"]), ("value", "long"))
    assert reads(recursive, [recursive, record("L", ("next", ["null", "L"]), ("value", "int"))], memo)
    for held in memo.verdicts:
        assert isinstance(held, tuple)
        fresh = reads_all(*held, Policy.STRICT, Memo(), StepBudget(1_000_000))
        assert fresh is memo.verdicts.get(held)


def test_equal_types_are_one_object_across_schemas() -> None:
    memo = Memo()
    inner = record("Inner", ("a", "int"), ("self", ["null", "Inner"]))
    one, other = (shaped(record("R", ("x", inner), (name, "string")), memo) for name in ("y", "z"))
    assert one is not other
    assert one.fields[0] is other.fields[0]
    assert shaped(record("R", ("x", inner), ("y", "string")), memo) is one
    deeper = record("Inner", ("a", "long"), ("self", ["null", "Inner"]))
    assert shaped(record("R", ("x", deeper), ("y", "string")), memo).fields[0] is not one.fields[0]


def test_names_that_lead_elsewhere_make_another_shape() -> None:
    memo = Memo()
    user = json.dumps(record("User", ("leg", "Leg")))
    legs = [json.dumps(record("Leg", ("km", number))) for number in ("int", "long")]
    short, long = (shape(parse_schema(SchemaDraft(user), {"leg": leg}), memo) for leg in legs)
    assert short is not None
    assert long is not None
    assert short is not long
    assert reads_all(long, frozenset((short,)), Policy.STRICT, memo, StepBudget(100))
    assert not reads_all(short, frozenset((long,)), Policy.STRICT, memo, StepBudget(100))


def test_the_quick_look_counts_its_steps() -> None:
    memo = Memo()
    one, other = ([record(f"n{i}.R", ("x", number)) for i in range(50)] for number in ("int", "string"))
    with pytest.raises(StepBudgetExceeded):
        reads_all(shaped(one, memo), frozenset((shaped(other, memo),)), Policy.STRICT, memo, StepBudget(60))


def test_deep_pairs_are_left_to_the_full_comparison() -> None:
    def chain(number: str) -> ParsedSchema:
        texts = {"T0": json.dumps(record("T0", ("x", number)))}
        for i in range(1, 90):
            inner: Any = f"T{i - 1}"
            for _ in range(10):
                inner = {"type": "array", "items": inner}
            texts[f"T{i}"] = json.dumps(record(f"T{i}", ("x", inner)))
        return parse_schema(SchemaDraft(json.dumps(record("Top", ("x", "T89")))), texts)

    old, new = chain("int"), chain("long")
    assert shape(old, Memo()) is None
    assert check_compatibility(new, [ParsedVersion(1, old)], Level.BACKWARD, memo=Memo()).compatible
    verdict = check_compatibility(new, [ParsedVersion(1, old)], Level.FORWARD, memo=Memo())
    assert [finding.check for finding in verdict.findings] == ["AVRO_TYPE_CHANGED"]

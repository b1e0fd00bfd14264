"""Deserializers and audits accept the same records, with the same code and field otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.limits import DEFAULT_LIMITS, Limits
from contractlog.serdes.avro.readers_and_writers import AvroReader
from contractlog.serdes.errors import DecodeError
from contractlog.serdes.json_schema.schema_preparation import MAX_BACKTRACKING
from contractlog.spark_validation.columnar.limits import ValidationLimits

from support.avro_codecs import encode, encode_zigzag, parse, record, run_both
from support.avro_strategies import schemas, values
from support.columnar import create_validator, list_outcomes, validate_bodies
from support.deadlines import hang_guard


def decoded(schema: Any, body: bytes) -> tuple[str, str]:
    try:
        AvroReader(parse(schema), limits=Limits(strict_booleans=False)).decode(body)
    except DecodeError as error:
        return (error.outcome or Outcome.CONFORMS).name, error.field
    return Outcome.CONFORMS.name, ""


def audited(schema: Any, body: bytes) -> tuple[str, str]:
    [(code, _, field)] = list_outcomes(validate_bodies([body], create_validator(schema)))
    return code, field


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_damaged_records_have_the_same_code_and_field(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    body = bytearray(encode(schema, data.draw(values(schema))))
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(body)))
        match data.draw(st.sampled_from(["cut", "insert", "replace"])):
            case "cut":
                del body[at:]
            case "insert":
                body[at:at] = data.draw(st.binary(min_size=1, max_size=3))
            case _:
                body[at : at + 1] = data.draw(st.binary(min_size=1, max_size=1))
    assert decoded(schema, bytes(body)) == audited(schema, bytes(body))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schemas(), st.binary(max_size=48))
@example(record(("b", "boolean")), b"\x02")
def test_random_bytes_have_the_same_code_and_field(schema: Any, body: bytes) -> None:
    assert decoded(schema, body) == audited(schema, body)


EMPTY = st.recursive(
    st.sampled_from(["null", "none"]),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)  #: types whose values take no bytes: a list is a record of such fields


def empty_type(drawn: Any, names: Iterator[int]) -> Any:
    """Return the type that a value of ``EMPTY`` describes."""
    if isinstance(drawn, list):
        fields = [(f"f{index}", empty_type(part, names)) for index, part in enumerate(drawn)]
        return record(*fields, name=f"E{next(names)}")
    return "null" if drawn == "null" else {"type": "fixed", "name": f"E{next(names)}", "size": 0}


def block(count: int, items: bytes = b"") -> bytes:
    """Return an array of one block."""
    return (encode_zigzag(count) + items if count else b"") + b"\x00"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(EMPTY, st.lists(st.integers(0, 30), max_size=3)), min_size=1, max_size=3),
    st.integers(0, 120),
    st.integers(1, 6),
)
@example([([], [10, 1]), ([[[]]], [3])], 120, 6)
@example([([[[]]], [4])], 119, 6)
@example([([[[]]], [])], 120, 3)
def test_items_without_bytes_are_counted_over_the_record_alike(
    arrays: list[tuple[Any, list[int]]], items: int, depth: int
) -> None:
    """Records of arrays of arrays of such items, in a batch with others, at limits that are reached by few items."""
    names = count()
    kinds = [empty_type(kind, names) for kind, _ in arrays]
    nested = [{"type": "array", "items": {"type": "array", "items": kind}} for kind in kinds]
    schema = record(*((f"a{index}", kind) for index, kind in enumerate(nested)))
    body = b"".join(block(len(counts), b"".join(map(block, counts))) for _, counts in arrays)
    assert_same_outcome(schema, [body, b"\x00" * len(arrays), body], items, depth)


@pytest.mark.parametrize("place", ["field", "branch", "value", "item"])
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
def test_records_without_bytes_are_nested_to_the_same_depth(place: str, depth: int) -> None:
    empty = record(("a", "null"), ("b", record(("c", record(name="C")), name="B")), name="A")
    kind: Any = {
        "field": empty,
        "branch": ["null", empty],
        "value": {"type": "map", "values": empty},
        "item": {"type": "array", "items": empty},
    }[place]
    body = {"field": b"", "branch": b"\x02", "value": b"\x02\x02k\x00", "item": b"\x02\x00"}[place]
    assert_same_outcome(record(("r", kind)), [body], 1_000, depth)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**40), st.integers(0, 150), st.integers(1, 9))
def test_values_without_bytes_are_counted_alike_wherever_they_are(seed: int, items: int, depth: int) -> None:
    """They may be fields, items, entries, branches or the whole record."""
    records = SparseRecords(Random(seed))  # noqa: S311 -- no secret
    schema = records.make_type(7)
    assert_same_outcome(schema, [records.make_body(schema) for _ in range(6)], items, depth)


class SparseRecords:
    """Random schemas, many of whose values take no bytes, and bodies of them."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names = count()
        self.records: dict[str, Any] = {}

    def make_type(self, depth: int) -> Any:
        choice = self.random.randrange(12) if depth else 0
        if choice < 3:
            return self.random.choice(["null", "null", "null", "boolean", empty_type("none", self.names)])
        if choice == 3 and self.records:
            return self.random.choice(list(self.records))
        if choice < 8:
            name = f"N{next(self.names)}"
            fields = [(f"f{at}", self.make_type(depth - 1)) for at in range(self.random.randrange(4))]
            self.records[name] = record(*fields, name=name)
            return self.records[name]
        inner = self.make_type(depth - 1)
        if choice < 10 and not isinstance(inner, list) and inner != "null":
            return ["null", inner]
        return {"type": "map", "values": inner} if choice == 10 else {"type": "array", "items": inner}

    def make_body(self, kind: Any) -> bytes:
        match self.records.get(kind, kind) if isinstance(kind, str) else kind:
            case "boolean":
                return b"\x01"
            case [_, inner]:
                return b"\x02" + self.make_body(inner) if self.random.random() < 0.8 else b"\x00"
            case {"fields": fields}:
                return b"".join(self.make_body(field["type"]) for field in fields)
            case {"items": inner}:
                return self.make_blocks(inner, b"")
            case {"values": inner}:
                return self.make_blocks(inner, b"\x02k")
        return b""

    def make_blocks(self, kind: Any, prefix: bytes) -> bytes:
        blocks = [
            [prefix + self.make_body(kind) for _ in range(self.random.randrange(1, 5))]
            for _ in range(self.random.randrange(3))
        ]
        return b"".join(encode_zigzag(len(items)) + b"".join(items) for items in blocks) + b"\x00"


@pytest.mark.parametrize("place", ["record", "field", "branch", "value", "item", "field of an item"])
@pytest.mark.parametrize("levels", [16, 40])
def test_records_that_double_at_each_level_end_with_an_outcome(place: str, levels: int) -> None:
    """A body of a few bytes may not become 2 ** levels records."""
    double: Any = record(name="F0")
    for level in range(1, levels):
        double = record(("a", double), ("b", f"F{level - 1}"), name=f"F{level}")
    item = record(("i", "boolean"), ("e", double), name="I")
    schema, body = {
        "record": (double, b""),
        "field": (record(("i", "boolean"), ("e", double)), b"\x01"),
        "branch": (["null", double], b"\x02"),
        "value": ({"type": "map", "values": double}, b"\x02\x02k\x00"),
        "item": ({"type": "array", "items": double}, b"\x02\x00"),
        "field of an item": ({"type": "array", "items": item}, encode_zigzag(60) + b"\x01" * 60 + b"\x00"),
    }[place]
    accepted = levels == 16 and place != "field of an item"  # 2 ** 15 records without fields
    with hang_guard():
        assert decoded(schema, body) == audited(schema, body)
        assert (decoded(schema, body)[0] == Outcome.CONFORMS.name) is accepted
        assert audited(schema, body)[0] in {Outcome.CONFORMS.name, Outcome.TOO_MANY_ITEMS.name}
        assert_same_outcome(schema, [body] * 3, 1_000_000, 128)


def assert_same_outcome(schema: Any, bodies: list[bytes], items: int, depth: int) -> None:
    """Check that the deserializer and both walkers of audits agree about records, with low limits."""
    limits = Limits(max_depth=depth, max_empty_items=items, strict_booleans=False)
    expected = []
    for body in bodies:
        try:
            run_both(lambda first: AvroReader(parse(schema), limits=limits, interpreted_first=first).decode(body))  # noqa: B023
            expected.append((Outcome.CONFORMS.name, ""))
        except DecodeError as error:
            expected.append((error.outcome.name if error.outcome else "", error.field))
    for rows in (0, 100):
        validator = create_validator(schema, ValidationLimits(depth=depth, items=items), scalar_rows=rows)
        outcomes = list_outcomes(validate_bodies(bodies, validator))
        assert [(code, field) for code, _, field in outcomes] == expected


def test_the_default_limits_are_those_of_deserializers() -> None:
    limits = ValidationLimits()
    assert (limits.depth, limits.items, limits.length) == (
        DEFAULT_LIMITS.max_depth,
        DEFAULT_LIMITS.max_empty_items,
        DEFAULT_LIMITS.max_length,
    )
    assert limits.backtracking == MAX_BACKTRACKING


@pytest.mark.parametrize("size", [4152, 4153, 4154, 5000])
@pytest.mark.parametrize("precision", [9_999, 10_000, 10_001, 100_000, 2**31 - 1, 2**31, 10**11, "text"])
@pytest.mark.parametrize("fixed", [False, True])
def test_decimals_have_the_same_number_of_digits(precision: Any, size: int, *, fixed: bool) -> None:
    kind = {"type": "fixed", "name": "F", "size": size} if fixed else {"type": "bytes"}
    schema = kind | {"logicalType": "decimal", "precision": precision, "scale": 2}
    for first in (b"\x00\x01", b"\x7f", b"\x80"):
        number = first.ljust(size, b"\xff")
        field = record(("d", schema))
        body = number if fixed else encode_zigzag(size) + number
        assert decoded(field, body) == audited(field, body)

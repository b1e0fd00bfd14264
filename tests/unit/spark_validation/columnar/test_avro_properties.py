"""Both walkers, fastavro and the data agree on random schemas, data and damage."""

from __future__ import annotations

import io
import json
from random import Random
from typing import Any

import fastavro
import pytest

from contractlog.contracts.audit.outcomes import Outcome

from support.columnar import (
    MANY,
    RandomAvro,
    collect_columns,
    create_validator,
    encode,
    expected_columns,
    list_outcomes,
    strip_logical_types,
    validate_bodies,
)

SEEDS = range(60)


def batch(seed: int, size: int = 30) -> tuple[Any, list[Any], list[bytes]]:
    """Return a random schema, values and their bytes."""
    maker = RandomAvro(seed)
    schema = maker.record()
    values = [maker.value(schema, {}) for _ in range(size)]
    return schema, values, [encode(schema, value) for value in values]


def damaged(body: bytes, random: Random) -> bytes:
    """Return bytes that differ in one to three places, or in their length."""
    changed = bytearray(body)
    for _ in range(random.randint(1, 3)):
        at = random.randrange(len(changed) + 1)
        match random.randrange(5):
            case 0:
                del changed[at:]
            case 1:
                changed[at:at] = random.choice([b"\0", b"\1", b"\2", b"\xff", b"\x80\x80", b"\xff" * 9 + b"\1"])
            case 2:
                del changed[at : at + 1]
            case _ if at < len(changed):
                changed[at] = random.choice([0, 1, 2, 3, 0x7F, 0x80, 0xC0, 0xED, 0xFF, random.randrange(256)])
    return bytes(changed)


@pytest.mark.parametrize("seed", SEEDS)
def test_valid_data_conforms_and_columns_contain_it(seed: int) -> None:
    schema, values, bodies = batch(seed)
    expected = expected_columns(schema, values)
    for scalar_rows in (0, 5, MANY):
        checked = validate_bodies(bodies, create_validator(schema, scalar_rows=scalar_rows), columns=True)
        assert list_outcomes(checked) == [("CONFORMS", "", "")] * len(bodies)
        assert collect_columns(checked.columns) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_walkers_say_the_same_of_damaged_records(seed: int) -> None:
    schema, _, bodies = batch(seed)
    random = Random(seed)  # noqa: S311
    records = bodies + [damaged(body, random) for body in bodies for _ in range(4)]
    scalar = validate_bodies(records, create_validator(schema, scalar_rows=MANY), columns=True)
    assert list_outcomes(scalar)[: len(bodies)] == [("CONFORMS", "", "")] * len(bodies)
    for scalar_rows in (0, 5):
        vectorised = validate_bodies(records, create_validator(schema, scalar_rows=scalar_rows), columns=True)
        assert list_outcomes(vectorised) == list_outcomes(scalar)
        assert vectorised.details == scalar.details
        assert collect_columns(vectorised.columns) == collect_columns(scalar.columns)


@pytest.mark.parametrize("seed", range(8))
def test_a_record_is_judged_alike_alone_and_in_a_large_batch(seed: int) -> None:
    schema = {"type": "array", "items": ["int", "long", RandomAvro(seed).record()][seed % 3]}
    maker = RandomAvro(seed)
    values = [maker.value(schema, {}) for _ in range(8)]
    bodies = [encode(schema, value) for value in values]
    random = Random(seed)  # noqa: S311
    records = bodies + [damaged(body, random) for body in bodies for _ in range(4)]
    large = validate_bodies(records * 20, create_validator(schema), columns=True)
    alone = [validate_bodies([record], create_validator(schema), columns=True) for record in records]
    assert list_outcomes(large) == [list_outcomes(one)[0] for one in alone] * 20
    together = collect_columns(large.columns)
    for row, one in enumerate(alone):
        for key, found in collect_columns(one.columns).items():
            assert [value for at, value in together[key] if at == row] == [value for _, value in found]


@pytest.mark.parametrize("seed", SEEDS)
def test_conforming_records_are_read_completely_by_fastavro(seed: int) -> None:
    schema, _, bodies = batch(seed)
    random = Random(seed + 1000)  # noqa: S311
    records = bodies + [damaged(body, random) for body in bodies for _ in range(4)]
    codes = validate_bodies(records, create_validator(schema)).codes
    parsed = fastavro.parse_schema(json.loads(json.dumps(strip_logical_types(schema))))
    for code, body in zip(codes.tolist(), records, strict=True):
        if code == Outcome.CONFORMS:
            stream = io.BytesIO(body)
            fastavro.schemaless_reader(stream, parsed, None)
            assert stream.tell() == len(body)

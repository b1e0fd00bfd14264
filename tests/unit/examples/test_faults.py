from __future__ import annotations

import io
import json
from collections import Counter
from functools import cache
from random import Random

import fastavro
import numpy as np
import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.compatibility.identifiers import SchemaId
from contractlog.compatibility.schema import RegisteredSchema, SchemaType
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.spark_validation.columnar.column_validation import make_validator, validate_column

from flights import events
from flights.avro_spans import encode_long, find_field_spans
from flights.events import Event
from flights.faults import (
    AVRO_FAULTS,
    JSON_FAULTS,
    Fault,
    FaultPlan,
    FaultRate,
    Planted,
    Record,
    read_planted,
    write_planted,
)
from flights.topics import AIRCRAFT, AIRPORTS, DEPARTED, WEATHER, read_schema_text

OWN, FOREIGN, KEY = 7, 8, 9
VERSION_2 = read_schema_text(f"{DEPARTED}-value", 2)


@cache
def _departures() -> list[Event]:
    return events.read_departures(2_000)


def _seeded(number: int) -> Random:
    return Random(number)  # noqa: S311  # the same damage in every run


def _framed(schema_id: int, text: str, value: object) -> bytes:
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(json.loads(text)), value)
    return b"\0" + schema_id.to_bytes(4, "big") + body.getvalue()


def _departure(event: Event) -> Record:
    value = _framed(OWN, VERSION_2, event.value)
    key = _framed(KEY, read_schema_text(f"{DEPARTED}-key"), event.key)
    return Record(key, value, event.value or {}, find_field_spans(json.loads(VERSION_2), value[5:]), FOREIGN)


def _observation(event: Event) -> Record:
    value = b"\0" + OWN.to_bytes(4, "big") + orjson.dumps(event.value)
    key = _framed(KEY, '"string"', event.key)
    return Record(key, value, event.value or {}, None, FOREIGN)


def _outcomes(bodies: list[bytes], own: int, schemas: dict[int, tuple[str, SchemaType]]) -> list[Outcome]:
    """What an audit says of these records."""
    validators = {
        number: make_validator(RegisteredSchema(SchemaId(number), text, kind))
        for number, (text, kind) in schemas.items()
    }
    checked = validate_column(pa.array(bodies, pa.binary()), validators, frozenset({own}), columns=False)
    return [Outcome(code) for code in np.asarray(checked.codes).tolist()]


AIRPLANE = (read_schema_text(f"{AIRCRAFT}-value"), SchemaType.AVRO)


@pytest.mark.parametrize("fault", AVRO_FAULTS, ids=lambda fault: fault.kind)
def test_damage_to_avro_has_the_outcome_it_promises(fault: Fault) -> None:
    records = [_departure(event) for event in _departures()[:200]]
    damaged = [fault.apply(_seeded(number), record) for number, record in enumerate(records)]
    values = _outcomes([value for _, value in damaged], OWN, {OWN: (VERSION_2, SchemaType.AVRO), FOREIGN: AIRPLANE})
    keys = _outcomes([key for key, _ in damaged], KEY, {KEY: (read_schema_text(f"{DEPARTED}-key"), SchemaType.AVRO)})
    hurt, whole = (keys, values) if fault.part == "key" else (values, keys)
    assert set(hurt) == {fault.outcome}
    assert set(whole) == {Outcome.CONFORMS}


@pytest.mark.parametrize("fault", JSON_FAULTS, ids=lambda fault: fault.kind)
def test_damage_to_json_has_the_outcome_it_promises(fault: Fault) -> None:
    records = [_observation(event) for event in events.read_observations(200)]
    damaged = [fault.apply(_seeded(number), record)[1] for number, record in enumerate(records)]
    schemas = {OWN: (read_schema_text(f"{WEATHER}-value"), SchemaType.JSON)}
    assert set(_outcomes(damaged, OWN, schemas)) == {fault.outcome}


def test_all_real_records_conform() -> None:
    departures = [_departure(event).value for event in _departures()]
    assert set(_outcomes(departures, OWN, {OWN: (VERSION_2, SchemaType.AVRO)})) == {Outcome.CONFORMS}
    observations = [_observation(event).value for event in events.read_observations()]
    schemas = {OWN: (read_schema_text(f"{WEATHER}-value"), SchemaType.JSON)}
    assert set(_outcomes(observations, OWN, schemas)) == {Outcome.CONFORMS}
    airports = [_framed(OWN, read_schema_text(f"{AIRPORTS}-value"), event.value) for event in events.read_airports()]
    assert set(_outcomes(airports, OWN, {OWN: (read_schema_text(f"{AIRPORTS}-value"), SchemaType.AVRO)})) == {
        Outcome.CONFORMS
    }
    aircraft = [_framed(OWN, AIRPLANE[0], event.value) for event in events.read_aircraft()]
    assert set(_outcomes(aircraft, OWN, {OWN: AIRPLANE})) == {Outcome.CONFORMS}


def test_one_in_two_thousand_is_damaged_with_at_least_ten_of_each_kind() -> None:
    plan = FaultPlan("t", 336_776, AVRO_FAULTS)
    kinds = Counter(fault.kind for number in range(336_776) if (fault := plan.choose_fault(number)))
    assert sum(kinds.values()) == len(plan) == 168
    assert kinds.keys() == {fault.kind for fault in AVRO_FAULTS}
    assert min(kinds.values()) >= 10


def test_few_records_still_get_ten_of_each_kind() -> None:
    plan = FaultPlan("t", 1_000, JSON_FAULTS)
    kinds = Counter(fault.kind for number in range(1_000) if (fault := plan.choose_fault(number)))
    assert kinds == {"schema violation": 10, "not JSON": 10}


def test_the_plan_is_the_same_in_every_run() -> None:
    first, second = FaultPlan("t", 5_000, AVRO_FAULTS), FaultPlan("t", 5_000, AVRO_FAULTS)
    assert [first.choose_fault(number) for number in range(5_000)] == [
        second.choose_fault(number) for number in range(5_000)
    ]
    assert [FaultPlan("u", 5_000, AVRO_FAULTS).choose_fault(number) for number in range(5_000)] != [
        first.choose_fault(n) for n in range(5_000)
    ]


def test_a_topic_of_unknown_length_is_damaged_at_the_same_rate() -> None:
    rate = FaultRate("t", AVRO_FAULTS)
    damaged = sum(rate.choose_fault(number) is not None for number in range(400_000))
    assert 140 <= damaged <= 260


def test_planted_damage_is_read_as_written(tmp_path: object) -> None:
    planted = [Planted("b", 1, 5, "value", "truncated", "TRUNCATED"), Planted("a", 0, 9, "key", "k", "NOT_FRAMED")]
    file = tmp_path / "planted.json"  # type: ignore[operator]
    write_planted(planted, file)
    assert read_planted(file) == sorted(planted, key=lambda damage: damage.topic)


@given(st.integers(-(2**63), 2**63 - 1))
def test_numbers_are_written_as_avro_writes_them(number: int) -> None:
    written = io.BytesIO()
    fastavro.schemaless_writer(written, "long", number)
    assert encode_long(number) == written.getvalue()


def test_spans_cover_a_body_without_gaps() -> None:
    for event in _departures()[:50]:
        body = _departure(event).value[5:]
        spans = list(find_field_spans(json.loads(VERSION_2), body).values())
        assert [span.start for span in spans] == [0, *(span.stop for span in spans[:-1])]
        assert spans[-1].stop == len(body)

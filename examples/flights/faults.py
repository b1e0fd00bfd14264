"""Deliberate damage of known kinds at known positions, to score an audit.

Each kind has the outcome code that a correct audit reports: one part of a record is wrong, and the rest is unchanged.
The list of the planted damage is in a file that the audit does not read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

import orjson

from contractlog.contracts.audit.outcomes import Outcome

from flights.avro_spans import Spans, encode_long

__all__ = [
    "AVRO_FAULTS",
    "DAMAGE_ONE_IN",
    "HEADER_LENGTH",
    "JSON_FAULTS",
    "SEED",
    "Fault",
    "FaultPlan",
    "FaultRate",
    "Planted",
    "Record",
    "read_planted",
    "write_planted",
]

DAMAGE_ONE_IN: Final = 2_000
MIN_PER_KIND: Final = 10  #: of each kind
SEED: Final = 2013
HEADER_LENGTH: Final = 5
FIRST_UNKNOWN_ID: Final = 900_000  #: ids from here on are in no registry


@dataclass(frozen=True, slots=True)
class Record:
    """A record before it is damaged, with the facts that damage needs."""

    key: bytes
    value: bytes
    content: Mapping[str, Any]  #: the value before it was serialized
    spans: Spans | None  #: spans of the fields of an Avro value; None for JSON
    foreign_id: int  #: the id of another subject's schema


Damage = Callable[[Random, Record], bytes]


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of damage."""

    kind: str
    part: str  #: ``key`` or ``value``: the damaged part
    outcome: Outcome
    damage: Damage

    def apply(self, random: Random, record: Record) -> tuple[bytes, bytes]:
        """Return key and value with this damage."""
        damaged = self.damage(random, record)
        return (damaged, record.value) if self.part == "key" else (record.key, damaged)


@dataclass(frozen=True, slots=True)
class Planted:
    """A damaged record in the broker."""

    topic: str
    partition: int
    offset: int
    part: str
    kind: str
    expected: str  #: name of the outcome code


class FaultPlan:
    """Assignment of damage to the records of a topic of known length.

    It is seeded; 1 in 2,000 records is damaged, and at least ten of each kind if there are enough records.
    """

    def __init__(
        self, topic: str, records: int, faults: tuple[Fault, ...], *, min_per_kind: int = MIN_PER_KIND
    ) -> None:
        self.random = Random(f"{SEED} {topic}")  # noqa: S311  # the same damage in every run
        count = min(records, max(records // DAMAGE_ONE_IN, min_per_kind * len(faults)))
        damaged_numbers = sorted(self.random.sample(range(records), count))
        kinds = [faults[number % len(faults)] for number in range(count)]
        self.random.shuffle(kinds)
        self._faults_by_number = dict(zip(damaged_numbers, kinds, strict=True))

    def choose_fault(self, number: int) -> Fault | None:
        """Return the damage for the record with this number, from 0, or None."""
        return self._faults_by_number.get(number)

    def __len__(self) -> int:
        return len(self._faults_by_number)


class FaultRate:
    """Assignment of damage in a topic of unknown length: the same small probability for each record."""

    def __init__(self, topic: str, faults: tuple[Fault, ...]) -> None:
        self.random = Random(f"{SEED} {topic}")  # noqa: S311  # the same damage in every run
        self._faults = faults

    def choose_fault(self, _: int) -> Fault | None:
        """Return the damage for the next record, or None."""
        return self.random.choice(self._faults) if self.random.random() < 1 / DAMAGE_ONE_IN else None


def write_planted(damages: list[Planted], path: Path) -> None:
    """Write the planted damage to a file."""
    path.write_bytes(
        orjson.dumps([asdict(damage) for damage in sorted(damages, key=_record_position)], option=orjson.OPT_INDENT_2)
    )


def read_planted(path: Path) -> list[Planted]:
    """Read the planted damage from a file."""
    return [Planted(**entry) for entry in orjson.loads(path.read_bytes())]


def _record_position(planted: Planted) -> tuple[str, int, int]:
    return planted.topic, planted.partition, planted.offset


# Damage to the frame.


def _remove_frame(random: Random, record: Record) -> bytes:
    """Return plain JSON, as from a producer without a serializer, or a value that ends within its header."""
    plain = orjson.dumps(record.content, default=str)
    return random.choice([plain, record.value[: random.randrange(HEADER_LENGTH)]])


def _remove_key_frame(_: Random, record: Record) -> bytes:
    return f"{record.content['carrier']}{record.content['flight']}".encode()


def _insert_unknown_id(random: Random, record: Record) -> bytes:
    return _replace_id(record.value, FIRST_UNKNOWN_ID + random.randrange(1_000))


def _insert_foreign_id(_: Random, record: Record) -> bytes:
    return _replace_id(record.value, record.foreign_id)


def _replace_id(value: bytes, schema_id: int) -> bytes:
    return value[:1] + schema_id.to_bytes(4, "big") + value[HEADER_LENGTH:]


# Damage to Avro bodies. The first error in byte order decides, so the bytes before the damage stay intact.


def _truncate(random: Random, record: Record) -> bytes:
    return record.value[: random.randrange(HEADER_LENGTH, len(record.value))]


def _append_bytes(random: Random, record: Record) -> bytes:
    return record.value + random.randbytes(random.randint(1, 4))


def _insert_bad_utf8(random: Random, record: Record) -> bytes:
    content = record.content["dest"].encode()
    broken = bytearray(content)
    broken[random.randrange(len(content))] = 0xFF
    surrogate = b"\xed\xa0\x80"  # as long as an airport's code
    return _replace_field(record, "dest", encode_long(len(content)) + random.choice([bytes(broken), surrogate]))


def _insert_bad_enum_index(random: Random, record: Record) -> bytes:
    return _replace_field(record, "origin", encode_long(random.choice([-1, 3, random.randint(4, 500)])))


def _insert_bad_union_index(random: Random, record: Record) -> bytes:
    return _replace_field(record, "tailnum", encode_long(random.choice([-1, 2, random.randint(3, 500)])))


def _insert_int_out_of_range(random: Random, record: Record) -> bytes:
    return _replace_field(
        record, "flight", encode_long(random.choice([2**31, -(2**31) - 1, random.randint(2**32, 2**33)]))
    )


def _insert_bad_varint(_: Random, record: Record) -> bytes:
    return _replace_field(record, "flight", b"\xff" * 9 + b"\x01")


def _insert_bad_length(random: Random, record: Record) -> bytes:
    return _replace_field(record, "dest", encode_long(-random.randint(1, 1_000)))


def _replace_field(record: Record, field: str, encoded: bytes) -> bytes:
    if record.spans is None:
        raise TypeError("only fields of Avro values can be replaced")
    span = record.spans[field]
    body = record.value[HEADER_LENGTH:]
    return record.value[:HEADER_LENGTH] + body[: span.start] + encoded + body[span.stop :]


# Damage to JSON bodies.


def _violate_schema(random: Random, record: Record) -> bytes:
    """Violate one requirement of the schema."""
    content = dict(record.content)
    violations: list[dict[str, Any]] = [
        content | {"humidity": 140.5},
        content | {"temperature": "warm"},
        content | {"origin": "BOS"},
        content | {"precipitation": None},
        content | {"wind": content["wind"] | {"direction": 400}},
        content | {"observer": "unknown"},
        {name: value for name, value in content.items() if name != "wind"},
    ]
    return record.value[:HEADER_LENGTH] + orjson.dumps(random.choice(violations))


def _break_json(random: Random, record: Record) -> bytes:
    truncated = record.value[: random.randrange(HEADER_LENGTH + 1, len(record.value) - 1)]
    python_literal = record.value[:HEADER_LENGTH] + str(dict(record.content)).encode()
    return random.choice([truncated, python_literal])


_FRAME_FAULTS: Final = (
    Fault("not framed", "value", Outcome.NOT_FRAMED, _remove_frame),
    Fault("unknown id", "value", Outcome.UNKNOWN_SCHEMA_ID, _insert_unknown_id),
    Fault("another subject's id", "value", Outcome.WRONG_SUBJECT, _insert_foreign_id),
)
AVRO_FAULTS: Final = (
    *_FRAME_FAULTS,
    Fault("truncated", "value", Outcome.TRUNCATED, _truncate),
    Fault("trailing bytes", "value", Outcome.TRAILING_BYTES, _append_bytes),
    Fault("bad UTF-8", "value", Outcome.BAD_UTF8, _insert_bad_utf8),
    Fault("bad enum index", "value", Outcome.BAD_ENUM_INDEX, _insert_bad_enum_index),
    Fault("bad union index", "value", Outcome.BAD_UNION_INDEX, _insert_bad_union_index),
    Fault("int out of range", "value", Outcome.INT_OUT_OF_RANGE, _insert_int_out_of_range),
    Fault("overlong number", "value", Outcome.BAD_VARINT, _insert_bad_varint),
    Fault("negative length", "value", Outcome.BAD_LENGTH, _insert_bad_length),
    Fault("key not framed", "key", Outcome.NOT_FRAMED, _remove_key_frame),
)
JSON_FAULTS: Final = (
    Fault("schema violation", "value", Outcome.SCHEMA_VIOLATION, _violate_schema),
    Fault("not JSON", "value", Outcome.NOT_JSON, _break_json),
)

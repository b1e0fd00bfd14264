"""Deliberate damage of known kinds at known places, by which an audit can be scored.

Every kind has the outcome code that a correct audit gives: one thing is wrong with a damaged record, all else is
unchanged. The planted damage is recorded where the audit never looks.
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
    "AVRO",
    "HEADER",
    "JSON",
    "ONE_IN",
    "SEED",
    "Fault",
    "Plan",
    "Planted",
    "Rate",
    "Record",
    "read_planted",
    "write_planted",
]

ONE_IN: Final = 2_000
AT_LEAST: Final = 10  #: of each kind
SEED: Final = 2013
HEADER: Final = 5
NEVER_GIVEN: Final = 900_000  #: ids from here on are in no registry


@dataclass(frozen=True, slots=True)
class Record:
    """A whole record before it is damaged, with the facts that damage needs."""

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


class Plan:
    """Assignment of damage to the records of a topic of known length.

    It is seeded; 1 in 2,000 records is damaged, and at least ten of each kind if there are enough records.
    """

    def __init__(self, topic: str, records: int, faults: tuple[Fault, ...], *, at_least: int = AT_LEAST) -> None:
        self.random = Random(f"{SEED} {topic}")  # noqa: S311  # the same damage in every run
        wanted = min(records, max(records // ONE_IN, at_least * len(faults)))
        chosen = sorted(self.random.sample(range(records), wanted))
        kinds = [faults[number % len(faults)] for number in range(wanted)]
        self.random.shuffle(kinds)
        self._at = dict(zip(chosen, kinds, strict=True))

    def fault(self, number: int) -> Fault | None:
        """Return the damage for the record with this number, from 0; None: leave it intact."""
        return self._at.get(number)

    def __len__(self) -> int:
        return len(self._at)


class Rate:
    """Assignment of damage in a topic of unknown length: each record has the same small chance."""

    def __init__(self, topic: str, faults: tuple[Fault, ...]) -> None:
        self.random = Random(f"{SEED} {topic}")  # noqa: S311  # the same damage in every run
        self._faults = faults

    def fault(self, _: int) -> Fault | None:
        """Return the damage for the next record; None: leave it intact."""
        return self.random.choice(self._faults) if self.random.random() < 1 / ONE_IN else None


def write_planted(planted: list[Planted], path: Path) -> None:
    """Write the planted damage to a file."""
    path.write_bytes(orjson.dumps([asdict(one) for one in sorted(planted, key=_place)], option=orjson.OPT_INDENT_2))


def read_planted(path: Path) -> list[Planted]:
    """Read the planted damage from a file."""
    return [Planted(**one) for one in orjson.loads(path.read_bytes())]


def _place(planted: Planted) -> tuple[str, int, int]:
    return planted.topic, planted.partition, planted.offset


# The frame.


def _not_framed(random: Random, record: Record) -> bytes:
    """Return plain JSON, as from a producer without a serializer, or a record that ends within its header."""
    plain = orjson.dumps(record.content, default=str)
    return random.choice([plain, record.value[: random.randrange(HEADER)]])


def _key_not_framed(_: Random, record: Record) -> bytes:
    return f"{record.content['carrier']}{record.content['flight']}".encode()


def _unknown_id(random: Random, record: Record) -> bytes:
    return _with_id(record.value, NEVER_GIVEN + random.randrange(1_000))


def _wrong_subject(_: Random, record: Record) -> bytes:
    return _with_id(record.value, record.foreign_id)


def _with_id(value: bytes, schema_id: int) -> bytes:
    return value[:1] + schema_id.to_bytes(4, "big") + value[HEADER:]


# Avro bodies. The first failure in byte order decides, so all that precedes the damage stays intact.


def _truncated(random: Random, record: Record) -> bytes:
    return record.value[: random.randrange(HEADER, len(record.value))]


def _trailing(random: Random, record: Record) -> bytes:
    return record.value + random.randbytes(random.randint(1, 4))


def _bad_utf8(random: Random, record: Record) -> bytes:
    content = record.content["dest"].encode()
    broken = bytearray(content)
    broken[random.randrange(len(content))] = 0xFF
    surrogate = b"\xed\xa0\x80"  # as long as an airport's code
    return _with_field(record, "dest", encode_long(len(content)) + random.choice([bytes(broken), surrogate]))


def _bad_enum_index(random: Random, record: Record) -> bytes:
    return _with_field(record, "origin", encode_long(random.choice([-1, 3, random.randint(4, 500)])))


def _bad_union_index(random: Random, record: Record) -> bytes:
    return _with_field(record, "tailnum", encode_long(random.choice([-1, 2, random.randint(3, 500)])))


def _int_out_of_range(random: Random, record: Record) -> bytes:
    return _with_field(
        record, "flight", encode_long(random.choice([2**31, -(2**31) - 1, random.randint(2**32, 2**33)]))
    )


def _bad_varint(_: Random, record: Record) -> bytes:
    return _with_field(record, "flight", b"\xff" * 9 + b"\x01")


def _bad_length(random: Random, record: Record) -> bytes:
    return _with_field(record, "dest", encode_long(-random.randint(1, 1_000)))


def _with_field(record: Record, field: str, encoded: bytes) -> bytes:
    if record.spans is None:
        raise TypeError("only the fields of Avro values have places")
    span = record.spans[field]
    body = record.value[HEADER:]
    return record.value[:HEADER] + body[: span.start] + encoded + body[span.stop :]


# JSON bodies.


def _violation(random: Random, record: Record) -> bytes:
    """Violate one requirement of the schema."""
    content = dict(record.content)
    breaches: list[dict[str, Any]] = [
        content | {"humidity": 140.5},
        content | {"temperature": "warm"},
        content | {"origin": "BOS"},
        content | {"precipitation": None},
        content | {"wind": content["wind"] | {"direction": 400}},
        content | {"observer": "unknown"},
        {name: value for name, value in content.items() if name != "wind"},
    ]
    return record.value[:HEADER] + orjson.dumps(random.choice(breaches))


def _not_json(random: Random, record: Record) -> bytes:
    cut = record.value[: random.randrange(HEADER + 1, len(record.value) - 1)]
    quoted = record.value[:HEADER] + str(dict(record.content)).encode()
    return random.choice([cut, quoted])


_FRAME: Final = (
    Fault("not framed", "value", Outcome.NOT_FRAMED, _not_framed),
    Fault("unknown id", "value", Outcome.UNKNOWN_SCHEMA_ID, _unknown_id),
    Fault("another subject's id", "value", Outcome.WRONG_SUBJECT, _wrong_subject),
)
AVRO: Final = (
    *_FRAME,
    Fault("truncated", "value", Outcome.TRUNCATED, _truncated),
    Fault("trailing bytes", "value", Outcome.TRAILING_BYTES, _trailing),
    Fault("bad UTF-8", "value", Outcome.BAD_UTF8, _bad_utf8),
    Fault("bad enum index", "value", Outcome.BAD_ENUM_INDEX, _bad_enum_index),
    Fault("bad union index", "value", Outcome.BAD_UNION_INDEX, _bad_union_index),
    Fault("int out of range", "value", Outcome.INT_OUT_OF_RANGE, _int_out_of_range),
    Fault("overlong number", "value", Outcome.BAD_VARINT, _bad_varint),
    Fault("negative length", "value", Outcome.BAD_LENGTH, _bad_length),
    Fault("key not framed", "key", Outcome.NOT_FRAMED, _key_not_framed),
)
JSON: Final = (
    Fault("schema violation", "value", Outcome.SCHEMA_VIOLATION, _violation),
    Fault("not JSON", "value", Outcome.NOT_JSON, _not_json),
)

"""Random values of any Avro schema, for our writer and encoded for Java's."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Final
from uuid import UUID

from contractlog.compatibility.avro.types import (
    Array,
    AvroSchema,
    AvroType,
    Enum,
    Fixed,
    Map,
    NamedType,
    Primitive,
    Record,
    Union,
)

__all__ = ["NoFiniteValueError", "ValueGenerator"]

_DEEP: Final = 5
_NULLABLE: Final = 2  #: branches of a nullable type
_PLAIN: Final = 0.8
_ENDLESS: Final = 1_000_000
_INTS: Final = (0, -1, 1, 63, 64, -64, -65, 2**31 - 1, -(2**31))
_LONGS: Final = (*_INTS, 2**53 + 1, 2**63 - 1, -(2**63))
_FLOATS: Final = (0.0, -0.0, 1.5, -1e-45, 3.4028234663852886e38, float("inf"), float("-inf"), float("nan"))
_TEXTS: Final = ("", "text", "é", "\x00", "\U0001f40d", "x" * 70)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
Pair = tuple[Any, Any]


class NoFiniteValueError(Exception):
    """The schema has no finite value."""


class ValueGenerator:
    """Generator of values of a schema; recursion ends where the schema permits it."""

    def __init__(self, schema: AvroSchema, random: Random) -> None:
        self.schema = schema
        self.random = random
        self._heights = self._measure_heights()

    def pair(self) -> Pair:
        """Return a value for our writer, and the same one told for Java's.

        A union's value names its branch, ``(name, value)``, so that nothing has to be guessed; those of nullable types
        mostly do not.
        """
        if self.height(self.schema.root) >= _ENDLESS:
            raise NoFiniteValueError
        return self._generate(self.schema.root, 0)

    def has_endless_type(self) -> bool:
        """Return whether any of the types has no finite value."""
        return any(height >= _ENDLESS for height in self._heights.values())

    def height(self, node: AvroType) -> int:
        """Return the number of levels of a node's smallest value; a huge number if it has none."""
        resolved = self.schema.resolve(node)
        match resolved:
            case NamedType(name=name):
                return self._heights[name]
            case Union(branches=branches):
                return min((1 + self.height(branch) for branch in branches), default=_ENDLESS)
        return 0

    def _measure_heights(self) -> dict[str, int]:
        self._heights = dict.fromkeys(self.schema.types, _ENDLESS)
        while True:
            before = dict(self._heights)
            for name, node in self.schema.types.items():
                match node:
                    case Record(fields=fields):
                        self._heights[name] = 1 + max((self.height(field.type) for field in fields), default=0)
                    case Enum(symbols=symbols):
                        self._heights[name] = 0 if symbols else _ENDLESS
                    case _:
                        self._heights[name] = 0
                self._heights[name] = min(self._heights[name], _ENDLESS)
            if self._heights == before:
                return before

    def _generate(self, node: AvroType, depth: int) -> Pair:
        resolved = self.schema.resolve(node)
        match resolved:
            case Union(branches=branches):
                return self._choose_branch(branches, depth)
            case Record(fields=fields):
                members = {field.name: self._generate(field.type, depth + 1) for field in fields}
                return _combine_members(members)
            case Enum(symbols=symbols):
                symbol = self.random.choice(symbols)
                return symbol, symbol
            case Array(items=items):
                list_of = [self._generate(items, depth + 1) for _ in range(self._choose_length(items, depth))]
                return [our_value for our_value, _ in list_of], [java_value for _, java_value in list_of]
            case Map(values=values):
                keys = self.random.sample(_TEXTS, self._choose_length(values, depth))
                return _combine_members({key: self._generate(values, depth + 1) for key in keys})
            case Fixed() | Primitive():
                return self._generate_scalar(resolved)
        raise NotImplementedError(resolved.kind)

    def _choose_length(self, items: AvroType, depth: int) -> int:
        if depth > _DEEP or self.height(items) >= _ENDLESS:
            return 0
        return self.random.choice([0, 1, 1, 2, 3])

    def _choose_branch(self, branches: tuple[AvroType, ...], depth: int) -> Pair:
        finite = [index for index, branch in enumerate(branches) if self.height(branch) < _ENDLESS]
        least = min(finite, key=lambda index: self.height(branches[index]))
        index = least if depth > _DEEP else self.random.choice(finite)
        ours, theirs = self._generate(branches[index], depth + 1)
        resolved = self.schema.resolve(branches[index])
        nullable = len(branches) == _NULLABLE and any(
            _get_branch_name(self.schema.resolve(branch)) == "null" for branch in branches
        )
        plain = nullable and self.random.random() < _PLAIN
        return (ours if plain else (_get_branch_name(resolved), ours)), {"u": [index, theirs]}

    def _generate_scalar(self, node: Fixed | Primitive) -> Pair:
        kind = node.type if isinstance(node, Primitive) else "fixed"
        logical = f"{kind} {node.logical_type}" if node.logical_type else ""
        if logical in _RAW:
            raw, natural = _RAW[logical](self.random, node)
        else:
            raw = self._generate_plain(kind, node)
            natural = raw
        return (raw if self.random.random() < 0.3 else natural), _encode_raw(raw)

    def _generate_plain(self, kind: str, node: AvroType) -> Any:  # noqa: PLR0911 -- one line per type
        random = self.random
        match kind:
            case "null":
                return None
            case "boolean":
                return random.random() < 0.5
            case "int":
                return random.choice([*_INTS, random.randint(-(2**31), 2**31 - 1)])
            case "long":
                return random.choice([*_LONGS, random.randint(-(2**63), 2**63 - 1)])
            case "float":
                return struct.unpack("<f", struct.pack("<f", random.choice([*_FLOATS, random.uniform(-1e9, 1e9)])))[0]
            case "double":
                return random.choice([*_FLOATS, random.uniform(-1e300, 1e300), 5e-324])
            case "string":
                return random.choice(_TEXTS)
            case "bytes":
                return random.choice([b"", b"text", random.randbytes(random.randint(1, 5))])
        assert isinstance(node, Fixed)
        return random.randbytes(node.size)


def _get_branch_name(node: AvroType) -> str:
    return node.name if isinstance(node, NamedType) else node.kind.lower()


def _combine_members(pairs: Mapping[str, Pair]) -> Pair:
    return {name: our_value for name, (our_value, _) in pairs.items()}, {
        "o": {name: java_value for name, (_, java_value) in pairs.items()}
    }


def _encode_raw(raw: Any) -> Any:
    if isinstance(raw, float):
        return {"f": str(struct.unpack("<q", struct.pack("<d", raw))[0])}
    return {"b": raw.hex()} if isinstance(raw, bytes) else raw


def _generate_date(random: Random, _: AvroType) -> Pair:
    raw = random.choice([0, -1, -719_162, 2_932_896, random.randint(-700_000, 2_900_000)])
    return raw, date.fromordinal(raw + _EPOCH.toordinal())


def _time_generator(units_per_second: int) -> Callable[[Random, AvroType], Pair]:
    def generate(random: Random, _: AvroType) -> Pair:
        raw = random.choice([0, 86_400 * units_per_second - 1, random.randrange(86_400 * units_per_second)])
        seconds, fraction = divmod(raw, units_per_second)
        return raw, time(seconds // 3600, seconds // 60 % 60, seconds % 60, fraction * (1_000_000 // units_per_second))

    return generate


def _timestamp_generator(units_per_second: int, epoch: datetime) -> Callable[[Random, AvroType], Pair]:
    def generate(random: Random, _: AvroType) -> Pair:
        raw = random.choice(
            [0, -1, random.randint(-62_000_000_000, 250_000_000_000) * units_per_second + random.choice([0, 7])]
        )
        return raw, epoch + timedelta(microseconds=raw * (1_000_000 // units_per_second))

    return generate


def _generate_uuid(random: Random, _: AvroType) -> Pair:
    value = UUID(int=random.getrandbits(128))
    return str(value), value


def _generate_uuid_bytes(random: Random, _: AvroType) -> Pair:
    value = UUID(int=random.getrandbits(128))
    return value.bytes, value


def _generate_decimal(random: Random, node: AvroType) -> Pair:
    precision, scale = (int(node.props[word].value) if word in node.props else 0 for word in ("precision", "scale"))
    unscaled = random.choice([0, 1, -1, 10**precision - 1, random.randrange(-(10**precision) + 1, 10**precision)])
    least = (abs(unscaled).bit_length() + 8) // 8
    size = node.size if isinstance(node, Fixed) else least
    return unscaled.to_bytes(size, "big", signed=True), Decimal(f"{unscaled}E{-scale}")


_LOCAL_EPOCH: Final = _EPOCH.replace(tzinfo=None)
_RAW: Final[Mapping[str, Callable[[Random, Any], Pair]]] = {
    "int date": _generate_date,
    "int time-millis": _time_generator(1_000),
    "long time-micros": _time_generator(1_000_000),
    "long timestamp-millis": _timestamp_generator(1_000, _EPOCH),
    "long timestamp-micros": _timestamp_generator(1_000_000, _EPOCH),
    "long local-timestamp-millis": _timestamp_generator(1_000, _LOCAL_EPOCH),
    "long local-timestamp-micros": _timestamp_generator(1_000_000, _LOCAL_EPOCH),
    "string uuid": _generate_uuid,
    "fixed uuid": _generate_uuid_bytes,
    "bytes decimal": _generate_decimal,
    "fixed decimal": _generate_decimal,
}
"""Generators of raw and natural values; values of other logical types are raw."""

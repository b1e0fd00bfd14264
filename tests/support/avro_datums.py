"""Random values of any Avro schema, recursive ones included: for our writer, and told for Java's."""

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

__all__ = ["Datums", "NoFiniteValueError"]

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
    """The schema has only values without end."""


class Datums:
    """Makes values of a schema; what recursion there is comes to an end wherever the schema lets it."""

    def __init__(self, schema: AvroSchema, random: Random) -> None:
        self.schema = schema
        self.random = random
        self._heights = self._measured()

    def pair(self) -> Pair:
        """Return a value for our writer, and the same one told for Java's.

        A union's value names its branch, ``(name, value)``, so that nothing has to be guessed; those of nullable types
        mostly do not.
        """
        if self.height(self.schema.root) >= _ENDLESS:
            raise NoFiniteValueError
        return self._pair(self.schema.root, 0)

    def endless(self) -> bool:
        """Whether any of the types has no finite value."""
        return any(height >= _ENDLESS for height in self._heights.values())

    def height(self, node: AvroType) -> int:
        """How many levels the smallest value of a node has; very many where it has none."""
        found = self.schema.resolve(node)
        match found:
            case NamedType(name=name):
                return self._heights[name]
            case Union(branches=branches):
                return min((1 + self.height(branch) for branch in branches), default=_ENDLESS)
        return 0

    def _measured(self) -> dict[str, int]:
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

    def _pair(self, node: AvroType, depth: int) -> Pair:
        found = self.schema.resolve(node)
        match found:
            case Union(branches=branches):
                return self._chosen(branches, depth)
            case Record(fields=fields):
                made = {field.name: self._pair(field.type, depth + 1) for field in fields}
                return _members(made)
            case Enum(symbols=symbols):
                symbol = self.random.choice(symbols)
                return symbol, symbol
            case Array(items=items):
                list_of = [self._pair(items, depth + 1) for _ in range(self._length(items, depth))]
                return [one for one, _ in list_of], [other for _, other in list_of]
            case Map(values=values):
                keys = self.random.sample(_TEXTS, self._length(values, depth))
                return _members({key: self._pair(values, depth + 1) for key in keys})
            case Fixed() | Primitive():
                return self._scalar(found)
        raise NotImplementedError(found.kind)

    def _length(self, items: AvroType, depth: int) -> int:
        if depth > _DEEP or self.height(items) >= _ENDLESS:
            return 0
        return self.random.choice([0, 1, 1, 2, 3])

    def _chosen(self, branches: tuple[AvroType, ...], depth: int) -> Pair:
        finite = [index for index, branch in enumerate(branches) if self.height(branch) < _ENDLESS]
        least = min(finite, key=lambda index: self.height(branches[index]))
        index = least if depth > _DEEP else self.random.choice(finite)
        ours, theirs = self._pair(branches[index], depth + 1)
        chosen = self.schema.resolve(branches[index])
        nullable = len(branches) == _NULLABLE and any(_called(self.schema.resolve(one)) == "null" for one in branches)
        plain = nullable and self.random.random() < _PLAIN
        return (ours if plain else (_called(chosen), ours)), {"u": [index, theirs]}

    def _scalar(self, node: Fixed | Primitive) -> Pair:
        kind = node.type if isinstance(node, Primitive) else "fixed"
        logical = f"{kind} {node.logical_type}" if node.logical_type else ""
        if logical in _RAW:
            raw, natural = _RAW[logical](self.random, node)
        else:
            raw = self._plain(kind, node)
            natural = raw
        return (raw if self.random.random() < 0.3 else natural), _told(raw)

    def _plain(self, kind: str, node: AvroType) -> Any:  # noqa: PLR0911 -- one line per type
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


def _called(node: AvroType) -> str:
    return node.name if isinstance(node, NamedType) else node.kind.lower()


def _members(made: Mapping[str, Pair]) -> Pair:
    return {name: one for name, (one, _) in made.items()}, {"o": {name: other for name, (_, other) in made.items()}}


def _told(raw: Any) -> Any:
    if isinstance(raw, float):
        return {"f": str(struct.unpack("<q", struct.pack("<d", raw))[0])}
    return {"b": raw.hex()} if isinstance(raw, bytes) else raw


def _date(random: Random, _: AvroType) -> Pair:
    raw = random.choice([0, -1, -719_162, 2_932_896, random.randint(-700_000, 2_900_000)])
    return raw, date.fromordinal(raw + _EPOCH.toordinal())


def _time_of_day(a_second: int) -> Callable[[Random, AvroType], Pair]:
    def made(random: Random, _: AvroType) -> Pair:
        raw = random.choice([0, 86_400 * a_second - 1, random.randrange(86_400 * a_second)])
        seconds, rest = divmod(raw, a_second)
        return raw, time(seconds // 3600, seconds // 60 % 60, seconds % 60, rest * (1_000_000 // a_second))

    return made


def _moment(a_second: int, epoch: datetime) -> Callable[[Random, AvroType], Pair]:
    def made(random: Random, _: AvroType) -> Pair:
        raw = random.choice(
            [0, -1, random.randint(-62_000_000_000, 250_000_000_000) * a_second + random.choice([0, 7])]
        )
        return raw, epoch + timedelta(microseconds=raw * (1_000_000 // a_second))

    return made


def _uuid(random: Random, _: AvroType) -> Pair:
    made = UUID(int=random.getrandbits(128))
    return str(made), made


def _uuid_bytes(random: Random, _: AvroType) -> Pair:
    made = UUID(int=random.getrandbits(128))
    return made.bytes, made


def _decimal(random: Random, node: AvroType) -> Pair:
    precision, scale = (int(node.props[word].value) if word in node.props else 0 for word in ("precision", "scale"))
    unscaled = random.choice([0, 1, -1, 10**precision - 1, random.randrange(-(10**precision) + 1, 10**precision)])
    least = (abs(unscaled).bit_length() + 8) // 8
    size = node.size if isinstance(node, Fixed) else least
    return unscaled.to_bytes(size, "big", signed=True), Decimal(f"{unscaled}E{-scale}")


_LOCAL_EPOCH: Final = _EPOCH.replace(tzinfo=None)
_RAW: Final[Mapping[str, Callable[[Random, Any], Pair]]] = {
    "int date": _date,
    "int time-millis": _time_of_day(1_000),
    "long time-micros": _time_of_day(1_000_000),
    "long timestamp-millis": _moment(1_000, _EPOCH),
    "long timestamp-micros": _moment(1_000_000, _EPOCH),
    "long local-timestamp-millis": _moment(1_000, _LOCAL_EPOCH),
    "long local-timestamp-micros": _moment(1_000_000, _LOCAL_EPOCH),
    "string uuid": _uuid,
    "fixed uuid": _uuid_bytes,
    "bytes decimal": _decimal,
    "fixed decimal": _decimal,
}
"""What makes the raw value and the one that it stands for; other logical types are raw numbers, bytes and texts."""

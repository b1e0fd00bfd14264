"""Generator of code that chooses the branches of unions as the interpreter does."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from contractlog.serdes.avro.codecs import (
    BooleanCodec,
    BytesCodec,
    Codec,
    EnumCodec,
    FixedCodec,
    FloatCodec,
    IntCodec,
    LongCodec,
    NullCodec,
    StringCodec,
)
from contractlog.serdes.avro.containers import BRANCH_HINT, ArrayCodec, MapCodec, RecordCodec
from contractlog.serdes.avro.generated import forms, sent
from contractlog.serdes.avro.generated.scalars_out import Pieces, ScalarWriting, Taken
from contractlog.serdes.avro.logical import DecimalCodec, FixedUuidCodec, LogicalCodec, UuidCodec
from contractlog.serdes.avro.times import DateCodec, TimeCodec, TimestampCodec
from contractlog.serdes.avro.unions import UnionCodec

__all__ = ["UnionWriting"]

_SLOTS: Final = 3  #: a branch of more pieces is joined into one


class UnionWriting(ScalarWriting):
    """Generator of unions: the first branch that fits the value's class; harder cases are interpreted."""

    @abstractmethod
    def pieces(self, node: Codec, value: str, before: bytes = b"", taken: Taken | None = None) -> Pieces:
        """Make pieces of any node's value, by a function of its own if it has one."""

    def union(self, node: UnionCodec, value: str) -> Pieces:
        """Make pieces of the branch's position and of the value."""
        if node.other is not None:
            return self._nullable(node, node.other, value)
        return self._chosen(node, value)

    def _nullable(self, node: UnionCodec, other: int, value: str) -> Pieces:
        def taken(plain: type, otherwise: Callable[[Any], Any]) -> Callable[[Any], Any]:
            return forms.inside(node.named, other, plain, otherwise)

        def present() -> Pieces:
            return self.pieces(node.branches[other], value, sent.varint(other), taken)

        null = [self.source.literal(sent.varint(1 - other))]
        return self._alternatives([(f"if {value} is None", lambda: null), ("else", present)])

    def _alternatives(self, ways: list[tuple[str, Callable[[], Pieces]]]) -> Pieces:
        """Write the branches of an ``if``; each assigns its pieces to the same names."""
        slots = [self.source.name() for _ in range(_SLOTS)]
        used = 1
        made: list[tuple[int, int, Pieces]] = []
        for header, way in ways:
            with self.source.block(header):
                pieces = way()
                if len(pieces) > _SLOTS:
                    pieces = [self.joined(pieces)]
                used = max(used, len(pieces))
                made.append((len(self.source.lines), self.source.indent, pieces))
                self.source.line("pass")
        empty = self.source.literal(b"")
        for at, indent, pieces in reversed(made):
            full = pieces + [empty] * (used - len(pieces))
            self.source.lines[at : at + 1] = [
                f"{' ' * indent}{slot} = {piece}" for slot, piece in zip(slots, full, strict=False)
            ]
        return slots[:used]

    def _chosen(self, node: UnionCodec, value: str) -> Pieces:
        """Write the choice of a branch as the interpreter makes it: the first that fits the value's class.

        If several records fit, or the value is not of a plain class, the interpreter chooses.
        """
        kind = self.set(f"{self.constant(type)}({value})")
        ways: list[tuple[str, Callable[[], Pieces]]] = []
        for plain, first in _by_class(node):
            condition = f"{value} is None" if plain is type(None) else f"{kind} is {self.constant(plain)}"
            word = "elif" if ways else "if"
            ways.append((f"{word} {condition}", partial(self._of_class, node, first, plain, value)))
        if any(isinstance(branch, RecordCodec) for branch in node.branches):
            named = partial(self._named, node, value)
            ways.append((f"{'elif' if ways else 'if'} {kind} is {self.constant(tuple)}", named))
        ways.append(("else" if ways else "if True", self._otherwise))
        return self._alternatives(ways)

    def _otherwise(self) -> Pieces:
        self.refuse()
        return []

    def _of_class(self, node: UnionCodec, indexes: list[int], plain: type, value: str) -> Pieces:
        if plain is dict:
            return self._of_records(node, indexes, value)
        index = indexes[0]
        if len(indexes) > 1 and not isinstance(node.branches[index], _ALWAYS):
            return self._first_fitting(node, indexes, value)
        return self.pieces(node.branches[index], value, sent.varint(index))

    def _first_fitting(self, node: UnionCodec, indexes: list[int], value: str) -> Pieces:
        """Write code that tries the ``fits`` of each branch, as the class alone does not decide."""
        ways: list[tuple[str, Callable[[], Pieces]]] = []
        for index in indexes:
            branch = node.branches[index]
            write = partial(self.pieces, branch, value, sent.varint(index))
            ways.append((f"{'elif' if ways else 'if'} {self._fits(branch, value)}", write))
        ways.append(("else", self._otherwise))
        return self._alternatives(ways)

    def _fits(self, branch: Codec, value: str) -> str:
        if isinstance(branch, IntCodec | LongCodec):
            return f"{branch.low} <= {value} <= {branch.high}"
        return f"{self.constant(branch.fits)}({value})"

    def _of_records(self, node: UnionCodec, indexes: list[int], value: str) -> Pieces:
        """Choose the only record whose required fields are all present, else the closest one; or the only map."""
        if len(indexes) == 1 and isinstance(node.branches[indexes[0]], MapCodec):
            return self.pieces(node.branches[indexes[0]], value, sent.varint(indexes[0]))
        records = [(index, branch) for index in indexes if isinstance(branch := node.branches[index], RecordCodec)]
        if len(records) < len(indexes):
            return self._otherwise()
        hinted = f"{self.source.literal(BRANCH_HINT)} in {value}"
        ways: list[tuple[str, Callable[[], Pieces]]] = [(f"if {hinted}", partial(self._closest, node, value))]
        fitting = {index: self.set(self._has_fields(branch, value)) for index, branch in records}
        for index, branch in records:
            others = "".join(f" and not {name}" for other, name in fitting.items() if other != index)
            write = partial(self.pieces, branch, value, sent.varint(index))
            ways.append((f"elif {fitting[index]}{others}", write))
        ways.append(("else", partial(self._closest, node, value)))
        return self._alternatives(ways)

    def _closest(self, node: UnionCodec, value: str) -> Pieces:
        """Choose the record with most of the value's fields; if it fails, the interpreter tries others."""
        return self._by_index(node, self.set(f"{self.constant(node.closest)}({value})[0]"), value)

    def _has_fields(self, branch: RecordCodec, value: str) -> str:
        needed = [field.name for field in branch.fields if field.default is None]
        return " and ".join(f"{self.source.literal(name)} in {value}" for name in needed) or "True"

    def _named(self, node: UnionCodec, value: str) -> Pieces:
        """Choose the record that a tuple names."""
        return self._by_index(node, self.set(f"{self.constant(node.named)}({value})"), self.set(f"{value}[1]"))

    def _by_index(self, node: UnionCodec, index: str, value: str) -> Pieces:
        ways: list[tuple[str, Callable[[], Pieces]]] = []
        for position, branch in enumerate(node.branches):
            if isinstance(branch, RecordCodec):
                call = partial(self._apart, branch, position, value)
                ways.append((f"{'elif' if ways else 'if'} {index} == {position}", call))
        ways.append(("else", self._otherwise))
        return self._alternatives(ways)

    def _apart(self, branch: RecordCodec, position: int, value: str) -> Pieces:
        return [self.source.literal(sent.varint(position)), self.set(self.call(branch, value))]


def _by_class(node: UnionCodec) -> list[tuple[type, list[int]]]:
    """Return for each plain class the branches that may accept its values, in order."""
    found: list[tuple[type, list[int]]] = []
    for plain in _CLASSES:
        indexes = [index for index, branch in enumerate(node.branches) if _takes(branch, plain)]
        if indexes:
            found.append((plain, _precise(node, indexes)))
    return found


def _precise(node: UnionCodec, indexes: list[int]) -> list[int]:
    """Put a double before a float, as Python's floats are doubles."""
    names = [node.branches[index].names[0] for index in indexes]
    if "float" not in names or "double" not in names:
        return indexes
    first, second = sorted((names.index("float"), names.index("double")))
    double = indexes[names.index("double")]
    return [*indexes[:first], double, *indexes[first + 1 : second], *indexes[second + 1 :]]


def _takes(branch: Codec, plain: type) -> bool:
    kinds = next(kinds for codec, kinds in _TAKEN if isinstance(branch, codec))
    return plain in kinds or (isinstance(branch, LogicalCodec) and plain in kinds and _takes(branch.raw, plain))


_ALWAYS: Final = (StringCodec, UuidCodec, FloatCodec, BytesCodec, ArrayCodec)  #: these fit all values of their classes
_CLASSES: Final = (
    *(type(None), str, dict, int, float, bool, bytes, list),
    *(dt.datetime, dt.date, dt.time, decimal.Decimal, uuid.UUID),
)
_TAKEN: Final[tuple[tuple[type[Codec], tuple[type, ...]], ...]] = (
    (UuidCodec, (str, uuid.UUID)),
    (FixedUuidCodec, (uuid.UUID, bytes)),
    (DecimalCodec, (decimal.Decimal, bytes)),
    (DateCodec, (dt.date, int)),
    (TimeCodec, (dt.time, int)),
    (TimestampCodec, (dt.datetime, int)),
    (NullCodec, (type(None),)),
    (BooleanCodec, (bool,)),
    (IntCodec, (int,)),
    (LongCodec, (int,)),
    (FloatCodec, (int, float)),
    (BytesCodec, (bytes,)),
    (StringCodec, (str,)),
    (FixedCodec, (bytes,)),
    (EnumCodec, (str,)),
    (ArrayCodec, (list,)),
    (MapCodec, (dict,)),
    (RecordCodec, (dict,)),
    (LogicalCodec, ()),
)

"""Generator of code that chooses the branches of unions as the interpreter does."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from contractlog.serdes.avro.codegen import write_runtime
from contractlog.serdes.avro.codegen.scalar_write_emitter import Pieces, ScalarWriteEmitter, UnwrapperFactory
from contractlog.serdes.avro.interpreter.codecs import (
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
from contractlog.serdes.avro.interpreter.containers import BRANCH_HINT, ArrayCodec, MapCodec, RecordCodec, UnionCodec
from contractlog.serdes.avro.interpreter.decimal_and_uuid import DecimalCodec, FixedUuidCodec, LogicalCodec, UuidCodec
from contractlog.serdes.avro.interpreter.times import DateCodec, TimeCodec, TimestampCodec

__all__ = ["UnionWriteEmitter"]

_MAX_PIECES: Final = 3  #: a branch of more pieces is joined into one
_CLASS_DECIDES: Final = (
    StringCodec,
    UuidCodec,
    FloatCodec,
    BytesCodec,
    ArrayCodec,
)  #: these fit all values of their classes
_PLAIN_CLASSES: Final = (
    *(type(None), str, dict, int, float, bool, bytes, list),
    *(dt.datetime, dt.date, dt.time, decimal.Decimal, uuid.UUID),
)
_ACCEPTED_CLASSES: Final[tuple[tuple[type[Codec], tuple[type, ...]], ...]] = (
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


class UnionWriteEmitter(ScalarWriteEmitter):
    """Generator of unions: the first branch that fits the value's class; harder cases are interpreted."""

    @abstractmethod
    def emit_pieces(
        self, node: Codec, value: str, before: bytes = b"", unwrapper_factory: UnwrapperFactory | None = None
    ) -> Pieces:
        """Make pieces of any node's value, by a function of its own if it has one."""

    def emit_union(self, node: UnionCodec, value: str) -> Pieces:
        """Make pieces of the branch's position and of the value."""
        if node.non_null_index is not None:
            return self._emit_nullable(node, node.non_null_index, value)
        return self._emit_choice(node, value)

    def _emit_nullable(self, node: UnionCodec, other: int, value: str) -> Pieces:
        def make_unwrapper(plain: type, otherwise: Callable[[Any], Any]) -> Callable[[Any], Any]:
            return write_runtime.make_unwrapper(node.find_named_branch, other, plain, otherwise)

        def present() -> Pieces:
            return self.emit_pieces(node.branches[other], value, write_runtime.encode_varint(other), make_unwrapper)

        null = [self.source.literal(write_runtime.encode_varint(1 - other))]
        return self._emit_alternatives([(f"if {value} is None", lambda: null), ("else", present)])

    def _emit_alternatives(self, ways: list[tuple[str, Callable[[], Pieces]]]) -> Pieces:
        """Write the branches of an ``if``; each assigns its pieces to the same names."""
        slots = [self.source.name() for _ in range(_MAX_PIECES)]
        used = 1
        alternatives: list[tuple[int, int, Pieces]] = []
        for header, way in ways:
            with self.source.block(header):
                pieces = way()
                if len(pieces) > _MAX_PIECES:
                    pieces = [self.join_pieces(pieces)]
                used = max(used, len(pieces))
                alternatives.append((len(self.source.lines), self.source.indent, pieces))
                self.source.line("pass")
        empty = self.source.literal(b"")
        for at, indent, pieces in reversed(alternatives):
            full = pieces + [empty] * (used - len(pieces))
            self.source.lines[at : at + 1] = [
                f"{' ' * indent}{slot} = {piece}" for slot, piece in zip(slots, full, strict=False)
            ]
        return slots[:used]

    def _emit_choice(self, node: UnionCodec, value: str) -> Pieces:
        """Write the choice of a branch as the interpreter makes it: the first that fits the value's class.

        If several records fit, or the value is not of a plain class, the interpreter chooses.
        """
        kind = self.assign(f"{self.constant(type)}({value})")
        ways: list[tuple[str, Callable[[], Pieces]]] = []
        for plain, first in _branches_by_class(node):
            condition = f"{value} is None" if plain is type(None) else f"{kind} is {self.constant(plain)}"
            word = "elif" if ways else "if"
            ways.append((f"{word} {condition}", partial(self._emit_for_class, node, first, plain, value)))
        if any(isinstance(branch, RecordCodec) for branch in node.branches):
            named = partial(self._emit_named_record, node, value)
            ways.append((f"{'elif' if ways else 'if'} {kind} is {self.constant(tuple)}", named))
        ways.append(("else" if ways else "if True", self._emit_otherwise))
        return self._emit_alternatives(ways)

    def _emit_otherwise(self) -> Pieces:
        self.emit_fallback()
        return []

    def _emit_for_class(self, node: UnionCodec, indexes: list[int], plain: type, value: str) -> Pieces:
        if plain is dict:
            return self._emit_records(node, indexes, value)
        index = indexes[0]
        if len(indexes) > 1 and not isinstance(node.branches[index], _CLASS_DECIDES):
            return self._emit_first_fitting(node, indexes, value)
        return self.emit_pieces(node.branches[index], value, write_runtime.encode_varint(index))

    def _emit_first_fitting(self, node: UnionCodec, indexes: list[int], value: str) -> Pieces:
        """Write code that tries the ``fits`` of each branch, as the class alone does not decide."""
        ways: list[tuple[str, Callable[[], Pieces]]] = []
        for index in indexes:
            branch = node.branches[index]
            write = partial(self.emit_pieces, branch, value, write_runtime.encode_varint(index))
            ways.append((f"{'elif' if ways else 'if'} {self._fits_condition(branch, value)}", write))
        ways.append(("else", self._emit_otherwise))
        return self._emit_alternatives(ways)

    def _fits_condition(self, branch: Codec, value: str) -> str:
        if isinstance(branch, IntCodec | LongCodec):
            return f"{branch.low} <= {value} <= {branch.high}"
        return f"{self.constant(branch.fits)}({value})"

    def _emit_records(self, node: UnionCodec, indexes: list[int], value: str) -> Pieces:
        """Choose the only record whose required fields are all present, else the closest one; or the only map."""
        if len(indexes) == 1 and isinstance(node.branches[indexes[0]], MapCodec):
            return self.emit_pieces(node.branches[indexes[0]], value, write_runtime.encode_varint(indexes[0]))
        records = [(index, branch) for index in indexes if isinstance(branch := node.branches[index], RecordCodec)]
        if len(records) < len(indexes):
            return self._emit_otherwise()
        hinted = f"{self.source.literal(BRANCH_HINT)} in {value}"
        ways: list[tuple[str, Callable[[], Pieces]]] = [
            (f"if {hinted}", partial(self._emit_closest_record, node, value))
        ]
        fitting = {index: self.assign(self._has_fields_condition(branch, value)) for index, branch in records}
        for index, branch in records:
            others = "".join(f" and not {name}" for other, name in fitting.items() if other != index)
            write = partial(self.emit_pieces, branch, value, write_runtime.encode_varint(index))
            ways.append((f"elif {fitting[index]}{others}", write))
        ways.append(("else", partial(self._emit_closest_record, node, value)))
        return self._emit_alternatives(ways)

    def _emit_closest_record(self, node: UnionCodec, value: str) -> Pieces:
        """Choose the record with most of the value's fields; if it fails, the interpreter tries others."""
        return self._emit_by_index(node, self.assign(f"{self.constant(node.find_closest_records)}({value})[0]"), value)

    def _has_fields_condition(self, branch: RecordCodec, value: str) -> str:
        needed = [field.name for field in branch.fields if field.default is None]
        return " and ".join(f"{self.source.literal(name)} in {value}" for name in needed) or "True"

    def _emit_named_record(self, node: UnionCodec, value: str) -> Pieces:
        """Choose the record that a tuple names."""
        return self._emit_by_index(
            node, self.assign(f"{self.constant(node.find_named_branch)}({value})"), self.assign(f"{value}[1]")
        )

    def _emit_by_index(self, node: UnionCodec, index: str, value: str) -> Pieces:
        ways: list[tuple[str, Callable[[], Pieces]]] = []
        for position, branch in enumerate(node.branches):
            if isinstance(branch, RecordCodec):
                call = partial(self._call_own_function, branch, position, value)
                ways.append((f"{'elif' if ways else 'if'} {index} == {position}", call))
        ways.append(("else", self._emit_otherwise))
        return self._emit_alternatives(ways)

    def _call_own_function(self, branch: RecordCodec, position: int, value: str) -> Pieces:
        return [self.source.literal(write_runtime.encode_varint(position)), self.assign(self.call(branch, value))]


def _branches_by_class(node: UnionCodec) -> list[tuple[type, list[int]]]:
    """Return for each plain class the branches that may accept its values, in order."""
    branches: list[tuple[type, list[int]]] = []
    for plain in _PLAIN_CLASSES:
        indexes = [index for index, branch in enumerate(node.branches) if _accepts_class(branch, plain)]
        if indexes:
            branches.append((plain, _prefer_double(node, indexes)))
    return branches


def _prefer_double(node: UnionCodec, indexes: list[int]) -> list[int]:
    """Put a double before a float, as Python's floats are doubles."""
    names = [node.branches[index].names[0] for index in indexes]
    if "float" not in names or "double" not in names:
        return indexes
    first, second = sorted((names.index("float"), names.index("double")))
    double = indexes[names.index("double")]
    return [*indexes[:first], double, *indexes[first + 1 : second], *indexes[second + 1 :]]


def _accepts_class(branch: Codec, plain: type) -> bool:
    return plain in next(kinds for codec, kinds in _ACCEPTED_CLASSES if isinstance(branch, codec))

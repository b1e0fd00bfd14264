"""Generator of code that writes scalars."""

from __future__ import annotations

import datetime as dt
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from contractlog.serdes.avro.codecs import (
    BooleanCodec,
    Codec,
    FixedCodec,
    FloatCodec,
    NullCodec,
)
from contractlog.serdes.avro.generated import forms, sent
from contractlog.serdes.avro.generated.emitting import Emitter
from contractlog.serdes.avro.generated.floats import packing
from contractlog.serdes.avro.generated.graph import Unfit
from contractlog.serdes.avro.logical import LogicalCodec
from contractlog.serdes.avro.times import DateCodec, TimestampCodec

__all__ = ["JOIN", "NOTHING", "Pieces", "ScalarWriting", "Taken"]

Pieces: TypeAlias = list[str]  #: expressions for bytes, each to be used once
Taken: TypeAlias = Callable[[type, Callable[[Any], Any]], Callable[[Any], Any]]
"""Makes the function that unwraps ``(branch, value)``, given the branch's plain class and the conversion of other
classes to it."""

NOTHING: Final[dict[Any, Any]] = {}
JOIN: Final = b"".join
_EPOCH_DAY: Final = dt.date(1970, 1, 1).toordinal()


class ScalarWriting(Emitter):
    """Each method writes code that makes pieces of a value that already has a name."""

    def joined(self, pieces: Pieces) -> str:
        """Return one expression for all pieces."""
        if len(pieces) == 1:
            return pieces[0]
        return f"{self.constant(JOIN)}(({', '.join(pieces)}))" if pieces else self.source.literal(b"")

    def plain(self, value: str, kind: type, otherwise: Callable[[Any], Any], taken: Taken | None) -> None:
        """Write code that converts a value that is not exactly of this class to it."""
        change = otherwise if taken is None else taken(kind, otherwise)
        with self.source.block(f"if {self.constant(type)}({value}) is not {self.constant(kind)}"):
            self.source.line(f"{value} = {self.constant(change)}({value})")

    def scalar(self, node: Codec, value: str, taken: Taken | None) -> Pieces:
        """Make pieces of a value whose bytes do not depend on those before them."""
        match node:
            case NullCodec():
                with self.source.block(f"if {value} is not None"):
                    self.refuse()
                return []
            case BooleanCodec():
                true, false = self.source.literal(b"\1"), self.source.literal(b"\0")
                refused = f"{self.constant(NOTHING)}[0]"
                return [f"({true} if {value} is True else {false} if {value} is False else {refused})"]
            case FloatCodec():
                self.plain(value, float, forms.as_float, taken)
                return [f"{self.constant(packing([node]).pack)}({value})"]
            case FixedCodec():
                self.plain(value, bytes, forms.as_bytes, taken)
                with self.source.block(f"if {self.constant(len)}({value}) != {node.size}"):
                    self.refuse()
                return [value]
        raise Unfit

    def number(self, value: str, greater: Callable[[int], bytes]) -> str:
        """Return an expression for an integer's bytes."""
        small = f"{self.constant(sent.SMALL)}[{value}]"
        return f"({small} if 0 <= {value} < {sent.FEW} else {self.constant(greater)}({value}))"

    def measured(self, data: str, before: bytes) -> Pieces:
        """Return pieces for bytes preceded by their length."""
        length = self.set(f"{self.constant(len)}({data})")
        small = f"{self.constant(sent.lengths(before))}[{length}]"
        great = f"{self.source.literal(before)} + {self.constant(sent.varint)}({length})"
        return [f"({small} if {length} < {sent.FEW} else {great})", data]

    def logical(self, node: LogicalCodec, value: str, before: bytes, taken: Taken | None) -> Pieces:
        """Make the raw value; it is checked against its type as if the caller had passed it."""
        change = node.unmade if taken is None else taken(object, node.unmade)
        raw = self.source.name()
        if isinstance(node, DateCodec):
            date = self.constant(dt.date)
            with self.source.block(f"if {self.constant(type)}({value}) is {date}"):
                self.source.line(f"{raw} = {value}.toordinal() - {_EPOCH_DAY}")
            with self.source.block("else"):
                self.source.line(f"{raw} = {self.constant(change)}({value})")
        else:
            self.source.line(f"{raw} = {self.constant(change)}({value})")
        if isinstance(node, TimestampCodec):
            self.plain(raw, int, forms.as_int, None)
            pieces = [f"{self.constant(sent.varint)}({raw})"]
            return [self.source.literal(before), *pieces] if before else pieces
        return self.inline(node.raw, raw, before)

    @abstractmethod
    def inline(self, node: Codec, value: str, before: bytes = b"", taken: Taken | None = None) -> Pieces:
        """Make pieces of any node's value, preceded by some bytes."""

    def packed(self, run: list[tuple[FloatCodec, str]]) -> Pieces:
        """Pack adjacent numbers in one call."""
        if not run:
            return []
        layout = packing([codec for codec, _ in run])
        return [f"{self.constant(layout.pack)}({', '.join(member for _, member in run)})"]

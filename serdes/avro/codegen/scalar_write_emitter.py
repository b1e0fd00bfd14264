"""Generator of code that writes scalars."""

from __future__ import annotations

import datetime as dt
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from contractlog.serdes.avro.codegen import write_runtime
from contractlog.serdes.avro.codegen.codec_analysis import NotGenerated
from contractlog.serdes.avro.codegen.emitter import CodeEmitter, float_layout
from contractlog.serdes.avro.interpreter.codecs import BooleanCodec, Codec, FixedCodec, FloatCodec, NullCodec
from contractlog.serdes.avro.interpreter.decimal_and_uuid import LogicalCodec
from contractlog.serdes.avro.interpreter.times import DateCodec, TimestampCodec

__all__ = ["JOIN_BYTES", "NOTHING", "Pieces", "ScalarWriteEmitter", "UnwrapperFactory"]

Pieces: TypeAlias = list[str]  #: expressions for bytes, each to be used once
UnwrapperFactory: TypeAlias = Callable[[type, Callable[[Any], Any]], Callable[[Any], Any]]
"""Makes the function that unwraps ``(branch, value)``, given the branch's plain class and the conversion of other
classes to it."""

NOTHING: Final[dict[Any, Any]] = {}
JOIN_BYTES: Final = b"".join
_EPOCH_DAY: Final = dt.date(1970, 1, 1).toordinal()


class ScalarWriteEmitter(CodeEmitter):
    """Each method writes code that makes pieces of a value that already has a name."""

    def join_pieces(self, pieces: Pieces) -> str:
        """Return one expression for all pieces."""
        if len(pieces) == 1:
            return pieces[0]
        return f"{self.constant(JOIN_BYTES)}(({', '.join(pieces)}))" if pieces else self.source.literal(b"")

    def emit_conversion(
        self, value: str, kind: type, otherwise: Callable[[Any], Any], unwrapper_factory: UnwrapperFactory | None
    ) -> None:
        """Write code that converts a value that is not exactly of this class to it."""
        change = otherwise if unwrapper_factory is None else unwrapper_factory(kind, otherwise)
        with self.source.block(f"if {self.constant(type)}({value}) is not {self.constant(kind)}"):
            self.source.line(f"{value} = {self.constant(change)}({value})")

    def emit_scalar(self, node: Codec, value: str, unwrapper_factory: UnwrapperFactory | None) -> Pieces:
        """Make pieces of a value whose bytes do not depend on those before them."""
        match node:
            case NullCodec():
                with self.source.block(f"if {value} is not None"):
                    self.emit_fallback()
                return []
            case BooleanCodec():
                true, false = self.source.literal(b"\1"), self.source.literal(b"\0")
                refused = f"{self.constant(NOTHING)}[0]"
                return [f"({true} if {value} is True else {false} if {value} is False else {refused})"]
            case FloatCodec():
                self.emit_conversion(value, float, write_runtime.as_float, unwrapper_factory)
                return [f"{self.constant(float_layout([node]).pack)}({value})"]
            case FixedCodec():
                self.emit_conversion(value, bytes, write_runtime.as_bytes, unwrapper_factory)
                with self.source.block(f"if {self.constant(len)}({value}) != {node.size}"):
                    self.emit_fallback()
                return [value]
        raise NotGenerated

    def integer_expression(self, value: str, greater: Callable[[int], bytes]) -> str:
        """Return an expression for an integer's bytes."""
        small = f"{self.constant(write_runtime.SMALL_VARINTS)}[{value}]"
        return f"({small} if 0 <= {value} < {write_runtime.TABLE_SIZE} else {self.constant(greater)}({value}))"

    def emit_with_length(self, data: str, before: bytes) -> Pieces:
        """Return pieces for bytes preceded by their length."""
        length = self.assign(f"{self.constant(len)}({data})")
        small = f"{self.constant(write_runtime.small_lengths(before))}[{length}]"
        great = f"{self.source.literal(before)} + {self.constant(write_runtime.encode_varint)}({length})"
        return [f"({small} if {length} < {write_runtime.TABLE_SIZE} else {great})", data]

    def emit_logical(
        self, node: LogicalCodec, value: str, before: bytes, unwrapper_factory: UnwrapperFactory | None
    ) -> Pieces:
        """Make the raw value; it is checked against its type as if the caller had passed it."""
        change = node.to_raw if unwrapper_factory is None else unwrapper_factory(object, node.to_raw)
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
            self.emit_conversion(raw, int, write_runtime.as_int, None)
            pieces = [f"{self.constant(write_runtime.encode_varint)}({raw})"]
            return [self.source.literal(before), *pieces] if before else pieces
        return self.emit_inline(node.raw, raw, before)

    @abstractmethod
    def emit_inline(
        self, node: Codec, value: str, before: bytes = b"", unwrapper_factory: UnwrapperFactory | None = None
    ) -> Pieces:
        """Make pieces of any node's value, preceded by some bytes."""

    def pack_floats(self, run: list[tuple[FloatCodec, str]]) -> Pieces:
        """Pack adjacent numbers in one call."""
        if not run:
            return []
        layout = float_layout([codec for codec, _ in run])
        return [f"{self.constant(layout.pack)}({', '.join(member for _, member in run)})"]

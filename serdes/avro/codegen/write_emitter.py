"""Generator of encoding code: pieces of bytes are named as they are made, and joined once.

Names in the generated code: ``h`` is the prefix of the body, ``x`` a value, ``r`` how many more levels may be opened.
Values of plain types are written directly; others are converted to them if nothing can be lost by it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from contractlog.serdes.avro.codegen import write_runtime
from contractlog.serdes.avro.codegen.codec_analysis import NotGenerated
from contractlog.serdes.avro.codegen.scalar_write_emitter import JOIN_BYTES, NOTHING, Pieces, UnwrapperFactory
from contractlog.serdes.avro.codegen.source_text import MAIN_FUNCTION, SourceText
from contractlog.serdes.avro.codegen.union_write_emitter import UnionWriteEmitter
from contractlog.serdes.avro.interpreter.codecs import (
    BytesCodec,
    Codec,
    DoubleCodec,
    EnumCodec,
    FloatCodec,
    IntCodec,
    LongCodec,
    StringCodec,
)
from contractlog.serdes.avro.interpreter.containers import ArrayCodec, FieldCodec, MapCodec, RecordCodec, UnionCodec
from contractlog.serdes.avro.interpreter.decimal_and_uuid import LogicalCodec
from contractlog.serdes.avro.interpreter.failure import CodecFailure
from contractlog.serdes.avro.limits import Limits

__all__ = ["generate_writer"]

_BULK_WRITERS: Final = {
    IntCodec: write_runtime.encode_ints,
    LongCodec: write_runtime.encode_longs,
    StringCodec: write_runtime.encode_strings,
    FloatCodec: write_runtime.encode_floats,
    DoubleCodec: write_runtime.encode_doubles,
}


def generate_writer(root: Codec, limits: Limits) -> SourceText:
    """Return the code whose main function writes a body: ``(value, prefix) -> bytes``.

    Raises:
        NotGenerated: the schema has to be interpreted.
    """
    return _WriteEmitter(root, limits).generate(root)


class _WriteEmitter(UnionWriteEmitter):
    def generate(self, root: Codec) -> SourceText:
        line = self.source.line
        with self.function(MAIN_FUNCTION, "x, h"):
            pieces = self.emit_pieces(root, "x")
            line(f"return {self.join_pieces(['h', *pieces])}")
        if self.counts_levels:
            self.source.lines.insert(1, f" r = {self.limits.max_depth}")
        while self.pending:
            name, node = self.pending.pop()
            if not isinstance(node, Codec):
                raise NotGenerated
            with self.function(name, "x, r" if self.counts_levels else "x"):
                pieces = self.emit_inline(node, "x")
                line(f"return {self.join_pieces(pieces)}")
        return self.source

    def emit_pieces(
        self, node: Codec, value: str, before: bytes = b"", unwrapper_factory: UnwrapperFactory | None = None
    ) -> Pieces:
        """Write code for pieces of a value: names and expressions, each of which may be evaluated later, once."""
        if self.has_own_function(node):
            if unwrapper_factory is not None and isinstance(node, RecordCodec):
                self.emit_conversion(value, dict, write_runtime.as_dict, unwrapper_factory)
            elif unwrapper_factory is not None:
                self.emit_conversion(
                    value, list if isinstance(node, ArrayCodec) else dict, write_runtime.reject_value, None
                )
            pieces = [self.assign(self.call(node, value))]
            return [self.source.literal(before), *pieces] if before else pieces
        return self.emit_inline(node, value, before, unwrapper_factory)

    def emit_inline(
        self, node: Codec, value: str, before: bytes = b"", unwrapper_factory: UnwrapperFactory | None = None
    ) -> Pieces:
        match node:
            case LogicalCodec():
                return self.emit_logical(node, value, before, unwrapper_factory)
            case IntCodec() | LongCodec():
                self.emit_conversion(value, int, write_runtime.as_int, unwrapper_factory)
                pieces = [
                    self.integer_expression(
                        value, write_runtime.encode_int if isinstance(node, IntCodec) else write_runtime.encode_varint
                    )
                ]
            case StringCodec():
                return self.emit_with_length(self.assign(f"{self.constant(str.encode)}({value})"), before)
            case BytesCodec():
                self.emit_conversion(value, bytes, write_runtime.as_bytes, unwrapper_factory)
                return self.emit_with_length(value, before)
            case EnumCodec():
                self.emit_conversion(value, str, write_runtime.as_text, unwrapper_factory)
                table = {
                    symbol: before + write_runtime.encode_varint(index) for index, symbol in enumerate(node.symbols)
                }
                return [self.assign(f"{self.constant(table)}[{value}]")]
            case RecordCodec():
                pieces = self._emit_record(node, value, unwrapper_factory)
            case UnionCodec():
                return self.emit_union(node, value)
            case ArrayCodec():
                pieces = self._emit_array(
                    node, value, write_runtime.as_list if unwrapper_factory is None else write_runtime.reject_value
                )
            case MapCodec():
                pieces = self._emit_map(node, value)
            case _:
                pieces = self.emit_scalar(node, value, unwrapper_factory)
        return [self.source.literal(before), *pieces] if before else pieces

    def _emit_record(self, node: RecordCodec, value: str, unwrapper_factory: UnwrapperFactory | None) -> Pieces:
        self.emit_conversion(value, dict, write_runtime.as_dict, unwrapper_factory)
        pieces: Pieces = []
        run: list[tuple[FloatCodec, str]] = []
        with self.nested_level():
            for field in node.fields:
                member = self.assign(self._member_expression(field, value))
                if isinstance(field.codec, FloatCodec):
                    self.emit_conversion(member, float, write_runtime.as_float, None)
                    run.append((field.codec, member))
                    continue
                pieces += self.pack_floats(run)
                run.clear()
                pieces += self.emit_pieces(field.codec, member)
        return pieces + self.pack_floats(run)

    def _member_expression(self, field: FieldCodec, record: str) -> str:
        """Return the expression for a field's value; a missing one without a default raises a ``KeyError``."""
        name = self.source.literal(field.name)
        default = NOTHING if field.default is None else _default_value(field)
        if default is NOTHING:
            return f"{record}[{name}]"
        if default is None:
            return f"{record}.get({name})"
        return f"{record}[{name}] if {name} in {record} else {self.constant(default)}"

    def _emit_array(self, node: ArrayCodec, value: str, otherwise: Callable[[Any], Any]) -> Pieces:
        self.emit_conversion(value, list, otherwise, None)
        bulk_writer = _BULK_WRITERS.get(type(node.items))
        if bulk_writer is not None:
            return [self._emit_bulk_block(value, bulk_writer)]
        item = self.source.name()
        return [self._emit_block(value, f"for {item} in {value}", lambda: self.emit_pieces(node.items, item))]

    def _emit_map(self, node: MapCodec, value: str) -> Pieces:
        self.emit_conversion(value, dict, write_runtime.as_dict, None)
        key, entry = self.source.name(), self.source.name()

        def pieces() -> Pieces:
            text = self.emit_with_length(self.assign(f"{self.constant(str.encode)}({key})"), b"")
            return text + self.emit_pieces(node.values, entry)

        return [self._emit_block(value, f"for {key}, {entry} in {value}.items()", pieces)]

    def _emit_bulk_block(self, value: str, bulk_writer: Callable[[Any], bytes]) -> str:
        """Write one block of numbers or strings, and the 0 that ends it."""
        whole, end = self.source.name(), self.source.literal(b"\0")
        with self.source.block(f"if {value}"), self.nested_level():
            head, _ = self.emit_with_length(value, b"")
            self.source.line(
                f"{whole} = {self.constant(JOIN_BYTES)}(({head}, {self.constant(bulk_writer)}({value}), {end}))"
            )
        with self.source.block("else"):
            self.source.line(f"{whole} = {end}")
        return whole

    def _emit_block(self, value: str, header: str, pieces: Callable[[], Pieces]) -> str:
        """Write one block of items, and the 0 that ends it."""
        whole, parts, end = self.source.name(), self.source.name(), self.source.literal(b"\0")
        with self.source.block(f"if {value}"), self.nested_level():
            head, _ = self.emit_with_length(value, b"")
            self.source.line(f"{parts} = [{head}]")
            with self.source.block(header):
                item_pieces = pieces()
                if len(item_pieces) == 1:
                    self.source.line(f"{parts}.append({item_pieces[0]})")
                elif item_pieces:
                    self.source.line(f"{parts} += ({', '.join(item_pieces)})")
            self.source.line(f"{parts}.append({end})")
            self.source.line(f"{whole} = {self.constant(JOIN_BYTES)}({parts})")
        with self.source.block("else"):
            self.source.line(f"{whole} = {end}")
        return whole


def _default_value(field: FieldCodec) -> Any:
    """Return a field's default, or ``NOTHING`` if there is none; it is only written, so records share it."""
    try:
        return None if field.default is None else field.default()
    except CodecFailure:
        return NOTHING

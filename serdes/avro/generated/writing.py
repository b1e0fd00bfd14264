"""Generator of encoding code: pieces of bytes are named as they are made, and joined once.

Names in the generated code: ``h`` is the prefix of the body, ``x`` a value, ``r`` how many more levels may be opened.
Values of plain types are written directly; others are converted to them if nothing can be lost by it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from contractlog.serdes.avro.codecs import (
    BytesCodec,
    Codec,
    DoubleCodec,
    EnumCodec,
    FloatCodec,
    IntCodec,
    LongCodec,
    StringCodec,
)
from contractlog.serdes.avro.containers import ArrayCodec, FieldCodec, MapCodec, RecordCodec
from contractlog.serdes.avro.failure import Failure
from contractlog.serdes.avro.generated import forms, sent
from contractlog.serdes.avro.generated.compiling import MAIN
from contractlog.serdes.avro.generated.graph import Unfit
from contractlog.serdes.avro.generated.scalars_out import JOIN, NOTHING, Pieces, Taken
from contractlog.serdes.avro.generated.source import Source
from contractlog.serdes.avro.generated.unions_out import UnionWriting
from contractlog.serdes.avro.limits import Limits
from contractlog.serdes.avro.logical import LogicalCodec
from contractlog.serdes.avro.unions import UnionCodec

__all__ = ["writing"]


def writing(root: Codec, limits: Limits) -> Source:
    """Return the code whose main function writes a body: ``(value, prefix) -> bytes``.

    Raises:
        Unfit: the schema has to be interpreted.
    """
    return _Writing(root, limits).whole(root)


_AT_ONCE: Final = {
    IntCodec: sent.ints,
    LongCodec: sent.longs,
    StringCodec: sent.strings,
    FloatCodec: sent.floats,
    DoubleCodec: sent.doubles,
}


class _Writing(UnionWriting):
    def whole(self, root: Codec) -> Source:
        line = self.source.line
        with self.function(MAIN, "x, h"):
            pieces = self.pieces(root, "x")
            line(f"return {self.joined(['h', *pieces])}")
        if self.counted:
            self.source.lines.insert(1, f" r = {self.limits.max_depth}")
        while self.pending:
            name, node = self.pending.pop()
            if not isinstance(node, Codec):
                raise Unfit
            with self.function(name, "x, r" if self.counted else "x"):
                pieces = self.inline(node, "x")
                line(f"return {self.joined(pieces)}")
        return self.source

    def pieces(self, node: Codec, value: str, before: bytes = b"", taken: Taken | None = None) -> Pieces:
        """Write code for pieces of a value: names and expressions, each of which may be evaluated later, once."""
        if self.is_apart(node):
            if taken is not None and isinstance(node, RecordCodec):
                self.plain(value, dict, forms.as_dict, taken)
            elif taken is not None:
                self.plain(value, list if isinstance(node, ArrayCodec) else dict, forms.never, None)
            pieces = [self.set(self.call(node, value))]
            return [self.source.literal(before), *pieces] if before else pieces
        return self.inline(node, value, before, taken)

    def inline(self, node: Codec, value: str, before: bytes = b"", taken: Taken | None = None) -> Pieces:
        match node:
            case LogicalCodec():
                return self.logical(node, value, before, taken)
            case IntCodec() | LongCodec():
                self.plain(value, int, forms.as_int, taken)
                pieces = [self.number(value, sent.int_bytes if isinstance(node, IntCodec) else sent.varint)]
            case StringCodec():
                return self.measured(self.set(f"{self.constant(str.encode)}({value})"), before)
            case BytesCodec():
                self.plain(value, bytes, forms.as_bytes, taken)
                return self.measured(value, before)
            case EnumCodec():
                self.plain(value, str, forms.as_text, taken)
                table = {symbol: before + sent.varint(index) for index, symbol in enumerate(node.symbols)}
                return [self.set(f"{self.constant(table)}[{value}]")]
            case RecordCodec():
                pieces = self._record(node, value, taken)
            case UnionCodec():
                return self.union(node, value)
            case ArrayCodec():
                pieces = self._array(node, value, forms.as_list if taken is None else forms.never)
            case MapCodec():
                pieces = self._map(node, value)
            case _:
                pieces = self.scalar(node, value, taken)
        return [self.source.literal(before), *pieces] if before else pieces

    def _record(self, node: RecordCodec, value: str, taken: Taken | None) -> Pieces:
        self.plain(value, dict, forms.as_dict, taken)
        pieces: Pieces = []
        run: list[tuple[FloatCodec, str]] = []
        with self.opened():
            for field in node.fields:
                member = self.set(self._member(field, value))
                if isinstance(field.codec, FloatCodec):
                    self.plain(member, float, forms.as_float, None)
                    run.append((field.codec, member))
                    continue
                pieces += self.packed(run)
                run.clear()
                pieces += self.pieces(field.codec, member)
        return pieces + self.packed(run)

    def _member(self, field: FieldCodec, record: str) -> str:
        """Return the expression for a field's value; a missing one without a default raises a ``KeyError``."""
        name = self.source.literal(field.name)
        default = NOTHING if field.default is None else _default(field)
        if default is NOTHING:
            return f"{record}[{name}]"
        if default is None:
            return f"{record}.get({name})"
        return f"{record}[{name}] if {name} in {record} else {self.constant(default)}"

    def _array(self, node: ArrayCodec, value: str, otherwise: Callable[[Any], Any]) -> Pieces:
        self.plain(value, list, otherwise, None)
        at_once = _AT_ONCE.get(type(node.items))
        if at_once is not None:
            return [self._block(value, at_once)]
        item = self.source.name()
        return [self._items(value, f"for {item} in {value}", lambda: self.pieces(node.items, item))]

    def _map(self, node: MapCodec, value: str) -> Pieces:
        self.plain(value, dict, forms.as_dict, None)
        key, entry = self.source.name(), self.source.name()

        def pieces() -> Pieces:
            text = self.measured(self.set(f"{self.constant(str.encode)}({key})"), b"")
            return text + self.pieces(node.values, entry)

        return [self._items(value, f"for {key}, {entry} in {value}.items()", pieces)]

    def _block(self, value: str, at_once: Callable[[Any], bytes]) -> str:
        """Write one block of numbers or strings, and the 0 that ends it."""
        whole, end = self.source.name(), self.source.literal(b"\0")
        with self.source.block(f"if {value}"), self.opened():
            head, _ = self.measured(value, b"")
            self.source.line(f"{whole} = {self.constant(JOIN)}(({head}, {self.constant(at_once)}({value}), {end}))")
        with self.source.block("else"):
            self.source.line(f"{whole} = {end}")
        return whole

    def _items(self, value: str, header: str, pieces: Callable[[], Pieces]) -> str:
        """Write one block of items, and the 0 that ends it."""
        whole, parts, end = self.source.name(), self.source.name(), self.source.literal(b"\0")
        with self.source.block(f"if {value}"), self.opened():
            head, _ = self.measured(value, b"")
            self.source.line(f"{parts} = [{head}]")
            with self.source.block(header):
                made = pieces()
                if len(made) == 1:
                    self.source.line(f"{parts}.append({made[0]})")
                elif made:
                    self.source.line(f"{parts} += ({', '.join(made)})")
            self.source.line(f"{parts}.append({end})")
            self.source.line(f"{whole} = {self.constant(JOIN)}({parts})")
        with self.source.block("else"):
            self.source.line(f"{whole} = {end}")
        return whole


def _default(field: FieldCodec) -> Any:
    """Return a field's default, or ``NOTHING`` if there is none; it is only written, so records share it."""
    try:
        return None if field.default is None else field.default()
    except Failure:
        return NOTHING

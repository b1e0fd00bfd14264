"""Generator of decoding code: one function for a whole record, and one per type that needs its own.

Names in the generated code: ``d`` is the bytes, ``p`` the position in them, ``z`` their end, ``r`` how many more levels
may be opened. Bytes that end early are noticed at the end: a position beyond the end never returns within it, and each
item of an array takes at least one byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from contractlog.serdes.avro.codegen import read_runtime
from contractlog.serdes.avro.codegen.codec_analysis import find_max_size
from contractlog.serdes.avro.codegen.read_runtime import make_row_decoder
from contractlog.serdes.avro.codegen.scalar_read_emitter import MAX_ONE_BYTE_INDEX, ScalarReadEmitter
from contractlog.serdes.avro.codegen.source_text import MAIN_FUNCTION, SourceText
from contractlog.serdes.avro.interpreter.codecs import (
    DoubleCodec,
    FloatCodec,
    IntCodec,
    LongCodec,
    StringCodec,
    ValueReader,
)
from contractlog.serdes.avro.interpreter.containers import ArrayReader, MapReader, RecordCodec, UnionCodec
from contractlog.serdes.avro.interpreter.failure import CodecFailure
from contractlog.serdes.avro.interpreter.resolved_readers import (
    NamedRecordReader,
    RecordReader,
    UnreadableReader,
    WriterUnionReader,
)
from contractlog.serdes.avro.limits import Limits

__all__ = ["generate_reader"]

_BULK_READERS: Final[Mapping[type[ValueReader], Callable[..., Any]]] = {
    IntCodec: read_runtime.read_ints,
    LongCodec: read_runtime.read_longs,
    StringCodec: read_runtime.read_strings,
    FloatCodec: read_runtime.read_floats,
    DoubleCodec: read_runtime.read_doubles,
}


def generate_reader(root: ValueReader, limits: Limits) -> SourceText:
    """Return the code whose main function reads a whole body: ``(bytes, position) -> value``.

    Raises:
        NotGenerated: the schema has to be interpreted.
    """
    return _ReadEmitter(root, limits).generate(root)


class _ReadEmitter(ScalarReadEmitter):
    def generate(self, root: ValueReader) -> SourceText:
        line = self.source.line
        with self.function(MAIN_FUNCTION, "d, p"):
            line(f"z = {self.constant(len)}(d)")
            size = find_max_size(root, self.limits.max_empty_items)
            self.emit_fallback_if(
                f"z > {self.limits.max_length if size is None else min(size, self.limits.max_length)}"
            )
            value = self._emit_value(root)
            self.emit_fallback_if("p != z")
            line(f"return {value}")
        if self.counts_levels:
            self.source.lines.insert(1, f" r = {self.limits.max_depth}")
        while self.pending:
            name, node = self.pending.pop()
            with self.function(name, "d, p, z, r" if self.counts_levels else "d, p, z"):
                line(f"return {self._emit_inline(node)}, p")
        return self.source

    def _emit_value(self, node: ValueReader) -> str:
        """Write code that reads a node; return an expression for the value, to be used once."""
        if not self.has_own_function(node):
            return self._emit_inline(node)
        value = self.source.name()
        self.source.line(f"{value}, p = {self.call(node, 'd, p, z')}")
        return value

    def _emit_inline(self, node: ValueReader) -> str:  # noqa: PLR0911 -- one line per class
        match node:
            case RecordCodec():
                return self._emit_record(node)
            case RecordReader():
                return self._emit_resolved_record(node)
            case ArrayReader():
                return self._emit_array(node)
            case MapReader():
                return self._emit_map(node)
            case UnionCodec():
                return self._emit_union(node.branches, _branch_names(node))
            case WriterUnionReader():
                return self._emit_union(node.branches, [None] * len(node.branches))
            case NamedRecordReader():
                return f"({self.source.literal(node.name)}, {self._emit_value(node.record)})"
            case UnreadableReader():
                self.emit_fallback()
                return "None"
        return self.emit_scalar(node)

    def _emit_record(self, node: RecordCodec) -> str:
        with self.nested_level():
            values = self._emit_fields([field.codec for field in node.fields])
        return self._dict_expression(zip((field.name for field in node.fields), values, strict=True))

    def _emit_resolved_record(self, node: RecordReader) -> str:
        with self.nested_level():
            read = self._emit_fields([reader for _, _, reader in node.steps])
        values = {target: value for (_, target, _), value in zip(node.steps, read, strict=True) if target is not None}
        for name, default in node.missing:
            values[name] = self._default_expression(default)
        return self._dict_expression((name, values[name]) for name in node.names)

    def _emit_fields(self, nodes: Sequence[ValueReader]) -> list[str]:
        """Write code that reads values one after another, and runs of floats in one call."""
        values: list[str] = []
        while len(values) < len(nodes):
            rest = nodes[len(values) :]
            run = _leading_floats(rest)
            values += self.emit_floats(run) if run else [self._emit_value(rest[0])]
        return values

    def _dict_expression(self, members: Iterable[tuple[str, str]]) -> str:
        return "{" + ", ".join(f"{self.source.literal(name)}: {value}" for name, value in members) + "}"

    def _default_expression(self, default: Callable[[], Any]) -> str:
        """Return an expression that makes the default, a new value for each record."""
        try:
            return self._constant_expression(default())
        except CodecFailure:
            self.emit_fallback()
            return "None"

    def _constant_expression(self, value: Any) -> str:
        if value is None or isinstance(value, bool):
            return repr(value)
        if isinstance(value, dict):
            return self._dict_expression((name, self._constant_expression(member)) for name, member in value.items())
        if isinstance(value, list):
            return "[" + ", ".join(map(self._constant_expression, value)) + "]"
        if isinstance(value, tuple):
            return "(" + "".join(f"{self._constant_expression(member)}, " for member in value) + ")"
        return self.source.literal(value) if isinstance(value, str | bytes) else self.constant(value)

    def _emit_union(self, nodes: Sequence[ValueReader], names: Sequence[str | None]) -> str:
        line, index, value = self.source.line, self.source.name(), self.source.name()
        fits_one_byte = len(nodes) <= MAX_ONE_BYTE_INDEX
        line(f"{index} = d[p]" if fits_one_byte else f"{index}, p = {self.constant(read_runtime.read_int)}(d, p)")
        if fits_one_byte:
            line("p += 1")
        for number, (node, name) in enumerate(zip(nodes, names, strict=True)):
            with self.source.block(
                f"{'elif' if number else 'if'} {index} == {number * 2 if fits_one_byte else number}"
            ):
                read = self._emit_value(node)
                line(f"{value} = {read if name is None else f'({self.source.literal(name)}, {read})'}")
        with self.source.block("else" if nodes else "if True"):
            self.emit_fallback()
        return value

    def _emit_array(self, node: ArrayReader) -> str:
        values = self.assign("[]")
        bulk_reader = _BULK_READERS.get(type(node.items))
        if bulk_reader is not None:
            read = self.source.name()
            with self.nested_level(), self._each_block() as count:
                self.source.line(f"{read}, p = {self.constant(bulk_reader)}(d, p, {count})")
                self.source.line(f"{values} += {read}")
            return values
        flat = _flat_fields(node.items)
        decode = make_row_decoder([reader for _, reader in flat])
        with self.nested_level(), self._each_block(empty=node.items.empty) as count:
            if decode is not None:
                self._emit_flat_records(decode, flat, values, count)
            with self._each_item(count):
                value = self._emit_value(node.items)
                self.source.line(f"{values}.append({value})")
        return values

    def _emit_flat_records(
        self, decode: Callable[..., Any], flat: Sequence[tuple[str, ValueReader]], values: str, count: str
    ) -> None:
        """Write code that reads most records of an array in bulk; a loop reads the others."""
        rows, members = self.source.name(), [self.source.name() for _ in flat]
        self.source.line(f"{rows}, p, {count} = {self.constant(decode)}(d, p, {count})")
        with self.nested_level(), self.source.block(f"for {', '.join(members)}, in {rows}"):
            record = self._dict_expression((name, member) for (name, _), member in zip(flat, members, strict=True))
            self.source.line(f"{values}.append({record})")

    def _emit_map(self, node: MapReader) -> str:
        entries = self.assign("{}")
        with self.nested_level(), self._each_block() as count, self._each_item(count):
            key = self.emit_string()
            value = self._emit_value(node.values)
            self.source.line(f"{entries}[{key}] = {value}")
        return entries

    @contextmanager
    def _each_block(self, *, empty: bool = False) -> Iterator[str]:
        """Repeat the code written inside for each block; blocks of items without bytes are interpreted."""
        line, count, stop = self.source.line, self.source.name(), self.source.name()
        line(f"{count} = d[p]")
        line("p += 1")
        with self.source.block(f"while {count}"):
            line(f"{stop} = 0")
            with self.source.block(f"if {count} & {read_runtime.BLOCK_SIZE_BITS}"):
                line(f"{count}, p, {stop} = {self.constant(read_runtime.read_block_header)}(d, p - 1, z)")
            with self.source.block("else"):
                line(f"{count} >>= 1")
            self.emit_fallback_if("True" if empty else f"{count} > z - p")
            yield count
            self.emit_fallback_if(f"{stop} and {stop} != p")
            line(f"{count} = d[p]")
            line("p += 1")

    @contextmanager
    def _each_item(self, count: str) -> Iterator[None]:
        """Repeat the code written inside for each item of a block."""
        with self.source.block(f"for {self.source.name()} in {self.constant(range)}({count})"):
            yield


def _flat_fields(node: ValueReader) -> Sequence[tuple[str, ValueReader]]:
    """Return the members of a flat record in the order of its bytes; empty if its values have others, too."""
    if isinstance(node, RecordCodec):
        return [(field.name, field.codec) for field in node.fields]
    if isinstance(node, RecordReader) and not node.missing:
        read = [(target, reader) for _, target, reader in node.steps if target is not None]
        return read if [name for name, _ in read] == list(node.names) and len(read) == len(node.steps) else []
    return []


def _leading_floats(nodes: Sequence[ValueReader]) -> list[FloatCodec]:
    """Return the floats at the beginning of a row of nodes."""
    run: list[FloatCodec] = []
    for node in nodes:
        if not isinstance(node, FloatCodec):
            break
        run.append(node)
    return run


def _branch_names(union: UnionCodec) -> list[str | None]:
    """Return the name that each branch's values carry: that of records under ``named_records``, else None."""
    return [
        branch.names[0] if union.named_records and isinstance(branch, RecordCodec) else None
        for branch in union.branches
    ]

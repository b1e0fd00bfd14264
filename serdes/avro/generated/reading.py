"""Generator of decoding code: one function for a whole record, and one per type that needs its own.

Names in the generated code: ``d`` is the bytes, ``p`` the position in them, ``z`` their end, ``r`` how many more levels
may be opened. Bytes that end early are noticed at the end: a position beyond the end never returns within it, and each
item of an array takes at least one byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from contractlog.serdes.avro.codecs import DoubleCodec, FloatCodec, IntCodec, LongCodec, Reader, StringCodec
from contractlog.serdes.avro.containers import ArrayReader, MapReader, RecordCodec
from contractlog.serdes.avro.failure import Failure
from contractlog.serdes.avro.generated import received
from contractlog.serdes.avro.generated.compiling import MAIN
from contractlog.serdes.avro.generated.rows import row_decoder
from contractlog.serdes.avro.generated.scalars_in import FEW, ScalarReading
from contractlog.serdes.avro.generated.source import Source
from contractlog.serdes.avro.limits import Limits
from contractlog.serdes.avro.resolved import NamedRecord, RecordReader, Unreadable, WriterUnion
from contractlog.serdes.avro.unions import UnionCodec

__all__ = ["reading"]


def reading(root: Reader, limits: Limits) -> Source:
    """Return the code whose main function reads a whole body: ``(bytes, position) -> value``.

    Raises:
        Unfit: the schema has to be interpreted.
    """
    return _Reading(root, limits).whole(root)


_AT_ONCE: Final[Mapping[type[Reader], Callable[..., Any]]] = {
    IntCodec: received.ints_at,
    LongCodec: received.longs_at,
    StringCodec: received.strings_at,
    FloatCodec: received.floats_at,
    DoubleCodec: received.doubles_at,
}


class _Reading(ScalarReading):
    def whole(self, root: Reader) -> Source:
        line = self.source.line
        with self.function(MAIN, "d, p"):
            line(f"z = {self.constant(len)}(d)")
            self.refuse_if(f"z > {self.limits.max_length}")
            value = self._value(root)
            self.refuse_if("p != z")
            line(f"return {value}")
        if self.counted:
            self.source.lines.insert(1, f" r = {self.limits.max_depth}")
        while self.pending:
            name, node = self.pending.pop()
            with self.function(name, "d, p, z, r" if self.counted else "d, p, z"):
                line(f"return {self._inline(node)}, p")
        return self.source

    def _value(self, node: Reader) -> str:
        """Write code that reads a node; return an expression for the value, to be used once."""
        if not self.is_apart(node):
            return self._inline(node)
        value = self.source.name()
        self.source.line(f"{value}, p = {self.call(node, 'd, p, z')}")
        return value

    def _inline(self, node: Reader) -> str:  # noqa: PLR0911 -- one line per class
        match node:
            case RecordCodec():
                return self._record(node)
            case RecordReader():
                return self._evolved(node)
            case ArrayReader():
                return self._array(node)
            case MapReader():
                return self._map(node)
            case UnionCodec():
                return self._branches(node.branches, _names(node))
            case WriterUnion():
                return self._branches(node.branches, [None] * len(node.branches))
            case NamedRecord():
                return f"({self.source.literal(node.name)}, {self._value(node.record)})"
            case Unreadable():
                self.refuse()
                return "None"
        return self.scalar(node)

    def _record(self, node: RecordCodec) -> str:
        with self.opened():
            values = self._steps([field.codec for field in node.fields])
        return self._display(zip((field.name for field in node.fields), values, strict=True))

    def _evolved(self, node: RecordReader) -> str:
        with self.opened():
            read = self._steps([reader for _, _, reader in node.steps])
        values = {target: value for (_, target, _), value in zip(node.steps, read, strict=True) if target is not None}
        for name, default in node.missing:
            values[name] = self._default(default)
        return self._display((name, values[name]) for name in node.names)

    def _steps(self, nodes: Sequence[Reader]) -> list[str]:
        """Write code that reads values one after another, and runs of floats in one call."""
        values: list[str] = []
        while len(values) < len(nodes):
            rest = nodes[len(values) :]
            run = _floats(rest)
            values += self.floats(run) if run else [self._value(rest[0])]
        return values

    def _display(self, members: Iterable[tuple[str, str]]) -> str:
        return "{" + ", ".join(f"{self.source.literal(name)}: {value}" for name, value in members) + "}"

    def _default(self, default: Callable[[], Any]) -> str:
        """Return an expression that makes the default, a new value for each record."""
        try:
            return self._written(default())
        except Failure:
            self.refuse()
            return "None"

    def _written(self, value: Any) -> str:
        if value is None or isinstance(value, bool):
            return repr(value)
        if isinstance(value, dict):
            return self._display((name, self._written(member)) for name, member in value.items())
        if isinstance(value, list):
            return "[" + ", ".join(map(self._written, value)) + "]"
        if isinstance(value, tuple):
            return "(" + "".join(f"{self._written(member)}, " for member in value) + ")"
        return self.source.literal(value) if isinstance(value, str | bytes) else self.constant(value)

    def _branches(self, nodes: Sequence[Reader], names: Sequence[str | None]) -> str:
        line, index, value = self.source.line, self.source.name(), self.source.name()
        few = len(nodes) <= FEW
        line(f"{index} = d[p]" if few else f"{index}, p = {self.constant(received.int_at)}(d, p)")
        if few:
            line("p += 1")
        for number, (node, name) in enumerate(zip(nodes, names, strict=True)):
            with self.source.block(f"{'elif' if number else 'if'} {index} == {number * 2 if few else number}"):
                read = self._value(node)
                line(f"{value} = {read if name is None else f'({self.source.literal(name)}, {read})'}")
        with self.source.block("else" if nodes else "if True"):
            self.refuse()
        return value

    def _array(self, node: ArrayReader) -> str:
        values = self.set("[]")
        at_once = _AT_ONCE.get(type(node.items))
        if at_once is not None:
            read = self.source.name()
            with self.opened(), self._blocks() as count:
                self.source.line(f"{read}, p = {self.constant(at_once)}(d, p, {count})")
                self.source.line(f"{values} += {read}")
            return values
        flat = _flat(node.items)
        decode = row_decoder([reader for _, reader in flat])
        with self.opened(), self._blocks(empty=node.items.empty) as count:
            if decode is not None:
                self._rows(decode, flat, values, count)
            with self._each(count):
                value = self._value(node.items)
                self.source.line(f"{values}.append({value})")
        return values

    def _rows(self, decode: Callable[..., Any], flat: Sequence[tuple[str, Reader]], values: str, count: str) -> None:
        """Write code that reads most records of an array in bulk; a loop reads the others."""
        rows, members = self.source.name(), [self.source.name() for _ in flat]
        self.source.line(f"{rows}, p, {count} = {self.constant(decode)}(d, p, {count})")
        with self.opened(), self.source.block(f"for {', '.join(members)}, in {rows}"):
            record = self._display((name, member) for (name, _), member in zip(flat, members, strict=True))
            self.source.line(f"{values}.append({record})")

    def _map(self, node: MapReader) -> str:
        entries = self.set("{}")
        with self.opened(), self._blocks() as count, self._each(count):
            key = self.string()
            value = self._value(node.values)
            self.source.line(f"{entries}[{key}] = {value}")
        return entries

    @contextmanager
    def _blocks(self, *, empty: bool = False) -> Iterator[str]:
        """Repeat the code written inside for each block; blocks of items without bytes are interpreted."""
        line, count, stop = self.source.line, self.source.name(), self.source.name()
        line(f"{count} = d[p]")
        line("p += 1")
        with self.source.block(f"while {count}"):
            line(f"{stop} = 0")
            with self.source.block(f"if {count} & {received.NEGATED}"):
                line(f"{count}, p, {stop} = {self.constant(received.block_at)}(d, p - 1, z)")
            with self.source.block("else"):
                line(f"{count} >>= 1")
            self.refuse_if("True" if empty else f"{count} > z - p")
            yield count
            self.refuse_if(f"{stop} and {stop} != p")
            line(f"{count} = d[p]")
            line("p += 1")

    @contextmanager
    def _each(self, count: str) -> Iterator[None]:
        """Repeat the code written inside for each item of a block."""
        with self.source.block(f"for {self.source.name()} in {self.constant(range)}({count})"):
            yield


def _flat(node: Reader) -> Sequence[tuple[str, Reader]]:
    """Return the members of a flat record in the order of its bytes; empty if its values have others, too."""
    if isinstance(node, RecordCodec):
        return [(field.name, field.codec) for field in node.fields]
    if isinstance(node, RecordReader) and not node.missing:
        read = [(target, reader) for _, target, reader in node.steps if target is not None]
        return read if [name for name, _ in read] == list(node.names) and len(read) == len(node.steps) else []
    return []


def _floats(nodes: Sequence[Reader]) -> list[FloatCodec]:
    """Return the floats at the beginning of a row of nodes."""
    run: list[FloatCodec] = []
    for node in nodes:
        if not isinstance(node, FloatCodec):
            break
        run.append(node)
    return run


def _names(union: UnionCodec) -> list[str | None]:
    """Return the name that each branch's values carry: that of records under ``named_records``, else None."""
    return [
        branch.names[0] if union.named_records and isinstance(branch, RecordCodec) else None
        for branch in union.branches
    ]

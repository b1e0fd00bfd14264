"""Base of the generators of decoding and encoding code: lines, functions, levels, layouts of floats."""

from __future__ import annotations

import struct
from abc import ABC
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final

from contractlog.serdes.avro.codegen import InterpreterNeeded
from contractlog.serdes.avro.codegen.codec_analysis import CodecGraph
from contractlog.serdes.avro.codegen.source_text import SourceText
from contractlog.serdes.avro.interpreter.codecs import DoubleCodec, FloatCodec, ValueReader
from contractlog.serdes.avro.interpreter.containers import ArrayReader, MapReader, RecordCodec, UnionCodec
from contractlog.serdes.avro.interpreter.resolved_readers import RecordReader, WriterUnionReader
from contractlog.serdes.avro.limits import Limits

__all__ = ["CodeEmitter", "float_layout"]

#: Levels of indentation after which a new function begins, as Python limits the nesting of blocks.
_MAX_INDENT: Final = 12
#: Levels of records, arrays and maps before a new function, as Python limits nested expressions.
_MAX_NESTING: Final = 24
_CONTAINER_CODECS: Final = (RecordCodec, RecordReader, ArrayReader, MapReader, UnionCodec, WriterUnionReader)


class CodeEmitter(ABC):  # noqa: B024 -- reading and writing subclass it
    """Generator of source text for a tree of codecs.

    A record that is used twice has a function of its own.

    The generated code counts levels only if values of the tree could nest deeper than the limit: each function receives
    the number of levels left, and first checks that it covers those that the function opens itself.
    """

    def __init__(self, root: ValueReader, limits: Limits) -> None:
        self.source = SourceText()
        self.limits = limits
        self._graph = CodecGraph(root)
        self.counts_levels = self._graph.height is None or self._graph.height > limits.max_depth
        self.pending: list[tuple[str, ValueReader]] = []  # functions that are called and not yet written
        self._functions: dict[int, str] = {}
        self._level = 0  # levels opened since the function began
        self._deepest = 0

    def constant(self, value: Any) -> str:
        """Return the name of an object."""
        return self.source.constant(value)

    def assign(self, value: str) -> str:
        """Assign an expression to a new name, and return the name."""
        name = self.source.name()
        self.source.line(f"{name} = {value}")
        return name

    def emit_fallback(self) -> None:
        """Write the fall-back to the interpreter."""
        self.source.line(f"raise {self.constant(InterpreterNeeded)}")

    def emit_fallback_if(self, condition: str) -> None:
        """Write the fall-back to the interpreter under a condition."""
        with self.source.block(f"if {condition}"):
            self.emit_fallback()

    def has_own_function(self, node: ValueReader) -> bool:
        """Return whether a node has a function of its own."""
        shared = isinstance(node, RecordCodec | RecordReader) and self._graph.is_shared(node)
        deep = self.source.indent > _MAX_INDENT or self._level > _MAX_NESTING
        return shared or (deep and isinstance(node, _CONTAINER_CODECS))

    def call(self, node: ValueReader, arguments: str) -> str:
        """Return the call of a node's function, which is written later."""
        name = self._functions.get(id(node))
        if name is None:
            name = self._functions[id(node)] = self.source.name("f")
            self.pending.append((name, node))
        self._deepest = max(self._deepest, self._level)
        left = f", r - {self._level}" if self.counts_levels else ""
        return f"{name}({arguments}{left})"

    @contextmanager
    def function(self, name: str, arguments: str) -> Iterator[None]:
        """Begin a function; the check of its levels is inserted once their number is known."""
        self._level = self._deepest = 0
        with self.source.block(f"def {name}({arguments})"):
            at = len(self.source.lines)
            yield
            if self.counts_levels and self._deepest:
                self.source.lines[at:at] = [f" if r < {self._deepest}:", f"  raise {self.constant(InterpreterNeeded)}"]

    @contextmanager
    def nested_level(self) -> Iterator[None]:
        """Count one level while inside a record, array or map."""
        self._level += 1
        self._deepest = max(self._deepest, self._level)
        yield
        self._level -= 1


def float_layout(nodes: Sequence[FloatCodec]) -> struct.Struct:
    """Return the layout that packs or unpacks a run of adjacent floats and doubles in one call."""
    return _cached_layout("".join("d" if isinstance(node, DoubleCodec) else "f" for node in nodes))


@lru_cache(256)
def _cached_layout(letters: str) -> struct.Struct:
    return struct.Struct(f"<{letters}")

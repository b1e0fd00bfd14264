"""Base class of the generators of decoding and encoding code: source lines, functions and levels."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from contractlog.serdes.avro.codecs import Reader
from contractlog.serdes.avro.containers import ArrayReader, MapReader, RecordCodec
from contractlog.serdes.avro.generated import Otherwise
from contractlog.serdes.avro.generated.graph import Graph
from contractlog.serdes.avro.generated.source import Source
from contractlog.serdes.avro.limits import Limits
from contractlog.serdes.avro.resolved import RecordReader, WriterUnion
from contractlog.serdes.avro.unions import UnionCodec

__all__ = ["Emitter"]

_DEEP: Final = 12  #: levels of indentation after which a new function begins, as Python limits the nesting of blocks
_HIGH: Final = 24  #: levels of records, arrays and maps before a new function, as Python limits nested expressions
_CONTAINERS: Final = (RecordCodec, RecordReader, ArrayReader, MapReader, UnionCodec, WriterUnion)


class Emitter(ABC):  # noqa: B024 -- reading and writing subclass it
    """Generator of source text for a tree of codecs.

    A record that is used twice has a function of its own.

    The generated code counts levels only if values of the tree could nest deeper than the limit: each function receives
    the number of levels left, and first checks that it covers those that the function opens itself.
    """

    def __init__(self, root: Reader, limits: Limits) -> None:
        self.source = Source()
        self.limits = limits
        self._graph = Graph(root)
        self.counted = self._graph.height is None or self._graph.height > limits.max_depth
        self.pending: list[tuple[str, Reader]] = []  # functions that are called and not yet written
        self._functions: dict[int, str] = {}
        self._level = 0  # levels opened since the function began
        self._deepest = 0

    def constant(self, value: Any) -> str:
        """Return the name of an object."""
        return self.source.constant(value)

    def set(self, value: str) -> str:
        """Assign an expression to a new name, and return the name."""
        name = self.source.name()
        self.source.line(f"{name} = {value}")
        return name

    def refuse(self) -> None:
        """Write the fall-back to the interpreter."""
        self.source.line(f"raise {self.constant(Otherwise)}")

    def refuse_if(self, condition: str) -> None:
        """Write the fall-back to the interpreter under a condition."""
        with self.source.block(f"if {condition}"):
            self.refuse()

    def is_apart(self, node: Reader) -> bool:
        """Return whether a node has a function of its own."""
        shared = isinstance(node, RecordCodec | RecordReader) and self._graph.is_shared(node)
        deep = self.source.indent > _DEEP or self._level > _HIGH
        return shared or (deep and isinstance(node, _CONTAINERS))

    def call(self, node: Reader, arguments: str) -> str:
        """Return the call of a node's function, which is written later."""
        name = self._functions.get(id(node))
        if name is None:
            name = self._functions[id(node)] = self.source.name("f")
            self.pending.append((name, node))
        self._deepest = max(self._deepest, self._level)
        left = f", r - {self._level}" if self.counted else ""
        return f"{name}({arguments}{left})"

    @contextmanager
    def function(self, name: str, arguments: str) -> Iterator[None]:
        """Begin a function; the check of its levels is inserted once their number is known."""
        self._level = self._deepest = 0
        with self.source.block(f"def {name}({arguments})"):
            at = len(self.source.lines)
            yield
            if self.counted and self._deepest:
                self.source.lines[at:at] = [f" if r < {self._deepest}:", f"  raise {self.constant(Otherwise)}"]

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Count one level while inside a record, array or map."""
        self._level += 1
        self._deepest = max(self._deepest, self._level)
        yield
        self._level -= 1

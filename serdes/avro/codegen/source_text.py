"""Source text under construction, which never contains any text of a schema.

Text consists of numbered names and of integers. Values from a schema are passed separately: ``constant`` for objects
that the code refers to, ``literal`` for texts and bytes that replace their names in the syntax tree after the text has
been parsed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

__all__ = ["MAIN_FUNCTION", "SourceText"]

MAIN_FUNCTION: Final = "f0"  #: the function of a string that is returned; the others are its helpers


class SourceText:
    """Lines of Python, and the values that they refer to by numbered names."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constants: dict[str, Any] = {}  # k1 -> an object of the namespace
        self.literals: dict[str, str | bytes] = {}  # s1 -> a str or bytes that replaces the name
        self.indent = 0
        self._names = 0
        self._name_by_value: dict[Any, str] = {}

    @property
    def text(self) -> str:
        """The whole text."""
        return "\n".join(self.lines) + "\n"

    def line(self, text: str) -> None:
        """Add a line."""
        self.lines.append(" " * self.indent + text)

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """Add a line that opens a block, and indent what follows; an empty block becomes ``pass``."""
        self.line(header + ":")
        self.indent += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.line("pass")
        self.indent -= 1

    def name(self, kind: str = "v") -> str:
        """Return an unused name."""
        self._names += 1
        return f"{kind}{self._names}"

    def constant(self, value: Any) -> str:
        """Return the name of an object; the same object has the same name."""
        key = ("k", id(value))
        if key not in self._name_by_value:
            self._name_by_value[key] = self.name("k")
            self.constants[self._name_by_value[key]] = value  # keeps the object alive, so that its id is not reused
        return self._name_by_value[key]

    def literal(self, value: str | bytes) -> str:
        """Return the name that a str or bytes will replace."""
        key = (type(value), value)
        if key not in self._name_by_value:
            self._name_by_value[key] = self.name("s")
            self.literals[self._name_by_value[key]] = value
        return self._name_by_value[key]

"""Positions of keys in a TOML text."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final

__all__ = ["locate_key"]

_Path = tuple[str | int, ...]

_SPACE: Final = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")  #: with comments
_SEPARATOR: Final = re.compile(r"(?:[ \t\r\n,]++|#[^\n]*+)*+")
_MULTILINE_STRING: Final = r'''"""(?:[^"\\]++|\\.|"{1,2}(?!"))*+"{3,5}|'{3}(?:[^']++|'{1,2}(?!'))*+'{3,5}'''
_STRING: Final = rf"""{_MULTILINE_STRING}|"(?:[^"\\\n]++|\\.)*+"|'[^'\n]*+'"""
_KEY_PART: Final = re.compile(rf"{_STRING}|[A-Za-z0-9_-]++", re.DOTALL)
_SCALAR: Final = re.compile(rf"{_STRING}|[^,\]}}#\n]++", re.DOTALL)  #: dates may have a space


def locate_key(text: str, keys: Sequence[str | int]) -> tuple[int, int]:
    r"""Return line and column, both from 1, of a key, or of the nearest key that leads to it.

    A key is located where it is first written: a table at its header, a dotted key at its first part. Entries of
    arrays, whose keys are numbers, have positions, too.

    >>> locate_key('a = 1\n[b]\nc.d = [{ e = 2 }]', ["b", "c", "d", 0, "e"])
    (3, 10)
    """
    offsets, line_starts = _scan(text)
    prefixes = (tuple(keys[:length]) for length in range(len(keys), 0, -1))
    offset = next((offsets[prefix] for prefix in prefixes if prefix in offsets), 0)
    line = bisect_right(line_starts, offset)
    return line, offset - line_starts[line - 1] + 1


@lru_cache(maxsize=1)  # all positions that a command needs are in one text
def _scan(text: str) -> tuple[dict[_Path, int], list[int]]:
    """Return the offset of each key of a valid TOML text, and of each line."""
    scanner = _Scanner(text)
    scanner.scan_document()
    lengths = (len(line) + 1 for line in text.split("\n")[:-1])
    return scanner.offsets, list(accumulate(lengths, initial=0))


class _Scanner:
    """Scanner for the keys of a text that ``tomllib`` accepts."""

    def __init__(self, text: str) -> None:
        self.offsets: dict[_Path, int] = {}
        self._text = text
        self._offset = 0
        self._last_index: dict[_Path, int] = {}  #: of each array of tables

    def scan_document(self) -> None:
        """Find all keys."""
        table: _Path = ()
        while self._skip_space() < len(self._text):
            start = self._offset
            if not self._accept("["):
                self._scan_pair(table)
                continue
            is_entry = self._accept("[")
            table = self._add_key((), start, is_entry=is_entry)
            for _ in range(1 + is_entry):
                self._accept("]")

    def _add_key(self, table: _Path, start: int, *, is_entry: bool = False) -> _Path:
        """Read a key, note the position of each of its parts that is new, and return its path."""
        path = table
        while True:
            if path in self._last_index:
                path = (*path, self._last_index[path])
            self._skip_space()
            path = (*path, self._read_key_part())
            self.offsets.setdefault(path, start)
            self._skip_space()
            if not self._accept("."):
                break
        if is_entry:
            self._last_index[path] = self._last_index.get(path, -1) + 1
            path = (*path, self._last_index[path])
            self.offsets[path] = start
        return path

    def _scan_pair(self, table: _Path) -> None:
        path = self._add_key(table, self._offset)
        self._accept("=")
        self._scan_value(path)

    def _scan_value(self, path: _Path) -> None:
        """Skip a value, and find the keys in it; takes no more stack than ``tomllib``."""
        self._skip_space()
        if self._accept("["):
            index = 0
            while not self._closes("]"):
                self.offsets[(*path, index)] = self._offset
                self._scan_value((*path, index))
                index += 1
        elif self._accept("{"):
            while not self._closes("}"):
                self._scan_pair(path)
        else:
            self._take(_SCALAR)

    def _closes(self, bracket: str) -> bool:
        """Skip to the next entry, and return whether there is none before the bracket."""
        self._take(_SEPARATOR)
        return self._accept(bracket)

    def _read_key_part(self) -> str:
        part = self._take(_KEY_PART)
        return str(tomllib.loads(f"key = {part}")["key"]) if part[0] in "\"'" else part

    def _skip_space(self) -> int:
        self._take(_SPACE)
        return self._offset

    def _accept(self, character: str) -> bool:
        """Skip a character if it is the next one, and return whether it is."""
        is_next = self._text.startswith(character, self._offset)
        self._offset += is_next
        return is_next

    def _take(self, pattern: re.Pattern[str]) -> str:
        token = pattern.match(self._text, self._offset)
        if token is None:  # the caller has parsed the text
            raise ValueError(f"not TOML at offset {self._offset}")
        self._offset = token.end()
        return token[0]

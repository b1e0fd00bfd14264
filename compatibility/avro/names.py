"""Validation and qualification of the names of Avro types, fields and symbols."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from contractlog.compatibility.avro.types import PRIMITIVES
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_text import join_pointer

__all__ = ["check_full_name", "check_name", "find_fallback_symbol", "qualify_name"]

_STRICT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_STRICT_FULL: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+", re.ASCII)
_FALLBACK_SYMBOLS: Final = frozenset({"UNKNOWN", "UNSPECIFIED", "OTHER", "UNDEFINED"})


def qualify_name(name: str, namespace: str) -> str:
    """Return the full name; a dotted name has its own namespace."""
    space, dot, last = name.rpartition(".")
    if not dot:
        space = namespace
    return f"{space}.{last}" if space else last


def check_full_name(full: str, at: str, *, strict: bool) -> None:
    """Reject an invalid type name; the namespace is validated in strict mode only."""
    if "." in full and _STRICT_FULL.fullmatch(full):
        return
    space, _, name = full.rpartition(".")
    check_name(name, "type", at, strict=strict)
    if strict and space:
        for part in space.split("."):
            check_name(part, "namespace", at, strict=True)
    if not space and name in PRIMITIVES:
        raise InvalidSchema(f'a type cannot be named after the primitive "{name}"', at=at)


def check_name(name: str, what: str, at: str, *tokens: str | int, strict: bool) -> None:
    """Reject an invalid name; only tolerant mode allows letters and digits beyond ASCII.

    Args:
        name: the name to check.
        what: kind of the name, for the message.
        at: JSON Pointer to the name, extended by ``tokens``.
        tokens: the rest of the pointer.
        strict: use strict mode.
    """
    if _STRICT.fullmatch(name) is None and (strict or not _is_tolerable(name)):
        letters = "letters A to Z, digits and _" if strict else "letters, digits and _"
        raise InvalidSchema(
            f'"{name}" is not a valid {what} name: use {letters}, and do not start with a digit',
            at=join_pointer(at, *tokens),
        )


def _is_tolerable(name: str) -> bool:
    return bool(name) and not name[0].isdecimal() and all(letter.isalnum() or letter == "_" for letter in name)


def find_fallback_symbol(symbols: Iterable[str]) -> str | None:
    """Return the enum symbol whose name says that it stands for unknown symbols; None if there is none.

    >>> find_fallback_symbol(["OPEN", "Unknown"])
    'Unknown'
    """
    return next((symbol for symbol in symbols if symbol.upper() in _FALLBACK_SYMBOLS), None)

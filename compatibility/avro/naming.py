"""Names of Avro types, fields and symbols: what may be one, and what a short one stands for."""

from __future__ import annotations

import re
from typing import Final

from contractlog.compatibility.avro.nodes import PRIMITIVES
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_text import pointer

__all__ = ["check_full_name", "check_name", "qualified"]

_STRICT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_STRICT_FULL: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+", re.ASCII)


def qualified(name: str, namespace: str) -> str:
    """Put name and namespace together; a dot in the name brings its own namespace."""
    space, dot, last = name.rpartition(".")
    if not dot:
        space = namespace
    return f"{space}.{last}" if space else last


def check_full_name(full: str, at: str, *, strict: bool) -> None:
    """Refuse what is no name of a type; namespaces are looked at in strict reading alone."""
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
    """Refuse what is no name: strict reading knows ASCII alone, tolerant reading the letters of every script.

    Args:
        name: what should be one.
        what: whose name it is.
        at: where it stands, continued by ``tokens``.
        tokens: the rest of the way.
        strict: read strictly.
    """
    if _STRICT.fullmatch(name) is None and (strict or not _is_tolerable(name)):
        letters = "letters A to Z, digits and _" if strict else "letters, digits and _"
        raise InvalidSchema(
            f'"{name}" is no {what} name: one is made of {letters}, and starts with no digit', at=pointer(at, *tokens)
        )


def _is_tolerable(name: str) -> bool:
    return bool(name) and not name[0].isdecimal() and all(letter.isalnum() or letter == "_" for letter in name)

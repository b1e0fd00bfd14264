"""Equivalence of schemas that differ only in whether their references are inlined."""

from __future__ import annotations

from contractlog.compatibility.avro.canonical import inlined
from contractlog.compatibility.schema import ParsedSchema

__all__ = ["equivalent"]


def equivalent(first: ParsedSchema, second: ParsedSchema) -> bool:
    """Return True if both have the same text and references, or one has all references inlined.

    Raises:
        InvalidSchema: the text of one of them with its references inlined is too long.
    """
    one, other = set(first.references), set(second.references)
    if one == other:
        return first.normalized == second.normalized
    return not (one and other) and _written_out(first) == _written_out(second)


def _written_out(parsed: ParsedSchema) -> str:
    return inlined(parsed.root, normalized=True) if parsed.references else parsed.normalized

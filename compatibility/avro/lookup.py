"""Whether a lookup with one schema finds another, which is the same but for what it leans on being written out."""

from __future__ import annotations

from contractlog.compatibility.avro.canonical import inlined
from contractlog.compatibility.schema import ParsedSchema

__all__ = ["equivalent"]


def equivalent(first: ParsedSchema, second: ParsedSchema) -> bool:
    """Whether both have the same text and references, or one of them has all references inlined.

    Raises:
        InvalidSchema: written out, one of them is too long.
    """
    one, other = set(first.references), set(second.references)
    if one == other:
        return first.normalized == second.normalized
    return not (one and other) and _written_out(first) == _written_out(second)


def _written_out(parsed: ParsedSchema) -> str:
    return inlined(parsed.root, normalized=True) if parsed.references else parsed.normalized

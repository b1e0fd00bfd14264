"""What holds for members that are not listed: whether there may be any, and which."""

from __future__ import annotations

from contractlog.compatibility.json_schema.nodes import Always, Never, Node, Tokens
from contractlog.compatibility.json_schema.pairs import Below, Difference, Rule

__all__ = ["permission"]


def permission(kind: str, words: tuple[str, str], original: Node | None, update: Node | None) -> Rule:
    """Unlisted members are permitted, refused, or held against a schema.

    Args:
        kind: which difference this is.
        words: the word of the original and that of the update.
        original: what the writer says of unlisted members.
        update: what the reader says of them.
    """
    path: Tokens = (kind_word(kind),)
    writer: Tokens = () if original is None else (words[0],)
    reader: Tokens = () if update is None else (words[1],)
    if isinstance(original, Never) is not isinstance(update, Never):
        change = "ADDED" if isinstance(original, Never) else "REMOVED"
        yield Difference(f"{kind}_{change}", path, writer, reader)
        return
    before, after = _schema(original), _schema(update)
    if before is None and after is not None:
        yield Difference(f"{kind}_NARROWED", path, writer, reader)
    elif before is not None and after is None:
        yield Difference(f"{kind}_EXTENDED", path, writer, reader)
    elif before is not None and after is not None:
        yield Below(before, after, path, writer, reader)


def kind_word(kind: str) -> str:
    """Return the word that paths name: ``ADDITIONAL_ITEMS`` is ``additionalItems``."""
    first, second = kind.lower().split("_")
    return first + second.title()


def _schema(node: Node | None) -> Node | None:
    return None if isinstance(node, (Always, Never)) else node

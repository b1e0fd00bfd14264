"""Differences in the keywords for unlisted properties and items."""

from __future__ import annotations

from contractlog.compatibility.json_schema.nodes import Always, Never, Node, Tokens
from contractlog.compatibility.json_schema.pairs import Below, Difference, Rule

__all__ = ["permission"]


def permission(kind: str, words: tuple[str, str], original: Node | None, update: Node | None) -> Rule:
    """Compare whether unlisted members are permitted, and their schema.

    Args:
        kind: prefix of the kinds of differences.
        words: the keyword in the original and in the update.
        original: the writer's schema for unlisted members.
        update: the reader's schema for unlisted members.
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
    """Return the keyword used in paths: ``ADDITIONAL_ITEMS`` is ``additionalItems``."""
    first, second = kind.lower().split("_")
    return first + second.title()


def _schema(node: Node | None) -> Node | None:
    return None if isinstance(node, (Always, Never)) else node

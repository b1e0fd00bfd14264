"""Differences in the keywords for unlisted properties and items."""

from __future__ import annotations

from contractlog.compatibility.json_schema.diff.pairs import KeywordDifference, NodePair, Rule
from contractlog.compatibility.json_schema.nodes import AlwaysNode, NeverNode, SchemaNode, Tokens

__all__ = ["compare_additional_members"]


def compare_additional_members(
    kind: str, keywords: tuple[str, str], original: SchemaNode | None, update: SchemaNode | None
) -> Rule:
    """Compare whether unlisted members are permitted, and their schema.

    Args:
        kind: prefix of the kinds of differences.
        keywords: the keyword in the original and in the update.
        original: the writer's schema for unlisted members.
        update: the reader's schema for unlisted members.
    """
    path: Tokens = (path_keyword(kind),)
    writer: Tokens = () if original is None else (keywords[0],)
    reader: Tokens = () if update is None else (keywords[1],)
    if isinstance(original, NeverNode) is not isinstance(update, NeverNode):
        change = "ADDED" if isinstance(original, NeverNode) else "REMOVED"
        yield KeywordDifference(f"{kind}_{change}", path, writer, reader)
        return
    before, after = _schema_or_none(original), _schema_or_none(update)
    if before is None and after is not None:
        yield KeywordDifference(f"{kind}_NARROWED", path, writer, reader)
    elif before is not None and after is None:
        yield KeywordDifference(f"{kind}_EXTENDED", path, writer, reader)
    elif before is not None and after is not None:
        yield NodePair(before, after, path, writer, reader)


def path_keyword(kind: str) -> str:
    """Return the keyword used in paths: ``ADDITIONAL_ITEMS`` is ``additionalItems``."""
    first, second = kind.lower().split("_")
    return first + second.title()


def _schema_or_none(node: SchemaNode | None) -> SchemaNode | None:
    return None if isinstance(node, (AlwaysNode, NeverNode)) else node

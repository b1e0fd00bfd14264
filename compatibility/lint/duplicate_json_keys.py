"""Check of any JSON text for duplicate keys of an object, which parsers silently accept."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from contractlog.compatibility.fixes.json_text_edits import JsonSource
from contractlog.compatibility.json_text import join_pointer
from contractlog.compatibility.lint.rule import Problem

__all__ = ["check_duplicate_keys", "may_have_duplicates"]


def check_duplicate_keys(_: Any, text: str) -> Iterator[Problem]:
    """Yield a problem for each duplicate key; the text was parsed before."""
    if not may_have_duplicates(text):
        return
    pending = [("", JsonSource(text).root)]
    while pending:
        at, span = pending.pop()
        for name, count in Counter(span.names).items():
            if count > 1:
                yield Problem(
                    join_pointer(at, name), f'the member "{name}" is given {count} times; only the last counts'
                )
        keys: Sequence[str | int] = span.names or range(len(span.values))
        pending += [(join_pointer(at, key), value) for key, value in zip(keys, span.values, strict=True)]


def may_have_duplicates(text: str) -> bool:
    """Return False if no object has a duplicate key; this takes a tenth of the time of a full scan."""
    has_duplicates = False

    def check_pairs(pairs: list[tuple[str, Any]]) -> None:
        nonlocal has_duplicates
        has_duplicates = has_duplicates or len(dict(pairs)) < len(pairs)

    try:
        json.loads(text, object_pairs_hook=check_pairs)
    except (ValueError, RecursionError):  # comments in an Avro schema
        return True
    return has_duplicates

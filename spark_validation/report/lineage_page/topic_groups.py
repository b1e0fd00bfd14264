"""Groups of topics by the prefix of their names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

__all__ = ["TopicGroup", "group_topics"]

MAX_GROUP: Final = 40  #: topics; larger groups are divided by the next part of the names, if that leaves groups
_SEPARATORS: Final = (".", "-", "_")


@dataclass(frozen=True, slots=True)
class TopicGroup:
    """Topics whose names begin alike; at least two."""

    prefix: str  #: with the separator, such as ``orders.``
    topics: tuple[str, ...]  #: by name


def group_topics(topics: Iterable[str]) -> list[TopicGroup]:
    """Return the groups by prefix; topics that share no prefix with another are in none.

    >>> [(group.prefix, len(group.topics)) for group in group_topics(["g1.a", "g1.b", "g2.a", "orders"])]
    [('g1.', 2)]
    """
    return sorted(_group(sorted(set(topics)), 0), key=lambda group: group.prefix)


def _group(topics: list[str], start: int) -> list[TopicGroup]:
    """Group topics whose first ``start`` characters are the same."""
    by_prefix: dict[str, list[str]] = defaultdict(list)
    for topic in topics:
        end = _find_prefix_end(topic, start)
        if end is not None:
            by_prefix[topic[:end]].append(topic)
    groups = []
    for prefix, members in by_prefix.items():
        if len(members) > MAX_GROUP or len(members) == len(topics):
            smaller = _group(members, len(prefix))
            if len(smaller) > 1:
                divided = {topic for group in smaller for topic in group.topics}
                rest = tuple(topic for topic in members if topic not in divided)
                groups += smaller
                if len(rest) > 1:
                    groups.append(TopicGroup(prefix, rest))
                continue
        if len(members) > 1:
            groups.append(TopicGroup(prefix, tuple(members)))
    return groups


def _find_prefix_end(topic: str, start: int) -> int | None:
    """Return the end of the next part of a name: after a dot, else a hyphen, else an underscore."""
    for separator in _SEPARATORS:
        match = re.compile(re.escape(separator)).search(topic, start + 1)
        if match is not None and match.end() < len(topic):
            return match.end()
    return None

"""Fair shares of a limited number of parts of topics, by the beginnings of the topics' names.

Permissions are given by such beginnings (``shop-*``). So a caller who publishes many audits with huge numbers of
violations takes the shares of topics that he may write, and leaves those of others.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["TopicPart", "select_fairly"]

TopicPart = tuple[str, str]  #: topic and part


def select_fairly(parts: Sequence[TopicPart], limit: int) -> list[TopicPart]:
    """Return at most ``limit`` of the parts, which are sorted by importance.

    Half of them are the most important ones. The other half is divided equally between the next characters in which
    the names of the remaining topics differ, the shares that a group does not need between the other groups, and the
    share of a group in the same way. Where a share is too small for each group, the groups with more important parts
    come first.

    >>> [topic for topic, _ in select_fairly([(topic, "value") for topic in ("a1", "a2", "a3", "a4", "b")], 4)]
    ['a1', 'a2', 'a3', 'b']
    """
    important = (limit + 1) // 2
    return [*parts[:important], *_divide(parts[important:], limit - important)]


def _divide(parts: Sequence[TopicPart], limit: int) -> list[TopicPart]:
    """Divide a number between groups of parts, by the first character in which their topics differ."""
    if len(parts) <= limit or limit == 0:
        return list(parts[:limit])
    length = _count_common_characters(min(parts)[0], max(parts)[0]) + 1
    groups: dict[str, list[TopicPart]] = {}
    for topic, part in parts:
        groups.setdefault(topic[:length], []).append((topic, part))
    if len(groups) == 1:  # the key and the value of one topic
        return list(parts[:limit])
    shares = _divide_equally([len(group) for group in groups.values()], limit)
    return [part for group, share in zip(groups.values(), shares, strict=True) for part in _divide(group, share)]


def _count_common_characters(text: str, other: str) -> int:
    differing = (index for index, (left, right) in enumerate(zip(text, other, strict=False)) if left != right)
    return next(differing, min(len(text), len(other)))


def _divide_equally(needs: Sequence[int], total: int) -> list[int]:
    """Divide a number into equal shares, of which none is larger than needed; the first ones get the rest.

    >>> _divide_equally([10, 1, 10], 8)
    [4, 1, 3]
    >>> _divide_equally([1, 10, 10], 2)
    [1, 1, 0]
    """
    if total < len(needs):
        return [1] * total + [0] * (len(needs) - total)
    shares = [0] * len(needs)
    smallest_first = sorted(range(len(needs)), key=lambda index: (needs[index], -index))
    for done, index in enumerate(smallest_first):
        shares[index] = min(needs[index], total // (len(needs) - done))
        total -= shares[index]
    return shares

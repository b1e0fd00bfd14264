"""Sets of characters as ranges of code points, and the character classes of patterns."""

from __future__ import annotations

from typing import Final

__all__ = ["CLASSES", "DOT", "LAST", "Ranges", "inverted", "ranges"]

LAST: Final = 0x10FFFF

Ranges = tuple[tuple[int, int], ...]


def ranges(*pairs: tuple[int, int]) -> Ranges:
    """Return the ranges sorted, with adjacent and overlapping ones merged."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(pairs):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def inverted(ranges: Ranges) -> Ranges:
    """Return the complement of a set of characters."""
    found, start = [], 0
    for low, high in ranges:
        if start < low:
            found.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        found.append((start, LAST))
    return tuple(found)


_DIGIT: Final = ranges((48, 57))
_WORD: Final = ranges((48, 57), (65, 90), (95, 95), (97, 122))
_SPACE: Final = ranges(
    (9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F),
    (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
)  # fmt: skip
DOT: Final = inverted(ranges((10, 10), (13, 13), (0x2028, 0x2029)))
CLASSES: Final = {
    "d": _DIGIT, "D": inverted(_DIGIT), "w": _WORD, "W": inverted(_WORD), "s": _SPACE, "S": inverted(_SPACE),
}  # fmt: skip

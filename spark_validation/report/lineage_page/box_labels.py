"""Labels of boxes: names, shortened in the middle to a width that a monospaced font needs at most."""

from __future__ import annotations

from typing import Final
from unicodedata import combining, east_asian_width

__all__ = ["MAX_LABEL_WIDTH", "measure_label", "shorten_label"]

MAX_LABEL_WIDTH: Final = 208.0
_LETTER: Final = 7.4  #: width of a letter of a monospaced font of 12 pixels; fonts differ from 7.2 to 7.4
_WIDE_LETTER: Final = 13.0  #: of East Asian and other scripts, and emoji, for which another font is used
_LAST_NARROW: Final = "\u0590"  #: Latin, Greek and Cyrillic come before
_ELLIPSIS: Final = "…"


def measure_label(text: str) -> float:
    """Return the greatest width of a text, in pixels.

    >>> measure_label("orders"), measure_label("注文")
    (44.400000000000006, 26.0)
    """
    return sum(map(_measure_letter, text))


def _measure_letter(letter: str) -> float:
    if combining(letter):
        return 0.0
    is_narrow = letter.isascii() or (letter.isalpha() and letter < _LAST_NARROW and east_asian_width(letter) != "W")
    return _LETTER if is_narrow else _WIDE_LETTER


def shorten_label(text: str, width: float = MAX_LABEL_WIDTH) -> str:
    """Cut a name in its middle, so that both ends can be read.

    >>> shorten_label("flights.departed-value", 90)
    'flights…lue'
    """
    if measure_label(text) <= width:
        return text
    left = (width - _WIDE_LETTER) * 0.6
    right = width - _WIDE_LETTER - left
    head = 0
    while (left := left - _measure_letter(text[head])) >= 0:
        head += 1
    tail = len(text)
    while (right := right - _measure_letter(text[tail - 1])) >= 0:
        tail -= 1
    return f"{text[:head]}{_ELLIPSIS}{text[tail:]}"

"""Texts that UTF-8 can encode: those without half of a surrogate pair."""

from __future__ import annotations

__all__ = ["is_encodable"]


def is_encodable(text: str) -> bool:
    """Return whether a text can be written as UTF-8.

    JSON may have half of a surrogate pair. In arguments and variables, each byte that is not UTF-8 is such a half.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

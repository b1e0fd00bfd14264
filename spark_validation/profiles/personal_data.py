"""Patterns of personal data in texts; texts that look like it are counted, and never kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from ipaddress import AddressValueError, IPv6Address
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["PATTERNS", "count_patterns", "find_personal", "is_personal"]

_DOUBLED: Final = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)  # digits doubled, as a checksum of Luhn adds them
_CARD_DIGITS: Final = range(13, 20)
_PHONE_DIGITS: Final = range(7, 16)
_LETTER_VALUES: Final = {ord(letter): str(10 + index) for index, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ")}


class _Pattern(NamedTuple):
    expression: str
    confirm: Callable[[str], bool] | None = None  #: checks what a regular expression cannot


def _is_card(text: str) -> bool:
    digits = [int(character) for character in text if character.isdigit()]
    checksum = sum(digits[-1::-2]) + sum(_DOUBLED[digit] for digit in digits[-2::-2])
    return len(digits) in _CARD_DIGITS and any(digits) and checksum % 10 == 0


def _is_iban(text: str) -> bool:
    compact = text.replace(" ", "")
    return int((compact[4:] + compact[:4]).translate(_LETTER_VALUES)) % 97 == 1


def _is_phone(text: str) -> bool:
    return sum(map(str.isdigit, text)) in _PHONE_DIGITS


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True


_OCTET: Final = "(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
PATTERNS: Final[Mapping[str, tuple[_Pattern, ...]]] = MappingProxyType(
    {
        "e-mail address": (_Pattern(r"^[^@\s]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}$"),),
        "card number": (_Pattern(r"^[3-6][0-9](?:[ -]?[0-9]){11,17}$", _is_card),),
        "IBAN": (_Pattern(r"^[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}$", _is_iban),),
        "phone number": (_Pattern(r"^\+[1-9][0-9 ()/.-]{5,20}[0-9]$", _is_phone),),
        "IP address": (
            _Pattern(rf"^(?:{_OCTET}\.){{3}}{_OCTET}$"),
            _Pattern(r"^[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*$", _is_ipv6),
        ),
    }
)
_ANY: Final = "|".join(f"(?:{pattern.expression})" for patterns in PATTERNS.values() for pattern in patterns)
_MATCHERS: Final = tuple(
    (name, re.compile(pattern.expression).fullmatch, pattern.confirm)
    for name, patterns in PATTERNS.items()
    for pattern in patterns
)
_MAX_LENGTH: Final = 320  #: characters of the longest text that is looked at


def count_patterns(texts: pa.Array[Any], counts: NDArray[np.int64]) -> dict[str, int]:
    """Return how many texts look like personal data, by pattern.

    Args:
        texts: distinct texts without nulls.
        counts: how often each occurs.
    """
    totals: dict[str, int] = {}
    for index, name in _list_personal(texts):
        totals[name] = totals.get(name, 0) + int(counts[index])
    return totals


def find_personal(texts: pa.Array[Any]) -> NDArray[np.bool_]:
    """Return which texts, of an array without nulls, look like personal data."""
    personal = np.zeros(len(texts), bool)
    personal[[index for index, _ in _list_personal(texts)]] = True
    return personal


def _list_personal(texts: pa.Array[Any]) -> Iterator[tuple[int, str]]:
    """Yield the index and the pattern of each text that looks like personal data."""
    candidates = np.flatnonzero(np.asarray(pc.match_substring_regex(texts, _ANY)))
    for index, text in zip(candidates.tolist(), cast("list[str]", texts.take(candidates).to_pylist()), strict=True):
        name = _name_pattern(text)
        if name is not None:
            yield index, name


def is_personal(text: str) -> bool:
    """Return whether a text looks like personal data."""
    return _name_pattern(text) is not None


def _name_pattern(text: str) -> str | None:
    if len(text) > _MAX_LENGTH:
        return None
    for name, matches, confirm in _MATCHERS:
        if matches(text) and (confirm is None or confirm(text)):
            return name
    return None

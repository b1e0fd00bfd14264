"""Conventions for names: letter case, and words that tell of an instant, an amount of money or a UUID."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Final

from contractlog.compatibility.name_lists import list_first

__all__ = [
    "deviating_names",
    "find_close_name",
    "is_date_name",
    "is_instant_name",
    "is_money_name",
    "is_uuid_name",
    "join_names",
    "list_similar_names",
    "split_words",
]

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CASES: Final = {
    "snake_case": re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*"),
    "camelCase": re.compile(r"[a-z][a-zA-Z0-9]*"),
    "PascalCase": re.compile(r"(?=.*[a-z]|.{1,3}\Z)[A-Z][a-zA-Z0-9]*"),
    "UPPER_CASE": re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*"),
    "kebab-case": re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*"),
}
#: words before ``time`` that make it a duration or an hour of the day rather than an instant
_WORDS_BEFORE_TIME: Final = frozenset(
    """
    air block boot connect cpu cycle delay down elapsed execution handling idle latency lead local open opening prep
    preparation processing queue read response round run running service setup step system total transit travel up user
    wait waiting wall write
    """.split()  # noqa: SIM905 - easier to read and extend
)
_MONEY: Final = frozenset(
    """
    amount balance cost costs fare fee fees payment payout premium price refund revenue salary subtotal tax total vat
    wage
    """.split()  # noqa: SIM905 - easier to read and extend
)
_CURRENCIES: Final = frozenset({"aud", "cad", "chf", "cny", "dkk", "eur", "gbp", "inr", "jpy", "nok", "sek", "usd"})
#: words before ``total`` or ``amount`` that make it a measure other than money
_MEASURES: Final = frozenset(
    """
    calorie carbon co2 distance duration energy fuel mass power precip precipitation rain rainfall score snow steps time
    volume water weight
    """.split()  # noqa: SIM905 - easier to read and extend
)
_MAX_NAMES: Final = 5  #: names in a sentence
_SIMILARITY: Final = 0.8
_MAX_COMPARED_LENGTH: Final = 40
_MAX_LETTERS: Final = 3  #: difference in length between a name and what it may be a misspelling of


def split_words(name: str) -> list[str]:
    """Split a name into its words, in lower case.

    >>> split_words("orderTotalEUR"), split_words("created_at")
    (['order', 'total', 'eur'], ['created', 'at'])
    """
    return [word.lower() for word in _WORD.findall(name)]


def deviating_names(names: Iterable[str]) -> tuple[str, list[str]]:
    """Return the case of most names, and the names in any other case.

    >>> deviating_names(["id", "order_id", "created_at", "unitPrice"])
    ('snake_case', ['unitPrice'])
    """
    cases = {name: _list_cases(name) for name in names}
    counts = Counter(case for matching in cases.values() for case in matching)
    dominant_case = max(_CASES, key=lambda case: counts[case])
    return dominant_case, [name for name, matching in cases.items() if dominant_case not in matching]


def _list_cases(name: str) -> list[str]:
    plain = name.strip("_$@")
    if not plain.isascii() or not plain or (len(plain) == 1 and plain.isalpha()):
        return list(_CASES)  # scripts without cases, and symbols such as `x` and `N`
    return [case for case, pattern in _CASES.items() if pattern.fullmatch(plain)]


def list_similar_names(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of names that differ only in case and separators, which SQL engines may ignore.

    >>> list(list_similar_names(["orderId", "note", "order_id"]))
    [('orderId', 'order_id')]
    """
    seen: dict[str, str] = {}
    for name in names:
        key = re.sub(r"[_\-$@. ]", "", name).casefold() or name
        if key in seen:
            yield seen[key], name
        else:
            seen[key] = name


def is_instant_name(name: str) -> bool:
    """Return True if a name is that of a point in time, such as ``created_at``, without a unit.

    >>> [is_instant_name(name) for name in ("createdAt", "event_time", "air_time", "time", "ts_ms")]
    [True, True, False, False, False]
    """
    match split_words(name):
        case [*before, "time"]:
            return bool(before) and _WORDS_BEFORE_TIME.isdisjoint(before)
        case [_, *_, "at"] | [*_, "timestamp" | "datetime"]:
            return True
        case _:
            return False


def is_date_name(name: str) -> bool:
    """Return True if a name is that of a date, such as ``birth_date``."""
    return split_words(name)[-1:] == ["date"]


def is_money_name(name: str) -> bool:
    """Return True if a name is that of an amount of money.

    >>> [is_money_name(name) for name in ("unitPrice", "amount_eur", "rain_amount", "price_ratio")]
    [True, True, False, False]
    """
    words = split_words(name)
    if words[-1:] and words[-1] in _CURRENCIES:
        words.pop()
    return words[-1:] != [] and words[-1] in _MONEY and _MEASURES.isdisjoint(words)


def is_uuid_name(name: str) -> bool:
    """Return True if a name is that of a UUID."""
    return split_words(name)[-1:] in (["uuid"], ["guid"])


def find_close_name(name: str, candidates: Sequence[str]) -> str | None:
    """Return the candidate that a name seems to be a misspelling of.

    >>> find_close_name("requred", ["required", "properties"])
    'required'
    """
    if not name or len(name) > _MAX_COMPARED_LENGTH:
        return None
    # comparing with all candidates takes ten times as long, and a schema text may have many thousands of names
    similar = [
        candidate
        for candidate in candidates
        if abs(len(candidate) - len(name)) <= _MAX_LETTERS and (candidate[0] == name[0] or candidate[-1] == name[-1])
    ]
    return next(iter(get_close_matches(name, similar, 1, _SIMILARITY)), None)


def join_names(names: Sequence[str]) -> str:
    """Join names for a sentence; a long list is cut.

    >>> join_names(["a", "b"])
    '`a`, `b`'
    """
    return list_first([f"`{name}`" for name in names], _MAX_NAMES)

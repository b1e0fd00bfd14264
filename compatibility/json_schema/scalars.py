"""Differences of JSON Schema strings, numbers, ``enum`` and ``const``."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from contractlog.compatibility.json_schema.bounds import appeared, largest, plain, smallest
from contractlog.compatibility.json_schema.nodes import Const, Enum, Numeric, String, Tokens
from contractlog.compatibility.json_schema.pairs import Difference, Pairs, Rule

__all__ = ["consts", "enums", "numbers", "strings"]

_MAX_POWERS: Final = 2_000  #: largest difference of exponents for which divisibility is decided
_SHOWN: Final = 5


def strings(original: String, update: String) -> Rule:
    """Compare length limits and pattern."""
    yield from largest("MAX_LENGTH", "maxLength", original.max_length, update.max_length)
    yield from smallest("MIN_LENGTH", "minLength", original.min_length, update.min_length)
    before, after, word = original.pattern, update.pattern, ("pattern",)
    if before is None or after is None:
        yield from appeared("PATTERN", "pattern", _quoted(before), _quoted(after))
    elif before != after:
        yield Difference("PATTERN_CHANGED", word, word, word, before, after)


def numbers(original: Numeric, update: Numeric) -> Rule:
    """Compare limits, ``multipleOf``, and whether only integers are valid."""
    yield from largest("MAXIMUM", "maximum", original.maximum, update.maximum)
    yield from smallest("MINIMUM", "minimum", original.minimum, update.minimum)
    before, after = original.exclusive_maximum, update.exclusive_maximum
    yield from largest("EXCLUSIVE_MAXIMUM", "exclusiveMaximum", before, after)
    before, after = original.exclusive_minimum, update.exclusive_minimum
    yield from smallest("EXCLUSIVE_MINIMUM", "exclusiveMinimum", before, after)
    yield from _multiples(original.multiple_of, update.multiple_of)
    if original.integer != update.integer:
        word: Tokens = ("type",)
        kind = "TYPE_NARROWED" if update.integer else "TYPE_EXTENDED"
        yield Difference(kind, (), word, word, _number_type(original), _number_type(update))


def _multiples(before: Decimal | None, after: Decimal | None) -> Rule:
    if before is None or after is None:
        yield from appeared("MULTIPLE_OF", "multipleOf", plain(before), plain(after))
    elif before != after:
        word: Tokens = ("multipleOf",)
        change = "EXPANDED" if _divides(before, after) else "REDUCED" if _divides(after, before) else "CHANGED"
        yield Difference(f"MULTIPLE_OF_{change}", word, word, word, plain(before), plain(after))


def _divides(part: Decimal, whole: Decimal) -> bool:
    """Return True if ``whole`` is a multiple of ``part``; False if their exponents are too far apart."""
    exponents = [int(number.as_tuple().exponent) for number in (part, whole)]
    if not part or abs(exponents[0] - exponents[1]) > _MAX_POWERS:
        return False
    lowest = min(exponents)
    scaled: list[int] = [
        _digits(number) * 10 ** (power - lowest) for number, power in zip((part, whole), exponents, strict=True)
    ]
    return scaled[1] % scaled[0] == 0


def _digits(number: Decimal) -> int:
    sign, digits, _ = number.as_tuple()
    value = int("".join(map(str, digits)))
    return -value if sign else value


def enums(pairs: Pairs, original: Enum, update: Enum) -> Rule:
    """Compare ``enum`` values, all of which must remain."""
    pairs.step(1 + (len(original.values) + len(update.values)) // 100)
    before, after = set(original.values), set(update.values)
    if before == after:
        return
    word: Tokens = ("enum",)
    change = "EXTENDED" if before < after else "NARROWED" if before > after else "CHANGED"
    lost = [value for value in original.values if value not in after]
    new = [value for value in update.values if value not in before]
    yield Difference(f"ENUM_ARRAY_{change}", word, word, word, _some(lost), _some(new))


def consts(original: Const, update: Const) -> Rule:
    """Compare ``const`` values, which must be equal."""
    if original.value != update.value:
        word: Tokens = ("const",)
        yield Difference("ENUM_ARRAY_CHANGED", word, word, word, original.value, update.value)


def _some(values: list[str]) -> str:
    more = len(values) - _SHOWN
    return ", ".join(values[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _number_type(node: Numeric) -> str:
    return "integer" if node.integer else "number"


def _quoted(pattern: str | None) -> str:
    return "" if pattern is None else pattern or "(empty)"

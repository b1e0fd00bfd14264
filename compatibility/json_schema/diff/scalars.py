"""Differences of JSON Schema strings, numbers, ``enum``, ``const``, and of single-value keywords."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from contractlog.compatibility.json_schema.diff.pair_walk import KeywordDifference, PairWalk, Rule
from contractlog.compatibility.json_schema.nodes import ConstNode, EnumNode, NumericNode, StringNode, Tokens
from contractlog.compatibility.json_text import format_decimal
from contractlog.compatibility.name_lists import list_first

__all__ = [
    "compare_consts",
    "compare_enums",
    "compare_limit",
    "compare_numbers",
    "compare_presence",
    "compare_strings",
    "format_limit",
]

_MAX_DIGITS: Final = 30

Differences = Iterator[KeywordDifference]


def compare_limit(kind: str, keyword: str, before: Decimal | None, after: Decimal | None) -> Differences:
    """Compare an upper or lower limit, which may be removed, increased or decreased."""
    if before is None or after is None:
        yield from compare_presence(kind, keyword, format_limit(before), format_limit(after))
    elif before != after:
        change = "INCREASED" if after > before else "DECREASED"
        yield KeywordDifference(
            f"{kind}_{change}", (keyword,), (keyword,), (keyword,), format_limit(before), format_limit(after)
        )


def compare_presence(kind: str, keyword: str, before: str, after: str) -> Differences:
    """Report a keyword that one side lacks; an empty string stands for an absent keyword."""
    if after and not before:
        yield KeywordDifference(f"{kind}_ADDED", (keyword,), reader=(keyword,), after=after)
    elif before and not after:
        yield KeywordDifference(f"{kind}_REMOVED", (keyword,), writer=(keyword,), before=before)


def format_limit(number: Decimal | None) -> str:
    """Format a limit for people; empty for None."""
    if number is None:
        return ""
    text = f"{number:f}" if abs(number.adjusted()) < _MAX_DIGITS else format_decimal(number)
    return text if len(text) <= 2 * _MAX_DIGITS else format_decimal(number)


_MAX_EXPONENT_DIFFERENCE: Final = 2_000  #: largest difference of exponents for which divisibility is decided
_MAX_LISTED: Final = 5
_DIGITS_PER_STEP: Final = 10


def compare_strings(original: StringNode, update: StringNode) -> Rule:
    """Compare length limits and pattern."""
    yield from compare_limit("MAX_LENGTH", "maxLength", original.max_length, update.max_length)
    yield from compare_limit("MIN_LENGTH", "minLength", original.min_length, update.min_length)
    before, after, path = original.pattern, update.pattern, ("pattern",)
    if before is None or after is None:
        yield from compare_presence("PATTERN", "pattern", _pattern_text(before), _pattern_text(after))
    elif before != after:
        yield KeywordDifference("PATTERN_CHANGED", path, path, path, before, after)


def compare_numbers(pairs: PairWalk, original: NumericNode, update: NumericNode) -> Rule:
    """Compare limits, ``multipleOf``, and whether only integers are valid."""
    pairs.step((_digits(original) + _digits(update)) // _DIGITS_PER_STEP)
    yield from compare_limit("MAXIMUM", "maximum", original.maximum, update.maximum)
    yield from compare_limit("MINIMUM", "minimum", original.minimum, update.minimum)
    before, after = original.exclusive_maximum, update.exclusive_maximum
    yield from compare_limit("EXCLUSIVE_MAXIMUM", "exclusiveMaximum", before, after)
    before, after = original.exclusive_minimum, update.exclusive_minimum
    yield from compare_limit("EXCLUSIVE_MINIMUM", "exclusiveMinimum", before, after)
    yield from _compare_multiples(original.multiple_of, update.multiple_of)
    if original.integer != update.integer:
        path: Tokens = ("type",)
        kind = "TYPE_NARROWED" if update.integer else "TYPE_EXTENDED"
        yield KeywordDifference(kind, (), path, path, _number_type(original), _number_type(update))


def _digits(node: NumericNode) -> int:
    """Return the number of digits of all limits.

    A number may have a thousand, which take a tenth of a millisecond.
    """
    numbers = (node.maximum, node.minimum, node.exclusive_maximum, node.exclusive_minimum, node.multiple_of)
    return sum(len(number.as_tuple().digits) for number in numbers if number is not None)


def _compare_multiples(before: Decimal | None, after: Decimal | None) -> Rule:
    if before is None or after is None:
        yield from compare_presence("MULTIPLE_OF", "multipleOf", format_limit(before), format_limit(after))
    elif before != after:
        path: Tokens = ("multipleOf",)
        change = "EXPANDED" if _divides(before, after) else "REDUCED" if _divides(after, before) else "CHANGED"
        yield KeywordDifference(f"MULTIPLE_OF_{change}", path, path, path, format_limit(before), format_limit(after))


def _divides(part: Decimal, whole: Decimal) -> bool:
    """Return True if ``whole`` is a multiple of ``part``; False if their exponents are too far apart."""
    exponents = [int(number.as_tuple().exponent) for number in (part, whole)]
    if not part or abs(exponents[0] - exponents[1]) > _MAX_EXPONENT_DIFFERENCE:
        return False
    lowest = min(exponents)
    scaled: list[int] = [
        _coefficient(number) * 10 ** (power - lowest) for number, power in zip((part, whole), exponents, strict=True)
    ]
    return scaled[1] % scaled[0] == 0


def _coefficient(number: Decimal) -> int:
    sign, digits, _ = number.as_tuple()
    value = int("".join(map(str, digits)))
    return -value if sign else value


def compare_enums(pairs: PairWalk, original: EnumNode, update: EnumNode) -> Rule:
    """Compare ``enum`` values, all of which must remain."""
    pairs.step(1 + (len(original.values) + len(update.values)) // 100)
    before, after = set(original.values), set(update.values)
    if before == after:
        return
    path: Tokens = ("enum",)
    change = "EXTENDED" if before < after else "NARROWED" if before > after else "CHANGED"
    removed = [value for value in original.values if value not in after]
    added = [value for value in update.values if value not in before]
    yield KeywordDifference(
        f"ENUM_ARRAY_{change}", path, path, path, list_first(removed, _MAX_LISTED), list_first(added, _MAX_LISTED)
    )


def compare_consts(original: ConstNode, update: ConstNode) -> Rule:
    """Compare ``const`` values, which must be equal."""
    if original.value != update.value:
        path: Tokens = ("const",)
        yield KeywordDifference("ENUM_ARRAY_CHANGED", path, path, path, original.value, update.value)


def _number_type(node: NumericNode) -> str:
    return "integer" if node.integer else "number"


def _pattern_text(pattern: str | None) -> str:
    return "" if pattern is None else pattern or "(empty)"

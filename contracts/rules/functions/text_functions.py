"""Functions on texts, and ``format``, of rule expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from contractlog.contracts.rules.evaluation.runtime_values import (
    MAX_RESULT_SIZE,
    EvaluationBudget,
    bound_size,
    charge_value,
    import_value,
)
from contractlog.contracts.rules.functions.time_functions import format_duration, format_timestamp
from contractlog.contracts.rules.rule_errors import RuleEvaluationError, RuleLimitExceeded

__all__ = [
    "character_at",
    "find_last_text",
    "find_text",
    "format_text",
    "join_texts",
    "lower_ascii",
    "replace_text",
    "split_text",
    "substring",
    "to_text",
    "upper_ascii",
]

_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER: Final = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_DIRECTIVE: Final = re.compile(r"%(?:(%)|(?:\.(\d{1,3}))?([a-zA-Z])|)")
_DEFAULT_PRECISION: Final = 6
_Directive = Callable[[EvaluationBudget, Any, int], str]


def lower_ascii(text: str) -> str:
    """Return the text with the letters A to Z in lower case."""
    return text.translate(_LOWER)


def upper_ascii(text: str) -> str:
    """Return the text with the letters a to z in upper case."""
    return text.translate(_UPPER)


def character_at(text: str, index: int) -> str:
    """Return the character at a position from 0; empty at the end."""
    if not 0 <= index <= len(text):
        raise RuleEvaluationError(f"An index is not within a text of {len(text)} characters.")
    return text[index : index + 1]


def find_text(text: str, part: str, start: int = 0) -> int:
    """Return the first position of a part from a start on; -1 if there is none."""
    if not 0 <= start <= len(text):
        raise RuleEvaluationError(f"The start is not within a text of {len(text)} characters.")
    return text.find(part, start)


def find_last_text(text: str, part: str) -> int:
    """Return the last position of a part; -1 if there is none. ``str.rfind`` may take quadratic time."""
    at = text[::-1].find(part[::-1])
    return at if at < 0 else len(text) - len(part) - at


def substring(text: str, start: int, end: int | None = None) -> str:
    """Return the characters from a start to before an end."""
    stop = len(text) if end is None else end
    if not 0 <= start <= stop <= len(text):
        raise RuleEvaluationError(f"The start or the end is not within a text of {len(text)} characters.")
    return text[start:stop]


def replace_text(text: str, part: str, replacement: str, limit: int = -1) -> str:
    """Return the text with a part replaced, at most ``limit`` times if that is not negative."""
    count = text.count(part) if limit < 0 else min(limit, text.count(part))
    if len(text) + count * (len(replacement) - len(part)) > MAX_RESULT_SIZE:
        raise RuleLimitExceeded(f"A rule may not make a value of more than {MAX_RESULT_SIZE:,} characters or items.")
    return text.replace(part, replacement, count)


def split_text(text: str, separator: str, limit: int = -1) -> list[str]:
    """Return the parts between separators, at most ``limit`` if that is not negative."""
    if limit == 0:
        return []
    if not separator:
        return list(text) if limit < 0 else [*text[: limit - 1], *([text[limit - 1 :]] if len(text) >= limit else [])]
    return text.split(separator, limit - 1 if limit > 0 else -1)


def join_texts(texts: list[str], separator: str = "") -> str:
    """Return the texts of a list with a separator between them."""
    if sum(map(len, texts)) + len(separator) * len(texts) > MAX_RESULT_SIZE:
        raise RuleLimitExceeded(f"A rule may not make a value of more than {MAX_RESULT_SIZE:,} characters or items.")
    return separator.join(texts)


def to_text(value: Any) -> str:  # noqa: PLR0911 -- one for each kind of value
    """Return a value as text, as ``string()`` does."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, datetime):
        return format_timestamp(value)
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, Decimal):
        return _format_decimal(value)
    return str(int(value)) if isinstance(value, int) else str(value)


def _format_decimal(value: Decimal) -> str:
    """Return a decimal without an exponent, and zero without a sign."""
    if not value.is_finite():
        return str(value)
    _, digits, exponent = value.as_tuple()
    if len(digits) + abs(int(exponent)) > MAX_RESULT_SIZE:
        raise RuleLimitExceeded(f"A rule may not make a value of more than {MAX_RESULT_SIZE:,} characters.")
    return format(value or value.copy_abs(), "f")


def format_text(template: str, arguments: list[Any], *, budget: EvaluationBudget) -> str:
    """Fill the directives of a template: %s, %d, %f, %e, %x, %X, %o, %b, with a precision as in %.2f.

    Raises:
        RuleEvaluationError: a directive or argument is not valid, or their numbers differ.
        RuleLimitExceeded: the arguments, with all that they contain, take too many steps.
    """
    parts: list[str] = []
    end = count = 0
    for match in _DIRECTIVE.finditer(template):
        parts.append(template[end : match.start()])
        end = match.end()
        budget.charge(1)
        if match[1]:
            parts.append("%")
            continue
        directive = _DIRECTIVES.get(match[3] or "")
        if directive is None:
            raise RuleEvaluationError(
                f"The template of format() has no valid directive at character {match.start() + 1}."
            )
        if count >= len(arguments):
            raise RuleEvaluationError(f"format() needs more than {count} arguments.")
        parts.append(directive(budget, import_value(arguments[count]), int(match[2] or _DEFAULT_PRECISION)))
        count += 1
    if count < len(arguments):
        raise RuleEvaluationError(f"format() has {len(arguments)} arguments; the template uses {count}.")
    return str(bound_size("".join([*parts, template[end:]])))


def _format_value(budget: EvaluationBudget, value: Any, _: int = 0) -> str:
    charge_value(budget, value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        budget.charge(1 + len(value))
        return f"[{', '.join(_quote(budget, import_value(item)) for item in value)}]"
    return to_text(value)


def _quote(budget: EvaluationBudget, value: Any) -> str:
    if not isinstance(value, str):
        return _format_value(budget, value)
    charge_value(budget, value)
    escaped = re.sub(r'[\\"]', r"\\\g<0>", value).translate(_ESCAPES)
    return f'"{escaped}"'


def _format_integer(form: str) -> _Directive:
    def write(_: EvaluationBudget, value: Any, __: int) -> str:
        if not isinstance(value, int) or (isinstance(value, bool) and form != "b"):
            raise RuleEvaluationError(f"%{form} of format() needs an integer.")
        return format(int(value), form)

    return write


def _format_double(form: str) -> _Directive:
    def write(budget: EvaluationBudget, value: Any, precision: int) -> str:
        if isinstance(value, float):
            return f"{value:.{precision}{form}}"
        return _format_integer("d")(budget, value, precision)

    return write


def _format_hexadecimal(budget: EvaluationBudget, value: Any, precision: int) -> str:
    charge_value(budget, value)
    if isinstance(value, (bytes, str)):
        return (value.encode() if isinstance(value, str) else value).hex()
    return _format_integer("x")(budget, value, precision)


_ESCAPES: Final = {ord(character): f"\\{name}" for character, name in zip("\a\b\f\n\r\t\v", "abfnrtv", strict=True)}
_DIRECTIVES: Final[Mapping[str, _Directive]] = {
    "s": _format_value,
    "d": _format_integer("d"),
    "f": _format_double("f"),
    "e": _format_double("e"),
    "x": _format_hexadecimal,
    "X": lambda budget, value, precision: _format_hexadecimal(budget, value, precision).upper(),
    "o": _format_integer("o"),
    "b": _format_integer("b"),
}

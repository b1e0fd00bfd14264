"""Rules read from a schema object of ODCS 3.x: ``quality``, ``properties`` and ``slaProperties``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final, cast

from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.field_paths import join_path
from contractlog.compatibility.text.encodable_text import is_encodable
from contractlog.contracts.quality.rules import (
    CUSTOM_FIELD_METRICS,
    CUSTOM_METRICS,
    METRICS,
    OPERATORS,
    Bound,
    Metric,
    QualityRule,
    QualityRules,
)

__all__ = ["parse_quality"]

MAX_RULES: Final = 10_000  #: several for each of the 2,500 fields that an audit profiles
MAX_VALUES: Final = 100
MAX_TEXT: Final = 1_000
MAX_DEPTH: Final = 16
_LATENCY: Final = frozenset({"latency", "ly", "freshness"})
_SECONDS: Final = {"s": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3_600, "hr": 3_600, "hour": 3_600}
_SECONDS_OF_DAYS: Final = {"d": 86_400, "day": 86_400, "w": 604_800, "week": 604_800}
_OPTIONS: Final[Mapping[str, tuple[Metric, str]]] = {
    "minimum": ("minimum", "mustBeGreaterOrEqualTo"),
    "exclusiveMinimum": ("minimum", "mustBeGreaterThan"),
    "maximum": ("maximum", "mustBeLessOrEqualTo"),
    "exclusiveMaximum": ("maximum", "mustBeLessThan"),
    "minLength": ("minLength", "mustBeGreaterOrEqualTo"),
    "maxLength": ("maxLength", "mustBeLessOrEqualTo"),
}
_NUMERIC: Final = frozenset({"integer", "number", None})
Path = tuple[str | int, ...]


class _Reader:
    """Reads members of a document, with positions for errors."""

    def __init__(self, name: str, lines: Mapping[Path, int]) -> None:
        self._name = name
        self._lines = lines

    def line(self, path: Path) -> int:
        """Return the line of a member, or of the nearest one that encloses it."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 1)

    def fail(self, path: Path, problem: str) -> UsageError:
        """Return the error about a member."""
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
        message = f"{self._name}:{self.line(path)}: {where or 'the document'} {problem}"
        return UsageError(message, path=path, problem=problem)

    def mapping(self, value: Any, path: Path) -> Mapping[str, Any]:
        """Return a member that is an object."""
        if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
            raise self.fail(path, "must be an object with names")
        return value

    def items(self, value: Mapping[str, Any], name: str, path: Path) -> Iterator[tuple[Mapping[str, Any], Path]]:
        """Yield the objects of a list that may be absent."""
        each = value.get(name)
        if each is None:
            return
        if not isinstance(each, list):
            raise self.fail((*path, name), "must be a list")
        for index, item in enumerate(each):
            yield self.mapping(item, (*path, name, index)), (*path, name, index)

    def text(self, value: Mapping[str, Any], name: str, path: Path, default: str = "") -> str:
        """Return a member that is a text and may be absent."""
        text = value.get(name, default)
        if not isinstance(text, str) or len(text) > MAX_TEXT:
            raise self.fail((*path, name), f"must be a text of at most {MAX_TEXT:,} characters")
        if not is_encodable(text):
            raise self.fail((*path, name), "has half of a surrogate pair")
        return text

    def choice(self, value: Mapping[str, Any], name: str, path: Path, choices: Sequence[str]) -> str:
        """Return a member that is one of some words; the first if it is absent."""
        word = value.get(name, choices[0])
        if word not in choices:
            raise self.fail((*path, name), f"must be one of {', '.join(choices)}")
        return str(word)

    def number(self, value: Any, path: Path) -> float:
        """Return a member that is a finite number."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.fail(path, "must be a number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self.fail(path, "must be a finite number")
        return number


def parse_quality(topic: str, document: Any, name: str, lines: Mapping[Path, int]) -> QualityRules:
    """Return the rules of a topic.

    Args:
        topic: the topic.
        document: a schema object of ODCS with ``quality``, ``properties`` and ``slaProperties``.
        name: name of the file, for errors.
        lines: line of each member, by its path in the document.

    Raises:
        UsageError: a member is unknown or wrong; the message has file, line and path.
    """
    reader = _Reader(name, lines)
    root = reader.mapping(document, ())
    members = {
        "name",
        "physicalName",
        "physicalType",
        "description",
        "quality",
        "properties",
        "slaProperties",
        "apiVersion",
    }
    for member in root:
        if member not in members:
            raise reader.fail((member,), f"is not known; known are {', '.join(sorted(members))}")
    rules = [
        *(_parse_rule(reader, item, path, "") for item, path in reader.items(root, "quality", ())),
        *_parse_properties(reader, root, (), "", 0),
        *(_parse_latency(reader, item, path) for item, path in reader.items(root, "slaProperties", ())),
    ]
    if len(rules) > MAX_RULES:
        raise reader.fail((), f"has {len(rules):,} rules, more than {MAX_RULES:,}")
    return QualityRules(topic, tuple(rules))


def _parse_properties(
    reader: _Reader, value: Mapping[str, Any], path: Path, prefix: str, depth: int
) -> Iterator[QualityRule]:
    if depth > MAX_DEPTH:
        raise reader.fail(path, f"is nested deeper than {MAX_DEPTH}")
    for item, at in reader.items(value, "properties", path):
        name = reader.text(item, "name", at)
        if not name:
            raise reader.fail((*at, "name"), "is missing: it is the path of a field")
        yield from _parse_property(reader, item, at, join_path(prefix, name), depth)


def _parse_property(
    reader: _Reader, item: Mapping[str, Any], at: Path, field: str, depth: int
) -> Iterator[QualityRule]:
    for member, metric in (("required", "nullValues"), ("unique", "duplicateValues")):
        flag = item.get(member, False)
        if not isinstance(flag, bool):
            raise reader.fail((*at, member), "must be true or false")
        if flag:
            line = reader.line((*at, member))
            yield QualityRule(f"{field} is {member}", cast("Metric", metric), Bound("mustBe", 0.0), field, line=line)
    options = reader.mapping(item.get("logicalTypeOptions", {}), (*at, "logicalTypeOptions"))
    for option, (metric, operator) in _OPTIONS.items():
        if option in options and (item.get("logicalType") in _NUMERIC or option.endswith("Length")):
            option_path = (*at, "logicalTypeOptions", option)
            bound = Bound(operator, reader.number(options[option], option_path))
            yield QualityRule(f"{option} of {field}", metric, bound, field, line=reader.line(option_path))
    if "pattern" in options:
        pattern = reader.text(options, "pattern", (*at, "logicalTypeOptions"))
        line = reader.line((*at, "logicalTypeOptions", "pattern"))
        yield QualityRule(
            f"pattern of {field}", "invalidValues", Bound("mustBe", 0.0), field, pattern=pattern, line=line
        )
    yield from (_parse_rule(reader, rule, path, field) for rule, path in reader.items(item, "quality", at))
    for relationship, path in reader.items(item, "relationships", at):
        yield _parse_relationship(reader, relationship, path, field)
    yield from _parse_properties(reader, item, at, field, depth + 1)
    if "items" in item:
        inner = reader.mapping(item["items"], (*at, "items"))
        if depth > MAX_DEPTH:
            raise reader.fail(at, f"is nested deeper than {MAX_DEPTH}")
        yield from _parse_property(reader, inner, (*at, "items"), f"{field}[]", depth + 1)


def _parse_rule(reader: _Reader, value: Mapping[str, Any], path: Path, field: str) -> QualityRule:
    kind = reader.choice(value, "type", path, ("library", "custom", "sql", "text"))
    metric = _parse_metric(reader, value, path, kind, field)
    operators = [operator for operator in OPERATORS if operator in value]
    if len(operators) != 1:
        raise reader.fail(path, f"must have exactly one of {', '.join(OPERATORS)}")
    arguments = reader.mapping(value.get("arguments", {}), (*path, "arguments"))
    custom = {
        reader.text(item, "property", at): (item.get("value"), at)
        for item, at in reader.items(value, "customProperties", path)
    }
    valid, pattern = "validValues", reader.text(arguments, "pattern", (*path, "arguments"))
    values = _parse_values(reader, arguments, valid if metric == "invalidValues" else "missingValues", path)
    if metric == "invalidValues" and bool(values) == bool(pattern):
        raise reader.fail(path, "needs arguments.validValues or arguments.pattern, one of them")
    target = reader.text(arguments, "to", (*path, "arguments"))
    if bool(target) != (metric == "orphanValues"):
        raise reader.fail(path, "needs arguments.to, such as customers.id, if and only if it is about orphanValues")
    window, at = custom.get("per", ("", path))
    if window not in {"", "hour", "day"} or (window and metric != "rowCount"):
        raise reader.fail(at, "must be hour or day, of a rule on rowCount")
    owner, at = custom.get("owner", ("", path))
    if not isinstance(owner, str) or len(owner) > MAX_TEXT:
        raise reader.fail(at, "must be a text")
    return QualityRule(
        name=reader.text(value, "name", path) or f"{metric} of {field}"
        if field
        else reader.text(value, "name", path) or metric,
        metric=metric,
        bound=_parse_bound(reader, operators[0], value[operators[0]], (*path, operators[0])),
        field=field,
        unit=cast("Any", reader.choice(value, "unit", path, ("rows", "percent"))),
        severity=cast("Any", reader.choice(value, "severity", path, ("error", "warning", "info"))),
        owner=owner,
        muted_until=_parse_day(reader, *custom.get("mutedUntil", (None, path))),
        values=values,
        pattern=pattern,
        target=target,
        target_part=cast("Any", reader.choice(arguments, "part", (*path, "arguments"), ("value", "key"))),
        window=cast("Any", window),
        line=reader.line(path),
    )


def _parse_relationship(reader: _Reader, value: Mapping[str, Any], path: Path, field: str) -> QualityRule:
    """Return the rule that every value of a field is in the field that it refers to."""
    reader.choice(value, "type", path, ("foreignKey",))
    target = reader.text(value, "to", path)
    if not target:
        raise reader.fail((*path, "to"), "is missing: it is a topic and a field, such as customers.id")
    bound = Bound("mustBe", 0.0)
    return QualityRule(
        f"{field} refers to {target}", "orphanValues", bound, field, target=target, line=reader.line(path)
    )


def _parse_metric(reader: _Reader, value: Mapping[str, Any], path: Path, kind: str, field: str) -> Metric:
    if kind == "custom":
        metric = value.get("implementation")
        metrics = CUSTOM_FIELD_METRICS if field else CUSTOM_METRICS
        if value.get("engine") != "contractlog" or metric not in metrics:
            of = "a property" if field else "the topic"
            raise reader.fail(
                path, f"must have engine: contractlog and implementation: {' or '.join(metrics)}, for {of}"
            )
        return cast("Metric", metric)
    if kind != "library":
        raise reader.fail((*path, "type"), f"cannot be {kind}: contractlog evaluates library and custom rules")
    metric = value.get("metric", value.get("rule"))
    if metric not in METRICS:
        raise reader.fail((*path, "metric"), f"must be one of {', '.join(METRICS)}")
    if (metric == "rowCount") == bool(field):
        raise reader.fail((*path, "metric"), "rowCount is for the topic, and the other metrics are for a property")
    return cast("Metric", metric)


def _parse_bound(reader: _Reader, operator: str, value: Any, path: Path) -> Bound:
    if not operator.endswith("Between"):
        return Bound(operator, reader.number(value, path))
    if not isinstance(value, list) or len(value) != 2:  # noqa: PLR2004 - an interval
        raise reader.fail(path, "must be a list of two numbers")
    first, last = (reader.number(each, path) for each in value)
    if first > last:
        raise reader.fail(path, "must be a list of two numbers, the lower one first")
    return Bound(operator, first, last)


def _parse_values(reader: _Reader, arguments: Mapping[str, Any], name: str, path: Path) -> tuple[str, ...]:
    values = arguments.get(name, [])
    at = (*path, "arguments", name)
    if not isinstance(values, list) or len(values) > MAX_VALUES:
        raise reader.fail(at, f"must be a list of at most {MAX_VALUES} values")
    texts = []
    for value in values:
        if value is None:
            continue  # nulls are missing anyway
        if not isinstance(value, str | int | float) or len(str(value)) > MAX_TEXT:
            raise reader.fail(at, "must have texts, numbers, true and false only")
        whole = isinstance(value, float) and value.is_integer()
        texts.append(str(value).lower() if isinstance(value, bool) else str(int(value)) if whole else str(value))
    return tuple(texts)


def _parse_day(reader: _Reader, value: Any, path: Path) -> date | None:
    if value is None or type(value) is date:
        return value
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise reader.fail(path, "must be a day, such as 2026-12-31") from None


def _parse_latency(reader: _Reader, value: Mapping[str, Any], path: Path) -> QualityRule:
    """Return the rule of a service level; only latency is evaluated."""
    name = reader.text(value, "property", path)
    if name.lower() not in _LATENCY:
        raise reader.fail((*path, "property"), "must be latency: contractlog evaluates no other service level")
    unit = reader.text(value, "unit", path, "s").lower()
    seconds = {**_SECONDS, **_SECONDS_OF_DAYS}.get(unit.removesuffix("s") or "s")
    if seconds is None:
        raise reader.fail((*path, "unit"), "must be s, min, h, d or w")
    limit = reader.number(value.get("value"), (*path, "value")) * seconds
    return QualityRule("latency", "latency", Bound("mustBeLessOrEqualTo", limit), line=reader.line(path))

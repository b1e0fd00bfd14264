"""Quality rules as values: what is measured, of which field, and what the number must be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType
from typing import Final, Literal

__all__ = [
    "CUSTOM_FIELD_METRICS",
    "CUSTOM_METRICS",
    "METRICS",
    "OPERATORS",
    "RECORD_METRICS",
    "Bound",
    "Metric",
    "QualityRule",
    "QualityRules",
    "RuleSeverity",
    "RuleUnit",
    "write_number",
]

RuleSeverity = Literal["error", "warning", "info"]
RuleUnit = Literal["rows", "percent"]
Metric = Literal[
    "nullValues", "missingValues", "invalidValues", "duplicateValues", "rowCount",  # of ODCS
    "conformance", "nullKeys", "duplicateKeys", "movedKeys", "backwardTimestamps",  # of contractlog
    "drift", "orphanValues", "latency", "minimum", "maximum", "minLength", "maxLength",
]  # fmt: skip
METRICS: Final[tuple[Metric, ...]] = ("nullValues", "missingValues", "invalidValues", "duplicateValues", "rowCount")
"""Metrics of ODCS's library of quality checks."""

RECORD_METRICS: Final[tuple[Metric, ...]] = ("nullKeys", "duplicateKeys", "movedKeys", "backwardTimestamps")
CUSTOM_METRICS: Final[tuple[Metric, ...]] = ("conformance", *RECORD_METRICS)
"""Metrics of custom rules of contractlog about a topic."""

CUSTOM_FIELD_METRICS: Final[tuple[Metric, ...]] = ("drift", "orphanValues")
"""Metrics of custom rules of contractlog about a field."""

OPERATORS: Final[Mapping[str, tuple[str, Callable[[float, float, float], bool]]]] = MappingProxyType(
    {
        "mustBe": ("be {0}", lambda actual, first, _: actual == first),
        "mustNotBe": ("not be {0}", lambda actual, first, _: actual != first),
        "mustBeGreaterThan": ("be greater than {0}", lambda actual, first, _: actual > first),
        "mustBeGreaterOrEqualTo": ("be at least {0}", lambda actual, first, _: actual >= first),
        "mustBeLessThan": ("be less than {0}", lambda actual, first, _: actual < first),
        "mustBeLessOrEqualTo": ("be at most {0}", lambda actual, first, _: actual <= first),
        "mustBeBetween": ("be from {0} to {1}", lambda actual, first, last: first <= actual <= last),
        "mustNotBeBetween": ("not be from {0} to {1}", lambda actual, first, last: not first <= actual <= last),
    }
)
"""Operators of ODCS with their words; both ends of an interval belong to it."""


@dataclass(frozen=True, slots=True)
class Bound:
    """Condition on a number."""

    operator: str  #: of ``OPERATORS``
    first: float
    last: float = 0.0  #: the second number of an interval

    def admits(self, actual: float) -> bool:
        """Return true if the number is as it must be."""
        return OPERATORS[self.operator][1](actual, self.first, self.last)

    def __str__(self) -> str:
        return "must " + OPERATORS[self.operator][0].format(write_number(self.first), write_number(self.last))


@dataclass(frozen=True, slots=True)
class QualityRule:
    """A rule about a topic or one of its fields."""

    name: str
    metric: Metric
    bound: Bound
    field: str = ""  #: path of the values, as ``legs[].carrier``; empty for the topic
    unit: RuleUnit = "rows"
    severity: RuleSeverity = "error"
    owner: str = ""
    muted_until: date | None = None  #: failures before this day are not counted
    values: tuple[str, ...] = ()  #: valid values, or values that count as missing
    pattern: str = ""  #: of valid texts
    target: str = ""  #: topic and field that has the values, as ``customers.id``
    target_part: Literal["value", "key"] = "value"
    window: Literal["", "hour", "day"] = ""  #: each window must satisfy a rule on ``rowCount``
    line: int = 0  #: in the file


@dataclass(frozen=True, slots=True)
class QualityRules:
    """The rules of one topic."""

    topic: str
    rules: tuple[QualityRule, ...] = field(default_factory=tuple)


def write_number(number: float) -> str:
    """Return a number as people write it: whole or with six digits, and with commas."""
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:,g}"

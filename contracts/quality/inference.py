"""Quality rules inferred from an audit: what all of its records satisfied, with a margin.

A rule that is too narrow is worse than none, because it fails without a fault. So numbers may be ten times as large as
those seen, texts twice as long, and days half as full; and a rule needs enough records to be inferred from.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from contractlog.contracts.audit.field_profiles import FieldProfile
from contractlog.contracts.audit.number_histograms import NumberHistogram
from contractlog.contracts.audit.report import FieldEntry, TopicPart
from contractlog.contracts.quality.rules import Bound, QualityRule

__all__ = ["MIN_RECORDS", "InferredRule", "infer_rules"]

MIN_RECORDS: Final = 1_000  #: that a rule is inferred from, by default
MAX_VALID_VALUES: Final = 20
VALUES_PER_VALID: Final = 50  #: times that each valid value must have occurred on average
MAX_NULL_SHARE: Final = 0.5  #: above this, nulls are the rule and no fault
NUMBER_MARGIN, LENGTH_MARGIN, COUNT_MARGIN = 10.0, 2.0, 0.5
MIN_DAYS: Final = 7  #: complete days, for a rule on records per day
_DAY: Final = len("2013-07-01")


@dataclass(frozen=True, slots=True)
class InferredRule:
    """A rule, and how many records or values it was inferred from."""

    rule: QualityRule
    support: int
    noun: str = "values"  #: of the support


def infer_rules(
    part: TopicPart, profiles: Mapping[str, FieldProfile], *, min_records: int = MIN_RECORDS
) -> list[InferredRule]:
    """Return the rules that the records of a part satisfied: of the topic, then of its fields.

    Args:
        part: result of an audit.
        profiles: profiles of its fields, by name.
        min_records: records, or values of a field, that a rule needs at least.
    """
    rules = [*_infer_conformance(part), *_infer_counts(part)]
    for field in part["fields"]:
        if not field["field"]:
            continue  # of values that are no records; rules are about named properties
        rules += [*_infer_nulls(field), *_infer_numbers(field), *_infer_values(field)]
        if field["field"] in profiles:
            rules += _infer_lengths(field, profiles[field["field"]].lengths)
    return [rule for rule in rules if rule.support >= min_records]


def _infer_conformance(part: TopicPart) -> Iterator[InferredRule]:
    """Yield a rule on the share of conforming records, rounded down to a tenth of a percent."""
    if part["conformance"] is not None:
        percent = math.floor(part["conformance"] * 1000) / 10
        rule = QualityRule("records conform", "conformance", Bound("mustBeGreaterOrEqualTo", percent), unit="percent")
        yield InferredRule(rule, part["conforming"] + part["violating"], "records")


def _infer_counts(part: TopicPart) -> Iterator[InferredRule]:
    """Yield a rule on the records per day, if there are enough days; the first and last are incomplete."""
    days: Counter[str] = Counter()
    for point in part["series"]:
        if len(point["window"]) < _DAY:
            return
        days[point["window"][:_DAY]] += point["records"]
    inner = [count for day, count in days.items() if day not in {min(days), max(days)}]
    if len(inner) < MIN_DAYS:
        return
    least = _round_down(min(inner) * COUNT_MARGIN)
    if least:
        bound = Bound("mustBeGreaterOrEqualTo", least)
        rule = QualityRule("enough records every day", "rowCount", bound, severity="warning", window="day")
        yield InferredRule(rule, sum(inner), "records")


def _infer_nulls(field: FieldEntry) -> Iterator[InferredRule]:
    """Yield a rule that a field has always a value, or on the share of its nulls."""
    name = field["field"]
    missing, total = field["nulls"] + field["absent"], field["records"] + field["absent"]
    if "[]" in name:
        missing, total = field["nulls"], field["nulls"] + field["values"]
    if not total:
        return
    share = missing / total
    if not missing:
        yield InferredRule(QualityRule(f"{name} is required", "nullValues", Bound("mustBe", 0.0), name), total)
    elif share <= MAX_NULL_SHARE:
        percent = min(100.0, math.ceil(200 * share + 1))
        bound = Bound("mustBeLessOrEqualTo", percent)
        rule = QualityRule(f"few nulls of {name}", "nullValues", bound, name, unit="percent", severity="warning")
        yield InferredRule(rule, total)


def _infer_numbers(field: FieldEntry) -> Iterator[InferredRule]:
    """Yield rules on the lowest and the highest number."""
    name = field["field"]
    for ends in field["ranges"]:
        if ends["kind"] != "number":
            continue
        lowest, highest = float(ends["lowest"]), float(ends["highest"])
        if lowest >= 0:
            rule = QualityRule(f"minimum of {name}", "minimum", Bound("mustBeGreaterOrEqualTo", 0.0), name)
            yield InferredRule(rule, field["values"])
        limit = _round_up(highest * NUMBER_MARGIN)
        if highest > 0 and math.isfinite(limit):
            rule = QualityRule(f"maximum of {name}", "maximum", Bound("mustBeLessOrEqualTo", limit), name)
            yield InferredRule(rule, field["values"])


def _infer_lengths(field: FieldEntry, lengths: NumberHistogram) -> Iterator[InferredRule]:
    """Yield a rule on the longest text, unless the valid values are known."""
    name = field["field"]
    if set(field["kinds"]) != {"text"} or not lengths.counts or any(_infer_values(field)):
        return
    _, longest = lengths.bounds(max(lengths.counts))
    limit = _round_up(max(longest, 1.0) * LENGTH_MARGIN)
    if math.isfinite(limit):
        rule = QualityRule(f"maxLength of {name}", "maxLength", Bound("mustBeLessOrEqualTo", math.ceil(limit)), name)
        yield InferredRule(rule, field["values"])


def _infer_values(field: FieldEntry) -> Iterator[InferredRule]:
    """Yield a rule on the valid values, if they are few and known."""
    name = field["field"]
    listed = [each["value"] for each in field["listed"]]
    values = [value for value in listed if value is not None]
    if (
        set(field["kinds"]) != {"text"}
        or len(values) != len(listed)
        or len(values) != field["distinct"]
        or not 1 <= len(values) <= MAX_VALID_VALUES
        or field["values"] < VALUES_PER_VALID * len(values)
    ):
        return
    bound = Bound("mustBe", 0.0)
    rule = QualityRule(f"known values of {name}", "invalidValues", bound, name, values=tuple(sorted(values)))
    yield InferredRule(rule, field["values"])


def _round_up(number: float) -> float:
    """Return the next number with one significant digit.

    >>> _round_up(1234.0), _round_up(0.5)
    (2000.0, 0.5)
    """
    if number <= 0 or not math.isfinite(number):
        return number
    exponent = math.floor(math.log10(number))
    return float(f"{math.ceil(number / 10.0**exponent)}e{exponent}")  # exact, unlike a product


def _round_down(number: float) -> float:
    """Return the whole number before, with one significant digit.

    >>> _round_down(1234.0), _round_down(0.5)
    (1000.0, 0.0)
    """
    if number < 1:
        return 0.0
    unit = 10.0 ** math.floor(math.log10(number))
    return math.floor(number / unit) * unit

"""Evaluation of quality rules by the results of an audit, without reading records again.

A measured number may be known only to lie in an interval, such as an estimated number of distinct values. A rule is
decided if all numbers in the interval give the same result; otherwise it is not evaluated, and never passes silently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from contractlog.contracts.audit.field_profiles import PATTERN_PREFIX, FieldProfile, FieldProfileKey, estimate_distinct
from contractlog.contracts.audit.report import KeyStatistics, QualityOutcome, QualityResult, TopicPart
from contractlog.contracts.quality.measurement import SIGMAS, Measurement, NotMeasurable, measure_exactly
from contractlog.contracts.quality.orphans import count_orphans, find_target
from contractlog.contracts.quality.record_metrics import measure_records
from contractlog.contracts.quality.rules import (
    CUSTOM_FIELD_METRICS,
    RECORD_METRICS,
    QualityRule,
    QualityRules,
    write_number,
)

__all__ = ["QualityContext", "evaluate_rules", "failed_rules"]

_HOUR: Final = len("2013-07-01T04")
_DAY: Final = len("2013-07-01")


@dataclass(frozen=True, slots=True)
class QualityContext:
    """Results of an audit by which rules of a topic are evaluated."""

    part: TopicPart  #: the values of the topic
    profiles: Mapping[str, FieldProfile] | None  #: by field; None if fields were not profiled
    now: datetime
    list_forms: Callable[[str], tuple[str, ...]]  #: forms in which a profile may list a value
    keys: KeyStatistics | None = None  #: of the topic; None if unknown
    all_profiles: Mapping[FieldProfileKey, FieldProfile] = field(default_factory=dict)  #: of all topics of the audit


def evaluate_rules(rules: QualityRules, context: QualityContext) -> list[QualityResult]:
    """Return the result of each rule, in the order of the file."""
    return [_evaluate(rule, context) for rule in rules.rules]


def failed_rules(part: TopicPart) -> list[QualityResult]:
    """Return the results of a part that make an audit exit with 1."""
    return [
        result for result in part.get("quality", ()) if result["outcome"] == "failed" and result["severity"] == "error"
    ]


def _evaluate(rule: QualityRule, context: QualityContext) -> QualityResult:
    measured, reason = None, ""
    outcome: QualityOutcome = "not evaluated"
    try:
        measured = _in_unit(rule, _measure(rule, context))
        admitted = _decide(rule, measured)
        if admitted is None:
            low, high = write_number(measured.low), write_number(measured.high)
            reason = f"the number is only known to be from {low} to {high}"
        else:
            outcome = "passed" if admitted else "failed"
    except NotMeasurable as problem:
        reason = str(problem)
    muted = rule.muted_until is not None and context.now.astimezone(UTC).date() < rule.muted_until
    return {
        "rule": rule.name,
        "field": rule.field,
        "metric": rule.metric,
        "outcome": "muted" if outcome == "failed" and muted else outcome,
        "actual": measured.low if measured is not None and measured.low == measured.high else None,
        "expected": str(rule.bound),
        "unit": "seconds" if rule.metric == "latency" else rule.unit,
        "severity": rule.severity,
        "owner": rule.owner,
        "muted_until": rule.muted_until.isoformat() if rule.muted_until else None,
        "reason": reason,
        "line": rule.line,
    }


def _decide(rule: QualityRule, measured: Measurement) -> bool | None:
    """Return whether the number is as it must be; None if that depends on where in the interval it is."""
    inside = [end for end in (rule.bound.first, rule.bound.last) if measured.low <= end <= measured.high]
    results = {rule.bound.admits(number) for number in (measured.low, measured.high, *inside)}
    return results.pop() if len(results) == 1 else None


def _in_unit(rule: QualityRule, measured: Measurement) -> Measurement:
    """Return a number of rows as a share in percent, if the rule asks for that."""
    if rule.unit != "percent" or rule.metric == "conformance":
        return measured
    if not measured.base:
        raise NotMeasurable("there are no values of which a share could be taken")
    return Measurement(100 * measured.low / measured.base, 100 * measured.high / measured.base, measured.base)


def _measure(rule: QualityRule, context: QualityContext) -> Measurement:
    if rule.metric in RECORD_METRICS:
        return measure_records(rule.metric, context.keys, context.part.get("time_order"), context.part["records"])
    if rule.metric in CUSTOM_FIELD_METRICS:
        return _compare_field(rule, context)
    match rule.metric:
        case "rowCount":
            return _count_rows(rule, context.part)
        case "conformance":
            return measure_exactly(100 * _find_conformance(context.part))
        case "latency":
            return measure_exactly(_find_latency(context))
        case _:
            return _measure_field(rule, context, _find_profile(rule, context))


def _compare_field(rule: QualityRule, context: QualityContext) -> Measurement:
    """Compare the values of a field with those before, or with those of a field of another topic."""
    if rule.metric == "drift":
        return _find_drift(rule, context.part)
    target = find_target(rule.target, rule.target_part, context.all_profiles)
    return count_orphans(_find_profile(rule, context), target)


def _measure_field(rule: QualityRule, context: QualityContext, profile: FieldProfile) -> Measurement:
    match rule.metric:
        case "nullValues" | "missingValues":
            return _count_missing(rule, context, profile)
        case "invalidValues":
            return _count_invalid(rule, context, profile)
        case "duplicateValues":
            low, high = _estimate_distinct(profile)
            return Measurement(profile.values - high, profile.values - low, profile.values)
        case "minimum" | "maximum":
            return measure_exactly(_find_end(rule, profile))
        case _:
            return _find_length(rule, profile)


def _find_drift(rule: QualityRule, part: TopicPart) -> Measurement:
    """Return the interval from what is not due to chance to the whole index."""
    for entry in part["fields"]:
        if entry["field"] == rule.field and "drift" in entry:
            return Measurement(entry["drift"]["lowest"], entry["drift"]["index"])
    raise NotMeasurable("the audit has no new values of a distribution to compare with values before")


def _find_conformance(part: TopicPart) -> float:
    if part["conformance"] is None:
        raise NotMeasurable("no record was audited")
    return part["conformance"]


def _find_end(rule: QualityRule, profile: FieldProfile) -> float:
    ends = profile.ranges.get("number")
    if ends is None:
        raise NotMeasurable("the field has no number")
    return float(ends.lowest if rule.metric == "minimum" else ends.highest)


def _count_rows(rule: QualityRule, part: TopicPart) -> Measurement:
    """Return the records; of a rule on windows, those of the first whole window that breaks it, or of any."""
    if not rule.window:
        return measure_exactly(part["records"])
    width = _HOUR if rule.window == "hour" else _DAY
    if any(len(point["window"]) < width for point in part["series"]):
        raise NotMeasurable(f"there are so many windows that they are longer than {rule.window}s")
    counts: dict[str, int] = {}
    for point in part["series"]:
        counts[point["window"][:width]] = counts.get(point["window"][:width], 0) + point["records"]
    whole = [counts.get(window, 0) for window in _list_windows(sorted(counts), rule.window)]
    if not whole:
        raise NotMeasurable(
            f"the records are not of three {rule.window}s or more, of which the first and last are partial"
        )
    return measure_exactly(next((count for count in whole if not rule.bound.admits(count)), whole[0]))


def _list_windows(windows: list[str], width: str) -> Iterator[str]:
    """Yield every window between the first and the last, also those without records."""
    if not windows:
        return
    size = 3_600 if width == "hour" else 86_400
    first, last = (
        int(datetime.fromisoformat(each).replace(tzinfo=UTC).timestamp()) for each in (windows[0], windows[-1])
    )
    for second in range(first + size, last, size):
        yield datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H" if width == "hour" else "%Y-%m-%d")


def _find_latency(context: QualityContext) -> float:
    times = [use["last_seen"] for use in context.part["schemas"] if use["last_seen"]]
    if not times:
        raise NotMeasurable("no record has a schema and a time")
    return max((context.now - datetime.fromisoformat(max(times))).total_seconds(), 0.0)


def _find_profile(rule: QualityRule, context: QualityContext) -> FieldProfile:
    if context.profiles is None:
        raise NotMeasurable("fields were not profiled (--no-profiles)")
    if not context.part["conforming"]:
        raise NotMeasurable("no record conforms to its schema")
    profile = context.profiles.get(rule.field)
    if profile is None and rule.metric not in {"nullValues", "missingValues"}:
        raise NotMeasurable("no conforming record has a value of the field")
    return profile or FieldProfile(0)


def _count_missing(rule: QualityRule, context: QualityContext, profile: FieldProfile) -> Measurement:
    """Return the records without a value (of an array's items, the nulls) and the missing values."""
    missing, base = profile.nulls, profile.values + profile.nulls
    if "[]" not in rule.field and "{}" not in rule.field:
        base = context.part["conforming"]
        missing += base - profile.records
    if rule.values:
        missing += _count_listed(rule, context, profile)
    return Measurement(missing, missing, base)


def _count_invalid(rule: QualityRule, context: QualityContext, profile: FieldProfile) -> Measurement:
    if rule.pattern:
        matching = profile.patterns.get(PATTERN_PREFIX + rule.pattern)
        if matching is None:
            raise NotMeasurable("the field has no text, or the pattern was not counted by this audit")
        return Measurement(profile.values - matching, profile.values - matching, profile.values)
    if profile.listed is None:
        surplus = max(_estimate_distinct(profile)[0] - len(rule.values), 0)
        return Measurement(surplus, profile.values, profile.values)
    invalid = profile.values - _count_listed(rule, context, profile)
    return Measurement(invalid, invalid, profile.values)


def _count_listed(rule: QualityRule, context: QualityContext, profile: FieldProfile) -> int:
    """Return how often the values of a rule occur.

    Raises:
        NotMeasurable: the field has too many distinct values to be counted one by one.
    """
    if profile.listed is None:
        raise NotMeasurable("the field has too many distinct values to count each of them")
    forms = {form for value in rule.values for form in context.list_forms(value)}
    return sum(profile.listed.get(form, 0) for form in forms)


def _estimate_distinct(profile: FieldProfile) -> tuple[int, int]:
    """Return the lowest and the highest number of distinct values that is likely."""
    distinct, error = estimate_distinct(profile)
    margin = int(SIGMAS * error * distinct)
    return max(distinct - margin, 0), min(distinct + margin, profile.values)


def _find_length(rule: QualityRule, profile: FieldProfile) -> Measurement:
    if not profile.lengths.counts:
        raise NotMeasurable("the field has no text")
    bucket = (min if rule.metric == "minLength" else max)(profile.lengths.counts)
    low, high = profile.lengths.bounds(bucket)
    return Measurement(low, low if high - low <= 1 else high - 1)

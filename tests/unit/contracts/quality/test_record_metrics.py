"""Rules on keys and on the order of timestamps are decided only where the sample allows it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from contractlog.contracts.audit.report import KeyStatistics, QualityResult, TimeOrder
from contractlog.contracts.quality.evaluation import QualityContext, evaluate_rules
from contractlog.contracts.quality.measurement import Measurement
from contractlog.contracts.quality.odcs_reader import parse_quality
from contractlog.contracts.quality.odcs_writer import write_quality
from contractlog.contracts.quality.record_metrics import find_keys, measure_records
from contractlog.contracts.quality.rules import RECORD_METRICS, Bound, Metric, QualityRule, QualityRules

from support.reports import part, report

ORDER: TimeOrder = {"backward": 3, "largest_step_ms": 9}
FEW: KeyStatistics = {
    "null": 10,
    "distinct": 80,
    "distinct_error": 0.0,
    "sampled": 80,
    "repeated": 10,
    "moved": 2,
    "moved_examples": [],
    "frequent": [],
}
MANY = FEW | {"null": 0, "distinct": 40_000, "distinct_error": 0.05, "sampled": 512, "repeated": 0, "moved": 0}


def _evaluate(metric: Metric, bound: Bound, keys: KeyStatistics | None, unit: str = "rows") -> QualityResult:
    entry = part("orders", records=100 if keys is FEW else 40_000)
    entry["time_order"] = ORDER
    rule = QualityRule(metric, metric, bound, unit=unit)  # type: ignore[arg-type]
    context = QualityContext(entry, None, datetime(2026, 11, 27, tzinfo=UTC), lambda value: (value,), keys)
    (result,) = evaluate_rules(QualityRules("orders", (rule,)), context)
    return result


@pytest.mark.parametrize(
    ("metric", "rows", "percent"),
    [("nullKeys", 10, 10), ("duplicateKeys", 10, 11.11), ("movedKeys", 2, 2.5), ("backwardTimestamps", 3, 3)],
)
def test_few_keys_are_measured_exactly(metric: Metric, rows: int, percent: float) -> None:
    assert _evaluate(metric, Bound("mustBe", rows), FEW)["outcome"] == "passed"
    assert _evaluate(metric, Bound("mustBe", rows + 1), FEW)["outcome"] == "failed"
    assert _evaluate(metric, Bound("mustBe", 0), FEW, "percent")["actual"] == pytest.approx(percent, abs=0.01)


def test_many_keys_are_an_interval() -> None:
    assert measure_records("duplicateKeys", MANY, ORDER, 40_000) == Measurement(0, 6_000, 40_000)
    assert measure_records("movedKeys", MANY, ORDER, 40_000) == Measurement(0, 691, 40_000)
    unique = _evaluate("duplicateKeys", Bound("mustBe", 0), MANY)
    assert (unique["outcome"], unique["reason"]) == ("not evaluated", "the number is only known to be from 0 to 6,000")
    assert _evaluate("movedKeys", Bound("mustBeLessThan", 2), MANY, "percent")["outcome"] == "passed"


def test_an_estimate_that_equals_the_sample_is_an_estimate() -> None:
    keys = MANY | {"distinct": 512, "moved": 1}
    measured = measure_records("movedKeys", keys, ORDER, 40_000)
    assert measured.low == 1 < measured.high


def test_a_sampled_key_that_repeats_or_moves_decides() -> None:
    keys = MANY | {"repeated": 1, "moved": 1}
    assert _evaluate("duplicateKeys", Bound("mustBe", 0), keys)["outcome"] == "failed"
    assert _evaluate("movedKeys", Bound("mustBe", 0), keys)["outcome"] == "failed"


def test_without_statistics_no_rule_passes() -> None:
    result = _evaluate("nullKeys", Bound("mustBe", 0), None)
    assert result["outcome"] == "not evaluated"
    assert "--full" in result["reason"]


def test_keys_are_those_of_the_topic() -> None:
    keyed = part("orders", name="key")
    keyed["keys"] = FEW
    assert find_keys(report(part("orders"), keyed, part("other"))) == {"orders": FEW}


@pytest.mark.parametrize("metric", RECORD_METRICS)
def test_a_rule_is_read_as_it_was_written(metric: Metric) -> None:
    rule = QualityRule("r", metric, Bound("mustBe", 0.0), line=1)
    assert f"implementation: {metric}\n" in write_quality("orders", [(rule, "why")])
    document = {
        "quality": [{"name": "r", "type": "custom", "engine": "contractlog", "implementation": metric, "mustBe": 0}]
    }
    assert parse_quality("orders", document, "f", {}).rules == (rule,)

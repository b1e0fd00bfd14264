"""The JSON Schema of ``report.json`` accepts reports and rejects what is none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contractlog.contracts.audit.field_entries import describe_field
from contractlog.contracts.audit.field_profiles import FieldProfile, ValueRange
from contractlog.contracts.audit.number_histograms import NumberHistogram

from support.reports import REPORT_VALIDATOR, edge, part, report, violation


def test_a_report_with_everything_is_valid() -> None:
    entry = part("flights", violations=[violation("TRUNCATED", 168)])
    numbers = NumberHistogram({1: 3})
    profile = FieldProfile(3, 1, {"number": 3}, (1, 2), {"5": 3}, {"number": ValueRange(1.0, 5.0)}, numbers)
    entry["fields"] = [describe_field("total", profile, 4)]
    audit = report(entry, part("empty", records=0))
    audit["lineage"] = [edge("a", "b", "id")]
    REPORT_VALIDATOR.validate(json.loads(json.dumps(audit)))


@pytest.mark.parametrize("member", ["format", "topics", "scope", "thresholds"])
def test_a_report_without_a_member_is_invalid(member: str) -> None:
    audit: dict[str, Any] = dict(report(part("flights")))
    del audit[member]
    assert not REPORT_VALIDATOR.is_valid(audit)


def test_a_report_of_another_format_is_invalid() -> None:
    assert not REPORT_VALIDATOR.is_valid({**report(part("flights")), "format": "contractlog.audit/2"})

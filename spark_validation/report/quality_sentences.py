"""Sentences about the results of quality rules."""

from __future__ import annotations

from contractlog.contracts.audit.report import QualityResult
from contractlog.spark_validation.report.formatters import format_count, format_significant

__all__ = ["describe_quality", "describe_quality_result"]


def describe_quality(result: QualityResult) -> str:
    """Return a result with the name of its rule, as ``failed (error) `few nulls`: 12 % …``."""
    severity = f" ({result['severity']})" if result["outcome"] in {"failed", "muted"} else ""
    return f"{result['outcome']}{severity} `{result['rule']}`: {describe_quality_result(result)}"


def describe_quality_result(result: QualityResult) -> str:
    """Return what was measured, what it must be, and who is responsible."""
    measured = f"{result['metric']}{' of `' + result['field'] + '`' if result['field'] else ''}"
    words = f"{measured} {result['expected']}{_unit(result)}"
    if result["actual"] is not None:
        words += f", and is {_write(result['actual'])}{_unit(result)}"
    if result["reason"]:
        words += f"; {result['reason']}"
    if result["muted_until"] and result["outcome"] == "muted":
        words += f"; muted until {result['muted_until']}"
    return words + (f"; owner {result['owner']}" if result["owner"] else "")


def _unit(result: QualityResult) -> str:
    return {"percent": " %", "seconds": " s"}.get(result["unit"], "")


def _write(number: float) -> str:
    return format_count(int(number)) if float(number).is_integer() else format_significant(number)

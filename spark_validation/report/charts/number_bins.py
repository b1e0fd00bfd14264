"""Tiny histograms of a field's numbers, for a row of a table."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from contractlog.contracts.audit.report import NumberBins
from contractlog.spark_validation.report.charts.svg import document, element
from contractlog.spark_validation.report.formatters import format_significant

__all__ = ["draw_bins"]

_BAR: Final = 4
_HEIGHT: Final = 24


def draw_bins(bins: NumberBins) -> Markup:
    """Draw a bar per bin, zero-based; the title names both ends."""
    highest = max(bins["counts"])
    bars = [
        element("rect", class_="is-records", x=index * _BAR, y=_HEIGHT - height, width=_BAR - 1, height=height)
        for index, count in enumerate(bins["counts"])
        if (height := max(1, round(count / highest * _HEIGHT)) if count else 0)
    ]
    title = f"Distribution from {format_significant(bins['from'])} to {format_significant(bins['to'])}"
    return document(title, *bars, width=len(bins["counts"]) * _BAR, height=_HEIGHT)

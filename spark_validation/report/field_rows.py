"""Rows of the table of a part's fields: a few words and a small picture for each."""

from __future__ import annotations

from typing import Final, NamedTuple

from markupsafe import Markup

from contractlog.compatibility.name_lists import list_first
from contractlog.contracts.audit.field_drift import SHIFT
from contractlog.contracts.audit.report import FieldEntry, TopicPart
from contractlog.spark_validation.report.charts.number_bins import draw_bins
from contractlog.spark_validation.report.formatters import (
    format_count,
    format_day,
    format_plural,
    format_share,
    format_significant,
    format_time,
)

__all__ = ["FieldRow", "describe_fields", "list_field_rows"]

MAX_VALUES: Final = 3


class FieldRow(NamedTuple):
    """The row of a field; texts are plain."""

    field: str
    kinds: str
    empty: str  #: records without a value, with their share
    distinct: str
    values: str
    ends: str
    picture: Markup | None


def describe_fields(part: TopicPart) -> str:
    """Return a sentence about the fields of a part, with the candidates for personal data."""
    fields = part["fields"]
    personal = [field for field in fields if field["personal_data"]]
    if not personal:
        return f"{format_plural(len(fields), 'field')}; no text looks like personal data."
    kinds = sorted({entry["pattern"] for field in personal for entry in field["personal_data"]})
    named = list_first([f"`{field['field']}`" for field in personal], MAX_VALUES)
    count = format_plural(len(fields), "field")
    return f"{count}; texts that look like personal data ({', '.join(kinds)}): {named}."


def list_field_rows(part: TopicPart, maximum: int, *, pictured: bool) -> list[FieldRow]:
    """Return the rows of a part's fields: candidates for personal data, then shifted ones, then by name."""
    fields = sorted(
        part["fields"], key=lambda field: (not field["personal_data"], not _describe_shift(field), field["field"])
    )
    return [_make_row(field, part["conforming"], pictured=pictured) for field in fields[:maximum]]


def _make_row(field: FieldEntry, conforming: int, *, pictured: bool) -> FieldRow:
    empty = field["absent"] + (field["nulls"] if field["sizes"] == {} else 0)
    return FieldRow(
        field["field"] or "the whole record",
        ", ".join(field["kinds"]) or "null",
        format_share(empty, conforming) if empty else "none",
        _describe_distinct(field),
        "; ".join(filter(None, [_describe_patterns(field), _describe_shift(field), _describe_values(field)])),
        _describe_ends(field),
        draw_bins(field["bins"]) if pictured and field["bins"] else None,
    )


def _describe_distinct(field: FieldEntry) -> str:
    if not field["distinct_error"]:
        return format_count(field["distinct"])
    rounded = int(float(f"{field['distinct']:.2g}"))
    return f"about {format_count(rounded)} (± {200 * field['distinct_error']:.0f} %)"


def _describe_patterns(field: FieldEntry) -> str:
    return "; ".join(
        f"{format_share(entry['values'], field['values'])} look like {_add_article(entry['pattern'])}"
        for entry in field["personal_data"]
    )


def _describe_shift(field: FieldEntry) -> str:
    """Return the drift of a field whose new values have surely shifted, else nothing."""
    drift = field.get("drift")
    return f"shifted, index {drift['index']:.2f}" if drift is not None and drift["lowest"] > SHIFT else ""


def _add_article(pattern: str) -> str:
    return f"{'an' if pattern[0] in 'aeiouI' else 'a'} {pattern}"


def _describe_values(field: FieldEntry) -> str:
    """Return the most frequent values with their shares, or typical lengths and sizes."""
    if field["listed"]:
        shares = [
            f"{entry['value']} {format_share(entry['records'], field['values'])}"
            for entry in field["listed"][:MAX_VALUES]
            if entry["value"] is not None
        ]
        return ", ".join(shares) or f"most frequent {format_share(field['listed'][0]['records'], field['values'])}"
    return _describe_quantiles(field)


def _describe_quantiles(field: FieldEntry) -> str:
    for name, quantiles in (("median", field["quantiles"]), ("median length", field["lengths"])):
        if quantiles:
            return f"{name} {format_significant(quantiles['p50'])}"
    return ""


def _describe_ends(field: FieldEntry) -> str:
    return "; ".join(
        f"{_write_end(ends['kind'], ends['lowest'])} to {_write_end(ends['kind'], ends['highest'])}"
        for ends in field["ranges"]
    )


def _write_end(kind: str, end: float | str) -> str:
    if not isinstance(end, str):
        return format_significant(end)
    return {"time": format_time, "date": format_day}.get(kind, str)(end)

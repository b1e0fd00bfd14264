"""``report.html``: one file, usable offline, made from ``report.json`` alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache, partial
from typing import Any, Final, NamedTuple

from jinja2 import Environment
from markupsafe import Markup, escape

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.report import AuditReport, TopicPart
from contractlog.contracts.audit.summary import newest_in_use
from contractlog.contracts.lineage.edges import is_traced
from contractlog.spark_validation.lineage.traced_sources import TRACE
from contractlog.spark_validation.report import formatters
from contractlog.spark_validation.report.causes import find_causes, violation_anchor
from contractlog.spark_validation.report.change_sentences import describe_change, describe_changes, describe_trend
from contractlog.spark_validation.report.charts.coverage import MAX_BARS, OFFSET_KINDS, draw_coverage
from contractlog.spark_validation.report.charts.lineage_graph import draw_lineage
from contractlog.spark_validation.report.charts.version_timeline import (
    TimeBins,
    bin_series,
    draw_timeline,
    schema_label,
)
from contractlog.spark_validation.report.field_rows import describe_fields, list_field_rows
from contractlog.spark_validation.report.page_assets import escape_strings, make_environment, read_asset, source_hash
from contractlog.spark_validation.report.quality_sentences import describe_quality_result
from contractlog.spark_validation.report.record_sentences import describe_records
from contractlog.spark_validation.report.rule_rows import list_rule_rows
from contractlog.spark_validation.report.sentences import (
    VERDICT_ORDER,
    consume_command,
    describe_counts,
    describe_exit_code,
    describe_producers,
    describe_result,
    describe_selection,
    describe_strategy,
    describe_verdict,
    describe_verdict_rule,
    format_conformance,
    group_by_code,
    name_producer,
    summarize_verdict,
)

__all__ = ["render"]

MAX_BYTES: Final = 1_000_000
MAX_PLACES: Final = 4  #: of a cause; the others are folded
MAX_FOLDED_PLACES: Final = 40
MAX_UNBROKEN: Final = 24  #: letters of a word in a command that fit on a phone beside the button
MAX_TABLE_ROWS: Final = 16
HOURS_OF_DAY: Final = 24
MAX_PRODUCERS: Final = 20  #: rows of a table; the rest is in report.json
MAX_CHANGES: Final = 30  #: parts that changed since the former audit
MAX_DETAILED: Final = 40  #: parts; if there are more, only those that need attention get their own section


class _PageLimits(NamedTuple):
    """Limits on the content of a page; parts that need attention are shown first."""

    picture_characters: int
    sections: int
    rows: int  #: of the table of topics; topics beyond are listed by name only
    lines: int  #: per code and part; the rest is in report.json
    examples: int  #: per line
    evidence: bool  #: whether examples have more than their positions
    fields: int  #: rows of the table of fields, per part
    rules: int  #: rows of the table of rules, per part


_PAGE_LIMITS: Final = (
    _PageLimits(400_000, 100, 600, 20, 3, evidence=True, fields=100, rules=50),
    _PageLimits(400_000, 100, 600, 20, 3, evidence=False, fields=30, rules=50),
    _PageLimits(200_000, 40, 600, 20, 2, evidence=False, fields=20, rules=20),
    _PageLimits(100_000, 12, 200, 20, 1, evidence=False, fields=5, rules=10),
    _PageLimits(0, 4, 50, 5, 1, evidence=False, fields=0, rules=5),
)


def render(report: AuditReport) -> str:
    """Return the report as one HTML page of at most a megabyte; all external values are escaped."""
    report = escape_strings(report)  # controls and reordering characters would pass through the template
    page = ""
    for limits in _PAGE_LIMITS:
        page = _render_page(report, limits)
        if len(page.encode()) <= MAX_BYTES:
            break
    return page


def _render_page(report: AuditReport, limits: _PageLimits) -> str:
    parts = sorted(report["topics"], key=_urgency)
    all_detailed = len(parts) <= MAX_DETAILED
    detailed = [part for part in parts if all_detailed or part["verdict"] in {"failing", "degraded"}][: limits.sections]
    topics: dict[str, list[dict[str, Any]]] = defaultdict(list)
    characters_left = limits.picture_characters
    for part in detailed:
        entry = _part_context(report, part, limits, pictured=characters_left > 0)
        characters_left -= len(entry["timeline"] or "") + len(entry["coverage"] or "")
        topics[part["topic"]].append(entry)
    causes = find_causes(report, detailed)
    style, script = read_asset("report.css"), read_asset("report.js")
    values = [part for part in parts if part["part"] == "value"]
    return (
        _make_environment()
        .get_template("report.html")
        .render(
            report=report,
            names=sorted({part["topic"] for part in parts}),
            parts=parts,
            answer=describe_result(report),
            topics=topics,
            listed=parts[: limits.rows],
            unlisted=sorted({part["topic"] for part in parts[limits.rows :]}),
            causes=causes,
            changes=_list_changes(report),
            max_places=MAX_PLACES,
            max_folded_places=MAX_FOLDED_PLACES,
            unpictured=len(detailed) < len(parts) or characters_left <= 0,
            strip=_strip_legend(report["thresholds"]["verdict"]),
            rule=describe_verdict_rule(report["thresholds"]["verdict"]),
            exit_line=describe_exit_code(report),
            selection=describe_selection(report),
            lineage_scope=_lineage_scope(report),
            max_partitions=MAX_BARS,
            max_producers=MAX_PRODUCERS,
            max_examples=limits.examples,
            evidence=limits.evidence,
            producer_headers=" or ".join(f"`{name}`" for name in report["scope"]["producer_headers"]),
            graph=draw_lineage(report["lineage"]),
            edges_in_values=[edge for edge in report["lineage"] if not is_traced(edge)],
            edges_in_headers=[edge for edge in report["lineage"] if is_traced(edge)],
            lineage_headline=_lineage_headline(report),
            offsets=sum(row["to_offset"] - row["from_offset"] for part in values for row in part["partitions"]),
            partition_count=sum(len(part["partitions"]) for part in values),
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            style_hash=source_hash(style),
            script_hash=source_hash(script),
        )
    )


def _list_changes(report: AuditReport) -> Mapping[str, Any] | None:
    """Return what changed since the former audit; None if there was none."""
    changes = report.get("changes")
    if changes is None:
        return None
    lines = [(change, describe_change(change)) for change in changes["parts"][:MAX_CHANGES]]
    return {"headline": describe_changes(changes), "lines": lines, "left_out": len(changes["parts"]) - len(lines)}


def _urgency(part: TopicPart) -> tuple[int, int, str, str]:
    """Return the sort key of a part: failing before degraded before unknown before passing."""
    return VERDICT_ORDER.index(part["verdict"]), -part["violating"], part["topic"], part["part"]


def _part_context(report: AuditReport, part: TopicPart, limits: _PageLimits, *, pictured: bool) -> dict[str, Any]:
    uses = {use["schema_id"]: use for use in part["schemas"]}
    versions = [schema_id for schema_id, use in uses.items() if use["version"] and use["expected"]]
    bins = bin_series(part["series"], versions) if pictured else None
    labels = {schema_id: schema_label(schema_id, uses) for schema_id in {0, *uses, *(bins.records if bins else ())}}
    return {
        "data": part,
        "labels": defaultdict(str, labels),
        "reason": describe_verdict(part),
        "strategy": describe_strategy(part),
        "groups": _violation_groups(report, part, limits.lines),
        "timeline": draw_timeline(bins, uses, threshold=part["threshold"]) if bins else None,
        "periods": _period_table(bins) if bins else None,
        "headline": _timeline_headline(part),
        "coverage": draw_coverage(part["partitions"]) if pictured and part["partitions"] else None,
        "coverage_headline": _coverage_headline(part),
        "quality": [(result, describe_quality_result(result)) for result in part.get("quality", ())],
        "rules": list_rule_rows(part, limits.rules),
        "trend": describe_trend(part.get("trend", [])),
        "records": describe_records(part),
        "fields": list_field_rows(part, limits.fields, pictured=pictured),
        "fields_headline": describe_fields(part),
        "kinds": [(kind, label) for kind, label in OFFSET_KINDS.items() if kind != "unaudited" or part["unaudited"]],
    }


def _violation_groups(report: AuditReport, part: TopicPart, max_lines: int) -> list[dict[str, Any]]:
    return [
        {
            "code": code,
            "anchor": violation_anchor(part, code),
            "records": sum(line["records"] for line in lines),
            "meaning": Outcome[code].meaning,
            "fix": Outcome[code].fix,
            "lines": lines[:max_lines],
            "left_out": max(0, len(lines) - max_lines),
            "command": consume_command(report, part, lines[0]),
        }
        for code, lines in group_by_code(part["violations"]).items()
    ]


def _period_table(bins: TimeBins) -> Mapping[str, Any]:
    """Sum the bins of the picture into at most ``MAX_TABLE_ROWS`` rows."""
    step = -(-len(bins.starts) // MAX_TABLE_ROWS)
    ids = list(bins.records)

    def cell(schema_id: int, start: int) -> str:
        records = sum(bins.records[schema_id][start : start + step])
        violating = sum(bins.violating[schema_id][start : start + step])
        return f"{formatters.format_count(records)} ({formatters.format_count(violating)})" if records else ""

    rows = [
        {"start": _format_start(bins, start), "cells": [cell(schema_id, start) for schema_id in ids]}
        for start in range(0, len(bins.starts), step)
    ]
    return {"ids": ids, "rows": rows}


def _format_start(bins: TimeBins, index: int) -> str:
    start = bins.starts[index].isoformat(timespec="seconds")
    return formatters.format_day(start) if bins.hours >= HOURS_OF_DAY else formatters.format_time(f"{start}Z")


def _timeline_headline(part: TopicPart) -> str:
    uses = [use for use in part["schemas"] if use["version"] and use["expected"]]
    newest = newest_in_use(part["schemas"])
    if not newest:
        return "No record carries the id of a version of this topic's subjects."
    if len(newest) > 1:
        subjects = formatters.format_plural(len(newest), "subject")
        return f"{formatters.format_plural(len(uses), 'version')} of {subjects} are in use."
    (version,) = newest
    name, since = (
        f"Version {version['version']} (id {version['schema_id']})",
        formatters.format_time(version["first_seen"]),
    )
    if len(uses) == 1:
        return f"{name} is the only one in use, since {since}."
    return f"{name} is the newest of {len(uses)} versions in use; its first record is of {since}."


def _coverage_headline(part: TopicPart) -> str:
    total = sum(row["to_offset"] - row["from_offset"] for row in part["partitions"])
    if not total:
        return "The topic has no offsets."
    return f"Every one of {formatters.format_plural(total, 'offset')} is accounted for."


def _strip_legend(threshold: float) -> tuple[tuple[str, str], ...]:
    """Return the classes of the strip's shades and their meanings."""
    tolerated = formatters.format_percent(1 - threshold)
    return (("passing", "none"), ("degraded", f"up to {tolerated}"), ("failing", "more"))


def _lineage_scope(report: AuditReport) -> Markup:
    """Return a sentence on whether lineage was inferred, and how it can be."""
    scope = report["scope"]
    if scope["lineage"]:
        return Markup("Lineage was inferred from bounded samples of each field's values.")
    if not scope["samples"]:
        return _render_code("Lineage was not inferred, and no samples of values were stored (`--no-samples`).")
    return _render_code(
        "Lineage was not inferred: `contractlog lineage --state DIR` infers it from the samples that this audit "
        "stored, `--lineage` during an audit."
    )


def _lineage_headline(report: AuditReport) -> str:
    edges = [edge for edge in report["lineage"] if edge["method"] != TRACE]  # which says nothing about sources
    targets = sorted({edge["to"]["topic"] for edge in edges})
    if not targets:
        return ""
    sources = sorted({edge["from"]["topic"] for edge in edges if edge["to"]["topic"] == targets[0]})
    if len(targets) == 1:
        return f"{targets[0]} was made from {' and '.join(sources)}."
    return f"{formatters.format_plural(len(targets), 'topic')} were made from others."


def _wrap_command(line: str) -> Markup:
    """Allow line breaks in a command at its spaces, and elsewhere only in words wider than a phone."""
    words = (
        Markup('<span class="flag">{}</span>').format(word)
        if "-" in word and len(word) <= MAX_UNBROKEN
        else escape(word)
        for word in line.split(" ")
    )
    return Markup(" ").join(words)


def _render_code(text: str) -> Markup:
    """Set text between backticks in code font; options and commands break at spaces."""
    *pairs, rest = text.split("`")
    if len(pairs) % 2:
        return escape(text)
    words = [
        Markup("{}<code>{}</code>").format(
            plain, _wrap_command(code) if code.startswith(("-", "contractlog ")) else code
        )
        for plain, code in zip(pairs[::2], pairs[1::2], strict=True)
    ]
    return Markup("").join([*words, escape(rest)])


def _format_lag(milliseconds: float | None) -> str:
    return "" if milliseconds is None else formatters.format_duration(milliseconds)


@cache
def _make_environment() -> Environment:
    environment = make_environment()
    environment.filters |= {
        "count": formatters.format_count,
        "plural": formatters.format_plural,
        "moment": formatters.format_time,
        "instant": partial(formatters.format_time, seconds=True),
        "producer": name_producer,
        "producers": describe_producers,
        "day": formatters.format_day,
        "conforms": format_conformance,
        "part_line": describe_counts,
        "why": summarize_verdict,
        "prose": _render_code,
        "unbroken": _wrap_command,
        "lag": _format_lag,
    }
    return environment

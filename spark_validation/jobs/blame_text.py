"""Beginning of each kind of violation on a terminal: its time, and who wrote the first record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from contractlog.clients.cli.output import count_noun
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.audit.report import AuditReport, TopicPart, ViolationLine
from contractlog.spark_validation.report.formatters import format_time
from contractlog.spark_validation.report.sentences import describe_producers

__all__ = ["format_blame"]

MAX_KINDS: Final = 20  #: per part; the others are in report.json


def format_blame(report: AuditReport) -> Iterator[str]:
    """Yield two lines for each kind of violation, those that began first at the top."""
    parts = [part for part in report["topics"] if part["violations"]]
    if not parts:
        yield "No record violates its schema."
    for part in sorted(parts, key=lambda part: (_begin(part["violations"]), part["topic"], part["part"])):
        name = escape_line(part["topic"]) + ("" if part["part"] == "value" else f" ({part['part']})")
        yield f"{name}: {count_noun(len(part['violations']), 'kind')} of violation"
        lines = sorted(part["violations"], key=lambda line: (_begin([line]), -line["records"], line["code"]))
        for line in lines[:MAX_KINDS]:
            where = f" in {escape_line(line['field'])}" if line["field"] else ""
            since = format_time(line["first_seen"], seconds=True) if line["first_seen"] else "an unknown time"
            yield f"  {line['code']}{where}: {count_noun(line['records'], 'record')} since {since}"
            yield f"    {escape_line(', '.join(_describe_first(part, line)))}"
        if len(lines) > MAX_KINDS:
            yield f"  {count_noun(len(lines) - MAX_KINDS, 'more kind')} in report.json"


def _begin(lines: list[ViolationLine]) -> str:
    """Return the time of the first violation in a form that sorts; without a time, after all others."""
    return min(line["first_seen"] or "~" for line in lines)


def _describe_first(part: TopicPart, line: ViolationLine) -> Iterator[str]:
    first = line["first"]
    if first is None:
        yield "first record unknown: an earlier release of contractlog counted it"
    else:
        yield f"first at partition {first['partition']}, offset {first['offset']}"
    yield _describe_schema(part, line["schema_id"])
    if first is not None and first["producer"] is not None:
        yield f"producer {first['producer']}"
    elif line["producers"]:
        yield f"producers of all: {describe_producers(line['producers']).replace('`', '')}"
    else:
        yield "no producer header"


def _describe_schema(part: TopicPart, schema_id: int | None) -> str:
    if schema_id is None:
        return "no schema id"
    use = next((use for use in part["schemas"] if use["schema_id"] == schema_id and use["subject"]), None)
    return f"schema id {schema_id}" if use is None else f"version {use['version']} of {use['subject']} (id {schema_id})"

"""Report as lines on a terminal: one for each part of a topic, those that need attention first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from contractlog.clients.cli.output import Tone, with_tone
from contractlog.compatibility.name_lists import list_first
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.audit.report import AuditReport, AuditVerdict, PartChange, TopicPart
from contractlog.spark_validation.report.change_sentences import describe_change, describe_changes
from contractlog.spark_validation.report.formatters import format_percent, format_plural, format_share
from contractlog.spark_validation.report.quality_sentences import describe_quality
from contractlog.spark_validation.report.sentences import VERDICT_ORDER, only_producer

__all__ = ["format_changes", "format_last_line", "format_quality", "format_report", "parts_below_limit"]

_TONES: Final[Mapping[AuditVerdict, Tone]] = {
    "failing": Tone.BAD,
    "degraded": Tone.BAD,
    "unknown": Tone.PLAIN,
    "passing": Tone.GOOD,
}
_CHOICE_LABELS: Final[Mapping[str, str]] = {
    "given": "given",
    "association": "by association",
    "evidence": "found in the records",
}
CODES: Final = 4  #: maximum number in a line
CHANGES: Final = 20  #: maximum number of lines about changes
TOPICS: Final = 3  #: maximum number in the last line


def format_report(report: AuditReport) -> Iterator[str]:
    """Yield one line for each part of each topic."""
    parts = sorted(
        report["topics"],
        key=lambda part: (VERDICT_ORDER.index(part["verdict"]), -part["violating"], part["topic"], part["part"]),
    )
    width = max((len(_part_name(part)) for part in parts), default=0)
    for part in parts:
        yield with_tone(
            _TONES[part["verdict"]], f"{part['verdict']:<8}  {_part_name(part):<{width}}  {_describe_part(part)}"
        )


def format_quality(report: AuditReport) -> Iterator[str]:
    """Yield a line per failed quality rule, and the number that passed."""
    results = [(part, result) for part in report["topics"] for result in part.get("quality", ())]
    if not results:
        return
    passed = sum(result["outcome"] == "passed" for _, result in results)
    yield f"quality: {format_share(passed, len(results))} rules passed"
    for part, result in results:
        if result["outcome"] != "passed":
            tone = Tone.BAD if result["outcome"] == "failed" and result["severity"] == "error" else Tone.PLAIN
            yield with_tone(tone, escape_line(f"{_part_name(part)}: {describe_quality(result)}"))


def format_changes(report: AuditReport) -> Iterator[str]:
    """Yield what changed since the former audit of the folder, if there was one."""
    changes = report.get("changes")
    if changes is None:
        return
    yield describe_changes(changes)
    for change in changes["parts"][:CHANGES]:
        yield escape_line(f"  {_part_name(change)}: {describe_change(change)}")
    if len(changes["parts"]) > CHANGES:
        yield f"  and {format_plural(len(changes['parts']) - CHANGES, 'more part')}, in report.json"


def parts_below_limit(report: AuditReport) -> list[TopicPart]:
    """Return the parts that conform less than ``--fail-under``."""
    limit = report["thresholds"]["fail_under"]
    return [part for part in report["topics"] if part["conformance"] is not None and part["conformance"] < limit]


def format_last_line(report: AuditReport, code: int) -> str:
    """Return a line with the parts that missed each of the two thresholds, and the exit code."""
    thresholds = report["thresholds"]
    failing = [part for part in report["topics"] if part["verdict"] == "failing"]
    verdicts = f"verdict threshold {format_percent(thresholds['verdict'])} (--threshold): {_format_missed(failing)}"
    exits = f"--fail-under {format_percent(thresholds['fail_under'])}: {_format_missed(parts_below_limit(report))}"
    return f"{verdicts}; {exits}; exit code {code}"


def _format_missed(parts: list[TopicPart]) -> str:
    if not parts:
        return "met by all"
    named = list_first([_part_name(part) for part in parts], TOPICS)
    return f"missed by {format_plural(len(parts), 'part')} ({named})"


def _part_name(part: TopicPart | PartChange) -> str:
    return escape_line(part["topic"]) + ("" if part["part"] == "value" else f" ({part['part']})")


def _describe_part(part: TopicPart) -> str:
    audited = part["conforming"] + part["violating"]
    if not audited:
        return " ".join(part["notes"]) or "Nothing was audited."
    if not part["violating"]:
        result = f"all {format_plural(audited, 'record')} conform" if audited > 1 else "its one record conforms"
    else:
        result = f"{format_share(part['violating'], audited)} records violate: {_format_codes(part)}"
        producer = only_producer(part["violations"])
        result += f"; all from producer {escape_line(producer)}" if producer else ""
    rest = [
        (part["missed"] == ["newest version"], f"the newest version is below {format_percent(part['threshold'])}"),
        (part["tombstones"], format_plural(part["tombstones"], "tombstone")),
        (part["unaudited"], f"{part['unaudited']:,} not audited (schema not usable)"),
        (part["absent"], f"{part['absent']:,} absent"),
    ]
    strategy = part["strategy"]
    if strategy is not None and strategy["chosen_by"] != "default":
        rest.append((1, f"{strategy['name']} ({_CHOICE_LABELS[strategy['chosen_by']]})"))
    return "; ".join([result, *(words for number, words in rest if number)])


def _format_codes(part: TopicPart) -> str:
    counts: dict[str, int] = {}
    for line in part["violations"]:
        counts[line["code"]] = counts.get(line["code"], 0) + line["records"]
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    named = [f"{code} {records:,}" for code, records in ranked[:CODES]]
    return ", ".join([*named, *([f"and {len(ranked) - CODES} more kinds"] if len(ranked) > CODES else [])])

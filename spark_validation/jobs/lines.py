"""Report as lines on a terminal: one for each part of a topic, those that need attention first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from contractlog.clients.cli.output import Tone, harmless, toned
from contractlog.contracts.observed.report import Report, TopicPart, Verdict
from contractlog.spark_validation.report.sentences import ORDER
from contractlog.spark_validation.report.words import percent, plural, share

__all__ = ["last_line", "lines", "missing_exit"]

_TONES: Final[Mapping[Verdict, Tone]] = {
    "failing": Tone.BAD,
    "degraded": Tone.BAD,
    "unknown": Tone.PLAIN,
    "passing": Tone.GOOD,
}
_CHOSEN: Final[Mapping[str, str]] = {
    "given": "given",
    "association": "by association",
    "evidence": "found in the records",
}
CODES: Final = 4  #: maximum number in a line
TOPICS: Final = 3  #: maximum number in the last line


def lines(report: Report) -> Iterator[str]:
    """Yield one line for each part of each topic."""
    parts = sorted(
        report["topics"],
        key=lambda part: (ORDER.index(part["verdict"]), -part["violating"], part["topic"], part["part"]),
    )
    width = max((len(_name(part)) for part in parts), default=0)
    for part in parts:
        yield toned(_TONES[part["verdict"]], f"{part['verdict']:<8}  {_name(part):<{width}}  {_said(part)}")


def missing_exit(report: Report) -> list[TopicPart]:
    """Return the parts that conform less than ``--fail-under``."""
    limit = report["thresholds"]["fail_under"]
    return [part for part in report["topics"] if part["conformance"] is not None and part["conformance"] < limit]


def last_line(report: Report, code: int) -> str:
    """Return a line with the parts that missed each of the two thresholds, and the exit code."""
    thresholds = report["thresholds"]
    failing = [part for part in report["topics"] if part["verdict"] == "failing"]
    verdicts = f"verdict threshold {percent(thresholds['verdict'])} (--threshold): {_missed_by(failing)}"
    exits = f"--fail-under {percent(thresholds['fail_under'])}: {_missed_by(missing_exit(report))}"
    return f"{verdicts}; {exits}; exit code {code}"


def _missed_by(parts: list[TopicPart]) -> str:
    if not parts:
        return "met by all"
    named = ", ".join(_name(part) for part in parts[:TOPICS])
    more = f" and {len(parts) - TOPICS:,} more" if len(parts) > TOPICS else ""
    return f"missed by {plural(len(parts), 'part')} ({named}{more})"


def _name(part: TopicPart) -> str:
    return harmless(part["topic"]) + ("" if part["part"] == "value" else f" ({part['part']})")


def _said(part: TopicPart) -> str:
    judged = part["conforming"] + part["violating"]
    if not judged:
        return " ".join(part["notes"]) or "Nothing was audited."
    if not part["violating"]:
        said = f"all {plural(judged, 'record')} conform" if judged > 1 else "its one record conforms"
    else:
        said = f"{share(part['violating'], judged)} records violate: {_codes(part)}"
    rest = [
        (part["missed"] == ["newest version"], f"the newest version is below {percent(part['threshold'])}"),
        (part["tombstones"], plural(part["tombstones"], "tombstone")),
        (part["unaudited"], f"{part['unaudited']:,} not audited (schema not usable)"),
        (part["absent"], f"{part['absent']:,} absent"),
    ]
    strategy = part["strategy"]
    if strategy is not None and strategy["chosen_by"] != "default":
        rest.append((1, f"{strategy['name']} ({_CHOSEN[strategy['chosen_by']]})"))
    return "; ".join([said, *(words for number, words in rest if number)])


def _codes(part: TopicPart) -> str:
    counts: dict[str, int] = {}
    for line in part["violations"]:
        counts[line["code"]] = counts.get(line["code"], 0) + line["records"]
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    named = [f"{code} {records:,}" for code, records in ranked[:CODES]]
    return ", ".join([*named, *([f"and {len(ranked) - CODES} more kinds"] if len(ranked) > CODES else [])])

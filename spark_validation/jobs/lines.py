"""A report as lines on a terminal: one for each part of a topic, what needs attention first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from contractlog.clients.cli.output import Tone, harmless, toned
from contractlog.contracts.observed.report import Report, TopicPart, Verdict
from contractlog.spark_validation.report.words import plural, share

__all__ = ["lines"]

_ORDER: Final[Mapping[Verdict, int]] = {"broken": 0, "degraded": 1, "unknown": 2, "keeps": 3}
_TONES: Final[Mapping[Verdict, Tone]] = {
    "broken": Tone.BAD,
    "degraded": Tone.BAD,
    "unknown": Tone.PLAIN,
    "keeps": Tone.GOOD,
}
CODES: Final = 4  #: that a line names


def lines(report: Report) -> Iterator[str]:
    """Yield one line for each part of each topic."""
    parts = sorted(
        report["topics"], key=lambda part: (_ORDER[part["verdict"]], -part["violating"], part["topic"], part["part"])
    )
    width = max((len(_name(part)) for part in parts), default=0)
    for part in parts:
        yield toned(_TONES[part["verdict"]], f"{part['verdict']:<8}  {_name(part):<{width}}  {_said(part)}")


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
        (part["tombstones"], plural(part["tombstones"], "tombstone")),
        (part["absent"], f"{part['absent']:,} absent"),
    ]
    return "; ".join([said, *(words for number, words in rest if number)])


def _codes(part: TopicPart) -> str:
    counts: dict[str, int] = {}
    for line in part["violations"]:
        counts[line["code"]] = counts.get(line["code"], 0) + line["records"]
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    named = [f"{code} {records:,}" for code, records in ranked[:CODES]]
    return ", ".join([*named, *([f"and {len(ranked) - CODES} more kinds"] if len(ranked) > CODES else [])])

"""Causes of violations over all topics, so that a page states each of them, and what to do, once.

Outcomes with the same suggested fix have one cause: an encoder that does not follow its schema leaves truncated bytes,
wrong lengths and wrong indexes alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from contractlog.compatibility.name_lists import list_first
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.report import AuditReport, TopicPart, ViolationLine
from contractlog.spark_validation.report.formatters import format_plural, format_share
from contractlog.spark_validation.report.sentences import (
    VERDICT_ORDER,
    consume_command,
    group_by_code,
    only_producer,
)

__all__ = ["Cause", "CausePlace", "find_causes", "violation_anchor"]

MAX_NAMED: Final = 3  #: schema ids or fields in a sentence


@dataclass(frozen=True, slots=True)
class CausePlace:
    """Violations of one outcome in one part of a topic."""

    part: TopicPart
    code: str
    lines: Sequence[ViolationLine]

    @property
    def records(self) -> int:
        """Number of violating records."""
        return sum(line["records"] for line in self.lines)

    @property
    def anchor(self) -> str:
        """Anchor of these violations in the page."""
        return violation_anchor(self.part, self.code)

    @property
    def share(self) -> str:
        """The share of the part's audited records."""
        return format_share(self.records, self.part["conforming"] + self.part["violating"])

    @property
    def detail(self) -> str:
        """The fields or schema ids that are concerned, and the producer if there is one; empty if unknown."""
        fields = sorted({line["field"] for line in self.lines if line["field"]})
        ids = sorted({line["schema_id"] for line in self.lines if line["schema_id"]})
        names = [f"`{name}`" for name in fields] or [str(schema_id) for schema_id in ids]
        noun = ("field" if fields else "schema id") + ("" if len(names) == 1 else "s")
        words = [f"{noun} {list_first(names, MAX_NAMED)}"] if names else []
        producer = only_producer(self.lines)
        return "; ".join([*words, *([f"producer `{producer}`"] if producer else [])])


@dataclass(slots=True)
class Cause:
    """A cause of violations, with everything that it broke; most urgent first."""

    fix: str
    places: list[CausePlace] = field(default_factory=list)
    command: str | None = None  #: shows a record

    @property
    def records(self) -> int:
        """Number of violating records."""
        return sum(group.records for group in self.places)

    @property
    def topics(self) -> str:
        """The number of topics."""
        return format_plural(len({group.part["topic"] for group in self.places}), "topic")

    @property
    def meanings(self) -> list[tuple[str, int, str]]:
        """Each outcome with its records and meaning, those with the most records first."""
        counts: Counter[str] = Counter()
        for group in self.places:
            counts[group.code] += group.records
        return [(code, records, Outcome[code].meaning) for code, records in counts.most_common()]


def find_causes(report: AuditReport, parts: Iterable[TopicPart]) -> list[Cause]:
    """Return the causes of all violations: those of failing topics first, then by number of records."""
    causes: dict[str, Cause] = {}
    for part in parts:
        for code, lines in group_by_code(part["violations"]).items():
            fix = Outcome[code].fix
            causes.setdefault(fix, Cause(fix)).places.append(CausePlace(part, code, lines))
    for cause in causes.values():
        cause.places.sort(key=_urgency)
        first = cause.places[0]
        cause.command = consume_command(report, first.part, first.lines[0])
    return sorted(causes.values(), key=lambda cause: (_urgency(cause.places[0])[0], -cause.records))


def violation_anchor(part: TopicPart, code: str) -> str:
    """Return the anchor of a part's violations with an outcome."""
    return f"topic/{part['topic']}" + ("" if part["part"] == "value" else f"/{part['part']}") + f"/{code}"


def _urgency(group: CausePlace) -> tuple[Any, ...]:
    return VERDICT_ORDER.index(group.part["verdict"]), -group.records, group.part["topic"], group.part["part"]

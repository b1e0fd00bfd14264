"""Rows of the table of rules in a report: those that most records break first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from contractlog.contracts.audit.report import TopicPart

__all__ = ["RuleRow", "list_rule_rows"]

_MAX_TEXT: Final = 300  #: characters of a cell


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule with its counts."""

    schema_id: int
    name: str
    sentence: str
    reason: str  #: why it is not evaluated; empty if it is
    records: int
    broken: int
    failed: int
    per_record: int


def list_rule_rows(part: TopicPart, maximum: int) -> list[RuleRow]:
    """Return the rows of a part, those of the rules that most records break first."""
    rules = sorted(part.get("rules", ()), key=lambda rule: -rule["broken"])
    return [
        RuleRow(
            rule["schema_id"],
            _shorten(rule["rule"]),
            _shorten(rule["sentence"]),
            _shorten(rule["reason"]),
            rule["records"],
            rule["broken"],
            rule["failed"],
            rule["per_record"],
        )
        for rule in rules[:maximum]
    ]


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"

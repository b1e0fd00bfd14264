"""Rules of data contracts in an audit: which are evaluated, and counts of the records that break them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from contractlog.contracts.audit.report import RuleUse

__all__ = ["RuleCounts", "RuleDescription", "RuleKey", "describe_unevaluated", "list_rules"]

_NAMED: Final = 10  #: maximum number of rules that are named


@dataclass(frozen=True, slots=True, order=True)
class RuleKey:
    """Key by which records are counted for a rule."""

    topic: str
    part: str  #: ``key`` or ``value``
    schema_id: int
    pointer: str  #: JSON Pointer to the rule in the registered version, such as ``/ruleSet/domainRules/0``


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """Records of a schema that conform to it, by the result of a rule."""

    records: int = 0  #: on which the rule was evaluated
    broken: int = 0  #: that break it, also if they break another rule before
    failed: int = 0  #: of these, those on which the evaluation failed
    per_record: int = 0  #: evaluated one by one, not by columns
    undecoded: int = 0  #: on which the rule was not evaluated, as the record cannot be decoded

    def merge(self, other: RuleCounts) -> RuleCounts:
        """Return the sum of both counts."""
        return RuleCounts(
            self.records + other.records,
            self.broken + other.broken,
            self.failed + other.failed,
            self.per_record + other.per_record,
            self.undecoded + other.undecoded,
        )


@dataclass(frozen=True, slots=True)
class RuleDescription:
    """A rule of a schema for reports."""

    pointer: str
    name: str
    type: str
    sentence: str  #: the rule in English; empty if it is not evaluated
    reason: str = ""  #: why it is not evaluated; empty if it is


def list_rules(
    described: Mapping[int, Sequence[RuleDescription]], counts: Iterable[tuple[RuleKey, RuleCounts]]
) -> list[RuleUse]:
    """Return a report entry for each rule, by schema and in the order in which rules run.

    Args:
        described: the rules of the schemas that records carry, by schema id.
        counts: the counts of one part of a topic.
    """
    by_rule = {(key.schema_id, key.pointer): each for key, each in counts}
    return [
        {
            "schema_id": schema_id,
            "rule": rule.name,
            "type": rule.type,
            "path": rule.pointer,
            "sentence": rule.sentence,
            "reason": rule.reason,
            "records": each.records,
            "broken": each.broken,
            "failed": each.failed,
            "per_record": each.per_record,
            "undecoded": each.undecoded,
        }
        for schema_id in sorted(described)
        for rule in described[schema_id]
        for each in [by_rule.get((schema_id, rule.pointer), RuleCounts())]
    ]


def describe_unevaluated(rules: Sequence[RuleUse]) -> list[str]:
    """Return sentences about rules that are not evaluated, at all or on some records."""
    skipped = [rule for rule in rules if rule["reason"]]
    sentences = [
        f"Rule `{rule['rule']}` of schema id {rule['schema_id']} is not evaluated: {rule['reason']}."
        for rule in skipped[:_NAMED]
    ]
    if len(skipped) > _NAMED:
        sentences.append(f"{len(skipped) - _NAMED:,} more rules are not evaluated; `report.json` has the reasons.")
    sentences += [
        f"Rule `{rule['rule']}` of schema id {rule['schema_id']} was not evaluated on {rule['undecoded']:,} of its "
        "records, as deserializers cannot decode them."
        for rule in rules[:_NAMED]
        if rule["undecoded"]
    ]
    return sentences

"""Rules of a rule set that writers have to run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from contractlog.compatibility.data_contract import ALL_MODES, MODES_BY_DIRECTION, Rule, RuleSet

__all__ = ["WRITING_MODES", "list_writer_rules"]

WRITING_MODES: Final = MODES_BY_DIRECTION["WRITE"]


def list_writer_rules(rule_set: RuleSet | None) -> Iterator[tuple[str, Rule]]:
    """Yield the rules that clients run on writing, in order, each with its JSON Pointer."""
    if rule_set is None or not rule_set.runs_on_clients:
        return
    for phase, rules in (("domainRules", rule_set.domain_rules), ("encodingRules", rule_set.encoding_rules)):
        for number, rule in enumerate(rules):
            if not rule.disabled and (rule.mode in WRITING_MODES or rule.mode not in ALL_MODES):
                yield f"/ruleSet/{phase}/{number}", rule

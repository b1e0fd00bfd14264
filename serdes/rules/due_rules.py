"""Selection of the rules of a schema that have to run in a phase and direction."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

from contractlog.compatibility.data_contract import ALL_MODES, MODES_BY_DIRECTION, Rule, RuleSet
from contractlog.serdes.errors import RuleNotRun
from contractlog.serdes.rules.components import RuleComponents

__all__ = ["RuleDirection", "RulePhaseName", "has_due_rules", "list_phase_rules"]

RuleDirection: TypeAlias = Literal["WRITE", "READ", "UPGRADE", "DOWNGRADE"]
RulePhaseName: TypeAlias = Literal["domain", "encoding", "migration"]

_KINDS: Final = frozenset({"CONDITION", "TRANSFORM"})


def list_phase_rules(rule_set: RuleSet, phase: RulePhaseName, direction: RuleDirection) -> tuple[Rule, ...]:
    """Return all rules of a phase, in the order in which they run in a direction."""
    rules = {
        "domain": rule_set.domain_rules,
        "encoding": rule_set.encoding_rules,
        "migration": rule_set.migration_rules,
    }[phase]
    return rules if direction in {"WRITE", "UPGRADE"} else rules[::-1]


def is_due(rule: Rule, rule_set: RuleSet, direction: RuleDirection, components: RuleComponents) -> bool:
    """Return true if a rule is enabled on clients and belongs to a direction.

    Raises:
        RuleNotRun: the rule is enabled, and its mode or kind is unknown.
    """
    override = components.find_override(rule.type)
    if override is not None and override.disabled is not None:
        is_disabled = override.disabled
    else:
        is_disabled = rule.disabled or not rule_set.runs_on_clients
    if is_disabled:
        return False
    if rule.mode not in ALL_MODES or rule.kind not in _KINDS:
        raise RuleNotRun(
            reason=f"the rule {rule.name} of the schema has the unknown mode {rule.mode!r} or kind {rule.kind!r}",
            rule=rule.name,
        )
    return rule.mode in MODES_BY_DIRECTION[direction]


def has_due_rules(
    rule_set: RuleSet | None, phase: RulePhaseName, direction: RuleDirection, components: RuleComponents
) -> bool:
    """Return true if rules of a phase have to run in a direction.

    Raises:
        RuleNotRun: see ``is_due``.
    """
    if rule_set is None:
        return False
    due = [is_due(rule, rule_set, direction, components) for rule in list_phase_rules(rule_set, phase, direction)]
    return any(due)  # after all were checked


def name_actions(rule: Rule, direction: RuleDirection, components: RuleComponents) -> tuple[str | None, str | None]:
    """Return the names of the actions after success and after failure; None for the default."""
    override: Any = components.find_override(rule.type)
    on_success = rule.on_success if override is None or override.on_success is None else override.on_success
    on_failure = rule.on_failure if override is None or override.on_failure is None else override.on_failure
    return _select_name(rule, direction, on_success), _select_name(rule, direction, on_failure)


def _select_name(rule: Rule, direction: RuleDirection, names: str | None) -> str | None:
    """Return the first of a pair for writing and upgrading, and the second for reading and downgrading."""
    if not names:
        return None
    if rule.mode in {"WRITEREAD", "UPDOWN"} and "," in names:
        names = names.split(",")[0 if direction in {"WRITE", "UPGRADE"} else 1]
    return names.strip() or None

"""Structural validation of rule sets before they are stored; expressions are checked at execution."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from contractlog.compatibility.data_contract import Rule, RuleSet
from contractlog.compatibility.errors import InvalidRuleSet

__all__ = ["validate_rule_set"]

_MAX_NAME_LENGTH: Final = 256
_FIRST_CHARACTER: Final = re.compile(r"[^\W\d]")
_NAME: Final = re.compile(r"[^\W\d][\w-]*")
_KINDS: Final = frozenset({"TRANSFORM", "CONDITION"})
_ENABLE_AT: Final = frozenset({"ALL", "CLIENT", "GATEWAY", "SERVER", "NONE"})
_MIGRATION_MODES: Final = ("UPGRADE", "DOWNGRADE", "UPDOWN")
_DOMAIN_MODES: Final = ("WRITE", "READ", "WRITEREAD")
_BIDIRECTIONAL_MODES: Final = frozenset({"UPDOWN", "WRITEREAD"})


def validate_rule_set(rule_set: RuleSet | None) -> None:
    """Validate the structure of a rule set.

    Raises:
        InvalidRuleSet: a name, type, mode or action is missing or not valid.
    """
    if rule_set is None:
        return
    names: set[str] = set()
    _validate_rules(rule_set.migration_rules, "Migration", _MIGRATION_MODES, names)
    _validate_rules(rule_set.domain_rules, "Domain", _DOMAIN_MODES, names)
    _validate_rules(rule_set.encoding_rules, "Encoding", _DOMAIN_MODES, names)
    if rule_set.enable_at is not None and rule_set.enable_at not in _ENABLE_AT:
        raise InvalidRuleSet(f"Invalid enableAt '{rule_set.enable_at}'")


def _validate_rules(rules: Iterable[Rule], group: str, modes: tuple[str, ...], names: set[str]) -> None:
    for rule in rules:
        _validate_name(rule.name)
        if rule.name in names:
            raise InvalidRuleSet(f"Found rule with duplicate name '{rule.name}'")
        names.add(rule.name)
        if not rule.type:
            raise InvalidRuleSet("Missing rule type")
        if rule.kind not in _KINDS:
            raise InvalidRuleSet(f"Invalid rule kind '{rule.kind}'")
        if rule.mode not in modes:
            raise InvalidRuleSet(f"{group} rules can only be {', '.join(modes)}")
        if rule.mode not in _BIDIRECTIONAL_MODES and any(
            "," in (action or "") for action in (rule.on_success, rule.on_failure)
        ):
            raise InvalidRuleSet("Multiple actions only valid with WRITEREAD and UPDOWN")


def _validate_name(name: str) -> None:
    if not name:
        raise InvalidRuleSet("Missing rule name")
    if len(name) > _MAX_NAME_LENGTH:
        raise InvalidRuleSet(f"Rule name is longer than {_MAX_NAME_LENGTH} characters")
    if not _FIRST_CHARACTER.match(name):
        raise InvalidRuleSet(f"Illegal initial character: {name}")
    if not _NAME.fullmatch(name):
        raise InvalidRuleSet(f"Illegal character in: {name}")

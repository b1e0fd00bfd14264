"""Structural validation of rule sets before they are stored; expressions are checked at execution."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from contractlog.compatibility.contract import Rule, RuleSet
from contractlog.compatibility.errors import InvalidRuleSet

__all__ = ["check_rules"]

_LONGEST_NAME: Final = 256
_FIRST: Final = re.compile(r"[^\W\d]")
_NAME: Final = re.compile(r"[^\W\d][\w-]*")
_KINDS: Final = frozenset({"TRANSFORM", "CONDITION"})
_ENABLED_AT: Final = frozenset({"ALL", "CLIENT", "GATEWAY", "SERVER", "NONE"})
_UP_AND_DOWN: Final = ("UPGRADE", "DOWNGRADE", "UPDOWN")
_IN_AND_OUT: Final = ("WRITE", "READ", "WRITEREAD")
_TWO_WAYS: Final = frozenset({"UPDOWN", "WRITEREAD"})


def check_rules(rule_set: RuleSet | None) -> None:
    """Validate the structure of a rule set.

    Raises:
        InvalidRuleSet: a name, type, mode or action is missing or not valid.
    """
    if rule_set is None:
        return
    names: set[str] = set()
    _check(rule_set.migration_rules, "Migration", _UP_AND_DOWN, names)
    _check(rule_set.domain_rules, "Domain", _IN_AND_OUT, names)
    _check(rule_set.encoding_rules, "Encoding", _IN_AND_OUT, names)
    if rule_set.enable_at is not None and rule_set.enable_at not in _ENABLED_AT:
        raise InvalidRuleSet(f"Invalid enableAt '{rule_set.enable_at}'")


def _check(rules: Iterable[Rule], place: str, modes: tuple[str, ...], names: set[str]) -> None:
    for rule in rules:
        _check_name(rule.name)
        if rule.name in names:
            raise InvalidRuleSet(f"Found rule with duplicate name '{rule.name}'")
        names.add(rule.name)
        if not rule.type:
            raise InvalidRuleSet("Missing rule type")
        if rule.kind not in _KINDS:
            raise InvalidRuleSet(f"Invalid rule kind '{rule.kind}'")
        if rule.mode not in modes:
            raise InvalidRuleSet(f"{place} rules can only be {', '.join(modes)}")
        if rule.mode not in _TWO_WAYS and any("," in (action or "") for action in (rule.on_success, rule.on_failure)):
            raise InvalidRuleSet("Multiple actions only valid with WRITEREAD and UPDOWN")


def _check_name(name: str) -> None:
    if not name:
        raise InvalidRuleSet("Missing rule name")
    if len(name) > _LONGEST_NAME:
        raise InvalidRuleSet(f"Rule name is longer than {_LONGEST_NAME} characters")
    if not _FIRST.match(name):
        raise InvalidRuleSet(f"Illegal initial character: {name}")
    if not _NAME.fullmatch(name):
        raise InvalidRuleSet(f"Illegal character in: {name}")

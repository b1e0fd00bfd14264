"""Structural validation of rule sets before they are stored; expressions are checked at execution."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from contractlog.compatibility.data_contract import Rule, RuleSet
from contractlog.compatibility.errors import InvalidRuleSet

__all__ = ["MAX_EXPRESSION_CHARACTERS", "MAX_RULES", "MAX_RULE_SET_CHARACTERS", "require_bounded", "validate_rule_set"]

MAX_RULES: Final = 1_000  #: of a rule set
MAX_EXPRESSION_CHARACTERS: Final = 100_000  #: of a rule of any type; CEL has a smaller limit of its own
MAX_RULE_SET_CHARACTERS: Final = 1_000_000  #: of all texts together; every client of the schema fetches them

_MAX_NAME_LENGTH: Final = 256
_FIRST_CHARACTER: Final = re.compile(r"[^\W\d]")
_NAME: Final = re.compile(r"[^\W\d][\w-]*")
_KINDS: Final = frozenset({"TRANSFORM", "CONDITION"})
_ENABLE_AT: Final = frozenset({"ALL", "CLIENT", "GATEWAY", "SERVER", "NONE"})
_MIGRATION_MODES: Final = ("UPGRADE", "DOWNGRADE", "UPDOWN")
_DOMAIN_MODES: Final = ("WRITE", "READ", "WRITEREAD")
_EXPRESSION_TOO_LONG: Final = f"the expression has more than {MAX_EXPRESSION_CHARACTERS:,} characters"
_BIDIRECTIONAL_MODES: Final = frozenset({"UPDOWN", "WRITEREAD"})


def validate_rule_set(rule_set: RuleSet | None) -> None:
    """Validate the structure of a rule set.

    Raises:
        InvalidRuleSet: a name, type, mode or action is missing or not valid, or the rule set is too large.
    """
    if rule_set is None:
        return
    require_bounded(rule_set)
    names: set[str] = set()
    _validate_rules(rule_set.migration_rules, "Migration", _MIGRATION_MODES, names)
    _validate_rules(rule_set.domain_rules, "Domain", _DOMAIN_MODES, names)
    _validate_rules(rule_set.encoding_rules, "Encoding", _DOMAIN_MODES, names)
    if rule_set.enable_at is not None and rule_set.enable_at not in _ENABLE_AT:
        raise InvalidRuleSet(f"Invalid enableAt '{rule_set.enable_at}'")


def require_bounded(rule_set: RuleSet) -> None:
    """Raise ``InvalidRuleSet`` if a rule set, also a merged one, has too many rules or too long texts.

    Rules of unknown types, and disabled ones, count like others.
    """
    rules = (*rule_set.migration_rules, *rule_set.domain_rules, *rule_set.encoding_rules)
    if len(rules) > MAX_RULES:
        raise InvalidRuleSet(f"The rule set has {len(rules):,} rules, more than {MAX_RULES:,}")
    characters = 0
    for rule in rules:
        if len(rule.expr or "") > MAX_EXPRESSION_CHARACTERS:
            raise InvalidRuleSet(f"Rule {rule.name[:_MAX_NAME_LENGTH]}: {_EXPRESSION_TOO_LONG}")
        characters += _count_characters(rule)
    if characters > MAX_RULE_SET_CHARACTERS:
        raise InvalidRuleSet(
            f"The rules have {characters:,} characters, more than {MAX_RULE_SET_CHARACTERS:,}, which every client "
            "of the schema would fetch. Shorten expressions and parameters."
        )


def _count_characters(rule: Rule) -> int:
    texts = (rule.name, rule.doc, rule.type, rule.expr, rule.on_success, rule.on_failure)
    lists = (*rule.tags, *rule.params, *rule.params.values())
    return sum(len(text or "") for text in (*texts, *lists)) + len(lists)


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

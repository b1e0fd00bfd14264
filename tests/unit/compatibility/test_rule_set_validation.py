"""Rule sets are bounded, whatever the types of their rules are."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import pytest

from contractlog.compatibility.data_contract import Rule, RuleSet
from contractlog.compatibility.errors import InvalidRuleSet
from contractlog.compatibility.rule_set_validation import (
    MAX_EXPRESSION_CHARACTERS,
    MAX_RULE_SET_CHARACTERS,
    MAX_RULES,
    validate_rule_set,
)

RULE: Final = Rule("a", type="OF_A_CLIENT", disabled=True)
LONG: Final = "x" * (MAX_RULE_SET_CHARACTERS + 1)


def test_a_rule_set_within_the_bounds_is_valid() -> None:
    expression = replace(RULE, expr="x" * MAX_EXPRESSION_CHARACTERS)
    validate_rule_set(RuleSet(domain_rules=(expression,)))
    validate_rule_set(RuleSet(domain_rules=tuple(replace(RULE, name=f"r{n}") for n in range(MAX_RULES))))


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (RuleSet(migration_rules=(RULE,) * MAX_RULES, encoding_rules=(RULE,)), "has 1,001 rules, more than 1,000"),
        (RuleSet(domain_rules=(replace(RULE, expr=LONG),)), "Rule a: the expression has more than 100,000 characters"),
        (RuleSet(domain_rules=(replace(RULE, doc=LONG),)), "characters, more than 1,000,000"),
        (RuleSet(domain_rules=(replace(RULE, type=LONG),)), "characters, more than 1,000,000"),
        (RuleSet(domain_rules=(replace(RULE, on_failure=LONG),)), "characters, more than 1,000,000"),
        (RuleSet(domain_rules=(replace(RULE, tags=(LONG,)),)), "characters, more than 1,000,000"),
        (RuleSet(encoding_rules=(replace(RULE, params={LONG: ""}),)), "characters, more than 1,000,000"),
        (RuleSet(migration_rules=(replace(RULE, params={"a": LONG}),)), "characters, more than 1,000,000"),
    ],
)
def test_a_larger_rule_set_is_rejected(rules: RuleSet, message: str) -> None:
    with pytest.raises(InvalidRuleSet, match=re.escape(message)):
        validate_rule_set(rules)

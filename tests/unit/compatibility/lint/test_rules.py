"""Laws of every lint rule: its examples, its fix, its id."""

from __future__ import annotations

import json
import re
from difflib import ndiff

import pytest

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.formats import CATALOGUE, parse_schema
from contractlog.compatibility.level import Level
from contractlog.compatibility.lint.fixer import fix_schema
from contractlog.compatibility.lint.linter import DEFAULT_RULES, LINT_RULES, lint_schema
from contractlog.compatibility.lint.rule import LintRule, Severity
from contractlog.compatibility.schema import SchemaDraft, SchemaType

ALL_RULES = tuple(LINT_RULES.values())
RULES = pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.id)
FIXED = pytest.mark.parametrize("rule", [rule for rule in ALL_RULES if rule.fix], ids=lambda rule: rule.id)
MOST_CHANGED_LINES = 10


def kind_of(rule: LintRule) -> SchemaType:
    return SchemaType(rule.id.split("_")[1])


def test_every_rule_has_an_id_of_its_own_that_no_compatibility_check_has() -> None:
    assert len(LINT_RULES) >= 30
    assert all(re.fullmatch(r"LINT_(AVRO|JSON)_[A-Z]+(_[A-Z]+)*", name) for name in LINT_RULES)
    assert not LINT_RULES.keys() & CATALOGUE.keys()


@RULES
def test_a_rule_states_its_meaning_in_a_sentence(rule: LintRule) -> None:
    assert rule.summary[0].isupper()
    assert not rule.summary.endswith(".")
    assert rule.severity in Severity


@RULES
def test_the_bad_example_is_reported_by_this_rule_alone_and_at_its_position(rule: LintRule) -> None:
    findings = lint_schema(rule.bad, kind_of(rule), rule.subject, {*DEFAULT_RULES, rule})
    assert {finding.rule.id for finding in findings} == {rule.id}
    assert findings[0].pointer == rule.at
    assert all(not finding.message.endswith(".") for finding in findings)


@RULES
def test_the_good_example_is_not_reported(rule: LintRule) -> None:
    assert [finding.rule.id for finding in lint_schema(rule.good, kind_of(rule), rule.subject)] == []


@RULES
def test_a_rule_that_is_not_selected_reports_nothing(rule: LintRule) -> None:
    others = [other for other in DEFAULT_RULES if other is not rule]
    assert lint_schema(rule.bad, kind_of(rule), rule.subject, others) == []


@RULES
def test_only_rules_with_a_fix_change_the_text(rule: LintRule) -> None:
    text, fixed, remaining = fix_schema(rule.bad, kind_of(rule), rule.subject)
    assert (text == rule.good, remaining, bool(fixed)) == (True, [], True) if rule.fix else text == rule.bad


@FIXED
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_fix_keeps_the_formatting_of_the_author_and_is_idempotent(rule: LintRule, newline: str) -> None:
    bad = json.dumps(json.loads(rule.bad), indent=3, ensure_ascii=False).replace(": ", " :  ").replace("\n", newline)
    if kind_of(rule) is SchemaType.AVRO:
        bad = f"/* the owner: shop */{newline}{bad}// end"
    fixed = fix_schema(bad, kind_of(rule), rule.subject).text
    uncommented = fixed.replace("/* the owner: shop */", "").replace("// end", "")
    assert json.loads(uncommented) == json.loads(rule.good)
    assert list(json.loads(uncommented)) == list(json.loads(rule.good))
    assert ("/*" in bad, "// end" in bad) == ("/*" in fixed, "// end" in fixed)
    assert newline == "\n" or fixed.count("\n") == fixed.count("\r\n")
    changed = [line for line in ndiff(bad.splitlines(), fixed.splitlines()) if line[0] in "+-"]
    assert 0 < len(changed) <= MOST_CHANGED_LINES
    assert fix_schema(fixed, kind_of(rule), rule.subject) == (fixed, [], [])


@FIXED
@pytest.mark.parametrize("policy", Policy)
def test_a_fix_keeps_the_schema_compatible_in_both_directions(rule: LintRule, policy: Policy) -> None:
    fixed = fix_schema(rule.bad, kind_of(rule), rule.subject).text
    before, after = (parse_schema(SchemaDraft(text, kind_of(rule))) for text in (rule.bad, fixed))
    verdict = check_compatibility(after, [ParsedVersion(1, before)], Level.FULL, policy=policy)
    assert verdict.compatible

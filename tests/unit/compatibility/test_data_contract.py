"""Metadata and rules are stored as sent, and absent members have one representation."""

from __future__ import annotations

from typing import Any

import pytest

from contractlog.compatibility.data_contract import Metadata, Rule, RuleSet

RULE: dict[str, Any] = {
    "name": "positive",
    "doc": "no refunds",
    "kind": "CONDITION",
    "mode": "WRITE",
    "type": "CEL",
    "tags": ["a", "b"],
    "params": {"j": "1", "k": "2"},
    "expr": "message.n > 0",
    "onSuccess": "NONE",
    "onFailure": "ERROR",
    "disabled": True,
}


def test_a_rule_keeps_all_its_members() -> None:
    assert Rule.from_body(RULE).body() == RULE


@pytest.mark.parametrize("empty", [None, "", [], {}])
def test_a_rule_with_absent_or_empty_members_is_an_enabled_transform_of_both_directions(empty: object) -> None:
    shortest = {"name": "n", "kind": "TRANSFORM", "mode": "WRITEREAD", "disabled": False}
    assert Rule.from_body({"name": "n"}).body() == shortest
    assert Rule.from_body({**dict.fromkeys(RULE, empty), "name": "n"}).body() == shortest


def test_a_set_keeps_its_rules_by_kind_and_in_order() -> None:
    body = {
        "migrationRules": [{**RULE, "name": "m"}],
        "domainRules": [{**RULE, "name": "z"}, {**RULE, "name": "a"}],
        "encodingRules": [{**RULE, "name": "e"}],
        "enableAt": "CLIENT",
    }
    assert RuleSet.from_body(body).body() == body
    assert RuleSet.from_body(dict.fromkeys(body)).body() == RuleSet.from_body({}).body() == {}


def test_metadata_is_sorted_and_has_no_empty_members() -> None:
    body = {"tags": {"b": ["y", "x", "y"], "a": ["x"]}, "properties": {"k": "2", "j": "1"}, "sensitive": ["k", "j"]}
    written = Metadata.from_body(body).body()
    assert written == {
        "tags": {"a": ["x"], "b": ["x", "y"]},
        "properties": {"j": "1", "k": "2"},
        "sensitive": ["j", "k"],
    }
    assert [list(written["tags"]), list(written["properties"])] == [["a", "b"], ["j", "k"]]
    assert Metadata.from_body(dict.fromkeys(body)).body() == Metadata.from_body({}).body() == {}

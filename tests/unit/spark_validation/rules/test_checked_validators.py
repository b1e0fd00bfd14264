"""Audits give ``RULE_BROKEN`` to records that conform to their schema and break one of its conditions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from contractlog.compatibility.data_contract import Metadata, Rule, RuleSet
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft, SchemaType
from contractlog.contracts.audit.mergeable_state import AuditState, limit_state, merge_states
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.report import RuleUse, TopicPart
from contractlog.contracts.audit.summary import summarize
from contractlog.serdes.avro.readers_and_writers import AvroWriter
from contractlog.spark_validation.expectations.audit_expectations import (
    AuditExpectations,
    ExpectedSchema,
    PartExpectation,
)
from contractlog.spark_validation.offset_ranges.audit import audit_range
from contractlog.spark_validation.offset_ranges.evidence_options import EvidenceOptions
from contractlog.spark_validation.rules.checked_validators import describe_rules
from contractlog.spark_validation.sources.records import OffsetRange, split_ranges
from contractlog.spark_validation.sources.source import ArchiveSource
from contractlog.spark_validation.state.state_files import read_state, write_state

from support.archives import Record, create_schema, encode_frame, write_topic

TOPIC = "orders"
DEFAULT_EVIDENCE = EvidenceOptions()
TEXT = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [
            {"name": "quantity", "type": "long"},
            {"name": "note", "type": ["null", "string"], "confluent:tags": ["PII"]},
            {"name": "tags", "type": {"type": "array", "items": "string"}},
            {"name": "day", "type": ["null", {"type": "int", "logicalType": "date"}], "default": None},
        ],
    }
)


def condition(name: str, text: str, **members: Any) -> Rule:
    return Rule(name, kind="CONDITION", mode=members.pop("mode", "WRITE"), type=members.pop("type", "CEL"),
                expr=text, **members)  # fmt: skip


def audit(
    folder: Path,
    rules: Sequence[Rule],
    values: Sequence[Any],
    *,
    parts: int = 100,
    text: str = TEXT,
    evidence: EvidenceOptions = DEFAULT_EVIDENCE,
    samples: bool = True,
    **members: Any,
) -> tuple[AuditState, TopicPart]:
    """Audit records of a schema with rules."""
    schema = replace(create_schema(1, text), rule_set=RuleSet(domain_rules=tuple(rules)), **members)
    is_json = schema.type is SchemaType.JSON
    writer = None if is_json else AvroWriter(parse_schema(SchemaDraft(text), {}))
    records = [
        Record(
            offset,
            value=value
            if isinstance(value, bytes) or value is None
            else encode_frame(1, writer.encode(value) if writer else json.dumps(value).encode()),
        )
        for offset, value in enumerate(values)
    ]
    write_topic(folder / "archive", TOPIC, records)
    expectations = AuditExpectations(
        parts={
            (TOPIC, "value"): PartExpectation(audited=True, known_ids=frozenset({1}), allowed=frozenset({1})),
            (TOPIC, "key"): PartExpectation(audited=False),
        },
        schemas={1: ExpectedSchema(schema)},
        subjects={1: (("orders-value", 1),)},
        samples=samples,
    )
    whole = OffsetRange(TOPIC, 0, 0, len(records))
    (folder / "violations").mkdir(parents=True, exist_ok=True)
    state = limit_state(
        merge_states(
            audit_range(ArchiveSource(folder / "archive"), part, expectations, folder / "violations", evidence=evidence)
            for part in split_ranges([whole], parts)
        )
    )
    entries = summarize(state, expectations.uses, rules=describe_rules(expectations.schemas, expectations.schemas))
    return state, entries[0]


def order(quantity: int = 1, note: str | None = "a", tags: Sequence[str] = ("x",), day: int | None = 1) -> Any:
    return {"quantity": quantity, "note": note, "tags": list(tags), "day": day}


def only(entry: TopicPart) -> RuleUse:
    (use,) = entry["rules"]
    return use


def test_a_record_that_breaks_a_condition_has_an_outcome_of_its_own(tmp_path: Path) -> None:
    values = [order(1), order(0), None, b"text", order(-5), order(3), encode_frame(1, b"\x02")]
    state, entry = audit(tmp_path, [condition("positive", "message.quantity > 0")], values)
    codes = Counter({line["code"]: line["records"] for line in entry["violations"]})
    assert codes == {"RULE_BROKEN": 2, "NOT_FRAMED": 1, "TRUNCATED": 1}
    (line,) = [line for line in entry["violations"] if line["code"] == "RULE_BROKEN"]
    assert line["path"] == "/ruleSet/domainRules/0"
    assert line["detail"] == "rule `positive`: quantity is greater than 0"
    assert [example["offset"] for example in line["examples"]] == [1, 4]
    assert (entry["conforming"], entry["violating"], entry["verdict"]) == (2, 4, "failing")
    use = only(entry)
    assert use == {
        "schema_id": 1, "rule": "positive", "type": "CEL", "path": "/ruleSet/domainRules/0",
        "sentence": "quantity is greater than 0", "reason": "",
        "records": 4, "broken": 2, "failed": 0, "per_record": 0, "undecoded": 0,
    }  # fmt: skip
    rows = pq.read_table(tmp_path / "violations").to_pylist()
    assert {row["detail"] for row in rows if row["code"] == "RULE_BROKEN"} == {line["detail"]}
    quantity = next(profile for (*_, field), profile in state.profiles.items() if field == "quantity")
    assert quantity.records == 2  # of conforming records only


def test_every_broken_rule_is_counted_and_the_first_gives_the_outcome(tmp_path: Path) -> None:
    rules = [condition("first", "message.quantity > 0"), condition("second", "message.note == 'a'")]
    _, entry = audit(tmp_path, rules, [order(0, "b"), order(1, "b"), order(0, "a"), order()])
    assert [(use["rule"], use["broken"]) for use in entry["rules"]] == [("first", 2), ("second", 2)]
    assert {line["path"]: line["records"] for line in entry["violations"]} == {
        "/ruleSet/domainRules/0": 2,
        "/ruleSet/domainRules/1": 1,
    }


def test_what_columns_cannot_have_is_evaluated_per_record_and_counted(tmp_path: Path) -> None:
    rule = condition("short", "message.tags.all(t, t.size() < 3)")
    _, entry = audit(tmp_path, [rule], [order(), order(tags=["long"]), order(tags=[])])
    assert (only(entry)["per_record"], only(entry)["broken"]) == (3, 1)


def test_a_record_on_which_a_condition_fails_breaks_it(tmp_path: Path) -> None:
    rules = [condition("divides", "10 / message.quantity > 1"), condition("size", "message.note.size() > 0")]
    _, entry = audit(tmp_path, rules, [order(0), order(1, None), order(2)])
    assert [(use["broken"], use["failed"]) for use in entry["rules"]] == [(1, 1), (1, 1)]


def test_a_rule_applies_only_where_its_guard_is_true(tmp_path: Path) -> None:
    _, entry = audit(
        tmp_path, [condition("noted", "message.quantity > 5 ; message.note != null")],
        [order(1, None), order(6, None), order(6)],
    )  # fmt: skip
    assert only(entry)["broken"] == 1
    assert only(entry)["per_record"] == 0


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (condition("r", "$x", type="JSONATA"), "audits do not evaluate rules of type JSONATA"),
        (condition("r", "", type="ENCRYPT"), "audits do not evaluate rules of type ENCRYPT"),
        (condition("r", "message.quantity >"), "its expression is not valid: "),
        (condition("r", "message.quantty > 1"), "its expression is not valid: record Order has no field 'quantty'"),
        (condition("r", "math.greatest(1, 2) > 1"), "its expression uses a construct outside of the subset of CEL"),
        (condition("r", "message.day < now.getFullYear()"), "it depends on `now`"),
        (condition("r", "true", mode="SOMETIME"), "its kind CONDITION or mode SOMETIME is unknown"),
        (condition("r", ""), "it has no expression"),
        (Rule("r", kind="TRANSFORM", type="CEL", expr="message"), "it is a transform"),
        (condition("r", "message.quantity > 0", type="CEL_FIELD"), "audits evaluate no rules of type CEL_FIELD that"),
    ],
)
def test_a_rule_that_is_not_evaluated_is_listed_and_breaks_nothing(tmp_path: Path, rule: Rule, reason: str) -> None:
    _, entry = audit(tmp_path, [rule], [order(0), order()])
    assert only(entry)["reason"].startswith(reason)
    assert (only(entry)["records"], only(entry)["broken"], entry["violating"]) == (0, 0, 0)
    assert any(note.startswith(f"Rule `r` of schema id 1 is not evaluated: {reason}") for note in entry["notes"])


@pytest.mark.parametrize(
    "rule",
    [
        condition("r", "false", disabled=True),
        condition("r", "false", mode="READ"),
        condition("r", "false", mode="UPGRADE"),
    ],
)
def test_a_rule_that_writers_do_not_run_is_left_out(tmp_path: Path, rule: Rule) -> None:
    _, entry = audit(tmp_path, [rule], [order()])
    assert "rules" not in entry
    assert entry["violating"] == 0


def test_a_condition_on_fields_that_a_later_transform_changes_is_not_evaluated(tmp_path: Path) -> None:
    encrypt = Rule("hide", kind="TRANSFORM", type="ENCRYPT", tags=("PII",))
    rules = [
        condition("before", "message.note == 'a'"), condition("other", "message.quantity > 0"), encrypt,
        condition("after", "message.note != 'a'"),
    ]  # fmt: skip
    _, entry = audit(tmp_path, rules, [order(0, "hidden")])
    reasons = {use["rule"]: use["reason"] for use in entry["rules"]}
    assert reasons["before"] == "the rule `hide` changes the record after it"
    assert reasons["other"] == reasons["after"] == ""
    assert {use["rule"]: use["broken"] for use in entry["rules"]} == {"before": 0, "other": 1, "hide": 0, "after": 0}


def test_a_rule_of_type_cel_field_is_evaluated_on_each_value_with_its_tags(tmp_path: Path) -> None:
    rules = [
        condition("texts", "typeName == 'STRING' ; value != ''", type="CEL_FIELD"),
        condition("tagged", "value.size() < 3 && name == 'note'", type="CEL_FIELD", tags=("PII",)),
        condition("path", "value < 5", type="CEL_FIELD", tags=("COUNT",)),
    ]
    metadata = Metadata({"shop.*.quantity": ("COUNT",)})
    values = [order(), order(tags=["a", ""]), order(note="long"), order(note=None), order(9)]
    _, entry = audit(tmp_path, rules, values, metadata=metadata)
    assert {use["rule"]: (use["broken"], use["per_record"], use["reason"]) for use in entry["rules"]} == {
        "texts": (1, 0, ""), "tagged": (1, 0, ""), "path": (1, 0, ""),
    }  # fmt: skip
    assert {line["field"] for line in entry["violations"]} == {"tags[]", "note", "quantity"}


def test_rules_of_json_schemas_are_evaluated(tmp_path: Path) -> None:
    text = json.dumps(
        {
            "type": "object",
            "properties": {"quantity": {"type": "integer"}, "note": {"type": "string"}},
            "required": ["quantity"],
            "additionalProperties": False,
        }
    )
    rules = [
        condition("positive", "message.quantity > 0"),
        condition("noted", "has(message.note) ; message.note != ''"),
    ]
    values = [{"quantity": 1}, {"quantity": 0, "note": "a"}, {"quantity": 2.0, "note": ""}]
    _, entry = audit(tmp_path, rules, values, text=text, type=SchemaType.JSON)
    assert [(use["broken"], use["per_record"]) for use in entry["rules"]] == [(1, 3), (1, 0)]


@pytest.mark.parametrize("span", [1, 2, 3])
def test_the_state_does_not_depend_on_how_a_range_was_split(tmp_path: Path, span: int) -> None:
    rules = [condition("positive", "message.quantity > 0"), condition("short", "message.tags.all(t, t.size() < 3)")]
    values = [order(0), order(), order(tags=["long"]), None, order(0, tags=["long"])]
    whole, _ = audit(tmp_path / "whole", rules, values)
    split, _ = audit(tmp_path / "split", rules, values, parts=span)
    assert replace(split, coverage=whole.coverage) == whole
    write_state(split, tmp_path / "state")
    assert read_state(tmp_path / "state") == split
    assert not split.without({TOPIC}).rules


def test_rules_are_evaluated_in_audits_without_profiles_and_samples(tmp_path: Path) -> None:
    rules = [condition("positive", "message.quantity > 0")]
    state, entry = audit(tmp_path, rules, [order(0), order()], evidence=EvidenceOptions(profiles=False), samples=False)
    assert (only(entry)["broken"], only(entry)["per_record"]) == (1, 0)
    assert not state.profiles
    assert not state.samples


def test_the_outcome_comes_after_all_that_concern_the_schema() -> None:
    assert max(Outcome) is Outcome.RULE_BROKEN


def test_a_schema_of_an_unknown_rule_set_member_is_audited(tmp_path: Path) -> None:
    schema = RegisteredSchema.from_body(
        {"id": 1, "schema": TEXT, "ruleSet": {"domainRules": [{"name": None, "kind": None, "expr": 5}]}}
    )
    assert describe_rules({1: ExpectedSchema(schema)}, [1, 2])[1][0].reason.startswith("it is a transform")
    assert describe_rules({1: ExpectedSchema(schema)}, []) == {}
    del tmp_path

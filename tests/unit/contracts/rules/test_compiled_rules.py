"""Laws of compiled rules and of the check of a rule set against a schema."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

from contractlog.compatibility.data_contract import Rule, RuleSet
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.contracts.rules.compiled_rules import (
    MAX_CHECKED_CHARACTERS,
    RuleProblem,
    check_rule_set,
    compile_rule,
    count_rule_characters,
    find_rule_error,
)
from contractlog.contracts.rules.language import type_checker
from contractlog.contracts.rules.language.schema_types import record_type
from contractlog.contracts.rules.language.value_types import STRING, describe_type
from contractlog.contracts.rules.rule_errors import RuleEvaluationError, RuleExpressionError

ORDER = {
    "type": "record",
    "name": "shop.Order",
    "fields": [
        {"name": "size", "type": "int"},
        {"name": "price", "type": "double"},
        {"name": "country", "type": ["null", "string"]},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID"]}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "counts", "type": {"type": "map", "values": "long"}},
        {"name": "either", "type": ["int", "string"]},
        {"name": "parent", "type": ["null", "shop.Order"]},
    ],
}
CUSTOMER = {
    "type": "object",
    "title": "Customer",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "score": {"type": "number"},
        "emails": {"type": "array", "items": {"type": "string"}},
        "address": {"$ref": "#/definitions/address"},
        "note": {"oneOf": [{"type": "null"}, {"type": "string"}]},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "definitions": {
        "address": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"zip": {"type": "string"}, "next": {"$ref": "#/definitions/address"}},
        }
    },
}


def parse(schema: dict[str, Any], schema_type: SchemaType = SchemaType.AVRO) -> ParsedSchema:
    return parse_schema(SchemaDraft(json.dumps(schema), schema_type), {})


AVRO, JSON = parse(ORDER), parse(CUSTOMER, SchemaType.JSON)


def condition(expr: str, **members: Any) -> Rule:
    return Rule(**{"name": "r", "kind": "CONDITION", "type": "CEL", "expr": expr, **members})


def problems(expr: str, schema: ParsedSchema = AVRO, **members: Any) -> list[RuleProblem]:
    return check_rule_set(RuleSet(domain_rules=(condition(expr, **members),)), schema)


@pytest.mark.parametrize(
    ("field", "description"),
    [
        ("size", "int"), ("price", "double"), ("country", "string or null"), ("day", "int"), ("at", "timestamp"),
        ("amount", "decimal"), ("id", "string"), ("state", "string"), ("tags", "list<string>"),
        ("counts", "map<string, int>"), ("either", "dyn"), ("parent", "record Order or null"),
    ],
)  # fmt: skip
def test_an_avro_field_has_the_type_of_its_values(field: str, description: str) -> None:
    fields = record_type(AVRO).fields
    assert fields is not None
    assert describe_type(fields.by_name[field]) == description


@pytest.mark.parametrize(
    ("field", "description"),
    [
        ("name", "string"), ("age", "int"), ("score", "double"), ("emails", "list<string>"), ("address", "record"),
        ("note", "string or null"), ("labels", "map<string, string>"),
    ],
)  # fmt: skip
def test_a_json_property_has_the_type_of_its_values(field: str, description: str) -> None:
    fields = record_type(JSON).fields
    assert fields is not None
    assert describe_type(fields.by_name[field]) == description


@pytest.mark.parametrize(
    "expr",
    [
        "message.size >= 1 && message.size < 64.5",
        "message.country == null || message.country.size() == 2",
        "message.parent.parent.parent.size > 1",
        "message.counts.all(k, message.counts[k] > 0) && message.counts.x > 1 && 'y' in message.counts",
        "message.amount >= 0.5 && double(message.amount) / 2.0 > 1.0",
        "message.at < now && message.at.getFullYear() > 2000 && now - message.at < duration('24h')",
        "message.either == 1 || message.either == 'a'",
        "message.day > 3 && message['size'] > 1",
        "message.state in ['NEW', 'PAID'] ; message.tags.exists_one(t, t.startsWith('a'))",
    ],
)
def test_a_rule_that_fits_its_schema_has_no_problems(expr: str) -> None:
    assert problems(expr) == []


@pytest.mark.parametrize(
    ("expr", "line", "column", "part"),
    [
        ("message.sise > 1", 1, 9, "no field 'sise'. Did you mean 'size'?"),
        ("message.size > 1 &&\n  mesage.size < 3", 2, 3, "no variable 'mesage'. Did you mean 'message'?"),
        ("message.size + 1.0 > 2.0", 1, 14, "int + double. Convert one"),
        ("message.size == 'a'", 1, 14, "never equals"),
        ("message.tags == 'a'", 1, 14, "never equals"),
        ("message.size < 'a'", 1, 14, "int < string"),
        ("message.size.size() > 1", 1, 14, "size() has no form for int"),
        ("message.size && true", 1, 9, "operand of '&&'"),
        ("message.size", 1, 9, "A condition must be a bool, not int"),
        ("message.size ; true", 1, 9, "A guard must be a bool, not int"),
        ("message.parent.parent.siz > 1", 1, 23, "no field 'siz'"),
        ("message.tags.all(t, t > 1)", 1, 23, "string > int"),
        ("message.size.all(x, true)", 1, 14, "needs a list or a map"),
        ("message.country.matches('(')", 1, 25, "pattern is not valid"),
        ("1 in message.tags", 1, 3, "never in"),
        ("message.size in 'a'", 1, 14, "'in' needs"),
        ("-message.country == 'a'", 1, 1, "There is no -string"),
        ("message.country.int() == 1", 1, 17, "is a function"),
        ("contains(message.country, 'a')", 1, 1, "is a method"),
        ("message.size ? true : false", 1, 9, "condition before '?'"),
        ("message.tags['a'] == 'b'", 1, 13, "list<string>[string]"),
        ("value > 1", 1, 1, "no variable 'value'"),
        ("{1.5: true}[1.5]", 1, 2, "A key is"),
    ],
)
def test_a_mistake_is_an_error_with_its_position(expr: str, line: int, column: int, part: str) -> None:
    (problem,) = problems(expr)
    assert (problem.line, problem.column, problem.severity) == (line, column, "error")
    assert part in problem.message


@pytest.mark.parametrize(
    "expr",
    [
        "decimals.power(message.amount, 2) > 1",
        "variants.type(message.size) == 'a'",
        "message.amount + 1 > 2",
        "math.ceil(1.5) > 1",
        "Order{size: 1} == message",
        "message.country.reverse() == 'a'",
        "'" + "a" * 30_000 + "' == ''",
        "(" * 100 + "true" + ")" * 100,
    ],
)
def test_what_is_outside_of_the_subset_is_a_warning(expr: str) -> None:
    (problem,) = problems(expr)
    assert problem.severity == "warning"
    with pytest.raises(RuleExpressionError) as caught:
        compile_rule(condition(expr), AVRO)
    assert caught.value.outside_subset


def test_an_undeclared_property_is_a_warning_only_where_the_schema_allows_it() -> None:
    assert [problem.severity for problem in problems("message.nam == 'a'", JSON)] == ["warning"]
    assert [problem.severity for problem in problems("message.address.zap == 'a'", JSON)] == ["error"]
    assert problems("message.address.next.next.zip == 'a'", JSON) == []
    assert compile_rule(condition("message.nam == 'a'"), JSON).evaluate({"message": {"nam": "a"}}) is True


def test_the_checked_expressions_of_a_rule_set_are_bounded_together() -> None:
    long = "+".join(["1"] * 2_000) + " > 0"
    count = MAX_CHECKED_CHARACTERS // len(long)
    rules = tuple(condition(long, name=f"r{number}") for number in range(count + 1))
    assert count_rule_characters(RuleSet(domain_rules=rules[:-1])) == count * len(long)
    assert find_rule_error(RuleSet(domain_rules=rules[:-1]), AVRO) is None
    *_, problem = check_rule_set(RuleSet(domain_rules=rules), AVRO)
    assert (problem.rule, problem.severity) == (f"r{count}", "error")
    assert "more than 100,000 characters" in problem.message
    assert find_rule_error(RuleSet(domain_rules=rules), AVRO) == problem
    assert count_rule_characters(RuleSet(domain_rules=rules)) == MAX_CHECKED_CHARACTERS


def test_the_first_error_is_found_without_a_word_on_undeclared_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type_checker, "get_close_matches", None)  # takes milliseconds for each of many fields
    rule_set = RuleSet(domain_rules=(condition("message.nam == 'a'"), condition("1 + ''", name="second")))
    problem = find_rule_error(rule_set, JSON)
    assert problem is not None
    assert problem.rule == "second"


def test_only_enabled_rules_of_this_language_are_checked() -> None:
    assert problems("(", disabled=True) == []
    assert problems("(", type="JSONATA") == []
    assert len(problems("(", type="CEL_FIELD")) == 1
    rule_set = RuleSet((condition("(", name="a"),), (condition("(", name="b"),), (condition("(", name="c"),))
    assert sorted(problem.rule for problem in check_rule_set(rule_set, AVRO)) == ["a", "b", "c"]


def test_a_rule_without_an_expression_is_a_warning() -> None:
    assert [problem.severity for problem in problems("")] == ["warning"]


def test_records_of_migrations_are_of_any_type() -> None:
    rule = condition("message.of_another_version == 1", mode="UPGRADE")
    assert check_rule_set(RuleSet(migration_rules=(rule,)), AVRO) == []


def test_records_of_equal_names_are_of_two_types() -> None:
    schema = parse(
        {
            "type": "object",
            "properties": {
                name: {"type": "object", "additionalProperties": False, "properties": {name: {"type": "string"}}}
                for name in ("a", "b")
            },
        },
        SchemaType.JSON,
    )
    assert (
        problems("(has(message.a.a) ? message.a : message.b).b == '' || [message.a, message.b][1].b == ''", schema)
        == []
    )


def test_a_transform_may_yield_any_value() -> None:
    rule = condition("{'size': message.size + 1, 'tags': message.tags + ['x'], 'n': 3u}", kind="TRANSFORM")
    assert check_rule_set(RuleSet(domain_rules=(rule,)), AVRO) == []
    result = compile_rule(rule, AVRO).evaluate({"message": {"size": 1, "tags": ["a"]}})
    assert result == {"size": 2, "tags": ["a", "x"], "n": 3}
    assert type(result["n"]) is int


def test_a_guard_decides_apart_from_the_body() -> None:
    rule = compile_rule(condition("message.country == 'CH' ; message.size > 1"), AVRO)
    assert rule.passes_guard({"message": {"country": "CH"}})
    assert not rule.passes_guard({"message": {"country": None}})
    assert rule.evaluate({"message": {"size": 2}}) is True
    assert compile_rule(condition("message.size > 1"), AVRO).passes_guard({})


def test_the_separator_of_guards_can_be_disabled() -> None:
    with pytest.raises(RuleExpressionError):
        compile_rule(condition("true ; true", params={"cel.ignore.guard.separator": "true"}), AVRO)


def test_a_field_rule_has_the_variables_of_the_reference() -> None:
    rule = compile_rule(
        condition(
            "typeName == 'STRING' && 'PII' in tags ; value != '' && name == 'a' && fullName == 'b.a'"
            " && message.size > 0",
            type="CEL_FIELD",
        ),
        AVRO,
    )
    variables = {
        "value": "x",
        "typeName": "STRING",
        "tags": ["PII"],
        "name": "a",
        "fullName": "b.a",
        "message": {"size": 1},
    }
    assert rule.variables == set(variables)
    assert rule.passes_guard(variables)
    assert rule.evaluate(variables) is True


def test_the_type_of_a_field_can_be_given() -> None:
    rule = condition("value > 1", type="CEL_FIELD")
    with pytest.raises(RuleExpressionError):
        compile_rule(rule, AVRO, value=STRING)


def test_now_is_the_time_of_the_evaluation_unless_it_is_given() -> None:
    rule = compile_rule(condition("now > timestamp('2020-01-01T00:00:00Z')"), AVRO)
    assert rule.evaluate({"message": {}}) is True
    assert rule.evaluate({"message": {}, "now": datetime(2019, 1, 1, tzinfo=UTC)}) is False


def test_a_value_of_another_type_than_the_schema_says_is_an_error() -> None:
    rule = compile_rule(condition("message.size > 1"), AVRO)
    for message in ({"size": "2"}, {"size": None}, {}, None, 5, []):
        with pytest.raises(RuleEvaluationError):
            rule.evaluate({"message": message})


def test_an_int_is_a_valid_double() -> None:
    rule = compile_rule(condition("message.price / 2.0 == 2.5 && message.price * 2.0 > 9.0"), AVRO)
    assert rule.evaluate({"message": {"price": 5}}) is True


def test_a_rule_can_be_used_by_many_threads() -> None:
    rule = compile_rule(condition("message.tags.all(t, t.matches('^[a-z]+$')) && message.size > 0"), AVRO)
    with ThreadPoolExecutor(8) as pool:
        results = pool.map(
            lambda size: rule.evaluate({"message": {"size": size % 2, "tags": ["a", "bc"]}}), range(2000)
        )
        assert list(results) == [bool(size % 2) for size in range(2000)]


def test_the_message_of_a_field_rule_is_the_record_that_contains_the_field_so_its_fields_are_not_checked() -> None:
    assert problems("message.zip != ''", type="CEL_FIELD") == []
    assert problems("message.zip != ''", type="CEL")

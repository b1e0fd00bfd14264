"""Rules of type JSONATA run in bounded time, and fail closed without their library."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from contractlog.compatibility.data_contract import Rule, RuleSet
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.serdes import SerializationContext
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer
from contractlog.serdes.errors import RuleFailed, RuleNotRun
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer
from contractlog.serdes.rules import RuleRegistry
from contractlog.serdes.rules.jsonata import JsonataExecutor

if TYPE_CHECKING:
    from contractlog.clients import Registry

VALUE = SerializationContext("orders")


def draft(expr: str, **facts: Any) -> SchemaDraft:
    rule = Rule("change", type="JSONATA", mode="WRITE", expr=expr, **facts)
    return SchemaDraft("{}", SchemaType.JSON, rule_set=RuleSet(domain_rules=(rule,)))


def test_messages_are_replaced_by_the_result(registry: Registry) -> None:
    write = JSONSerializer(draft("$merge([$sift($, function($v, $k) {$k != 'a'}), {'b': a, 'c': [1, 2]}])"), registry)
    record = write({"a": 1, "d": 2}, VALUE)
    read = JSONDeserializer(None, schema_registry_client=registry)(record, VALUE)
    assert read == {"d": 2, "b": 1, "c": [1, 2]}


def test_values_that_json_lacks_are_passed_on(registry: Registry) -> None:
    fields = [
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 8, "scale": 2}},
        {"name": "body", "type": "bytes"},
    ]
    text = json.dumps({"type": "record", "name": "Order", "fields": fields})
    rule = Rule("copy", type="JSONATA", mode="WRITE", expr="{'at': at, 'price': price, 'body': body}")
    schema = SchemaDraft(text, rule_set=RuleSet(domain_rules=(rule,)))
    value = {"at": datetime(2020, 1, 1, tzinfo=UTC), "price": Decimal("1.50"), "body": b"x"}
    record = AvroSerializer(registry, schema)(value, VALUE)
    assert AvroDeserializer(registry)(record, VALUE) == value


def test_conditions_take_the_boolean_of_the_result(registry: Registry) -> None:
    write = JSONSerializer(draft("a > 0", kind="CONDITION"), registry)
    assert write({"a": 1}, VALUE)
    for value in ({"a": 0}, {}):
        with pytest.raises(RuleFailed, match="change"):
            write(value, VALUE)


@pytest.mark.parametrize(
    "expr",
    [
        "($f := function($n) {$f($n + 1)}; $f(0))",
        "($f := function($n) {1 + $f($n)}; $f(0))",
        "$count($map([1..900000], $string))",
        "$count($map([1..9999999], $string))",
        "[1, [1..900000].$string($)]",
        "$eval('$map([1..900000], $string)')",
        "$reduce([1..900000], function($a, $b) {$a + $b})",
        "$count($distinct([1..900000]))",
        "$sum([1..9999999])",
        "[1..9999999]",
        "$length($pad('a', 99999999))",
        "$reduce([1..40], function($a, $b) {{'l': $a, 'r': $a}}, 'x')",
        "$string($reduce([1..40], function($a, $b) {{'l': $a, 'r': $a}}, 'x'))",
        "($f := function() {$reduce([1..40], function($a, $b) {{'l': $a, 'r': $a}}, 'x')}; $f() = $f() ? 1 : 2)",
        "$length($reduce([1..40], function($a, $b) {$a & $a}, 'x'))",
    ],
)
def test_endless_expressions_are_stopped(registry: Registry, expr: str) -> None:
    rules = RuleRegistry()
    rules.register_executor(JsonataExecutor(timeout_ms=200))
    with pytest.raises(RuleFailed, match=r"change.*(more than|at most|nested|expression passed to Object eval)"):
        JSONSerializer(draft(expr), registry, rule_registry=rules)({}, VALUE)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("$sum(n)", 3),
        ("n ~> $sum", 3),
        ("$map(n, $string)", ["1", "2"]),
        ("s.$uppercase()", "X"),
        ("$uppercase(s) & $pad(s, 3, '-')", "Xx--"),
        ("$sort(n, function($l, $r) {$l < $r})", [2, 1]),
        ("$filter([1..4], function($v) {$v in [2, 3]})", [2, 3]),
        ("$count([1..1000000])", 1_000_000),
        ("$eval('n[0] = 1 and n != [1]')", True),
        ("{'a': null, 'b': [null]}", {"a": None, "b": [None]}),
    ],
)
def test_bounded_functions_have_the_results_of_the_library(expr: str, expected: object) -> None:
    context: Any = SimpleNamespace(rule=SimpleNamespace(expr=expr))
    assert JsonataExecutor().transform(context, {"n": [1, 2], "s": "x"}) == expected


def test_patterns_are_matched_in_linear_time(registry: Registry) -> None:
    write = JSONSerializer(draft("$contains(a, /^(a+)+$/)", kind="CONDITION"), registry)
    assert write({"a": "a" * 50}, VALUE)
    with pytest.raises(RuleFailed):
        write({"a": "a" * 50 + "b"}, VALUE)


def test_invalid_expressions_fail_closed(registry: Registry) -> None:
    with pytest.raises(RuleNotRun, match=r"change.*expression is not valid"):
        JSONSerializer(draft("$merge(", on_failure="NONE"), registry)({}, VALUE)


@pytest.mark.parametrize("library", ["jsonata", "re2"])
def test_a_missing_library_fails_closed(registry: Registry, monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(RuleNotRun, match=r"pip install 'contractlog\[rules\]'"):
        JSONSerializer(draft("$", on_failure="NONE"), registry)({}, VALUE)


def test_the_recursion_limit_of_the_process_stays_as_it_is() -> None:
    program = (
        "import sys; before = sys.getrecursionlimit(); from contractlog.serdes.rules.jsonata import JsonataExecutor; "
        "JsonataExecutor()._find_expression('$x'); assert sys.getrecursionlimit() == before"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)

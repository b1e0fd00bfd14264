"""Evaluations per second of rules: our closures beside cel-python and the executor of confluent-kafka.

Each runs the same rule on the same record, in turns, on one core; the figure is the median of the rounds. cel-python
runs a compiled program on a record that is already converted; the executor of confluent-kafka converts each record, as
it does in a serializer. It needs the packages of confluent-kafka[rules] for CEL: cel-python, protobuf and
googleapis-common-protos; without them its column is empty. The goal is a million simple conditions per second and core.

python benchmarks/rules/run.py [--rounds 5]
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import time
from collections.abc import Callable
from typing import Any, Final

import celpy

from contractlog.compatibility.data_contract import Rule
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import SchemaDraft
from contractlog.contracts.rules.compiled_rules import compile_rule

SCHEMA: Final = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "quantity", "type": "int"},
        {"name": "price", "type": "double"},
        {"name": "currency", "type": "string"},
        {"name": "email", "type": ["null", "string"]},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
    ],
}
RECORD: Final = {
    "quantity": 5, "price": 12.5, "currency": "CHF", "email": "anna@example.com", "tags": ["new", "gift", "fast"],
}  # fmt: skip
CONDITIONS: Final = {
    "simple": ("message.quantity > 0", "message.currency == 'CHF'", "message.quantity + 1 < 1000"),
    "compound": (
        "message.quantity > 0 && message.quantity <= 100",
        "message.email == null || message.email.size() > 3",
        "message.currency in ['CHF', 'EUR', 'USD'] && message.price >= 0.0",
    ),
    "with patterns and macros": (
        "message.currency.matches('^[A-Z]{3}$')",
        "message.quantity > 0 && message.price < 1000.0 && message.currency != '' && message.email.matches('@')",
        "message.tags.all(t, t.size() > 2)",
    ),
}
MIN_SECONDS: Final = 0.2


def measure(call: Callable[[], Any]) -> float:
    """Return the calls per second of processor time."""
    count = 1
    while True:
        start = time.process_time()
        for _ in range(count):
            call()
        seconds = time.process_time() - start
        if seconds > MIN_SECONDS:
            return count / seconds
        count *= 2 if seconds > MIN_SECONDS / 10 else 8


def create_calls(text: str) -> list[Callable[[], Any]]:
    """Return one call of each implementation."""
    rule = compile_rule(
        Rule("r", kind="CONDITION", type="CEL", expr=text), parse_schema(SchemaDraft(json.dumps(SCHEMA)), {})
    )
    variables = {"message": RECORD}
    environment = celpy.Environment(runner_class=celpy.InterpretedRunner)
    program = environment.program(environment.compile(text))
    converted = {"message": celpy.json_to_cel(RECORD)}
    calls: list[Callable[[], Any]] = [lambda: rule.evaluate(variables), lambda: program.evaluate(converted)]
    reference = create_reference_call(text)
    return calls if reference is None else [*calls, reference]


def create_reference_call(text: str) -> Callable[[], Any] | None:
    """Return a call of confluent-kafka's executor; None if its packages are missing."""
    try:
        from confluent_kafka.schema_registry import Rule as ReferenceRule
        from confluent_kafka.schema_registry import RuleKind, RuleMode, Schema
        from confluent_kafka.schema_registry.rules.cel.cel_executor import CelExecutor
        from confluent_kafka.schema_registry.serde import RuleContext
        from confluent_kafka.serialization import MessageField, SerializationContext
    except ImportError:
        return None
    rule = ReferenceRule(
        "r", None, RuleKind.CONDITION, RuleMode.WRITE, "CEL", None, None, text, None, None, disabled=False
    )
    schema = Schema(json.dumps(SCHEMA), "AVRO")
    context = RuleContext(
        None,
        SerializationContext("t", MessageField.VALUE),
        None,
        schema,
        "t-value",
        RuleMode.WRITE,
        rule,
        0,
        [rule],
        None,
        None,
    )
    executor = CelExecutor()
    return lambda: executor.transform(context, RECORD)


def main() -> None:
    """Measure every condition and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    logging.disable(logging.CRITICAL)
    print(f"{'evaluations per second':<106}{'ours':>12}{'cel-python':>12}{'confluent':>12}{'ratio':>8}")
    for group, texts in CONDITIONS.items():
        print(f"{group}:")
        for text in texts:
            calls = create_calls(text)
            assert {call() for call in calls} == {True}, text
            turns = [[measure(call) for call in calls] for _ in range(rounds)]
            figures = [statistics.median(column) for column in zip(*turns, strict=True)]
            ratio = figures[0] / figures[-1]
            columns = "".join(f"{figure:>12,.0f}" for figure in figures)
            print(f"  {text:<104}{columns:<36}{ratio:>8,.0f}")


if __name__ == "__main__":
    main()

"""Records per second that audits check against conditions, by kernels and by closures.

Both have the same result on each record. Columns are given, as audits read them for the profiles of fields; the
closures are given decoded records, and an audit without kernels would first decode each. The figure is the median of
the rounds, and the sum over processes that run at the same time. The goal is 20,000,000 simple conditions per second
and machine.

python benchmarks/rules/columns.py [--rounds 5] [--processes 2]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Final

import numpy as np

from contractlog.compatibility.data_contract import Rule
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import SchemaDraft
from contractlog.contracts.rules.compiled_rules import compile_rule
from contractlog.serdes.avro.readers_and_writers import AvroReader, AvroWriter
from contractlog.spark_validation.columnar.avro_validator import AvroValidator
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.rules.condition import RecordCondition
from contractlog.spark_validation.rules.rule_batch import RuleBatch

SCHEMA: Final = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "quantity", "type": "int"},
        {"name": "price", "type": "double"},
        {"name": "currency", "type": "string"},
        {"name": "email", "type": ["null", "string"]},
    ],
}
CONDITIONS: Final = (
    "message.quantity > 0",
    "message.currency == 'CHF'",
    "message.quantity + 1 < 1000",
    "message.quantity > 0 && message.quantity <= 100",
    "message.email == null || message.email.size() > 3",
    "message.currency in ['CHF', 'EUR', 'USD'] && message.price >= 0.0",
    "message.currency.matches('^[A-Z]{3}$')",
)
RECORDS: Final = 65_536
MIN_SECONDS: Final = 0.3


def create_batch() -> tuple[RuleBatch, list[dict[str, Any]]]:
    """Return a batch of orders, and the same records decoded."""
    parsed = parse_schema(SchemaDraft(json.dumps(SCHEMA)), {})
    writer, reader = AvroWriter(parsed), AvroReader(parsed)
    random = np.random.default_rng(15)
    quantities, prices = random.integers(0, 200, RECORDS), random.random(RECORDS) * 100
    currencies = random.choice(["CHF", "EUR", "USD", "eur"], RECORDS)
    bodies = [
        writer.encode(
            {
                "quantity": int(quantities[at]),
                "price": float(prices[at]),
                "currency": str(currencies[at]),
                "email": None if at % 5 == 0 else f"user{at}@example.com",
            }
        )
        for at in range(RECORDS)
    ]
    ends = np.cumsum([len(body) for body in bodies])
    starts = np.concatenate([[0], ends[:-1]])
    data = np.frombuffer(b"".join(bodies), np.uint8)
    outcomes = AvroValidator(parsed.root, ValidationLimits()).validate(data, starts, ends, columns=True)
    conforming = outcomes.codes == 0
    batch = RuleBatch(conforming, outcomes.pieces, data, starts, ends, reader.decode, optional=False)
    return batch, [reader.decode(body) for body in bodies]


def measure(call: Callable[[], Any]) -> float:
    """Return the records per second."""
    count, start = 0, time.perf_counter()
    while (seconds := time.perf_counter() - start) < MIN_SECONDS:
        call()
        count += 1
    return count * RECORDS / seconds


def compare(text: str, rounds: int) -> tuple[float, float]:
    """Return the records per second by columns and by the closure."""
    parsed = parse_schema(SchemaDraft(json.dumps(SCHEMA)), {})
    rule = compile_rule(Rule("r", kind="CONDITION", type="CEL", expr=text), parsed)
    condition = RecordCondition(rule, parsed, optional=False)
    batch, records = create_batch()

    def run_columns() -> Any:
        del batch.columns  # each batch of an audit has columns of its own
        return condition.evaluate(batch)

    def run_closure() -> list[bool]:
        return [rule.evaluate({"message": record}) is True for record in records]

    result = condition.evaluate(batch)
    if result.per_record or [not broken for broken in result.broken.tolist()] != run_closure():
        raise SystemExit(f"{text}: the results differ")
    figures = [(measure(run_columns), measure(run_closure)) for _ in range(rounds)]
    by_columns, by_closure = zip(*figures, strict=True)
    return statistics.median(by_columns), statistics.median(by_closure)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    print("| Condition | by columns | closure |\n|---|---|---|")
    with ProcessPoolExecutor(options.processes) as pool:
        for text in CONDITIONS:
            runs = [pool.submit(compare, text, options.rounds) for _ in range(options.processes)]
            by_columns, by_closure = (sum(part) for part in zip(*(run.result() for run in runs), strict=True))
            print(f"| `{text.replace('|', chr(92) + '|')}` | {by_columns:,.0f} | {by_closure:,.0f} |")


if __name__ == "__main__":
    main()

"""A fuzzer of rules: random conditions over random schemas, in each execution and cel-python.

    python tests/fuzz/rules.py --records 20000 [--seed 1] [--seconds 3600]

A condition is run as serializers do (the function made with the types of the schema), without types, and as audits do
(by columns where kernels have the result, else per record). A finding is a result that differs from that of cel-python:
true, false, or a failed evaluation. Exit 1 if there is one.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

from contractlog.compatibility.data_contract import Rule
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.contracts.rules.compiled_rules import CompiledRule, compile_rule
from contractlog.contracts.rules.rule_errors import RuleEvaluationError
from contractlog.serdes.avro.readers_and_writers import AvroReader, AvroWriter
from contractlog.serdes.json_schema.exact_json import read_document
from contractlog.spark_validation.columnar.avro_validator import AvroValidator
from contractlog.spark_validation.columnar.json_validator import JsonValidator
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.rules.condition import RecordCondition
from contractlog.spark_validation.rules.rule_batch import RuleBatch

from support.rule_oracle import FAILED, LEAVES, TEMPLATES, compile_with_oracle, run_oracle

REPORTED: Final = 20  #: findings
RULES: Final = 4  #: of a schema
RECORDS: Final = 50  #: of a rule
DEPTH: Final = 4
AVRO: Final = {
    "int": "long", "double": "double", "string": "string", "bool": "boolean",
    "ints": {"type": "array", "items": "long"}, "strings": {"type": "array", "items": "string"},
    "map": {"type": "map", "values": "long"},
}  # fmt: skip
JSON: Final = {
    "int": {"type": "integer"}, "double": {"type": "number"}, "string": {"type": "string"}, "bool": {"type": "boolean"},
    "ints": {"type": "array", "items": {"type": "integer"}},
    "strings": {"type": "array", "items": {"type": "string"}},
    "map": {"type": "object", "additionalProperties": {"type": "integer"}},
}  # fmt: skip
#: Fields that the templates of expressions name.
FIELDS: Final = {
    "i": "int", "j": "small", "d": "double", "s": "string", "t": "string", "b": "bool", "li": "ints", "ls": "strings",
    "m": "map",
}  # fmt: skip
EXTRA: Final = ("int", "double", "string", "bool", "ints", "strings")
#: In a macro over the result of a macro, `&&` of cel-python does not absorb an error, as the standard demands.
_MACRO: Final = re.compile(r"\.(all|exists|exists_one|map|filter)\(")
NOT_IN_SCHEMA: Final = ("message.x",)


class Case:
    """A random schema, with the expressions that its fields are."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.is_json = rng.random() < 0.3
        self.fields = dict(FIELDS) | {f"f{number}": rng.choice(EXTRA) for number in range(rng.randrange(6))}
        inner = {f"g{number}": rng.choice(EXTRA) for number in range(rng.randrange(1, 4))}
        self.inner = inner if rng.random() < 0.5 else {}
        self.leaves = {kind: list(leaves) for kind, leaves in LEAVES.items()}
        for name, kind in self.fields.items():
            if name not in FIELDS:
                self.leaves[kind].append(f"message.{name}")
        for name, kind in self.inner.items():
            self.leaves[kind].append(f"message.r.{name}")
        self.draft = SchemaDraft(json.dumps(self._json() if self.is_json else self._avro()),
                                 SchemaType.JSON if self.is_json else SchemaType.AVRO)  # fmt: skip

    def _avro(self) -> Any:
        fields = [{"name": name, "type": AVRO[_stored(kind)]} for name, kind in self.fields.items()]
        if self.inner:
            inner = [{"name": name, "type": AVRO[kind]} for name, kind in self.inner.items()]
            fields.append({"name": "r", "type": {"type": "record", "name": "In", "fields": inner}})
        self.rng.shuffle(fields)
        return {"type": "record", "name": "R", "fields": fields}

    def _json(self) -> Any:
        properties: dict[str, Any] = {name: JSON[_stored(kind)] for name, kind in self.fields.items()}
        if self.inner:
            inner = {name: JSON[kind] for name, kind in self.inner.items()}
            properties["r"] = {"type": "object", "properties": inner, "additionalProperties": False}
        return {"type": "object", "properties": properties, "additionalProperties": False}

    def record(self) -> dict[str, Any]:
        """Return a random record."""
        value = {name: self._value(kind) for name, kind in self.fields.items()}
        return value | ({"r": {name: self._value(kind) for name, kind in self.inner.items()}} if self.inner else {})

    def _value(self, kind: str) -> Any:
        rng = self.rng
        if kind in {"ints", "strings"}:
            item = "small" if kind == "ints" else "string"
            return [self._value(item) for _ in range(rng.randrange(4))]
        makers: dict[str, Callable[[], Any]] = {
            "int": lambda: rng.choice([rng.randint(-3, 3), rng.randint(-(2**63), 2**63 - 1), 2**63 - 1, -(2**63)]),
            "small": lambda: rng.randint(-3, 3),
            "double": lambda: rng.choice([0.5, 1.0, -2.0, 0.0, float(np.float32(rng.uniform(-1e6, 1e6)))]),
            "string": lambda: "".join(rng.choices("abAB1 é", k=rng.randrange(6))),
            "bool": lambda: rng.random() < 0.5,
            "map": lambda: {rng.choice(["a", "b", "ab"]): rng.randint(-3, 3) for _ in range(rng.randrange(4))},
        }
        return makers[kind]()

    def expression(self, kind: str, depth: int, scope: tuple[tuple[str, str], ...] = ()) -> str:
        """Return a random expression of a type."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return rng.choice([*self.leaves[kind], *(name for name, of in scope if of == kind)])
        text, *kinds = rng.choice(
            [each for each in TEMPLATES[kind] if not any(name in each[0] for name in NOT_IN_SCHEMA)]
        )
        parts = []
        for part in kinds:
            if part.startswith("each "):
                _, element, result = part.split()
                name = f"x{len(scope)}"
                parts.append(f"{name}, {self.expression(result, depth - 1, (*scope, (name, element)))}")
            else:
                parts.append(self.expression(part, depth - 1, scope))
        return text.format(*parts)


def _stored(kind: str) -> str:
    return "int" if kind == "small" else kind


class Fuzzer:
    """Draws cases, and compares the executions."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.counts: Counter[str] = Counter()
        self.findings: dict[str, str] = {}

    def turn(self) -> None:
        """Compare the executions of some conditions over one schema."""
        case = Case(self.rng)
        self.counts["schemas"] += 1
        for _ in range(RULES):
            guard = case.expression("bool", 1) if self.rng.random() < 0.25 else None
            self._compare(case, guard, case.expression("bool", DEPTH))

    def _compare(self, case: Case, guard: str | None, body: str) -> None:
        text = body if guard is None else f"{guard} ; {body}"
        rule = Rule("rule", kind="CONDITION", mode="WRITE", type="CEL", expr=text)
        parsed = parse_schema(case.draft, {})
        contents = [self._encode(case, parsed) for _ in range(RECORDS)]
        records = [record for record, _ in contents]
        programs = [None if part is None else compile_with_oracle(part) for part in (guard, body)]
        expected = [_expect(programs, record) for record in records]
        typed = compile_rule(rule, parsed)
        executions = {
            "typed": [_run(typed, record) for record in records],
            "untyped": [_run(compile_rule(rule, None), record) for record in records],
            "audit": self._audit(case, parsed, typed, [content for _, content in contents]),
        }
        if _MACRO.search(text):
            agreed = zip(*executions.values(), strict=True)
            for row, results in enumerate(agreed):
                if expected[row] == FAILED and len(set(results)) == 1 and results[0] is not FAILED:
                    self.counts["failures that cel-python does not absorb"] += 1
                    expected[row] = results[0]
        self.counts["rules"] += 1
        self.counts["records"] += len(records)
        self.counts["failed evaluations"] += expected.count(FAILED)
        for name, results in executions.items():
            for record, result, wanted in zip(records, results, expected, strict=True):
                if result != wanted:
                    self.counts["findings"] += 1
                    described = f"{text!r} on {record!r}: {result!r}, and {wanted!r} in cel-python"
                    existing = self.findings.get(name)
                    if existing is None or len(described) < len(existing):
                        self.findings[name] = described

    def _encode(self, case: Case, parsed: Any) -> tuple[Any, bytes]:
        record = case.record()
        if case.is_json:
            content = json.dumps(record).encode()
            return read_document(content), content
        content = AvroWriter(parsed).encode(record)
        return AvroReader(parsed).decode(content), content

    def _audit(self, case: Case, parsed: Any, rule: CompiledRule, bodies: list[bytes]) -> list[Any]:
        limits = ValidationLimits()
        validator = JsonValidator(parsed.root, {}, limits) if case.is_json else AvroValidator(parsed.root, limits)
        ends = np.cumsum([len(body) for body in bodies])
        starts = ends - [len(body) for body in bodies]
        data = np.frombuffer(b"".join(bodies), np.uint8)
        outcomes = validator.validate(data, starts, ends, columns=True)
        decode = read_document if case.is_json else AvroReader(parsed).decode
        every = np.ones(len(bodies), np.bool_)
        batch = RuleBatch(every, outcomes.pieces, data, starts, ends, decode, case.is_json)
        result = RecordCondition(rule, parsed, optional=case.is_json).evaluate(batch)
        self.counts["by columns"] += len(bodies) - result.per_record
        return [FAILED if failed else not broken for broken, failed in zip(result.broken, result.failed, strict=True)]


def _run(rule: CompiledRule, record: Any) -> Any:
    variables = {"message": record}
    try:
        return not rule.passes_guard(variables) or rule.is_satisfied(variables)
    except RuleEvaluationError:
        return FAILED


def _expect(programs: list[Any], record: Any) -> Any:
    guard, body = programs
    if guard is not None:
        applies = run_oracle(guard, record)
        if applies is not True:
            return FAILED if applies == FAILED else True
    return run_oracle(body, record)


def main() -> int:
    """Fuzz as requested."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    fuzzer, start = Fuzzer(Random(given.seed)), time.monotonic()  # noqa: S311 -- repeats by its seed
    while (
        fuzzer.counts["records"] < given.records
        and time.monotonic() - start < given.seconds
        and fuzzer.counts["findings"] < REPORTED
    ):
        fuzzer.turn()
    for name, described in fuzzer.findings.items():
        print(f"FINDING {name}: {described}")  # noqa: T201 -- a script
    counts = fuzzer.counts
    print(dict(counts.most_common()))  # noqa: T201
    print(f"{counts['records']} records, {counts['findings']} findings in {time.monotonic() - start:.0f} s")  # noqa: T201
    return 1 if fuzzer.findings else 0


if __name__ == "__main__":
    sys.exit(main())

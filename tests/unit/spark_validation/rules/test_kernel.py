"""Law: a kernel has, for each record, the result of the function made from the same tree."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.contracts.rules.evaluation.function_generator import compile_typed
from contractlog.contracts.rules.language.parser import parse_expression
from contractlog.contracts.rules.language.schema_types import record_type
from contractlog.contracts.rules.language.type_checker import infer_types
from contractlog.contracts.rules.rule_errors import RuleEvaluationError
from contractlog.serdes.avro.readers_and_writers import AvroReader, AvroWriter
from contractlog.serdes.json_schema.exact_json import read_document
from contractlog.spark_validation.columnar.avro_validator import AvroValidator
from contractlog.spark_validation.columnar.json_validator import JsonValidator
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.rules.kernel import compile_kernel
from contractlog.spark_validation.rules.record_columns import RecordColumns
from contractlog.spark_validation.rules.vectors import NotColumnar

FAILED = "failed"
_SCALARS = {"i": "long", "d": "double", "s": "string", "b": "boolean", "y": "bytes"}
_SCALAR_FIELDS = [{"name": name, "type": kind} for name, kind in _SCALARS.items()] + [
    {"name": f"n{name}", "type": ["null", kind]} for name, kind in _SCALARS.items()
]
AVRO = json.dumps(
    {
        "type": "record",
        "name": "R",
        "fields": [
            *_SCALAR_FIELDS,
            {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["a", "ab", "b"]}},
            {"name": "day", "type": {"type": "int", "logicalType": "date"}},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "r", "type": {"type": "record", "name": "In", "fields": _SCALAR_FIELDS}},
            {"name": "nr", "type": ["null", "In"]},
        ],
    }
)
JSON_TYPES = {"i": "integer", "d": "number", "s": "string", "b": "boolean"}
_PROPERTIES = {name: {"type": kind} for name, kind in JSON_TYPES.items()} | {
    f"n{name}": {"type": [kind, "null"]} for name, kind in JSON_TYPES.items()
}
JSON = json.dumps(
    {
        "type": "object",
        "properties": {**_PROPERTIES, "r": {"type": "object", "properties": _PROPERTIES}},
        "additionalProperties": False,
    }
)
INTS = st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1) | st.sampled_from([-(2**63), 2**63 - 1, 2**53 + 1, 2**32])
TEXTS = st.text(alphabet="abAB1 é😀\n", max_size=4)
VALUES = {
    "i": INTS,
    "d": st.floats(width=64) | st.sampled_from([0.0, -0.0, 0.5, 1.0, -2.0, 1e19]),
    "s": TEXTS,
    "b": st.booleans(),
    "y": st.binary(max_size=3),
}
_FIELDS = {**VALUES, **{f"n{name}": st.none() | values for name, values in VALUES.items()}}
_INNER = st.fixed_dictionaries(_FIELDS)
AVRO_RECORDS = st.fixed_dictionaries(
    {
        **_FIELDS,
        "e": st.sampled_from(["a", "ab", "b"]),
        "day": st.integers(-(2**31), 2**31 - 1) | st.integers(-3, 3),
        "at": st.integers(-(10**12), 10**12),
        "r": _INNER,
        "nr": st.none() | _INNER,
    }
)
_JSON_VALUES = {**VALUES, "d": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-3, 3) | INTS}
_JSON_FIELDS = {name: _JSON_VALUES[name] for name in JSON_TYPES} | {
    f"n{name}": st.none() | _JSON_VALUES[name] for name in JSON_TYPES
}
JSON_RECORDS = st.fixed_dictionaries(
    {}, optional={**_JSON_FIELDS, "r": st.fixed_dictionaries({}, optional=_JSON_FIELDS)}
)
LEAVES = {
    "i": ["i", "ni", "r.i", "nr.i", "nr.ni", "day", "0", "1", "-2", "2", "9223372036854775807", "9007199254740993"],
    "d": ["d", "nd", "r.d", "nr.nd", "0.0", "1.5", "-0.5"],
    "s": ["s", "ns", "r.s", "nr.s", "e", "'a'", "'ab'", "''", "'é'"],
    "b": ["b", "nb", "r.nb", "nr.b", "true", "false"],
    "y": ["y", "ny", "nr.ny", "b'a'"],
    "at": ["at", "timestamp('1970-01-01T00:00:01Z')", "timestamp(-1)"],
}
_COMPARED = [
    (f"({{0}} {operator} {{1}})", *kinds)
    for operator in ("<", "<=", ">", ">=", "==", "!=")
    for kinds in (("i", "i"), ("d", "d"), ("s", "s"), ("b", "b"), ("y", "y"), ("i", "d"), ("d", "i"), ("at", "at"))
]
TEMPLATES: dict[str, list[tuple[str, ...]]] = {
    "i": [
        *[(f"({{0}} {operator} {{1}})", "i", "i") for operator in "+-*/%"],
        ("(-({0}))", "i"), ("size({0})", "s"), ("{0}.size()", "y"), ("int({0})", "d"), ("int({0})", "at"),
        ("({0} ? {1} : {2})", "b", "i", "i"),
    ],
    "d": [
        *[(f"({{0}} {operator} {{1}})", "d", "d") for operator in "+-*/"],
        ("(-({0}))", "d"), ("double({0})", "i"), ("({0} ? {1} : {2})", "b", "d", "d"),
    ],
    "s": [("({0} + {1})", "s", "s"), ("({0} ? {1} : {2})", "b", "s", "s")],
    "b": [
        *_COMPARED, *_COMPARED[:8],
        ("({0} && {1})", "b", "b"), ("({0} || {1})", "b", "b"), ("({0} && {1} && {2})", "b", "b", "b"),
        ("({0} || {1} || {2})", "b", "b", "b"), ("(!{0})", "b"), ("({0} ? {1} : {2})", "b", "b", "b"),
        ("({0} in [1, 2, -3])", "i"), ("({0} in ['a', 'é', ''])", "s"),
        ("(message.ni == null)",), ("(null != message.nr.s)",),
        ("(({0} ? message.nb : {1}) == null)", "b", "b"), ("(message.nr == null)",), ("(message.nr != null)",),
        ("has(message.nr.i)",),
        ("has(message.r)",), ("has(message.i)",), ("has(message.ns)",), ("has(message.r.s)",),
        *[(f"({{0}}).{name}({argument})", "s") for name in ("contains", "startsWith", "endsWith")
          for argument in ("''", "'a'", "'é'")],
        *[(f"({{0}}).matches('{pattern}')", "s") for pattern in
          ("^[a-b]*$", "a.b", "^.$", "(?i)A", "b|$", "", "[^a]", "a$")],
    ],
    "y": [("({0} + {1})", "y", "y")],
    "at": [("({0} ? {1} : {2})", "b", "at", "at")],
}  # fmt: skip


@st.composite
def expressions(draw: st.DrawFn, kind: str, depth: int) -> str:
    """Draw an expression of one type over the fields of a record."""
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        leaf = draw(st.sampled_from(LEAVES[kind]))
        return f"message.{leaf}" if leaf[0].isalpha() and not leaf.startswith(("true", "false", "b'", "time")) else leaf
    text, *kinds = draw(st.sampled_from(TEMPLATES[kind]))
    return text.format(*(draw(expressions(part, depth - 1)) for part in kinds))


def run_closure(run: Any, record: Any) -> bool | str:
    try:
        return run({"message": record}) is True
    except RuleEvaluationError:
        return FAILED


def require_same(text: str, schema: SchemaDraft, bodies: list[bytes], records: list[Any]) -> bool:
    """Compare the kernel with the closure; return false if the columns cannot have the result."""
    is_json = schema.type is SchemaType.JSON
    parsed = parse_schema(schema, {})
    typed = infer_types(parse_expression(text), {"message": record_type(parsed)})
    limits = ValidationLimits()
    validator = JsonValidator(parsed.root, {}, limits) if is_json else AvroValidator(parsed.root, limits)
    ends = np.cumsum([len(body) for body in bodies])
    starts = ends - [len(body) for body in bodies]
    outcomes = validator.validate(np.frombuffer(b"".join(bodies), np.uint8), starts, ends, columns=True)
    assert not outcomes.codes.any()
    columns = RecordColumns(len(bodies), np.ones(len(bodies), np.bool_), outcomes.pieces, optional=is_json)
    try:
        true, failed = compile_kernel(typed, root="message", optional=is_json).evaluate(columns)
    except NotColumnar:
        return False
    run = compile_typed(typed)
    expected = [run_closure(run, record) for record in records]
    actual = [FAILED if error else bool(value) for value, error in zip(true, failed, strict=True)]
    assert actual == expected, (text, records)
    return True


@settings(max_examples=300, deadline=None)
@given(expressions("b", 4), st.lists(AVRO_RECORDS, min_size=1, max_size=4))
def test_a_kernel_over_avro_has_the_result_of_the_closure(text: str, values: list[dict[str, Any]]) -> None:
    draft = SchemaDraft(AVRO)
    parsed = parse_schema(draft, {})
    writer, reader = AvroWriter(parsed), AvroReader(parsed)
    bodies = [writer.encode(value) for value in values]
    require_same(text, draft, bodies, [reader.decode(body) for body in bodies])


@settings(max_examples=300, deadline=None)
@given(
    expressions("b", 4).filter(lambda text: not any(word in text for word in ("nr", "day", ".at", ".e", "y"))),
    st.lists(JSON_RECORDS, min_size=1, max_size=4),
)
def test_a_kernel_over_json_has_the_result_of_the_closure(text: str, values: list[dict[str, Any]]) -> None:
    bodies = [json.dumps(value).encode() for value in values]
    require_same(text, SchemaDraft(JSON, SchemaType.JSON), bodies, list(map(read_document, bodies)))


@pytest.mark.parametrize(
    "text",
    [
        "message.i > 0 && message.i <= 64",
        "message.s == 'CHF'",
        "message.ns == null || message.ns.size() > 3",
        "message.s.matches('^[A-Z]{3}$') && message.s in ['CHF', 'EUR']",
        "message.d * 2.0 <= 10.0 || message.b",
        "has(message.i) && !message.b",
        "message.nr == null || message.nr.i > 0",
        "message.at >= timestamp('2020-01-01T00:00:00Z')",
        "message.i > 5 ? message.s.startsWith('a') : true",
        "double(message.i) > message.d",
    ],
)
def test_conditions_on_fields_need_no_record(text: str) -> None:
    parsed = parse_schema(SchemaDraft(AVRO), {})
    inner: dict[str, Any] = dict(zip("idsby", (1, 0.5, "a", True, b""), strict=True))
    inner |= {f"n{name}": None for name in "idsby"}
    value = {**inner, "e": "a", "day": 1, "at": 0, "r": inner, "nr": None}
    body = AvroWriter(parsed).encode(value)
    assert require_same(text, SchemaDraft(AVRO), [body], [AvroReader(parsed).decode(body)])

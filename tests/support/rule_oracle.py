"""cel-python as oracle of rules, and strategies for expressions with their types."""

from __future__ import annotations

from typing import Any

import celpy
from celpy.evaluation import CELEvalError
from hypothesis import strategies as st

ENVIRONMENT = celpy.Environment(runner_class=celpy.InterpretedRunner)
FAILED = "failed"

RECORDS = st.fixed_dictionaries(
    {
        "i": st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3),
        "j": st.integers(-3, 3),
        "d": st.floats(allow_nan=False, allow_infinity=False, width=32) | st.sampled_from([0.5, 1.0, -2.0]),
        "s": st.text(alphabet="abAB1 é", max_size=6),
        "t": st.text(alphabet="ab", max_size=2),
        "b": st.booleans(),
        "li": st.lists(st.integers(-3, 3), max_size=4),
        "ls": st.lists(st.text(alphabet="ab", max_size=2), max_size=4),
        "m": st.dictionaries(st.text(alphabet="ab", min_size=1, max_size=2), st.integers(-3, 3), max_size=3),
    }
)


def evaluate_with_oracle(text: str, record: dict[str, Any]) -> Any:
    """Return the result of cel-python, or ``FAILED``."""
    return run_oracle(compile_with_oracle(text), record)


def compile_with_oracle(text: str) -> Any:
    """Return the program of cel-python."""
    return ENVIRONMENT.program(ENVIRONMENT.compile(text))


def run_oracle(program: Any, record: dict[str, Any]) -> Any:
    """Return the result of a program of cel-python, or ``FAILED``."""
    try:
        return plain(program.evaluate({"message": celpy.json_to_cel(record)}))
    except CELEvalError:
        return FAILED


def plain(value: Any) -> Any:
    """Return a value of cel-python as a plain one."""
    if isinstance(value, celpy.celtypes.BoolType):
        return bool(value)
    for cls in (int, float, str, bytes):
        if isinstance(value, cls):
            return cls(value)
    return [plain(item) for item in value] if isinstance(value, list) else value


@st.composite
def expressions(draw: st.DrawFn, kind: str, depth: int, scope: tuple[tuple[str, str], ...] = ()) -> str:
    """Draw an expression of one type over the fields of a record and the variables in ``scope``."""
    leaves = LEAVES[kind] + [name for name, of in scope if of == kind]
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return draw(st.sampled_from(leaves))
    template = draw(st.sampled_from(TEMPLATES[kind]))
    text, *kinds = template
    parts = []
    for part in kinds:
        if part.startswith("each "):
            name = f"x{len(scope)}"
            _, element, result = part.split()
            parts.append(f"{name}, {draw(expressions(result, depth - 1, (*scope, (name, element))))}")
        else:
            parts.append(draw(expressions(part, depth - 1, scope)))
    return text.format(*parts)


LEAVES = {
    "int": ["message.i", "message.j", "0", "1", "-2", "9223372036854775807"],
    "double": ["message.d", "0.0", "1.5", "-0.5"],
    "string": ["message.s", "message.t", "'a'", "'ab'", "''"],
    "bool": ["message.b", "true", "false"],
    "ints": ["message.li", "[1, 2]"],
    "strings": ["message.ls", "['a', 'b']"],
}
COMPARED = [
    (f"({{0}} {operator} {{1}})", kind, kind)
    for operator in ("<", "<=", ">", ">=", "==", "!=")
    for kind in ("int", "double", "string")
]
TEMPLATES: dict[str, list[tuple[str, ...]]] = {
    "int": [
        *[(f"({{0}} {operator} {{1}})", "int", "int") for operator in "+-*/%"],
        ("(-({0}))", "int"), ("size({0})", "string"), ("{0}.size()", "ints"), ("{0}.size()", "strings"),
        ("({0} ? {1} : {2})", "bool", "int", "int"), ("{0}[{1}]", "ints", "index"), ("message.m['a']",),
    ],
    "index": [("0",), ("1",), ("2",)],
    "double": [
        *[(f"({{0}} {operator} {{1}})", "double", "double") for operator in "+-*"],
        ("({0} ? {1} : {2})", "bool", "double", "double"), ("double({0})", "small"),
    ],
    "string": [
        ("({0} + {1})", "string", "string"), ("({0} ? {1} : {2})", "bool", "string", "string"), ("string({0})", "int"),
    ],
    "bool": [
        *COMPARED,
        ("({0} && {1})", "bool", "bool"), ("({0} || {1})", "bool", "bool"),
        ("({0} && {1} && {2})", "bool", "bool", "bool"),
        ("(!{0})", "bool"), ("({0} ? {1} : {2})", "bool", "bool", "bool"), ("({0} == {1})", "bool", "bool"),
        ("({0} in {1})", "int", "ints"), ("({0} in {1})", "string", "strings"), ("({0} in message.m)", "string"),
        ("{0}.contains({1})", "field", "string"), ("({0}).startsWith({1})", "string", "string"),
        ("({0}).endsWith({1})", "string", "string"), ("({0}).matches('^[a-b]*$')", "string"),
        ("{0}.all({1})", "ints", "each int bool"), ("{0}.exists({1})", "ints", "each int bool"),
        ("{0}.exists_one({1})", "ints", "each int bool"), ("{0}.all({1})", "strings", "each string bool"),
        ("{0}.exists({1})", "strings", "each string bool"), ("has(message.m.a)",), ("has(message.x)",),
        ("message.m.exists({0})", "each string bool"),
    ],
    "ints": [
        ("{0}.map({1})", "ints", "each int int"), ("{0}.filter({1})", "ints", "each int bool"),
        ("({0} + {1})", "ints", "ints"), ("[{0}, {1}]", "int", "int"), ("{0}.map({1})", "strings", "each string int"),
    ],
    "strings": [
        ("{0}.map({1})", "strings", "each string string"), ("{0}.filter({1})", "strings", "each string bool"),
        ("[{0}]", "string"),
    ],
}  # fmt: skip
# The result of + on texts has no method contains() in cel-python 0.5.0, so its target is a field or a constant.
LEAVES |= {"field": ["message.s", "message.t", "'ab'"], "index": ["0", "1"], "small": ["message.j", "1", "3"]}
TEMPLATES |= {"small": [("message.j",)], "field": [("message.s",)]}

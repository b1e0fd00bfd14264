"""Rule for all tests: no assertion about speed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

import pytest

from support.deadlines import WAIT_SECONDS
from support.source_tree import ROOT

#: Clocks whose difference is what a machine and its neighbours make of it.
CLOCKS = frozenset({"monotonic", "perf_counter", "process_time", "thread_time", "time"})

DEADLINES = "tests/support/deadlines.py"  #: may wait for as long as its callers say

SHORTEST_DEADLINE = 20  #: seconds: a deadline finds what hangs, and is never near what it waits for


def reads_a_clock(node: ast.AST, names: Mapping[str, ast.expr]) -> bool:
    """Return whether an expression calls a clock, or names a value that was made of item."""
    return any(
        (isinstance(item, ast.Call) and ast.unparse(item.func).removeprefix("time.") in CLOCKS)
        or (isinstance(item, ast.Name) and item.id in names)
        for item in ast.walk(node)
    )


def numbers(node: ast.AST, constants: Mapping[str, float]) -> list[float]:
    """Return the numbers in an expression, written or named by the module."""
    return [
        item.value if isinstance(item, ast.Constant) else constants[item.id]
        for item in ast.walk(node)
        if (isinstance(item, ast.Constant) and isinstance(item.value, int | float))
        or (isinstance(item, ast.Name) and item.id in constants)
    ]


def constants_of(tree: ast.Module) -> dict[str, float]:
    """Return the numbers that a module names."""
    named = {"WAIT_SECONDS": WAIT_SECONDS}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and isinstance(node.value.value, int | float):
                named[target.id] = node.value.value
    return named


def clocked_names(function: ast.AST) -> dict[str, ast.expr]:
    """Return the names of a function that get a value made of a clock, or lists of such values."""
    names: dict[str, ast.expr] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and reads_a_clock(node.value, names):
            names |= {name.id: node.value for name in ast.walk(node.targets[0]) if isinstance(name, ast.Name)}
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "append"
            and reads_a_clock(node, names)
        ):
            names |= {name.id: node for name in ast.walk(node.func.value) if isinstance(name, ast.Name)}
    return names


def timed_assertions(source: str) -> Iterator[int]:
    """Yield the lines of assertions that something ends within less than the shortest deadline."""
    tree = ast.parse(source)
    constants = constants_of(tree)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            clocked = clocked_names(function)
            bounds = [
                (node.lineno, larger, [item.id for item in ast.walk(larger) if isinstance(item, ast.Name)])
                for node in ast.walk(function)
                if isinstance(node, ast.Assert)
                for smaller, larger in upper_bounds(node.test)
                if reads_a_clock(smaller, clocked)
            ]
            for line, larger, names in bounds:
                parts = [larger, *(clocked[name] for name in names if name in clocked)]
                if (
                    max((number for part in parts for number in numbers(part, constants)), default=0)
                    < SHORTEST_DEADLINE
                ):
                    yield line


def upper_bounds(test: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield (smaller, larger) of each comparison by order in a condition."""
    for node in ast.walk(test):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for operator, left, right in zip(node.ops, sides, sides[1:], strict=False):
                if isinstance(operator, ast.Lt | ast.LtE):
                    yield left, right
                elif isinstance(operator, ast.Gt | ast.GtE):
                    yield right, left


def test_no_test_asserts_that_something_is_fast() -> None:
    """Count work, use ``support/deadlines.py``, or show a speed in ``benchmarks/``: machines have neighbours."""
    wrong = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if path != ROOT / DEADLINES
        for number in timed_assertions(path.read_text(encoding="utf-8"))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("lines", "forbidden"),
    [
        (("start = time.process_time()", "work()", "assert time.process_time() - start < 1"), True),
        (("start = thread_time()", "took = thread_time() - start", "assert LIMIT >= took"), True),
        (("start = monotonic()", "took.append(monotonic() - start)", "assert max(took) < 1.5"), True),
        (("until = time.monotonic() + 10", "assert time.monotonic() < until"), True),
        (("start = time.monotonic()", "assert time.monotonic() - start < SECONDS * LIMIT"), True),
        (("start = time.monotonic()", "assert 0.2 < time.monotonic() - start < 2"), True),
        (("start = time.monotonic()", "assert time.monotonic() - start < 60"), False),
        (("until = time.monotonic() + 60", "assert time.monotonic() < until"), False),
        (("start = time.monotonic()", "assert time.monotonic() - start >= LIMIT"), False),
        (("count = work()", "assert count < 3"), False),
    ],
)
def test_the_rule_for_timed_assertions_knows_upper_bounds(lines: tuple[str, ...], forbidden: bool) -> None:  # noqa: FBT001
    source = "\n    ".join(("LIMIT = 4\ndef test() -> None:", *lines))
    assert bool(list(timed_assertions(source))) == forbidden

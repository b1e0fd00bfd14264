"""Rules for docstrings: short first lines that are statements."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from support.source_tree import PRODUCT, ROOT, TOOLS

LONGEST_FIRST_LINE = 100

#: Modules that are not edited yet.
NOT_YET = (
    "tests/contract/test_cli",
    "tests/e2e/test_ci_",
    "tests/e2e/test_pull.py",
    "tests/support/ci_formats.py",
    "tests/support/gate.py",
    "tests/unit/clients/cli/",
)

#: A first line says what a thing is or does; it is no indirect question.
QUESTION = re.compile(r"(What|How|Where|Which|Who|Whether|When|Whatever|Whoever)\b")


def first_lines(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line number, first line) of every docstring of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            if docstring:
                yield node.body[0].lineno, docstring.splitlines()[0]


@pytest.mark.parametrize("part", [*PRODUCT, *TOOLS])
def test_docstrings_begin_with_a_short_statement(part: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {line}"
        for path in sorted((ROOT / part).rglob("*.py"))
        if not str(path.relative_to(ROOT)).startswith(NOT_YET)
        for number, line in first_lines(path.read_text(encoding="utf-8"))
        if QUESTION.match(line) or len(line) > LONGEST_FIRST_LINE
    ]
    assert not wrong, "\n".join(wrong)


def test_docstrings_of_test_modules_begin_with_a_short_statement() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {docstring.splitlines()[0]}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if not str(path.relative_to(ROOT)).startswith(NOT_YET)
        if (docstring := ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))))
        if QUESTION.match(docstring) or len(docstring.splitlines()[0]) > LONGEST_FIRST_LINE
    ]
    assert not wrong, "\n".join(wrong)


def test_the_rule_for_docstrings_sees_modules_classes_and_functions() -> None:
    source = '"""What."""\nclass A:\n    """How."""\n    def b(self) -> None:\n        """Who."""\n'
    assert [number for number, line in first_lines(source) if QUESTION.match(line)] == [1, 3, 5]

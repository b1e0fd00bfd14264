"""Rules of the code base that a program can check; `make check` runs them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = (
    "benchmarks",
    "clients",
    "compatibility",
    "contracts",
    "examples",
    "migrations",
    "registry",
    "serdes",
    "spark_validation",
)
LONGEST_FIRST_LINE = 100
#: A first line says what a thing is or does; it is no indirect question.
QUESTION = re.compile(r"(What|How|Where|Which|Who|Whether|When|Whatever|Whoever)\b")


def first_lines(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line number, first line) of every docstring of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            if docstring:
                yield node.body[0].lineno, docstring.splitlines()[0]


@pytest.mark.parametrize("part", PARTS)
def test_docstrings_begin_with_a_short_statement(part: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {line}"
        for path in sorted((ROOT / part).rglob("*.py"))
        for number, line in first_lines(path.read_text(encoding="utf-8"))
        if QUESTION.match(line) or len(line) > LONGEST_FIRST_LINE
    ]
    assert not wrong, "\n".join(wrong)


def test_the_rule_for_docstrings_sees_modules_classes_and_functions() -> None:
    source = '"""What."""\nclass A:\n    """How."""\n    def b(self) -> None:\n        """Who."""\n'
    assert [number for number, line in first_lines(source) if QUESTION.match(line)] == [1, 3, 5]


LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:)([^)#\s]*)#?([^)\s]*)\)")
DOCUMENTS = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_each_link_of_a_document_leads_to_a_file(document: Path) -> None:
    wrong = []
    for target, anchor in LINK.findall(document.read_text(encoding="utf-8")):
        path = document.parent / target if target else document
        if not path.exists() or (anchor and anchor not in anchors(path.read_text(encoding="utf-8"))):
            wrong.append(f"{target}#{anchor}")
    assert not wrong


def anchors(text: str) -> set[str]:
    """Return the anchors of a document's headings: lower case, without punctuation, hyphens for spaces."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def glossary() -> list[tuple[str, str]]:
    """Return (word, path of its module) of each row of the glossary."""
    row = re.compile(r"^\| ([^|]+?) \| .+? \| \[`([^`]+)`\]\(\.\./([^)]+)\) \|$", re.MULTILINE)
    rows = row.findall((ROOT / "docs/glossary.md").read_text(encoding="utf-8"))
    assert all(label == target for _, label, target in rows)
    return [(word, target) for word, _, target in rows]


def test_the_glossary_is_sorted_and_has_each_word_once() -> None:
    words = [word for word, _ in glossary()]
    assert len(words) > 40
    assert words == sorted(set(words))

"""Rules of the code base that a program can check; `make check` runs them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from contractlog.contracts.audit.outcomes import Outcome

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


#: Words that say nothing to a newcomer: no module or function of the product has one of them as its whole name.
BANNED_WORDS = frozenset(
    """
    among asetting asked asking awaited belonging foresight found held hopeless hot kept kinship known leaning meant
    mending moving observed one other own place places questions remembered remembering retirement said seen shown
    sought standing telling told turns understanding understood words
    """.split()  # noqa: SIM905 -- easier to read and extend
)
#: Modules named by an activity that the field has a noun for.
GERUNDS_ALLOWED = frozenset({"finding", "located_finding", "logging", "sampling", "serving", "testing"})
IRREGULAR_PARTICIPLES = frozenset(
    """
    asked bought bound brought chosen come done drawn driven foreseen forgotten found given gone held hidden kept
    known laid left lent lost made meant met paid said seen sent shown sought spent spoken stood taken thought told
    understood written
    """.split()  # noqa: SIM905 -- easier to read and extend
)
VERBS_IN_ED = frozenset({"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "succeed"})
#: Names that users import, or that are the reference's.
NAMES_ALLOWED = frozenset(
    {
        "exchanged",  # a hook of `clients.Watch`, beside `looked_up`
        "referenced",  # a method of `Registry`, and of the sources of schemas that follow it
        "started",  # a method of `Registry`, beside `live` and `ready`
    }
)
#: Classes that confluent-kafka has too, under the names that its users know.
REFERENCE_MODULES = ("clients/confluent/", "serdes/serialization.py")
PRODUCT = tuple(part for part in PARTS if part not in {"benchmarks", "examples"})


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Yield (path, tree) of every module of the product."""
    for part in PRODUCT:
        for path in sorted((ROOT / part).rglob("*.py")):
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


def names_a_value(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a function is a property or a constructor, which may be named by a noun or an adjective."""
    return any(
        re.search(r"\b(property|cached_property|classmethod|override|overload)$|\.setter$", ast.unparse(decorator))
        for decorator in node.decorator_list
    )


def is_bare_participle(name: str) -> bool:
    """Return whether a function's name is a single past participle, such as ``_judged``."""
    word = name.strip("_")
    return word in IRREGULAR_PARTICIPLES or ("_" not in word and word.endswith("ed") and word not in VERBS_IN_ED)


def test_modules_are_named_by_nouns() -> None:
    wrong = []
    for path, _ in modules():
        for part in Path(path).with_suffix("").parts:
            gerund = part.endswith("ing") and part not in GERUNDS_ALLOWED
            if part in BANNED_WORDS or gerund or is_bare_participle(part):
                wrong.append(path)
    assert not wrong, "\n".join(wrong)


def test_functions_are_not_named_by_a_participle_or_a_banned_word() -> None:
    wrong = [
        f"{path}:{node.lineno}: {node.name}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("__")
        and not names_a_value(node)
        and (is_bare_participle(node.name) or node.name.strip("_") in BANNED_WORDS)
        and node.name not in NAMES_ALLOWED
    ]
    assert not wrong, "\n".join(wrong)


def test_a_public_class_name_stands_in_one_module() -> None:
    places: dict[str, list[str]] = {}
    for path, tree in modules():
        for node in tree.body:
            if (
                isinstance(node, ast.ClassDef)
                and not node.name.startswith("_")
                and not path.startswith(REFERENCE_MODULES)
            ):
                places.setdefault(node.name, []).append(path)
    wrong = [f"{name}: {', '.join(paths)}" for name, paths in sorted(places.items()) if len(paths) > 1]
    assert not wrong, "\n".join(wrong)


def test_the_rule_for_functions_knows_participles() -> None:
    names = ("_judged", "told", "feed", "parse_schema")
    assert [is_bare_participle(name) for name in names] == [True, True, False, False]


def mappings_by_outcome(tree: ast.Module) -> Iterator[ast.Dict]:
    """Yield each dict of a module that has texts for several outcomes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            pairs = [(ast.unparse(key), value) for key, value in zip(node.keys, node.values, strict=True) if key]
            texts = [key for key, value in pairs if isinstance(value, ast.Constant) and isinstance(value.value, str)]
            if sum(key.startswith("Outcome.") for key in texts) > 1:
                yield node


def test_outcomes_are_explained_in_their_catalogue() -> None:
    assert all(outcome.meaning and (outcome.fix or not outcome.violating) for outcome in Outcome)
    described = {path for path, tree in modules() if any(mappings_by_outcome(tree))}
    assert described <= {"spark_validation/columnar/avro_validator.py"}  # sentences with the value that failed


def test_subjects_are_named_after_topics_by_one_function() -> None:
    name = re.compile(r"\{[^{}]*topic[^{}]*\}-(\{[^{}]*(?<![a-z])(part|field|name|record)(?![a-z])|key|value)")
    wrong = [
        f"{path}:{node.lineno}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr) and name.match(ast.unparse(node)[2:-1]) and path != "compatibility/names.py"
    ]
    assert not wrong, "\n".join(wrong)


def test_schema_ids_of_records_are_unsigned_where_they_are_read() -> None:
    mask = re.compile(r"0xFFFF_?FFFF\b|view\(np\.u?int32\)")
    wrong = [
        str(path.relative_to(ROOT))
        for part in ("contracts", "serdes", "spark_validation")
        for path in sorted((ROOT / part).rglob("*.py"))
        if mask.search(path.read_text(encoding="utf-8"))
    ]
    assert not wrong, "\n".join(wrong)

"""Rules of the code base that a program can check; `make check` runs them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
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


@cache
def modules() -> list[tuple[str, ast.Module]]:
    """Return (path, tree) of every module of the product."""
    paths = [path for part in PRODUCT for path in sorted((ROOT / part).rglob("*.py"))]
    return [(str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def modules_with(folder: str, text: str) -> set[str]:
    """Return the modules of a folder that contain a text."""
    paths = {str(path.relative_to(ROOT)): path for path in (ROOT / folder).rglob("*.py")}
    return {name for name, path in paths.items() if text in path.read_text(encoding="utf-8")}


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


def imports(folder: str) -> Iterator[tuple[str, str, str]]:
    """Yield (path, module, name) of each name that a module of a folder imports from another one."""
    for path, tree in modules():
        if path.startswith(folder):
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom):
                    yield from ((path, node.module or "", alias.name) for alias in node.names)


def test_the_store_is_one_class_and_no_snapshot_pretends_to_have_a_connection() -> None:
    declared = [
        path
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.name.endswith("Store") and path.startswith("registry/")
    ]
    assert declared == ["registry/storage/store.py"]
    assert not [path for path, module, name in imports("registry/storage/") if (module, name) == ("typing", "cast")]


def test_storage_is_given_permissions_and_reads_no_context_variable_for_them() -> None:
    names = {name for _, module, name in imports("registry/storage/") if module.endswith("access.principals")}
    assert names == {"current_actor"}  # the default actor of the journal


def test_the_newest_number_of_the_journal_is_read_in_one_place() -> None:
    assert modules_with("registry", "tables.changes") == {"registry/storage/journal.py"}


def callers(folder: str, name: str) -> set[str]:
    """Return the modules of a folder that call a function or a class by its name."""
    return {
        path
        for path, tree in modules()
        if path.startswith(folder)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == name
    }


def test_imports_parse_a_schema_and_an_association_in_one_place_for_all_sources() -> None:
    for name in ("SnapshotSchema", "SnapshotAssociation"):
        assert callers("registry/transfer/", name) == {
            "registry/transfer/database_source.py",  # rows of our own tables, which need no parsing
            "registry/transfer/field_parsers.py",
        }


def test_transfer_declares_the_settings_of_a_scope_once() -> None:
    assert modules_with("registry/transfer", '"aliasForDeks"') == {"registry/transfer/scope_settings.py"}


def test_storage_writes_the_row_of_a_schema_in_one_place() -> None:
    assert callers("registry/", "schema_row") == {"registry/storage/batch_append.py", "registry/transfer/plan.py"}
    assert modules_with("registry", '"normalized_hash":') == {"registry/storage/batch_append.py"}


def test_the_settings_of_a_scope_are_declared_once_and_stored_under_their_names() -> None:
    from contractlog.registry.storage.model import ScopeSettings
    from contractlog.registry.storage.tables import settings
    from contractlog.registry.transfer.scope_settings import config_to_columns

    names = {member.name for member in fields(ScopeSettings)}
    assert {column.name for column in settings.columns} == names | {"key", "context", "name"}
    assert config_to_columns({}).keys() == names - {"mode"}


def test_the_bounds_of_a_setting_stand_beside_it() -> None:
    assert not (ROOT / "registry/setting_parser.py").exists()
    assert modules_with("registry", "Bounds(") == {"registry/settings.py"}

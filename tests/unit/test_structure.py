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


def test_each_route_has_its_permission_beside_its_path_and_each_router_is_listed_once() -> None:
    listed = (ROOT / "registry/features/routers.py").read_text(encoding="utf-8")
    wrong = []
    for path, tree in modules():
        if not re.fullmatch(r"registry/features/\w+/routes\.py", path):
            continue
        feature = path.split("/")[2]
        if listed.count(f"features.{feature} import routes") != 1:
            wrong.append(f"{path}: not in registry/features/routers.py")
        for node in ast.walk(tree):
            decorators = [ast.unparse(one) for one in getattr(node, "decorator_list", ())]
            if any(one.startswith("router.") for one in decorators) and not decorators[-1].startswith("requires("):
                wrong.append(f"{path}:{node.lineno}: no @requires below the path")
    assert not wrong, "\n".join(wrong)


def test_routes_read_parameters_by_annotated_aliases_alone() -> None:
    wrong = []
    for path, tree in modules():
        for node in ast.walk(tree):
            decorators = [ast.unparse(one) for one in getattr(node, "decorator_list", ())]
            if isinstance(node, ast.AsyncFunctionDef) and any(one.startswith("router.") for one in decorators):
                annotations = [one.annotation for one in (*node.args.args, *node.args.kwonlyargs)]
                plain = {ast.unparse(one) for one in annotations if one} & {"str", "int", "bool", "dict", "list"}
                calls = {ast.unparse(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)}
                if plain or calls & {"parse_enum", "parse_integer", "parse_subject_version"}:
                    wrong.append(f"{path}:{node.lineno}: {node.name}")
    assert not wrong, "\n".join(wrong)


def count_calls(folder: str, function: str) -> dict[str, int]:
    """Return how many times each module of a folder calls a function, by its name."""
    counts = {
        path: sum(isinstance(node, ast.Call) and ast.unparse(node.func) == function for node in ast.walk(tree))
        for path, tree in modules()
        if path.startswith(folder)
    }
    return {path: count for path, count in counts.items() if count}


def test_a_registration_computes_content_hashes_and_guid_in_one_place() -> None:
    assert count_calls("registry/", "build_content") == {"registry/registration/candidate.py": 1}
    for folder in ("registry/registration/", "registry/features/", "registry/http/"):
        assert set(count_calls(folder, "compute_guid")) <= {"registry/registration/candidate.py"}
        assert set(count_calls(folder, "Append")) <= {"registry/registration/decision.py"}


def test_a_requested_version_is_a_value() -> None:
    numbers = re.compile(r"version(_number)? (==|!=|<=|>) (0|-1)\b|_LATEST: Final = -1")
    folder = ROOT / "registry/registration"
    wrong = [path.name for path in folder.glob("*.py") if numbers.search(path.read_text(encoding="utf-8"))]
    assert wrong == ["references.py"]  # the number in a reference, as it is stored


def test_a_missing_version_and_the_settings_in_force_have_one_implementation() -> None:
    assert count_calls("registry/", "VersionNotFound") == {
        "registry/features/compatibility/service.py": 1,  # says so of a missing subject too, as the reference does
        "registry/registration/deletion.py": 1,  # decided on all versions of the subject, which it has read
        "registry/registration/existing_version.py": 1,
    }
    merging = set(count_calls("registry/features/", "ScopeSettings.merge"))
    assert merging == {"registry/features/config/service.py"}  # it needs each scope's own settings too
    assert count_calls("registry/registration/", "ScopeSettings.merge") == {"registry/registration/mode_policy.py": 1}
    assert set(count_calls("registry/", "retry_stale")) == {
        "registry/features/associations/service.py",
        "registry/registration/service.py",
    }


def test_a_limit_of_dependencies_and_the_newest_journal_entry_are_written_once() -> None:
    limits, queries = [], []
    for path, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) in {"MAX_DEPENDENCIES", "MAX_REFERENCED"}:
                limits.append(f"{path}: {ast.unparse(node.target)}")
            if isinstance(node, ast.Call) and re.fullmatch(
                r"func\.max\((_C|tables\.changes\.c)\.sequence\)", ast.unparse(node)
            ):
                queries.append(path)
    # what a registry parses with a schema; what a client fetches of a registry that may send them without end
    assert limits == ["clients/calls/references.py: MAX_REFERENCED", "compatibility/limits.py: MAX_DEPENDENCIES"]
    assert queries == ["registry/storage/journal.py"]


def test_the_rule_for_functions_knows_participles() -> None:
    names = ("_judged", "told", "feed", "parse_schema")
    assert [is_bare_participle(name) for name in names] == [True, True, False, False]

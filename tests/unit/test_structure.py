"""Rules of the code base that a program can check; `make check` runs them."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from contractlog.contracts.audit.outcomes import Outcome

from support.deadlines import WAIT_SECONDS

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
def test_metadata_of_source_archives_is_that_of_the_locked_versions() -> None:
    """Else uv unpacks pyspark at each compilation, and keeps every copy."""
    locked = (ROOT / "requirements/dev.txt").read_text().splitlines()
    described = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["dependency-metadata"]
    assert all(f"{package['name']}=={package['version']} \\" in locked for package in described)


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


def calls_of(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    """Yield the calls of a function or method by this name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == name:
            yield node


def client_modules() -> list[tuple[str, ast.Module]]:
    """Return (path, tree) of every module of the clients."""
    return [(path, tree) for path, tree in modules() if path.startswith("clients/")]


def test_client_methods_are_made_of_one_description_of_each_operation() -> None:
    """Both clients send only what ``calls/`` describes; no method of one is written again for the other."""
    sources = {"clients/registry.py", "clients/async_registry.py"}
    sources |= {"clients/confluent/client.py", "clients/confluent/async_client.py"}
    tables = {}
    for path, tree in client_modules():
        if path in sources:
            made = [
                (target.id, ast.unparse(node.value.args[0]))
                for node in ast.walk(tree)
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
                for target in node.targets
                if isinstance(target, ast.Name) and ast.unparse(node.value.func).endswith("endpoint")
            ]
            assert all(name == description.rpartition(".")[2] for name, description in made)
            tables[path] = sorted(made)
            assert not [call for name in ("Call", "by_id") for call in calls_of(tree, name)]
    assert tables["clients/registry.py"] == tables["clients/async_registry.py"]
    assert tables["clients/confluent/client.py"] == tables["clients/confluent/async_client.py"]
    assert min(map(len, tables.values())) > 30


def test_clients_make_no_classes_at_run_time() -> None:
    wrong = [
        f"{path}:{node.lineno}"
        for path, tree in client_modules()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ClassDef) or (isinstance(node, ast.Attribute) and node.attr == "__bases__")
    ]
    assert not wrong


def test_no_class_is_made_by_a_call() -> None:
    wrong = [
        f"{path}:{call.lineno}"
        for path, tree in modules()
        for name in ("type", "new_class", "make_dataclass")
        for call in calls_of(tree, name)
        if name != "type" or len(call.args) > 1
    ]
    assert not wrong


def test_one_driver_sends_attempts_and_sequences() -> None:
    """Generators without I/O are driven in ``clients/steps.py`` alone; pages are also read in ``endpoints.py``."""
    drivers = {
        path
        for path, tree in client_modules()
        if any(
            ast.unparse(call.func) in {"steps.send", "pages.send", "attempts.send"} for call in calls_of(tree, "send")
        )
        or any(calls_of(tree, "throw"))
    }
    assert drivers == {"clients/steps.py", "clients/endpoints.py"}


def test_clients_import_the_command_line_nowhere_but_in_it() -> None:
    wrong = [
        path
        for path, tree in client_modules()
        if not path.startswith("clients/cli/")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("contractlog.clients.cli")
    ]
    assert not wrong


#: What is written in the place of a file, and why it is not written by ``clients/atomic_file.py``.
REPLACED_OTHERWISE = {
    "registry/access/users_file_editor.py": "keeps the owner of the file, and waits until it is on disk",
    "spark_validation/sources/archive.py": "a Parquet file, written by its own library",
    "spark_validation/violations.py": "a Parquet file, written by its own library",
}


def test_files_are_replaced_by_one_helper() -> None:
    replacing = {
        path
        for path, tree in modules()
        for call in calls_of(tree, "replace")
        if len(call.args) == 1 and not call.keywords and isinstance(call.func, ast.Attribute)
    }
    assert replacing == {"clients/atomic_file.py", *REPLACED_OTHERWISE}


#: Clocks whose difference is what a machine and its neighbours make of it.
CLOCKS = frozenset({"monotonic", "perf_counter", "process_time", "thread_time", "time"})


DEADLINES = "tests/support/deadlines.py"  #: may wait for as long as its callers say


SHORTEST_DEADLINE = 20  #: seconds: a deadline finds what hangs, and is never near what it waits for


def reads_a_clock(node: ast.AST, names: Mapping[str, ast.expr]) -> bool:
    """Return whether an expression calls a clock, or names a value that was made of one."""
    return any(
        (isinstance(one, ast.Call) and ast.unparse(one.func).removeprefix("time.") in CLOCKS)
        or (isinstance(one, ast.Name) and one.id in names)
        for one in ast.walk(node)
    )


def numbers(node: ast.AST, constants: Mapping[str, float]) -> list[float]:
    """Return the numbers in an expression, written or named by the module."""
    return [
        one.value if isinstance(one, ast.Constant) else constants[one.id]
        for one in ast.walk(node)
        if (isinstance(one, ast.Constant) and isinstance(one.value, int | float))
        or (isinstance(one, ast.Name) and one.id in constants)
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
                (node.lineno, larger, [one.id for one in ast.walk(larger) if isinstance(one, ast.Name)])
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
    assert callers("registry/transfer/", "SnapshotSchema") == {
        "registry/transfer/database_source.py",  # rows of our own tables, which need no parsing
        "registry/transfer/field_parsers.py",
    }
    assert callers("registry/transfer/", "StoredAssociation") == {"registry/transfer/field_parsers.py"}


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


#: Avro is the type that the API omits; everything else that differs by format is a member of ``SchemaFormat``.
DEFAULT_TYPE_MODULES = frozenset({"compatibility/schema.py", "registry/registration/candidate.py"})


#: `contractlog pull` writes schemas of every type of the API without loading the formats.
UNPARSED_TYPE_MODULES = frozenset({"clients/cli/pull.py"})


def test_the_table_of_formats_is_the_only_place_that_tells_formats_apart() -> None:
    wrong = [
        f"{path}:{node.lineno}: {ast.unparse(node)}"
        for path, tree in modules()
        if path.startswith(("clients/", "compatibility/", "registry/"))
        and path not in DEFAULT_TYPE_MODULES | UNPARSED_TYPE_MODULES
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        and isinstance(node.ops[0], ast.Is | ast.IsNot)
        and ast.unparse(node.comparators[0]).startswith("SchemaType.")
    ]
    assert not wrong, "\n".join(wrong)


def test_keywords_of_json_schema_are_listed_in_the_vocabulary() -> None:
    from contractlog.compatibility.json_schema import vocabulary

    keywords = vocabulary.SCHEMA_KEYWORDS | vocabulary.ASSERTING_KEYWORDS | vocabulary.ANNOTATION_KEYWORDS
    keywords = keywords.union(vocabulary.SCHEMA_LIST_KEYWORDS, vocabulary.SCHEMA_MAP_KEYWORDS, vocabulary.DATA_KEYWORDS)
    wrong = [
        f"{path}:{node.lineno}: {ast.unparse(node)}"
        for path, tree in modules()
        if path.startswith("compatibility/") and path != "compatibility/json_schema/vocabulary.py"
        for assignment in tree.body
        if isinstance(assignment, ast.Assign | ast.AnnAssign) and assignment.value is not None
        for node in ast.walk(assignment.value)
        if isinstance(node, ast.Tuple | ast.List | ast.Set)
        and f"fromkeys({ast.unparse(node)}" not in ast.unparse(assignment.value)  # a function or check by keyword
        and len(node.elts) > 2
        and all(isinstance(item, ast.Constant) and item.value in keywords for item in node.elts)
    ]
    assert not wrong, "\n".join(wrong)


def test_drafts_of_json_schema_are_told_apart_by_their_facts() -> None:
    wrong = [
        f"{path}:{node.lineno}"
        for path, tree in modules()
        if path.startswith("compatibility/") and path != "compatibility/json_schema/vocabulary.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and re.search(r"'(draft-0\d|20\d\d-\d\d)'", ast.unparse(node))
    ]
    assert not wrong, "\n".join(wrong)


def test_json_pointers_are_decoded_in_one_place() -> None:
    wrong = [
        f"{path}:{node.lineno}"
        for path, tree in modules()
        if path != "compatibility/json_text.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in {"~1", "~0"}
    ]
    assert not wrong, "\n".join(wrong)


def test_references_of_json_schemas_are_resolved_by_documents() -> None:
    """Only the check of a new schema looks up its references itself, as the meta-schema's vocabulary defines them."""
    wrong = [
        path
        for path, tree in modules()
        if path.startswith("compatibility/")
        and path not in {"compatibility/json_schema/documents.py", "compatibility/json_schema/parser.py"}
        and any(isinstance(node, ast.Attribute) and node.attr == "lookup" for node in ast.walk(tree))
    ]
    assert not wrong


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
    assert limits == ["clients/calls/schemas.py: MAX_REFERENCED", "compatibility/limits.py: MAX_DEPENDENCIES"]
    assert queries == ["registry/storage/journal.py"]


def modules_with(folder: str, text: str) -> set[str]:
    """Return the modules of a folder that contain a text."""
    paths = {str(path.relative_to(ROOT)): path for path in (ROOT / folder).rglob("*.py")}
    return {name for name, path in paths.items() if text in path.read_text(encoding="utf-8")}


def test_the_bounds_of_a_setting_stand_beside_it() -> None:
    assert not (ROOT / "registry/setting_parser.py").exists()
    assert modules_with("registry", "Bounds(") == {"registry/settings.py"}


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


# Associations


def test_an_association_is_declared_once_and_columns_and_members_have_its_names() -> None:
    from contractlog.clients.bodies import Association
    from contractlog.registry.features.associations.bodies import AssociationBody
    from contractlog.registry.storage.associations import StoredAssociation
    from contractlog.registry.storage.tables import associations

    names = {member.name for member in fields(StoredAssociation)}
    assert {column.name for column in associations.columns} == names | {"context", "subject_key"}
    times = {"created_at", "updated_at"}
    assert {member.name for member in fields(Association)} == names - times | {"create_ts", "update_ts"}
    assert set(AssociationBody.__struct_fields__) == names - times | {"create_ts", "update_ts"}
    theirs = {
        member.target.id
        for path, tree in client_modules()
        for node in tree.body
        if path == "clients/confluent/schema.py" and isinstance(node, ast.ClassDef) and node.name == "Association"
        for member in node.body
        if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name)
    }
    assert theirs
    assert theirs < names


def test_members_of_an_association_are_named_by_its_attributes() -> None:
    assert modules_with("clients", '"associationType":') == set()
    assert modules_with("registry", '"associationType":') == {"registry/http/openapi.py"}  # its description
    assert modules_with("clients", '"resourceName":') | modules_with("registry", '"resourceName":') == set()
    assert modules_with("compatibility", '"resourceName":') == {"compatibility/associations.py"}


# Audit results


def test_the_registry_verifies_an_audit_result_by_the_declaration_of_the_report() -> None:
    from contractlog.contracts.audit.report import AuditedPart, TopicPart
    from contractlog.registry.features.conformance.service import _TopicEntry

    assert AuditedPart.__annotations__.keys() < _TopicEntry.__annotations__.keys() < TopicPart.__annotations__.keys()
    assert modules_with("registry", "from_offset: int") == modules_with("registry", "conforming: int") == set()


# Queries


def test_only_storage_and_stores_execute_statements() -> None:
    """A resource's SQL stands in its ``store.py``; services, routes and the registration call functions of stores."""

    def is_store(path: str) -> bool:
        return path.startswith("registry/storage/") or bool(re.fullmatch(r"registry/features/\w+/store\.py", path))

    connected = {
        path
        for path, tree in modules()
        if path.startswith("registry/") and not is_store(path)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "connection"
    }
    statements = {
        path
        for path, module, name in imports("registry/")
        if module.split(".")[0] == "sqlalchemy" and name in {"delete", "insert", "select", "text", "update"}
    }
    assert not connected
    assert {path for path in statements if not is_store(path)} == {"registry/database.py"}  # before there is a store


# Generated code


def test_failures_of_generated_code_are_counted_in_one_place() -> None:
    """There it is known whether the interpreter accepts what the code rejected."""
    assert modules_with("serdes", "GENERATED_CODE_FAILURES.add(") == {"serdes/avro/body_codec.py"}


# Classes of confluent-kafka


def test_bases_are_changed_in_one_module_and_others_import_confluent_kafka_plainly() -> None:
    changing = {
        path
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "__bases__"
    }
    assert changing == {"compatibility/confluent_bases.py"}  # its docstring has the cost of an import
    assert {path for path, module, _ in imports("clients/") if module.startswith("confluent_kafka")} == {
        "clients/confluent/bases.py"
    }


# Fixpoints


def test_a_greatest_fixpoint_over_dependents_is_written_once() -> None:
    """JSON Schema's pairs are decided in the order in which rules ask for them, as each answer decides what follows."""
    assert modules_with("compatibility", "_dependents") == {"compatibility/fixpoint.py"}
    assert {path for path, _, name in imports("compatibility/") if name == "Fixpoint"} == {
        "compatibility/json_schema/exact/engine.py",
        "compatibility/walk.py",
    }

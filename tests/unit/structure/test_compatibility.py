"""Rules for engines: one table of formats, one vocabulary, one resolver, one pointer decoder."""

from __future__ import annotations

import ast
import re

from support.source_tree import imports, modules, modules_with

#: Avro is the type that the API omits; everything else that differs by format is a member of ``SchemaFormat``.
DEFAULT_TYPE_MODULES = frozenset({"compatibility/schema.py", "registry/registration/candidate.py"})

#: `contractlog pull` writes schemas of every type of the API without loading the formats.
UNPARSED_TYPE_MODULES = frozenset({"clients/cli/pull/pulled_text.py"})


def test_the_table_of_formats_is_the_only_place_that_tells_formats_apart() -> None:
    wrong = [
        f"{path}:{node.lineno}: {ast.unparse(node)}"
        for path, tree in modules("clients/", "compatibility/", "registry/")
        if path not in DEFAULT_TYPE_MODULES | UNPARSED_TYPE_MODULES
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
        for path, tree in modules("compatibility/")
        if path != "compatibility/json_schema/vocabulary.py"
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
        for path, tree in modules("compatibility/")
        if path != "compatibility/json_schema/vocabulary.py"
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
        for path, tree in modules("compatibility/")
        if path not in {"compatibility/json_schema/reference_resolver.py", "compatibility/json_schema/parser.py"}
        and any(isinstance(node, ast.Attribute) and node.attr == "lookup" for node in ast.walk(tree))
    ]
    assert not wrong


def test_subjects_are_named_after_topics_by_one_function() -> None:
    name = re.compile(r"\{[^{}]*topic[^{}]*\}-(\{[^{}]*(?<![a-z])(part|field|name|record)(?![a-z])|key|value)")
    wrong = [
        f"{path}:{node.lineno}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        and name.match(ast.unparse(node)[2:-1])
        and path != "compatibility/identifiers.py"
    ]
    assert not wrong, "\n".join(wrong)


def test_a_greatest_fixpoint_over_dependents_is_written_once() -> None:
    """JSON Schema's pairs are decided in the order in which rules ask for them, as each answer decides what follows."""
    assert modules_with("compatibility/", "_dependents") == {"compatibility/fixpoint.py"}
    assert {path for path, _, name in imports("compatibility/") if name == "Fixpoint"} == {
        "compatibility/json_schema/exact/proof_engine.py",
        "compatibility/pair_walk.py",
    }


def test_failures_of_generated_code_are_counted_in_one_place() -> None:
    """There it is known whether the interpreter accepts what the code rejected."""
    assert modules_with("serdes/", "GENERATED_CODE_FAILURES.add(") == {"serdes/avro/readers_and_writers.py"}

"""Rules for names: nouns for modules, verbs for functions, unique public classes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from support.source_tree import modules, tool_modules

#: Words that say nothing to a newcomer: no module or function has one of them as its whole name.
BANNED_WORDS = frozenset(
    """
    among asetting asked asking awaited belonging foresight found held hopeless hot kept kinship known leaning meant
    mending moving observed one other own place places questions remembered remembering retirement said seen shown
    sought standing telling told turns understanding understood words
    """.split()  # noqa: SIM905 -- easier to read and extend
)

#: Words that do not say what a variable, a parameter or an attribute holds.
BANNED_VARIABLES = frozenset(
    "asked at_once found held known made one place said shown told".split()  # noqa: SIM905 -- as above
)

#: Modules named by an activity that the field has a noun for.
GERUNDS_ALLOWED = frozenset(
    {"finding", "jsonschema_wording", "located_finding", "logging", "sampling", "serving", "testing"}
)

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


#: Modules that are not renamed yet.
NOT_YET = ("tests/support/ci_formats.py", "tests/support/gate.py")


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
    for path, _ in modules() + tool_modules():
        for part in Path(path).with_suffix("").parts:
            gerund = part.endswith("ing") and part not in GERUNDS_ALLOWED
            if part in BANNED_WORDS or gerund or is_bare_participle(part):
                wrong.append(path)
    assert not wrong, "\n".join(wrong)


def test_functions_are_not_named_by_a_participle_or_a_banned_word() -> None:
    wrong = [
        f"{path}:{node.lineno}: {node.name}"
        for path, tree in modules() + tool_modules()
        if path not in NOT_YET
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("__")
        and not names_a_value(node)
        and (is_bare_participle(node.name) or node.name.strip("_") in BANNED_WORDS)
        and node.name not in NAMES_ALLOWED
    ]
    assert not wrong, "\n".join(wrong)


def bound_name(node: ast.AST) -> str:
    """Return the name that a node binds; empty if it binds none."""
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return node.attr
    return ""


def test_variables_say_what_they_hold() -> None:
    wrong = [
        f"{path}:{node.lineno}: {bound_name(node)}"
        for path, tree in modules() + tool_modules()
        if not path.startswith(NOT_YET)
        for node in ast.walk(tree)
        if isinstance(node, ast.arg | ast.Name | ast.Attribute) and bound_name(node).strip("_") in BANNED_VARIABLES
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

"""Rules for the use of libraries, with figures for exceptions."""

from __future__ import annotations

import ast
import re
import tomllib

from support.source_tree import ROOT, modules, modules_with


def test_the_bounded_cache_is_one_class_and_no_other_module_evicts_the_oldest_entry() -> None:
    """An ``OrderedDict``, and a dict whose first key is removed, are caches by hand."""
    eviction = re.compile(r"\bOrderedDict\b|popitem\(last=False\)|(del |pop\().*next\(iter\(|def _evict")
    evicting = [path for path, _ in modules() if eviction.search((ROOT / path).read_text(encoding="utf-8"))]
    assert evicting == [
        "compatibility/bounded_cache.py",
        "registry/http/password_check_queue.py",
    ]  # the latter is a queue


def test_pages_are_templates_and_modules_write_html_of_one_phrase_at_most() -> None:
    tag = re.compile(
        r"<!doctype|</?(html|head|body|main|section|div|table|t[rdh]|ul|ol|li|h\d|p|a|details|style|script)\b"
    )
    wrong = [
        f"{path}:{node.lineno}: {node.value[:80]}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and tag.search(node.value)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_module_edits_toml_by_regular_expressions() -> None:
    tables = re.compile(r"\\\[\w*\\?\.|f\"\[\w+\.")  # an escaped header in a pattern, or a header in an f-string
    with_toml = [path for path, _ in modules() if "toml" in (ROOT / path).read_text(encoding="utf-8")]
    wrong = [path for path in with_toml if tables.search((ROOT / path).read_text(encoding="utf-8"))]
    assert not wrong
    assert modules_with("registry/", "import tomlkit") == {"registry/access/users_file_editor.py"}


def test_libraries_are_dependencies_if_the_architecture_says_adopted() -> None:
    table = re.compile(r"^\| ([\w-]+) \| .* \| ((?:not )?adopted) \|$", re.MULTILINE)
    decisions = dict(table.findall((ROOT / "docs/architecture.md").read_text(encoding="utf-8")))
    assert {"cachetools", "prometheus-client", "argon2-cffi", "tomlkit", "pydantic-settings", "Jinja2", "rich"} == {
        *decisions
    }
    server = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["server"]
    assert {name for name in decisions if name.lower() in server} == {
        name for name, decision in decisions.items() if decision == "adopted"
    }

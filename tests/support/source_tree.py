"""Syntax trees of the project's source, for the rules in ``tests/unit/structure``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

__all__ = [
    "PRODUCT",
    "ROOT",
    "TOOLS",
    "calls_by_module",
    "calls_of",
    "imports",
    "modules",
    "modules_with",
    "tool_modules",
]

ROOT: Final = Path(__file__).parents[2]
PRODUCT: Final = ("clients", "compatibility", "contracts", "migrations", "registry", "serdes", "spark_validation")
TOOLS: Final = ("benchmarks", "examples", "tests/support")


@cache
def _parse_modules(*parts: str) -> tuple[tuple[str, ast.Module], ...]:
    paths = [path for part in parts for path in sorted((ROOT / part).rglob("*.py"))]
    return tuple((str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))) for path in paths)


def modules(*folders: str) -> list[tuple[str, ast.Module]]:
    """Return (path, tree) of every module of the product, or of the folders named with a final slash."""
    return [(path, tree) for path, tree in _parse_modules(*PRODUCT) if not folders or path.startswith(folders)]


def tool_modules() -> list[tuple[str, ast.Module]]:
    """Return (path, tree) of every module of benchmarks, examples and ``tests/support``."""
    return list(_parse_modules(*TOOLS))


def calls_of(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    """Yield the calls of a function or class by name, such as ``retry_stale`` or ``Scope.merge``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and f".{ast.unparse(node.func)}".endswith(f".{name}"):
            yield node


def calls_by_module(folder: str, name: str) -> dict[str, int]:
    """Return how many times each module of a folder that calls a function does so."""
    counts = {path: sum(1 for _ in calls_of(tree, name)) for path, tree in modules(folder)}
    return {path: count for path, count in counts.items() if count}


def imports(folder: str) -> Iterator[tuple[str, str, str]]:
    """Yield (path, module, name) of each name that a module of a folder imports from another one."""
    for path, tree in modules(folder):
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                yield from ((path, node.module or "", alias.name) for alias in node.names)


def modules_with(folder: str, text: str) -> set[str]:
    """Return the modules of a folder that contain a text."""
    return {path for path, _ in modules(folder) if text in (ROOT / path).read_text(encoding="utf-8")}

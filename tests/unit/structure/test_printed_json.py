"""Rule for printed JSON: control characters and CI commands are JSON escapes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from support.source_tree import modules

PRINTERS = ("print", "print_message", "print_error", "print_result", "print_document", "sys.stdout.write")


def unescaped_dumps(node: ast.AST) -> Iterator[int]:
    """Yield the lines of calls of ``dumps`` in an expression, besides those in ``escape_json_line``."""
    for child in ast.iter_child_nodes(node):
        function = ast.unparse(child.func) if isinstance(child, ast.Call) else ""
        if function.endswith("dumps"):
            yield child.lineno  # type: ignore[attr-defined]
        elif function != "escape_json_line":
            yield from unescaped_dumps(child)


def test_printed_json_is_escaped_as_json() -> None:
    printed = [
        (path, call)
        for path, tree in modules()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name | ast.Attribute)
        if ast.unparse(call.func) in PRINTERS
    ]
    assert len(printed) > 100
    assert not [f"{path}:{line}" for path, call in printed for line in unescaped_dumps(call)]

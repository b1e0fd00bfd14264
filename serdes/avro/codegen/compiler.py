"""Compilation of generated functions, imported on first use, so that start-up does not pay for it.

The syntax tree of generated source text is checked against an allowlist before it is compiled.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from contractlog.serdes.avro.codegen import InterpreterNeeded
from contractlog.serdes.avro.codegen.codec_analysis import NotGenerated
from contractlog.serdes.avro.codegen.read_emitter import generate_reader
from contractlog.serdes.avro.codegen.source_text import MAIN_FUNCTION, SourceText
from contractlog.serdes.avro.codegen.write_emitter import generate_writer
from contractlog.serdes.avro.interpreter.codecs import Codec, ValueReader
from contractlog.serdes.avro.limits import Limits

__all__ = ["SyntaxNotAllowed", "compile_source", "generate_read_function", "generate_write_function"]

_NODES: Final = {
    *(ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Raise, ast.Pass),
    *(ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.IfExp, ast.For, ast.While, ast.Break),
    *(ast.Name, ast.Load, ast.Store, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Subscript, ast.Slice),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Div, ast.RShift, ast.LShift, ast.BitAnd, ast.BitXor, ast.UnaryOp, ast.USub),
    *(ast.BoolOp, ast.And, ast.Or, ast.Not, ast.Compare, ast.Is, ast.IsNot, ast.In, ast.NotIn),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Call, ast.Attribute, ast.keyword),
}
_ATTRIBUTES: Final = frozenset({"append", "decode", "get", "items", "toordinal"})
_KEYWORD: Final = "signed"
_LOCAL: Final = re.compile(r"[a-jl-r-t-z][0-9]*")
_FUNCTION: Final = re.compile(r"f[0-9]+")


def generate_read_function(reader: ValueReader, limits: Limits) -> Callable[..., Any]:
    """Return a function ``(bytes, position) -> value``, or one that leaves everything to the interpreter."""
    return _compile_or_fall_back(lambda: generate_reader(reader, limits))


def generate_write_function(codec: Codec, limits: Limits) -> Callable[..., Any]:
    """Return a function ``(value, prefix) -> bytes``, or one that leaves everything to the interpreter."""
    return _compile_or_fall_back(lambda: generate_writer(codec, limits))


def _compile_or_fall_back(write: Callable[[], SourceText]) -> Callable[..., Any]:
    try:
        return compile_source(write())
    except (NotGenerated, RecursionError, SyntaxError):
        return _use_interpreter


def _use_interpreter(*_: Any) -> Any:
    raise InterpreterNeeded


class SyntaxNotAllowed(Exception):
    """The syntax tree contains something that no generator of this package writes."""


def compile_source(source: SourceText) -> Callable[..., Any]:
    """Return the main function of a source text.

    Raises:
        SyntaxNotAllowed: the text contains something that is not on the allowlist.
        SyntaxError: the text is nested too deeply for Python.
    """
    tree = ast.parse(source.text)
    check_tree(tree, source.constants, source.literals)
    namespace: dict[str, Any] = {"__builtins__": {}, **source.constants}
    exec(compile(tree, "<contractlog: generated for a schema>", "exec"), namespace)  # noqa: S102 -- checked
    main: Callable[..., Any] = namespace[MAIN_FUNCTION]
    return main


def check_tree(tree: ast.Module, constants: Collection[str], literals: Mapping[str, str | bytes]) -> None:
    """Check every node against the allowlist, and replace the names of literals by their values.

    Raises:
        SyntaxNotAllowed: a node, a name, a constant or an attribute is not on it.
    """
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    fixed = functions.union(constants)
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if type(node) not in _NODES or not _is_allowed(node, fixed):
            raise SyntaxNotAllowed(f"generated code holds {ast.dump(node)[:200]}")
        pending += _child_nodes(node, literals)


def _is_allowed(node: ast.AST, fixed: Collection[str]) -> bool:  # noqa: PLR0911 -- one line per kind
    """Return whether a node has only what the allowlist permits for its kind."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            return name in fixed or _LOCAL.fullmatch(name) is not None
        case ast.Name(id=name) | ast.arg(arg=name):
            return name not in fixed and _LOCAL.fullmatch(name) is not None
        case ast.Constant(value=value):
            return value is None or type(value) in {bool, int}
        case ast.Attribute(attr=name, ctx=ast.Load()):
            return name in _ATTRIBUTES
        case ast.keyword(arg=name):
            return name == _KEYWORD
        case ast.FunctionDef(name=name):
            return _FUNCTION.fullmatch(name) is not None and not node.decorator_list
        case ast.arguments():
            return not (node.defaults or node.kwonlyargs or node.vararg or node.kwarg or node.posonlyargs)
        case ast.Attribute():
            return False
    return True


def _child_nodes(node: ast.AST, literals: Mapping[str, str | bytes]) -> list[ast.AST]:
    """Return the child nodes to check. Names of literals are replaced by constants, which need no check."""
    children: list[ast.AST] = []
    for field in node._fields:
        inside = getattr(node, field, None)
        if isinstance(inside, list):
            for index, item in enumerate(inside):
                if type(item) is ast.Name and item.id in literals:
                    inside[index] = _make_literal(item, literals)
                elif isinstance(item, ast.AST):
                    children.append(item)
        elif type(inside) is ast.Name and inside.id in literals:
            setattr(node, field, _make_literal(inside, literals))
        elif isinstance(inside, ast.AST):
            children.append(inside)
    return children


def _make_literal(name: ast.Name, literals: Mapping[str, str | bytes]) -> ast.Constant:
    return ast.copy_location(ast.Constant(value=literals[name.id]), name)

"""Why the reference's policies admit a change that spoils old documents: every cause that is known, as a program.

A counterexample is a document that is valid for the writer's schema and not for the reader's, though the policy admits
the change. A cause neutralises itself: it eases the reader's schema, or tightens the writer's, exactly where it works.
What is left of a counterexample when all causes have been neutralised is unassigned; else its causes are a smallest
set that makes it vanish. Below a ``not`` reader and writer change their roles.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, Final

from contractlog.compatibility.finding import Finding

Ease = Callable[[dict[str, Any], "Pair"], None]

_SCHEMAS: Final = (
    "additionalProperties",
    "additionalItems",
    "items",
    "contains",
    "propertyNames",
    "if",
    "then",
    "else",
)
_LATER: Final = ("unevaluatedItems", "unevaluatedProperties")
_LISTS: Final = ("allOf", "anyOf", "oneOf", "items", "prefixItems")
_NAMED: Final = ("properties", "patternProperties", "definitions", "$defs", "dependencies", "dependentSchemas")
_TYPED: Final = {
    "string": {"minLength", "maxLength", "pattern", "format"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    "object": {"properties", "required", "minProperties", "maxProperties", "additionalProperties", "patternProperties"}
    | {"propertyNames", "dependencies", "dependentRequired", "dependentSchemas", "unevaluatedProperties"},
    "array": {"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "additionalItems"}
    | {"unevaluatedItems"},
}


class Pair:
    """A reader's and a writer's schema, to be changed in place."""

    def __init__(self, reader: Any, writer: Any, findings: list[Finding]) -> None:
        self.reader = copy.deepcopy(reader)
        self.writer = copy.deepcopy(writer)
        self.findings = findings


def nodes(schema: Any, *, positive: bool = True) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield every schema inside, and whether it stands below an even number of ``not``."""
    if not isinstance(schema, dict):
        return
    yield schema, positive
    if "not" in schema:
        yield from nodes(schema["not"], positive=not positive)
    for word in (*_SCHEMAS, *_LATER):
        yield from nodes(schema.get(word), positive=positive)
    for word in _LISTS:
        for branch in schema[word] if isinstance(schema.get(word), list) else ():
            yield from nodes(branch, positive=positive)
    for word in _NAMED:
        for part in schema[word].values() if isinstance(schema.get(word), dict) else ():
            yield from nodes(part, positive=positive)


def _reading(ease: Ease) -> Callable[[Pair], None]:
    """Ease what reads: the reader, and the writer below a ``not``."""

    def neutralise(pair: Pair) -> None:
        for root, reads in ((pair.reader, True), (pair.writer, False)):
            for node, positive in list(nodes(root)):
                if positive is reads:
                    ease(node, pair)

    return neutralise


def _writing(tighten: Ease) -> Callable[[Pair], None]:
    """Tighten what writes: the writer, and the reader below a ``not``."""

    def neutralise(pair: Pair) -> None:
        for root, reads in ((pair.reader, True), (pair.writer, False)):
            for node, positive in list(nodes(root)):
                if positive is not reads:
                    tighten(node, pair)

    return neutralise


def _drop(*words: str) -> Callable[[Pair], None]:
    def ease(node: dict[str, Any], _pair: Pair) -> None:
        for word in words:
            node.pop(word, None)

    return _reading(ease)


def _patterns(node: dict[str, Any], pair: Pair) -> None:
    every = {
        pattern: {}
        for root in (pair.reader, pair.writer)
        for other, _ in nodes(root)
        for pattern in other.get("patternProperties", ())
    }
    if "patternProperties" in node or "additionalProperties" in node:
        node["patternProperties"] = copy.deepcopy(every)


def _unlisted_names(node: dict[str, Any], _pair: Pair) -> None:
    if isinstance(node.get("required"), list):
        declared = node.get("properties", {})
        node["required"] = [name for name in node["required"] if name in declared]
        if not node["required"]:
            del node["required"]


def _types(node: dict[str, Any], _pair: Pair) -> None:
    kind = node.get("type")
    family = "number" if kind == "integer" else kind
    if isinstance(family, str) and _TYPED.get(family, set()) & set(node):
        if kind == "integer":
            node.setdefault("multipleOf", 1)
        del node["type"]


def _one(node: dict[str, Any], _pair: Pair) -> None:
    if "oneOf" in node:
        branches = node.pop("oneOf")
        node.setdefault("allOf", []).append({"anyOf": branches})


def _exclusive(node: dict[str, Any], _pair: Pair) -> None:
    for word in ("exclusiveMaximum", "exclusiveMinimum"):
        if node.get(word) is True:
            del node[word]


def _closed_by_patterns(node: dict[str, Any], _pair: Pair) -> None:
    if node.get("patternProperties") and node.get("additionalProperties", True) is True:
        node["additionalProperties"] = False


def _found(pair: Pair, wanted: Callable[[str], bool]) -> Iterator[tuple[str, str, str]]:
    for finding in pair.findings:
        kind = finding.check.removeprefix("JSON_")
        if wanted(kind):
            yield kind, finding.reader_at, finding.writer_at


def _defaults(pair: Pair) -> None:
    """What was demanded because a default stands for it is demanded no more."""
    for _, reader_at, writer_at in _found(pair, lambda kind: "WITH_DEFAULT" in kind):
        name = writer_at.rpartition("/")[2] if "/required/" in reader_at else reader_at.rpartition("/")[2]
        if "/required/" in reader_at:
            name = _at(pair.reader, reader_at)
        node = _at(pair.reader, _above(reader_at))
        node = node if isinstance(node, dict) else None
        if node and name in node.get("required", ()):
            node["required"] = [one for one in node["required"] if one != name]


def _lenient(pair: Pair) -> None:
    """What LENIENT admits by design is admitted: the differences themselves say where."""
    for kind, reader_at, writer_at in _found(pair, LENIENT_ONLY.__contains__):
        if "REMOVED_FROM_CLOSED" in kind:
            node = _at(pair.reader, reader_at)
            if isinstance(node, dict):
                node.setdefault("properties", {})[_unescaped(writer_at)] = {}
        elif kind.startswith(("ADDITIONAL_", "UNEVALUATED_")):
            node = _at(pair.reader, _above(reader_at, 1))
            if isinstance(node, dict):
                node.pop(_unescaped(reader_at), None)
        else:
            holder = _at(pair.reader, _above(reader_at, 1))
            if isinstance(holder, dict):
                holder[_unescaped(reader_at)] = {}


def _above(at: str, levels: int = 2) -> str:
    return "/".join(at.split("/")[:-levels])


def _unescaped(at: str) -> str:
    return at.rpartition("/")[2].replace("~1", "/").replace("~0", "~")


def _at(schema: Any, at: str) -> Any:
    for written in at.split("/")[1:]:
        token = written.replace("~1", "/").replace("~0", "~")
        try:
            schema = schema[int(token)] if isinstance(schema, list) else schema[token]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return schema


LENIENT_ONLY: Final = frozenset(
    {
        "ADDITIONAL_PROPERTIES_REMOVED",
        "ADDITIONAL_PROPERTIES_NARROWED",
        "UNEVALUATED_PROPERTIES_REMOVED",
        "UNEVALUATED_PROPERTIES_NARROWED",
        "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL",
        "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
        "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL",
        "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    }
)

CAUSES: Final[dict[str, Callable[[Pair], None]]] = {
    "required with default": _defaults,
    "silent gap: required names outside properties": _reading(_unlisted_names),
    "admitted by LENIENT by design": _lenient,
    "silent gap: if, then, else": _drop("if", "then", "else"),
    "silent gap: contains": _drop("contains", "minContains", "maxContains"),
    "silent gap: propertyNames": _drop("propertyNames"),
    "silent gap: patternProperties": _reading(_patterns),
    "silent gap: a type demanded where its words stood": _reading(_types),
    "silent gap: draft 4 limits excluded": _reading(_exclusive),
    "overlapping branches of oneOf": _reading(_one),
    "patterns make a model that counts as closed": _writing(_closed_by_patterns),
    "what is unevaluated depends on other words": _drop(*_LATER),
}


def neutralised(reader: Any, writer: Any, findings: list[Finding], causes: list[str]) -> tuple[Any, Any]:
    """Return the two schemas without what these causes do."""
    pair = Pair(reader, writer, findings)
    for cause, neutralise in CAUSES.items():  # those that follow places in the text stand first
        if cause in causes:
            neutralise(pair)
    return pair.reader, pair.writer


def assigned(
    reader: Any, writer: Any, findings: list[Finding], spoilt: Callable[[Any, Any], bool]
) -> tuple[str, ...] | None:
    """Return the causes of a counterexample, as few as make it vanish; None where all of them do not.

    ``spoilt`` says whether it is one for a reader and a writer.
    """
    for cause in CAUSES:
        if not spoilt(*neutralised(reader, writer, findings, [cause])):
            return (cause,)
    causes = list(CAUSES)
    if spoilt(*neutralised(reader, writer, findings, causes)):
        return None
    for cause in list(CAUSES):
        fewer = [one for one in causes if one != cause]
        if not spoilt(*neutralised(reader, writer, findings, fewer)):
            causes = fewer
    return tuple(causes)

"""Known causes for which the reference's policies accept a change that makes old documents invalid.

A counterexample is a document that is valid for the writer's schema and not for the reader's, although the policy
accepts the change. Each cause is a function that neutralises itself: it relaxes the reader's schema, or tightens the
writer's, exactly where it has an effect. A counterexample that remains when all causes are neutralised is unassigned;
otherwise its causes are a smallest set that makes it disappear. Below a ``not``, reader and writer are swapped.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, Final

from contractlog.compatibility.finding import Finding

Relaxation = Callable[[dict[str, Any], "Pair"], None]

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
_UNEVALUATED: Final = ("unevaluatedItems", "unevaluatedProperties")
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


def iterate_nodes(schema: Any, *, positive: bool = True) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield every inner schema, and whether it is below an even number of ``not``."""
    if not isinstance(schema, dict):
        return
    yield schema, positive
    if "not" in schema:
        yield from iterate_nodes(schema["not"], positive=not positive)
    for word in (*_SCHEMAS, *_UNEVALUATED):
        yield from iterate_nodes(schema.get(word), positive=positive)
    for word in _LISTS:
        for branch in schema[word] if isinstance(schema.get(word), list) else ():
            yield from iterate_nodes(branch, positive=positive)
    for word in _NAMED:
        for part in schema[word].values() if isinstance(schema.get(word), dict) else ():
            yield from iterate_nodes(part, positive=positive)


def _relax_reader(ease: Relaxation) -> Callable[[Pair], None]:
    """Relax the reader, or below a ``not`` the writer."""

    def neutralise(pair: Pair) -> None:
        for root, reads in ((pair.reader, True), (pair.writer, False)):
            for node, positive in list(iterate_nodes(root)):
                if positive is reads:
                    ease(node, pair)

    return neutralise


def _tighten_writer(tighten: Relaxation) -> Callable[[Pair], None]:
    """Tighten the writer, or below a ``not`` the reader."""

    def neutralise(pair: Pair) -> None:
        for root, reads in ((pair.reader, True), (pair.writer, False)):
            for node, positive in list(iterate_nodes(root)):
                if positive is not reads:
                    tighten(node, pair)

    return neutralise


def _drop(*words: str) -> Callable[[Pair], None]:
    def ease(node: dict[str, Any], _pair: Pair) -> None:
        for word in words:
            node.pop(word, None)

    return _relax_reader(ease)


def _relax_patterns(node: dict[str, Any], pair: Pair) -> None:
    every = {
        pattern: {}
        for root in (pair.reader, pair.writer)
        for other, _ in iterate_nodes(root)
        for pattern in other.get("patternProperties", ())
    }
    if "patternProperties" in node or "additionalProperties" in node:
        node["patternProperties"] = copy.deepcopy(every)


def _relax_unlisted_names(node: dict[str, Any], _pair: Pair) -> None:
    if isinstance(node.get("required"), list):
        declared = node.get("properties", {})
        node["required"] = [name for name in node["required"] if name in declared]
        if not node["required"]:
            del node["required"]


def _relax_types(node: dict[str, Any], _pair: Pair) -> None:
    kind = node.get("type")
    family = "number" if kind == "integer" else kind
    if isinstance(family, str) and _TYPED.get(family, set()) & set(node):
        if kind == "integer":
            node.setdefault("multipleOf", 1)
        del node["type"]


def _relax_one_of(node: dict[str, Any], _pair: Pair) -> None:
    if "oneOf" in node:
        branches = node.pop("oneOf")
        node.setdefault("allOf", []).append({"anyOf": branches})


def _relax_exclusive_limits(node: dict[str, Any], _pair: Pair) -> None:
    for word in ("exclusiveMaximum", "exclusiveMinimum"):
        if node.get(word) is True:
            del node[word]


def _close_by_patterns(node: dict[str, Any], _pair: Pair) -> None:
    if node.get("patternProperties") and node.get("additionalProperties", True) is True:
        node["additionalProperties"] = False


def _select_findings(pair: Pair, wanted: Callable[[str], bool]) -> Iterator[tuple[str, str, str]]:
    for finding in pair.findings:
        kind = finding.check.removeprefix("JSON_")
        if wanted(kind):
            yield kind, finding.reader_at, finding.writer_at


def _relax_defaults(pair: Pair) -> None:
    """Remove names from ``required`` that were accepted because they have a default."""
    for _, reader_at, writer_at in _select_findings(pair, lambda kind: "WITH_DEFAULT" in kind):
        name = writer_at.rpartition("/")[2] if "/required/" in reader_at else reader_at.rpartition("/")[2]
        if "/required/" in reader_at:
            name = _resolve_pointer(pair.reader, reader_at)
        node = _resolve_pointer(pair.reader, _get_ancestor(reader_at))
        node = node if isinstance(node, dict) else None
        if node and name in node.get("required", ()):
            node["required"] = [required_name for required_name in node["required"] if required_name != name]


def _allow_lenient(pair: Pair) -> None:
    """Allow the changes that LENIENT accepts by design, at the positions of the findings."""
    for kind, reader_at, writer_at in _select_findings(pair, LENIENT_ONLY.__contains__):
        if "REMOVED_FROM_CLOSED" in kind:
            node = _resolve_pointer(pair.reader, reader_at)
            if isinstance(node, dict):
                node.setdefault("properties", {})[_get_last_token(writer_at)] = {}
        elif kind.startswith(("ADDITIONAL_", "UNEVALUATED_")):
            node = _resolve_pointer(pair.reader, _get_ancestor(reader_at, 1))
            if isinstance(node, dict):
                node.pop(_get_last_token(reader_at), None)
        else:
            holder = _resolve_pointer(pair.reader, _get_ancestor(reader_at, 1))
            if isinstance(holder, dict):
                holder[_get_last_token(reader_at)] = {}


def _get_ancestor(at: str, levels: int = 2) -> str:
    return "/".join(at.split("/")[:-levels])


def _get_last_token(at: str) -> str:
    return at.rpartition("/")[2].replace("~1", "/").replace("~0", "~")


def _resolve_pointer(schema: Any, at: str) -> Any:
    for escaped in at.split("/")[1:]:
        token = escaped.replace("~1", "/").replace("~0", "~")
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
    "required with default": _relax_defaults,
    "silent gap: required names outside properties": _relax_reader(_relax_unlisted_names),
    "admitted by LENIENT by design": _allow_lenient,
    "silent gap: if, then, else": _drop("if", "then", "else"),
    "silent gap: contains": _drop("contains", "minContains", "maxContains"),
    "silent gap: propertyNames": _drop("propertyNames"),
    "silent gap: patternProperties": _relax_reader(_relax_patterns),
    "silent gap: a type demanded where its words stood": _relax_reader(_relax_types),
    "silent gap: draft 4 limits excluded": _relax_reader(_relax_exclusive_limits),
    "overlapping branches of oneOf": _relax_reader(_relax_one_of),
    "patterns make a model that counts as closed": _tighten_writer(_close_by_patterns),
    "what is unevaluated depends on other words": _drop(*_UNEVALUATED),
}


def neutralise_causes(reader: Any, writer: Any, findings: list[Finding], causes: list[str]) -> tuple[Any, Any]:
    """Return the two schemas with these causes neutralised."""
    pair = Pair(reader, writer, findings)
    for cause, neutralise in CAUSES.items():  # causes that use positions in the text come first
        if cause in causes:
            neutralise(pair)
    return pair.reader, pair.writer


def assign_causes(
    reader: Any, writer: Any, findings: list[Finding], is_counterexample: Callable[[Any, Any], bool]
) -> tuple[str, ...] | None:
    """Return a smallest set of causes of a counterexample; None if even all of them do not explain it.

    ``is_counterexample`` returns whether it is a counterexample for a reader and a writer.
    """
    for cause in CAUSES:
        if not is_counterexample(*neutralise_causes(reader, writer, findings, [cause])):
            return (cause,)
    causes = list(CAUSES)
    if is_counterexample(*neutralise_causes(reader, writer, findings, causes)):
        return None
    for cause in list(CAUSES):
        remaining = [other_cause for other_cause in causes if other_cause != cause]
        if not is_counterexample(*neutralise_causes(reader, writer, findings, remaining)):
            causes = remaining
    return tuple(causes)

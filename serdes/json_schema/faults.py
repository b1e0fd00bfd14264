"""Search for the first violation of a schema in a document, in a bounded number of steps.

jsonschema-rs decides quickly whether a document is valid; but to give a reason, it collects every error, with copies
of the values, through all alternatives, and their number may grow exponentially. So it is only used if the errors are
known to be few. Otherwise the violation is found by descending from the root through the invalid parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from typing import Any, Final

import jsonschema_rs

from contractlog.serdes.json_schema.counting import few_errors, size
from contractlog.serdes.json_schema.fault import NOT_VALID, Fault, fault_of
from contractlog.serdes.json_schema.texts import At, Texts

__all__ = ["Faults"]

_UNQUOTED: Final = "the value, too large to be quoted, does not keep to it"
_MOST_QUOTED: Final = 10_000  #: size of a value that may be quoted
_LEAST_LOOKED: Final = 3_000_000  #: least budget of parts of documents checked against parts of schemas
_TIMES_LOOKED: Final = 6  #: how many times a large document may be searched
_LEAVES: Final = frozenset(
    {
        *("type", "enum", "const", "multipleOf", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"),
        *("maxLength", "minLength", "pattern", "format", "contentEncoding", "contentMediaType"),
        *("maxItems", "minItems", "uniqueItems", "maxProperties", "minProperties", "required", "dependentRequired"),
    }
)
_BESIDES: Final = {"maximum": "exclusiveMaximum", "minimum": "exclusiveMinimum"}  #: in draft 4
_NAMING: Final = ("properties", "patternProperties")

Steps = list[str | int]
Compile = Callable[[Any], jsonschema_rs.Validator]  #: prepares a schema without references
Parts = Callable[[str, Any], jsonschema_rs.ValidatorMap]  #: prepares all parts of a text


class _Exhausted(Exception):
    """The budget of steps is used up."""


class Faults:
    """Finder of violations.

    Args:
        validator: decides about whole documents.
        texts: returns the schema's texts.
        make: prepares a schema without references.
        parts: prepares all parts of a text.
    """

    def __init__(
        self, validator: jsonschema_rs.Validator, texts: Callable[[], Texts], make: Compile, parts: Parts
    ) -> None:
        self._validator = validator
        self._texts_of = texts
        self._make = make
        self._parts_of = parts
        self._parts: dict[str, jsonschema_rs.ValidatorMap | None] = {}
        self._patterns: dict[str, jsonschema_rs.Validator] = {}

    def first(self, value: Any, *, deepest: bool = False) -> Fault:
        """Return the first violation of an invalid document.

        Args:
            value: the document.
            deepest: follow alternatives to the most relevant error.
        """
        if few_errors(self._texts, value):
            with suppress(ValueError):  # a value is nested too deeply to be copied
                error = next(self._validator.iter_errors(value), None)
                return fault_of(error, deepest=deepest)
        return _Walk(self, value).fault()

    @cached_property
    def _texts(self) -> Texts:
        return self._texts_of()

    def target(self, at: At) -> At | None:
        """Return the target of a schema's reference."""
        return self._texts.target(at)

    @property
    def root(self) -> At:
        """The whole schema."""
        return self._texts.root

    def single(self, schema: Any) -> jsonschema_rs.Validator:
        """Prepare a schema without references."""
        return self._make(schema)

    def part(self, at: At) -> jsonschema_rs.Validator | None:
        """Return the validator of a part of the schema, or None if it cannot be prepared."""
        if at.uri not in self._parts:
            made = None
            if not self._texts.large:
                with suppress(ValueError, RecursionError, jsonschema_rs.ReferencingError):
                    made = self._parts_of(at.uri, self._texts.contents[at.uri])
            self._parts[at.uri] = made
        parts = self._parts[at.uri]
        return None if parts is None else parts.get(f"#{at.pointer}")

    def named_by(self, pattern: str, name: str) -> bool:
        """Return whether a pattern of ``patternProperties`` matches a name."""
        known = self._patterns.get(pattern)
        if known is None:
            known = self._patterns[pattern] = self._make({"patternProperties": {pattern: {"not": {}}}})
        return not known.is_valid({name: None})


class _Walk:
    """One descent from the whole document to the violation."""

    def __init__(self, faults: Faults, value: Any) -> None:
        self._faults = faults
        self._value = value
        self._left = max(_LEAST_LOOKED, _TIMES_LOOKED * size(value))
        self._steps: Steps = []
        self._evaluated: Steps = []

    def fault(self) -> Fault:
        """Return the violation."""
        at, value = self._faults.root, self._value
        try:
            while (found := self._below(at, value)) is not None:
                at, evaluated, step, value = found
                self._evaluated += evaluated
                self._steps += step
            return self._told(at, value)
        except _Exhausted:
            return self._made(at, "", NOT_VALID)

    def _below(self, at: At, value: Any) -> tuple[At, Steps, Steps, Any] | None:
        """Return the first subschema that a value or its part must satisfy but does not, if any."""
        if not isinstance(at.node, dict):
            return None
        target = self._faults.target(at)
        if target is not None and self._breaks(target, value):
            return target, ["$ref"], [], value
        for words, parts in self._inside(at, value):
            inner = at.under(*words)
            for step, part in self._broken(inner, parts):
                return inner, words, step, part
        return None

    def _breaks(self, at: At, value: Any) -> bool:
        return any(True for _ in self._broken(at, [([], value)]))

    def _broken(self, at: At, values: Iterable[tuple[Steps, Any]]) -> Iterator[tuple[Steps, Any]]:
        """Yield the values that a schema rejects."""
        part = self._faults.part(at)
        if part is None:
            return
        is_valid = part.is_valid
        for step, value in values:
            self._left -= size(value, self._left) if isinstance(value, dict | list) else 1
            if self._left < 0:
                raise _Exhausted
            if not is_valid(value):
                yield step, value

    def _inside(self, at: At, value: Any) -> Iterator[tuple[Steps, Iterable[tuple[Steps, Any]]]]:
        """Yield the path to each subschema that the value or parts of it must satisfy, with those values."""
        node = at.node
        for place in range(len(_list(node, "allOf"))):
            yield ["allOf", place], [([], value)]
        if "if" in node:
            word = "else" if self._breaks(at.under("if"), value) else "then"
            if word in node:
                yield [word], [([], value)]
        if isinstance(value, dict):
            yield from self._members(node, value)
        elif isinstance(value, list):
            yield from self._items(node, value)

    def _members(
        self, node: dict[str, Any], value: dict[str, Any]
    ) -> Iterator[tuple[Steps, Iterable[tuple[Steps, Any]]]]:
        named, patterns = _dict(node, "properties"), _dict(node, "patternProperties")
        for name in named:
            if name in value:
                yield ["properties", name], [([name], value[name])]
        by = self._faults.named_by
        for pattern in patterns:
            yield ["patternProperties", pattern], (([name], value[name]) for name in value if by(pattern, name))
        if isinstance(node.get("additionalProperties"), dict):
            others = (name for name in value if name not in named and not any(by(each, name) for each in patterns))
            yield ["additionalProperties"], (([name], value[name]) for name in others)

    @staticmethod
    def _items(node: dict[str, Any], value: list[Any]) -> Iterator[tuple[Steps, Iterable[tuple[Steps, Any]]]]:
        word = "items" if isinstance(node.get("items"), list) else "prefixItems"
        first = _list(node, word)
        for place in range(min(len(first), len(value))):
            yield [word, place], [([place], value[place])]
        word = "additionalItems" if word == "items" else "items"
        if isinstance(node.get(word), dict):
            yield [word], (([place], value[place]) for place in range(len(first), len(value)))

    def _told(self, at: At, value: Any) -> Fault:
        """Return the keyword of a schema that a value violates, as no subschema rejects it."""
        if at.node is False:
            return self._made(at, "falseSchema", "no value is admitted here")
        if isinstance(at.node, dict):
            for word, schema in _alone(at.node):
                validator = self._faults.single(schema)
                if not validator.is_valid(value):
                    return self._made(at, word, _message(validator, value))
            for word, message in self._combined(at, value):
                return self._made(at, word, message)
        return self._made(at, "", NOT_VALID)

    def _combined(self, at: At, value: Any) -> Iterator[tuple[str, str]]:
        node = at.node
        if "anyOf" in node and self._count(at, "anyOf", value) == 0:
            yield "anyOf", "no alternative admits the value"
        if "oneOf" in node and (count := self._count(at, "oneOf", value)) != 1:
            yield "oneOf", "more than one alternative admits the value" if count else "no alternative admits the value"
        if "not" in node and not self._breaks(at.under("not"), value):
            yield "not", "the value is what it has not to be"
        if isinstance(value, dict) and "propertyNames" in node:
            names = at.under("propertyNames")
            if any(True for _ in self._broken(names, (([], name) for name in value))):
                yield "propertyNames", "a member has a name that is not admitted"
        if isinstance(value, list) and "contains" in node and "minContains" not in node:
            inner = at.under("contains")
            if len(list(self._broken(inner, (([], item) for item in value)))) == len(value):
                yield "contains", "no item is what one has to be"

    def _count(self, at: At, word: str, value: Any) -> int:
        return sum(not self._breaks(at.under(word, place), value) for place in range(len(_list(at.node, word))))

    def _made(self, at: At, keyword: str, message: str) -> Fault:
        inner = [keyword] if keyword and isinstance(at.node, dict) else []
        return Fault(keyword, message, tuple(self._steps), (*at.steps, *inner), (*self._evaluated, *inner))


def _alone(node: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the keywords without subschemas or references, each as a schema of its own."""
    for word, asked in node.items():
        besides = _BESIDES.get(word)
        if word in _LEAVES and not (word in _BESIDES.values() and isinstance(asked, bool)):
            yield word, {word: asked} | ({besides: node[besides]} if besides in node else {})
        elif word == "additionalProperties" and asked is False:
            named: dict[str, Any] = {each: {name: {} for name in _dict(node, each)} for each in _NAMING}
            yield word, named | {word: asked}
        elif word == "additionalItems" and asked is False and isinstance(node.get("items"), list):
            yield word, {"items": [{} for _ in node["items"]], word: asked}
        elif word == "dependencies" and isinstance(asked, dict):
            yield word, {word: {name: names for name, names in asked.items() if isinstance(names, list)}}


def _message(validator: jsonschema_rs.Validator, value: Any) -> str:
    if size(value, _MOST_QUOTED) < _MOST_QUOTED:
        try:
            validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            return error.message
        except ValueError:  # nested too deeply to be copied
            pass
    return _UNQUOTED


def _list(node: dict[str, Any], word: str) -> list[Any]:
    asked = node.get(word)
    return asked if isinstance(asked, list) else []


def _dict(node: dict[str, Any], word: str) -> dict[str, Any]:
    asked = node.get(word)
    return asked if isinstance(asked, dict) else {}

"""Search for the first violation of a schema in a document, in a bounded number of steps.

jsonschema-rs decides quickly whether a document is valid; but to give a reason, it collects every error, with copies
of the values, through all alternatives, and their number may grow exponentially. So it is only used if the errors are
known to be few. Otherwise the violation is found by descending from the root through the invalid parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import jsonschema_rs

from contractlog.serdes.json_schema.document_estimates import count_parts, has_few_errors
from contractlog.serdes.json_schema.reference_resolver import SchemaTexts, Subschema

__all__ = ["NOT_VALID", "SchemaViolation", "ViolationFinder", "make_violation"]

NOT_VALID: Final = "the document is not valid"  #: if no error gives a reason, e.g. if a pattern exceeded its limit
_TYPE_KEYWORD: Final = "type"
_UNQUOTED_MESSAGE: Final = "the value, too large to be quoted, does not satisfy it"
_MAX_QUOTED_SIZE: Final = 10_000  #: size of a value that may be quoted
_MIN_BUDGET: Final = 3_000_000  #: least budget of parts of documents checked against parts of schemas
_BUDGET_FACTOR: Final = 6  #: how many times a large document may be searched
_PLAIN_KEYWORDS: Final = frozenset(
    {
        *("type", "enum", "const", "multipleOf", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"),
        *("maxLength", "minLength", "pattern", "format"),
        *("maxItems", "minItems", "uniqueItems", "maxProperties", "minProperties", "required", "dependentRequired"),
    }
)
_EXCLUSIVE_KEYWORDS: Final = {"maximum": "exclusiveMaximum", "minimum": "exclusiveMinimum"}  #: in draft 4
_NAMING_KEYWORDS: Final = ("properties", "patternProperties")
PathSteps = list[str | int]
CompileSchema = Callable[[Any], jsonschema_rs.Validator]  #: prepares a schema without references
CompileParts = Callable[[str, Any], jsonschema_rs.ValidatorMap]  #: prepares all parts of a schema text


@dataclass(frozen=True, slots=True)
class SchemaViolation:
    """One violation of a schema."""

    keyword: str = ""
    message: str = NOT_VALID
    instance_path: tuple[str | int, ...] = ()
    schema_path: tuple[str | int, ...] = ()  #: into the text of the schema
    evaluation_path: tuple[str | int, ...] = ()  #: through the references

    @property
    def sentence(self) -> str:
        """The keyword and the message."""
        return f"{self.keyword}: {self.message}" if self.keyword else self.message


def make_violation(error: jsonschema_rs.ValidationError | None, *, deepest: bool = False) -> SchemaViolation:
    """Return an error's violation; ``deepest`` selects the most relevant error of its alternatives."""
    if error is None:
        return SchemaViolation()
    if deepest:
        error = _most_relevant_error(error)
    paths = error.instance_path, error.schema_path, error.evaluation_path
    return SchemaViolation(error.kind.name, error.message, *map(tuple, paths))


def _most_relevant_error(error: jsonschema_rs.ValidationError) -> jsonschema_rs.ValidationError:
    """Follow alternatives to the most relevant error: deepest in the document, or of the right type."""
    while True:
        branches = [branch[0] for branch in getattr(error.kind, "context", ()) if branch]
        deeper = [branch for branch in branches if len(branch.instance_path) > len(error.instance_path)]
        typed = [branch for branch in branches if branch.kind.name != _TYPE_KEYWORD]
        if deeper:
            error = max(deeper, key=lambda branch: len(branch.instance_path))
        elif len(typed) == 1:
            error = typed[0]
        else:
            return error


class _BudgetExhausted(Exception):
    """The budget of steps is used up."""


class ViolationFinder:
    """Finder of violations.

    Args:
        validator: decides about whole documents.
        texts: returns the schema's texts.
        make: prepares a schema without references.
        parts: prepares all parts of a schema text.
    """

    def __init__(
        self,
        validator: jsonschema_rs.Validator,
        texts: Callable[[], SchemaTexts],
        make: CompileSchema,
        parts: CompileParts,
    ) -> None:
        self._validator = validator
        self._make_texts = texts
        self._compile = make
        self._compile_parts = parts
        self._parts: dict[str, jsonschema_rs.ValidatorMap | None] = {}
        self._patterns: dict[str, jsonschema_rs.Validator] = {}

    def find_violation(self, value: Any, *, deepest: bool = False) -> SchemaViolation:
        """Return the first violation of an invalid document.

        Args:
            value: the document.
            deepest: follow alternatives to the most relevant error.
        """
        if has_few_errors(self._schema_texts, value):
            with suppress(ValueError):  # a value is nested too deeply to be copied
                error = next(self._validator.iter_errors(value), None)
                return make_violation(error, deepest=deepest)
        return _Descent(self, value).find_violation()

    @cached_property
    def _schema_texts(self) -> SchemaTexts:
        return self._make_texts()

    def resolve_reference(self, at: Subschema) -> Subschema | None:
        """Return the target of a schema's reference."""
        return self._schema_texts.resolve_reference(at)

    @property
    def texts(self) -> Mapping[str, Any]:
        """The schema's text and those of its dependencies, by URI."""
        return self._schema_texts.contents

    @property
    def root(self) -> Subschema:
        """The whole schema."""
        return self._schema_texts.root

    def compile_single(self, schema: Any) -> jsonschema_rs.Validator:
        """Prepare a schema without references."""
        return self._compile(schema)

    def find_part(self, at: Subschema) -> jsonschema_rs.Validator | None:
        """Return the validator of a part of the schema, or None if it cannot be prepared."""
        if at.uri not in self._parts:
            part = None
            if not self._schema_texts.is_large:
                with suppress(ValueError, RecursionError, jsonschema_rs.ReferencingError):
                    part = self._compile_parts(at.uri, self._schema_texts.contents[at.uri])
            self._parts[at.uri] = part
        parts = self._parts[at.uri]
        return None if parts is None else parts.get(f"#{at.pointer}")

    def matches_name(self, pattern: str, name: str) -> bool:
        """Return whether a pattern of ``patternProperties`` matches a name."""
        validator = self._patterns.get(pattern)
        if validator is None:
            validator = self._patterns[pattern] = self._compile({"patternProperties": {pattern: {"not": {}}}})
        return not validator.is_valid({name: None})


class _Descent:
    """One descent from the whole document to the violation."""

    def __init__(self, finder: ViolationFinder, value: Any) -> None:
        self._finder = finder
        self._value = value
        self._left = max(_MIN_BUDGET, _BUDGET_FACTOR * count_parts(value))
        self._steps: PathSteps = []
        self._evaluated: PathSteps = []

    def find_violation(self) -> SchemaViolation:
        """Return the violation."""
        at, value = self._finder.root, self._value
        try:
            while (rejecting := self._find_rejecting_subschema(at, value)) is not None:
                at, evaluated, step, value = rejecting
                self._evaluated += evaluated
                self._steps += step
            return self._explain(at, value)
        except _BudgetExhausted:
            return self._make_violation(at, "", NOT_VALID)

    def _find_rejecting_subschema(
        self, at: Subschema, value: Any
    ) -> tuple[Subschema, PathSteps, PathSteps, Any] | None:
        """Return the first subschema that a value or its part must satisfy but does not, if any."""
        if not isinstance(at.node, dict):
            return None
        target = self._finder.resolve_reference(at)
        if target is not None and self._rejects(target, value):
            return target, ["$ref"], [], value
        for words, parts in self._required_subschemas(at, value):
            inner = at.child(*words)
            for step, part in self._rejected_values(inner, parts):
                return inner, words, step, part
        return None

    def _rejects(self, at: Subschema, value: Any) -> bool:
        return any(True for _ in self._rejected_values(at, [([], value)]))

    def _rejected_values(
        self, at: Subschema, values: Iterable[tuple[PathSteps, Any]]
    ) -> Iterator[tuple[PathSteps, Any]]:
        """Yield the values that a schema rejects."""
        part = self._finder.find_part(at)
        if part is None:
            return
        is_valid = part.is_valid
        for step, value in values:
            self._left -= count_parts(value, self._left) if isinstance(value, dict | list) else 1
            if self._left < 0:
                raise _BudgetExhausted
            if not is_valid(value):
                yield step, value

    def _required_subschemas(
        self, at: Subschema, value: Any
    ) -> Iterator[tuple[PathSteps, Iterable[tuple[PathSteps, Any]]]]:
        """Yield the path to each subschema that the value or parts of it must satisfy, with those values."""
        node = at.node
        for index in range(len(_list_of(node, "allOf"))):
            yield ["allOf", index], [([], value)]
        if "if" in node:
            word = "else" if self._rejects(at.child("if"), value) else "then"
            if word in node:
                yield [word], [([], value)]
        if isinstance(value, dict):
            yield from self._member_subschemas(node, value)
        elif isinstance(value, list):
            yield from self._item_subschemas(node, value)

    def _member_subschemas(
        self, node: dict[str, Any], value: dict[str, Any]
    ) -> Iterator[tuple[PathSteps, Iterable[tuple[PathSteps, Any]]]]:
        named, patterns = _dict_of(node, "properties"), _dict_of(node, "patternProperties")
        for name in named:
            if name in value:
                yield ["properties", name], [([name], value[name])]
        by = self._finder.matches_name
        for pattern in patterns:
            yield ["patternProperties", pattern], (([name], value[name]) for name in value if by(pattern, name))
        if isinstance(node.get("additionalProperties"), dict):
            others = (name for name in value if name not in named and not any(by(each, name) for each in patterns))
            yield ["additionalProperties"], (([name], value[name]) for name in others)

    @staticmethod
    def _item_subschemas(
        node: dict[str, Any], value: list[Any]
    ) -> Iterator[tuple[PathSteps, Iterable[tuple[PathSteps, Any]]]]:
        word = "items" if isinstance(node.get("items"), list) else "prefixItems"
        first = _list_of(node, word)
        for index in range(min(len(first), len(value))):
            yield [word, index], [([index], value[index])]
        word = "additionalItems" if word == "items" else "items"
        if isinstance(node.get(word), dict):
            yield [word], (([index], value[index]) for index in range(len(first), len(value)))

    def _explain(self, at: Subschema, value: Any) -> SchemaViolation:
        """Return the keyword of a schema that a value violates, as no subschema rejects it."""
        if at.node is False:
            return self._make_violation(at, "falseSchema", "no value is admitted here")
        if isinstance(at.node, dict):
            for word, schema in _plain_schemas(at.node):
                validator = self._finder.compile_single(schema)
                if not validator.is_valid(value):
                    return self._make_violation(at, word, _violation_message(validator, value))
            for word, message in self._combined_violations(at, value):
                return self._make_violation(at, word, message)
        return self._make_violation(at, "", NOT_VALID)

    def _combined_violations(self, at: Subschema, value: Any) -> Iterator[tuple[str, str]]:
        node = at.node
        if "anyOf" in node and self._count_matching(at, "anyOf", value) == 0:
            yield "anyOf", "no alternative admits the value"
        if "oneOf" in node and (count := self._count_matching(at, "oneOf", value)) != 1:
            yield "oneOf", "more than one alternative admits the value" if count else "no alternative admits the value"
        if "not" in node and not self._rejects(at.child("not"), value):
            yield "not", "the value matches a schema that it must not match"
        if isinstance(value, dict) and "propertyNames" in node:
            names = at.child("propertyNames")
            if any(True for _ in self._rejected_values(names, (([], name) for name in value))):
                yield "propertyNames", "a member has a name that is not admitted"
        if isinstance(value, list) and "contains" in node and "minContains" not in node:
            inner = at.child("contains")
            if len(list(self._rejected_values(inner, (([], item) for item in value)))) == len(value):
                yield "contains", "no item matches `contains`"

    def _count_matching(self, at: Subschema, word: str, value: Any) -> int:
        return sum(not self._rejects(at.child(word, index), value) for index in range(len(_list_of(at.node, word))))

    def _make_violation(self, at: Subschema, keyword: str, message: str) -> SchemaViolation:
        inner = [keyword] if keyword and isinstance(at.node, dict) else []
        return SchemaViolation(keyword, message, tuple(self._steps), (*at.steps, *inner), (*self._evaluated, *inner))


def _plain_schemas(node: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the keywords without subschemas or references, each as a schema of its own."""
    for word, keyword_value in node.items():
        besides = _EXCLUSIVE_KEYWORDS.get(word)
        if word in _PLAIN_KEYWORDS and not (word in _EXCLUSIVE_KEYWORDS.values() and isinstance(keyword_value, bool)):
            yield word, {word: keyword_value} | ({besides: node[besides]} if besides in node else {})
        elif word == "additionalProperties" and keyword_value is False:
            named: dict[str, Any] = {each: {name: {} for name in _dict_of(node, each)} for each in _NAMING_KEYWORDS}
            yield word, named | {word: keyword_value}
        elif word == "additionalItems" and keyword_value is False and isinstance(node.get("items"), list):
            yield word, {"items": [{} for _ in node["items"]], word: keyword_value}
        elif word == "dependencies" and isinstance(keyword_value, dict):
            yield word, {word: {name: names for name, names in keyword_value.items() if isinstance(names, list)}}


def _violation_message(validator: jsonschema_rs.Validator, value: Any) -> str:
    if count_parts(value, _MAX_QUOTED_SIZE) < _MAX_QUOTED_SIZE:
        try:
            validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            return error.message
        except ValueError:  # nested too deeply to be copied
            pass
    return _UNQUOTED_MESSAGE


def _list_of(node: dict[str, Any], word: str) -> list[Any]:
    keyword_value = node.get(word)
    return keyword_value if isinstance(keyword_value, list) else []


def _dict_of(node: dict[str, Any], word: str) -> dict[str, Any]:
    keyword_value = node.get(word)
    return keyword_value if isinstance(keyword_value, dict) else {}

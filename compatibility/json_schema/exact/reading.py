"""Conversion of JSON Schema keywords to demands, by draft."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from contractlog.compatibility.json_schema.exact.demands import (
    FALSE,
    TRUE,
    All,
    AtLeast,
    AtMost,
    Bound,
    Count,
    Demand,
    Elements,
    Format,
    Has,
    Kinds,
    Lexical,
    Members,
    Multiple,
    Names,
    NameSet,
    Not,
    One,
    Part,
    Pattern,
    Schema,
    Some,
    Unique,
    Unknown,
    Values,
)
from contractlog.compatibility.json_schema.exact.documents import Documents, Place
from contractlog.compatibility.json_schema.exact.unevaluated import items_left, members_left
from contractlog.compatibility.json_schema.exact.values import TooLarge, exact, figure, key_of
from contractlog.compatibility.json_schema.parse import JsonSchema
from contractlog.compatibility.json_text import Number, pointer

__all__ = ["Reading"]

_ORDER: Final = {name: number for number, name in enumerate(("draft-04", "draft-06", "draft-07", "2019-09", "2020-12"))}
_D6, _D7, _2019, _2020 = 1, 2, 3, 4
_SIZES: Final = {
    "minLength": "string", "maxLength": "string", "minItems": "array", "maxItems": "array",
    "minProperties": "object", "maxProperties": "object",
}  # fmt: skip
_LARGEST_SIZE: Final = 1 << 53


class Reading:
    """Converter of the schemas of one side to demands."""

    def __init__(self, owner: str, schema: JsonSchema, referenced: Mapping[str, str], *, formats: bool = False) -> None:
        """Prepare the conversion of one side.

        Args:
            owner: ``reader`` or ``writer``.
            schema: the whole schema.
            referenced: name -> text of every dependency.
            formats: convert ``format`` to a demand instead of ignoring it.
        """
        self.owner = owner
        self.formats = formats
        self.documents = Documents(schema, referenced)
        self._schemas: dict[tuple[str, str], Schema] = {}

    def root(self) -> Schema:
        """Return the whole schema."""
        return self.schema(self.documents.root)

    def schema(self, place: Place) -> Schema:
        """Return the schema at a position, converted on first use."""
        key = (place.document, place.at)
        if key not in self._schemas:
            digest = self.documents.digest(place, formats=self.formats)
            self._schemas[key] = Schema(digest, place.pointer, self.owner, lambda: self._parts(place))
        return self._schemas[key]

    def _parts(self, place: Place) -> Iterator[Part]:
        value = self.documents.value(place)
        if not isinstance(value, dict):
            if value is False:
                yield Part("", place.pointer, FALSE)
            return
        words = _Words(self, place, value)
        for word in words.spoken():
            demand = words.demand(word)
            if demand is not None and demand != TRUE:
                yield Part(word, pointer(place.pointer, word), demand)


class _Words:
    """The keywords of one schema."""

    def __init__(self, reading: Reading, place: Place, value: dict[str, Any]) -> None:
        self.reading = reading
        self.place = place
        self.value = value
        self.draft = _ORDER[place.draft.name]

    def spoken(self) -> list[str]:
        """Return the effective keywords in textual order, but ``type`` first, as it decides most."""
        if self.draft < _2019 and "$ref" in self.value:
            return ["$ref"]
        return sorted(self.value, key=lambda word: word != "type")

    def demand(self, word: str) -> Demand | None:
        """Return the demand of a keyword; None if it has none."""
        handler = _HANDLERS.get(word)
        if handler is None:
            return None
        first, read = handler
        if self.draft < first:
            return None
        try:
            return read(self, word, self.value[word])
        except TooLarge as number:
            return self.unknown(f"the number {str(number)[:40]} is too large to be compared exactly", word)

    def unknown(self, reason: str, word: str) -> Unknown:
        return Unknown(reason, (word, self.reading.documents.digest(self.place)))

    def inner(self, *tokens: str | int) -> Schema:
        return self.reading.schema(self.reading.documents.below(self.place, *tokens))

    def type(self, _word: str, body: Any) -> Demand:
        names = frozenset([body] if isinstance(body, str) else body)
        if "number" in names:
            names -= {"integer"}
        elif "integer" in names and self.draft < _D6:
            whole = All((Kinds(frozenset({"integer"})), Lexical()))
            others = names - {"integer"}
            return Some((Kinds(others), whole)) if others else whole
        return Kinds(names)

    def enum(self, _word: str, body: Any) -> Demand:
        return Values(frozenset(key_of(exact(value)) for value in body))

    def const(self, _word: str, body: Any) -> Demand:
        return Values(frozenset({key_of(exact(body))}))

    def bound(self, word: str, body: Any) -> Demand | None:
        upper = word.endswith("aximum")
        if not isinstance(body, Number):
            return None  # draft 4: a flag of the limit
        marked = self.draft < _D6 and self.value.get(f"exclusive{word.capitalize()}") is True
        return Bound(figure(body), upper, word.startswith("exclusive") or marked)

    def multiple(self, _word: str, body: Any) -> Demand:
        return Multiple(figure(body))

    def size(self, word: str, body: Any) -> Demand:
        kind = _SIZES[word]
        limit = _size(body)
        if word.startswith("max"):
            return AtMost(kind, limit)
        return AtLeast(kind, limit) if limit else TRUE

    def pattern(self, _word: str, body: Any) -> Demand:
        return Pattern(body)

    def format(self, _word: str, body: Any) -> Demand | None:
        return Format(body) if self.reading.formats and isinstance(body, str) else None

    def required(self, _word: str, body: Any) -> Demand:
        return All(tuple(Has(name) for name in body)) if isinstance(body, list) else TRUE

    def properties(self, word: str, body: Any) -> Demand:
        return All(tuple(Members(NameSet(frozenset({name})), self.inner(word, name)) for name in body))

    def pattern_properties(self, word: str, body: Any) -> Demand:
        return All(tuple(Members(NameSet(patterns=frozenset({text})), self.inner(word, text)) for text in body))

    def additional(self, word: str, body: Any) -> Demand:
        if body is True:
            return TRUE
        return Members(self.others(), self.inner(word))

    def others(self) -> NameSet:
        """Return the names that neither ``properties`` nor ``patternProperties`` cover."""
        names, patterns = self.value.get("properties") or (), self.value.get("patternProperties") or ()
        return NameSet(frozenset(names), frozenset(patterns), inverted=True)

    def names(self, word: str, _body: Any) -> Demand:
        return Names(self.inner(word))

    def dependencies(self, word: str, body: Any) -> Demand:
        return All(tuple(self._dependency(word, name, what) for name, what in body.items()))

    def _dependency(self, word: str, name: str, what: Any) -> Demand:
        lacks = Members(NameSet(frozenset({name})), FALSE)
        held = [what] if isinstance(what, str) else what
        if isinstance(held, list):
            return Some((lacks, All(tuple(map(Has, held)))))
        return Some((lacks, self.inner(word, name)))

    def items(self, word: str, body: Any) -> Demand:
        if isinstance(body, list):
            return All(tuple(Elements(index, index + 1, self.inner(word, index)) for index in range(len(body))))
        start = len(self.value.get("prefixItems") or ()) if self.draft >= _2020 else 0
        return Elements(start, None, self.inner(word))

    def prefix(self, word: str, body: Any) -> Demand:
        return All(tuple(Elements(index, index + 1, self.inner(word, index)) for index in range(len(body))))

    def additional_items(self, word: str, body: Any) -> Demand:
        listed = self.value.get("items")
        if body is True or not isinstance(listed, list) or self.draft >= _2020:
            return TRUE
        return Elements(len(listed), None, self.inner(word))

    def contains(self, word: str, _body: Any) -> Demand:
        counted = self.draft >= _2019
        least = _size(self.value.get("minContains", Number("1"))) if counted else 1
        found: list[Demand] = [Count(self.inner(word), least)] if least else []
        if counted and "maxContains" in self.value:
            found.append(Not(Count(self.inner(word), _size(self.value["maxContains"]) + 1)))
        # values of other types have no items, so the negation must not require an array
        return All(tuple(_on_arrays(one) for one in found))

    def unique(self, _word: str, body: Any) -> Demand:
        return Unique() if body is True else TRUE

    def every(self, word: str, body: Any) -> Demand:
        return All(tuple(self.inner(word, index) for index in range(len(body))))

    def some(self, word: str, body: Any) -> Demand:
        return Some(tuple(self.inner(word, index) for index in range(len(body))))

    def one(self, word: str, body: Any) -> Demand:
        return One(tuple(self.inner(word, index) for index in range(len(body))))

    def negated(self, word: str, _body: Any) -> Demand:
        return Not(self.inner(word))

    def then(self, word: str, _body: Any) -> Demand:
        if "if" not in self.value:
            return TRUE
        condition: Demand = self.inner("if")
        return Some((Not(condition) if word == "then" else condition, self.inner(word)))

    def reference(self, _word: str, body: Any) -> Demand:
        found = self.reading.documents.find(body, self.place)
        if found is None:
            return Unknown(f'the reference "{body[:80]}" leads to nothing that is known', ("$ref", body))
        return self.reading.schema(found)

    def dynamic(self, word: str, body: Any) -> Demand:
        documents = self.reading.documents
        found = documents.find(body, self.place)
        anchored = found and documents.value(found)
        moving = isinstance(anchored, dict) and anchored.get("$dynamicAnchor") == body.rpartition("#")[2]
        if found is None or (moving and body.rpartition("#")[2] in documents.dynamic):
            return self.unknown(f"{word} leads to different places in the course of a validation", word)
        return self.reading.schema(found)

    def recursive(self, word: str, _body: Any) -> Demand:
        if self.reading.documents.several:
            return self.unknown(f"{word} leads to different places in the course of a validation", word)
        return self.reading.schema(self.reading.documents.root)

    def unevaluated_members(self, word: str, body: Any) -> Demand:
        if body is True:
            return TRUE
        found = members_left(self.reading.documents, self.place, self.reading.schema, self.inner(word))
        return found or self.unknown(f"what {word} applies to depends on too many branches, or on the validator", word)

    def unevaluated_items(self, word: str, body: Any) -> Demand:
        if body is True:
            return TRUE
        found = items_left(self.reading.documents, self.place, self.reading.schema, self.inner(word))
        return found or self.unknown(f"what {word} applies to depends on too many branches, or on the validator", word)


def _on_arrays(demand: Demand) -> Demand:
    """Make the negation of an atom hold for values other than arrays."""
    if isinstance(demand, Not):
        return Some((Not(Kinds(frozenset({"array"}))), demand))
    return demand


def _size(number: Any) -> int:
    limit = figure(number)
    if not 0 <= limit <= _LARGEST_SIZE:
        raise TooLarge(number.text)
    return int(-(-limit.numerator // limit.denominator))


_Handler = Callable[[_Words, str, Any], Demand | None]
_HANDLERS: Final[Mapping[str, tuple[int, _Handler]]] = {
    "$dynamicRef": (_2020, _Words.dynamic),
    "$recursiveRef": (_2019, _Words.recursive),
    "$ref": (0, _Words.reference),
    "additionalItems": (0, _Words.additional_items),
    "additionalProperties": (0, _Words.additional),
    "allOf": (0, _Words.every),
    "anyOf": (0, _Words.some),
    "const": (_D6, _Words.const),
    "contains": (_D6, _Words.contains),
    "dependencies": (0, _Words.dependencies),
    "dependentRequired": (_2019, _Words.dependencies),
    "dependentSchemas": (_2019, _Words.dependencies),
    "else": (_D7, _Words.then),
    "enum": (0, _Words.enum),
    "exclusiveMaximum": (_D6, _Words.bound),
    "exclusiveMinimum": (_D6, _Words.bound),
    "format": (0, _Words.format),
    "items": (0, _Words.items),
    "maxItems": (0, _Words.size),
    "maxLength": (0, _Words.size),
    "maxProperties": (0, _Words.size),
    "maximum": (0, _Words.bound),
    "minItems": (0, _Words.size),
    "minLength": (0, _Words.size),
    "minProperties": (0, _Words.size),
    "minimum": (0, _Words.bound),
    "multipleOf": (0, _Words.multiple),
    "not": (0, _Words.negated),
    "oneOf": (0, _Words.one),
    "pattern": (0, _Words.pattern),
    "patternProperties": (0, _Words.pattern_properties),
    "prefixItems": (_2020, _Words.prefix),
    "properties": (0, _Words.properties),
    "propertyNames": (_D6, _Words.names),
    "required": (0, _Words.required),
    "then": (_D7, _Words.then),
    "type": (0, _Words.type),
    "unevaluatedItems": (_2019, _Words.unevaluated_items),
    "unevaluatedProperties": (_2019, _Words.unevaluated_members),
    "uniqueItems": (0, _Words.unique),
}

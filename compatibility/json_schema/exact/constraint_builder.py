"""Conversion of JSON Schema keywords to constraints, by draft."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import Any, Final

from contractlog.compatibility.json_schema.exact.constraints import (
    FALSE,
    TRUE,
    Conjunction,
    Constraint,
    ContainsItems,
    Disjunction,
    ExactlyOne,
    HasFormat,
    HasMember,
    IntegerNotation,
    ItemValues,
    KeywordConstraint,
    MatchesPattern,
    MaxSize,
    MemberNames,
    MemberValues,
    MinSize,
    MultipleOf,
    NameSet,
    Negation,
    NumericLimit,
    OrderedSet,
    SchemaConstraint,
    TypeIn,
    Undecidable,
    UniqueItems,
    ValueIn,
)
from contractlog.compatibility.json_schema.exact.digests import SchemaDigests
from contractlog.compatibility.json_schema.exact.json_values import NumberTooLarge, to_exact, to_fraction, value_key
from contractlog.compatibility.json_schema.exact.unevaluated_keywords import (
    unevaluated_items_constraint,
    unevaluated_members_constraint,
)
from contractlog.compatibility.json_schema.parser import JsonSchema
from contractlog.compatibility.json_schema.reference_resolver import Documents, SchemaPosition
from contractlog.compatibility.json_schema.vocabulary import DRAFTS
from contractlog.compatibility.json_text import Number, join_pointer

__all__ = ["ConstraintBuilder"]

_D6, _D7, _2019, _2020 = 1, 2, 3, 4
_SIZES: Final = {
    "minLength": "string", "maxLength": "string", "minItems": "array", "maxItems": "array",
    "minProperties": "object", "maxProperties": "object",
}  # fmt: skip
_MAX_SIZE: Final = 1 << 53


class ConstraintBuilder:
    """Converter of the schemas of one side to constraints."""

    def __init__(self, owner: str, schema: JsonSchema, referenced: Mapping[str, str], *, formats: bool = False) -> None:
        """Prepare the conversion of one side.

        Args:
            owner: ``reader`` or ``writer``.
            schema: the whole schema.
            referenced: name -> text of every dependency.
            formats: convert ``format`` to a constraint instead of ignoring it.
        """
        self.owner = owner
        self.formats = formats
        self.documents = Documents(schema, referenced)
        self.digests = SchemaDigests(self.documents, formats=formats)
        self._schemas: dict[str, SchemaConstraint] = {}

    def root(self) -> SchemaConstraint:
        """Return the whole schema."""
        return self.schema(self.documents.root())

    def schema(self, position: SchemaPosition) -> SchemaConstraint:
        """Return the schema at a position, converted on first use."""
        location = position.location
        if location not in self._schemas:
            digest = self.digests.digest(position)
            self._schemas[location] = SchemaConstraint(digest, location, self.owner, lambda: self._parts(position))
        return self._schemas[location]

    @cached_property
    def ambiguous_anchors(self) -> frozenset[Any]:
        """The dynamic anchors that occur more than once."""
        anchors = Counter(
            str(schema["$dynamicAnchor"]) for schema in self.documents.schemas() if "$dynamicAnchor" in schema
        )
        return frozenset(anchor for anchor, count in anchors.items() if count > 1)

    @cached_property
    def has_several_resources(self) -> bool:
        """True if there is more than one schema with its own URL."""
        inner = islice(self.documents.schemas(), 1, None)
        return len(self.documents.values()) > 1 or any(isinstance(schema.get("$id"), str) for schema in inner)

    def _parts(self, position: SchemaPosition) -> Iterator[KeywordConstraint]:
        value = position.contents
        if not isinstance(value, dict):
            if value is False:
                yield KeywordConstraint("", position.location, FALSE)
            return
        keywords = _SchemaKeywords(self, position, value)
        for keyword in keywords.effective():
            constraint = keywords.constraint(keyword)
            if constraint is not None and constraint != TRUE:
                yield KeywordConstraint(keyword, join_pointer(position.location, keyword), constraint)


class _SchemaKeywords:
    """The keywords of one schema."""

    def __init__(self, builder: ConstraintBuilder, position: SchemaPosition, value: dict[str, Any]) -> None:
        self.builder = builder
        self.position = position
        self.value = value
        self.draft = DRAFTS.index(position.context.draft)

    def effective(self) -> list[str]:
        """Return the effective keywords in textual order, but ``type`` first, as it decides most."""
        if self.draft < _2019 and "$ref" in self.value:
            return ["$ref"]
        return sorted(self.value, key=lambda keyword: keyword != "type")

    def constraint(self, keyword: str) -> Constraint | None:
        """Return the constraint of a keyword; None if it has none."""
        handler = _HANDLERS.get(keyword)
        if handler is None:
            return None
        first_draft, build = handler
        if self.draft < first_draft:
            return None
        try:
            return build(self, keyword, self.value[keyword])
        except NumberTooLarge as number:
            return self.unknown(f"the number {str(number)[:40]} is too large to be compared exactly", keyword)

    def unknown(self, reason: str, keyword: str) -> Undecidable:
        return Undecidable(reason, (keyword, self.builder.digests.digest(self.position)))

    def subschema(self, *tokens: str | int) -> SchemaConstraint:
        return self.builder.schema(self.builder.documents.below(self.position, *tokens))

    def type(self, _word: str, body: Any) -> Constraint:
        names = frozenset([body] if isinstance(body, str) else body)
        if "number" in names:
            names -= {"integer"}
        elif "integer" in names and self.draft < _D6:
            integer = Conjunction((TypeIn(frozenset({"integer"})), IntegerNotation()))
            other_types = names - {"integer"}
            return Disjunction((TypeIn(other_types), integer)) if other_types else integer
        return TypeIn(names)

    def enum(self, _word: str, body: Any) -> Constraint:
        return ValueIn(OrderedSet(value_key(to_exact(value)) for value in body))

    def const(self, _word: str, body: Any) -> Constraint:
        return ValueIn(OrderedSet([value_key(to_exact(body))]))

    def numeric_limit(self, keyword: str, body: Any) -> Constraint | None:
        upper = keyword.endswith("aximum")
        if not isinstance(body, Number):
            return None  # draft 4: a flag of the limit
        is_exclusive = self.draft < _D6 and self.value.get(f"exclusive{keyword.capitalize()}") is True
        return NumericLimit(to_fraction(body), upper, keyword.startswith("exclusive") or is_exclusive)

    def multiple(self, _word: str, body: Any) -> Constraint:
        return MultipleOf(to_fraction(body))

    def size(self, keyword: str, body: Any) -> Constraint:
        kind = _SIZES[keyword]
        limit = _size(body)
        if keyword.startswith("max"):
            return MaxSize(kind, limit)
        return MinSize(kind, limit) if limit else TRUE

    def pattern(self, _word: str, body: Any) -> Constraint:
        return MatchesPattern(body)

    def format(self, _word: str, body: Any) -> Constraint | None:
        return HasFormat(body) if self.builder.formats and isinstance(body, str) else None

    def required_members(self, _word: str, body: Any) -> Constraint:
        return Conjunction(tuple(HasMember(name) for name in body)) if isinstance(body, list) else TRUE

    def properties(self, keyword: str, body: Any) -> Constraint:
        return Conjunction(
            tuple(MemberValues(NameSet(frozenset({name})), self.subschema(keyword, name)) for name in body)
        )

    def pattern_properties(self, keyword: str, body: Any) -> Constraint:
        return Conjunction(
            tuple(MemberValues(NameSet(patterns=OrderedSet([text])), self.subschema(keyword, text)) for text in body)
        )

    def additional(self, keyword: str, body: Any) -> Constraint:
        if body is True:
            return TRUE
        return MemberValues(self.unlisted_names(), self.subschema(keyword))

    def unlisted_names(self) -> NameSet:
        """Return the names that neither ``properties`` nor ``patternProperties`` cover."""
        names, patterns = self.value.get("properties") or (), self.value.get("patternProperties") or ()
        return NameSet(frozenset(names), OrderedSet(patterns), inverted=True)

    def property_names(self, keyword: str, _body: Any) -> Constraint:
        return MemberNames(self.subschema(keyword))

    def dependencies(self, keyword: str, body: Any) -> Constraint:
        return Conjunction(tuple(self._dependency(keyword, name, dependency) for name, dependency in body.items()))

    def _dependency(self, keyword: str, name: str, dependency: Any) -> Constraint:
        is_absent = MemberValues(NameSet(frozenset({name})), FALSE)
        required = [dependency] if isinstance(dependency, str) else dependency
        if isinstance(required, list):
            return Disjunction((is_absent, Conjunction(tuple(map(HasMember, required)))))
        return Disjunction((is_absent, self.subschema(keyword, name)))

    def items(self, keyword: str, body: Any) -> Constraint:
        if isinstance(body, list):
            return Conjunction(
                tuple(ItemValues(index, index + 1, self.subschema(keyword, index)) for index in range(len(body)))
            )
        start = len(self.value.get("prefixItems") or ()) if self.draft >= _2020 else 0
        return ItemValues(start, None, self.subschema(keyword))

    def prefix(self, keyword: str, body: Any) -> Constraint:
        return Conjunction(
            tuple(ItemValues(index, index + 1, self.subschema(keyword, index)) for index in range(len(body)))
        )

    def additional_items(self, keyword: str, body: Any) -> Constraint:
        listed = self.value.get("items")
        if body is True or not isinstance(listed, list) or self.draft >= _2020:
            return TRUE
        return ItemValues(len(listed), None, self.subschema(keyword))

    def contains(self, keyword: str, _body: Any) -> Constraint:
        has_limits = self.draft >= _2019
        min_count = _size(self.value.get("minContains", Number("1"))) if has_limits else 1
        constraints: list[Constraint] = [ContainsItems(self.subschema(keyword), min_count)] if min_count else []
        if has_limits and "maxContains" in self.value:
            constraints.append(Negation(ContainsItems(self.subschema(keyword), _size(self.value["maxContains"]) + 1)))
        # values of other types have no items, so the negation must not require an array
        return Conjunction(tuple(_restrict_to_arrays(constraint) for constraint in constraints))

    def unique(self, _word: str, body: Any) -> Constraint:
        return UniqueItems() if body is True else TRUE

    def all_of(self, keyword: str, body: Any) -> Constraint:
        return Conjunction(tuple(self.subschema(keyword, index) for index in range(len(body))))

    def any_of(self, keyword: str, body: Any) -> Constraint:
        return Disjunction(tuple(self.subschema(keyword, index) for index in range(len(body))))

    def one_of(self, keyword: str, body: Any) -> Constraint:
        return ExactlyOne(tuple(self.subschema(keyword, index) for index in range(len(body))))

    def negation(self, keyword: str, _body: Any) -> Constraint:
        return Negation(self.subschema(keyword))

    def then(self, keyword: str, _body: Any) -> Constraint:
        if "if" not in self.value:
            return TRUE
        condition: Constraint = self.subschema("if")
        return Disjunction((Negation(condition) if keyword == "then" else condition, self.subschema(keyword)))

    def reference(self, _word: str, body: Any) -> Constraint:
        target = self.builder.documents.follow_from(self.position, body)
        if target is None:
            return Undecidable(f'the reference "{body[:80]}" cannot be resolved', ("$ref", body))
        return self.builder.schema(target)

    def dynamic(self, keyword: str, body: Any) -> Constraint:
        target = self.builder.documents.follow_from(self.position, body)
        anchor = body.rpartition("#")[2]
        schema = None if target is None else target.contents
        is_dynamic = isinstance(schema, dict) and schema.get("$dynamicAnchor") == anchor
        if target is None or (is_dynamic and anchor in self.builder.ambiguous_anchors):
            return self.unknown(f"{keyword} leads to different places in the course of a validation", keyword)
        return self.builder.schema(target)

    def recursive(self, keyword: str, _body: Any) -> Constraint:
        if self.builder.has_several_resources:
            return self.unknown(f"{keyword} leads to different places in the course of a validation", keyword)
        return self.builder.root()

    def unevaluated_members(self, keyword: str, body: Any) -> Constraint:
        if body is True:
            return TRUE
        constraint = unevaluated_members_constraint(
            self.builder.documents, self.position, self.builder.schema, self.subschema(keyword)
        )
        return constraint or self.unknown(
            f"what {keyword} applies to depends on too many branches, or on the validator", keyword
        )

    def unevaluated_items(self, keyword: str, body: Any) -> Constraint:
        if body is True:
            return TRUE
        constraint = unevaluated_items_constraint(
            self.builder.documents, self.position, self.builder.schema, self.subschema(keyword)
        )
        return constraint or self.unknown(
            f"what {keyword} applies to depends on too many branches, or on the validator", keyword
        )


def _restrict_to_arrays(constraint: Constraint) -> Constraint:
    """Make the negation of an atom hold for values other than arrays."""
    if isinstance(constraint, Negation):
        return Disjunction((Negation(TypeIn(frozenset({"array"}))), constraint))
    return constraint


def _size(size: Any) -> int:
    limit = to_fraction(size)
    if not 0 <= limit <= _MAX_SIZE:
        raise NumberTooLarge(size.text)
    return int(-(-limit.numerator // limit.denominator))


_Handler = Callable[[_SchemaKeywords, str, Any], Constraint | None]
_HANDLERS: Final[Mapping[str, tuple[int, _Handler]]] = {
    "$dynamicRef": (_2020, _SchemaKeywords.dynamic),
    "$recursiveRef": (_2019, _SchemaKeywords.recursive),
    "$ref": (0, _SchemaKeywords.reference),
    "additionalItems": (0, _SchemaKeywords.additional_items),
    "additionalProperties": (0, _SchemaKeywords.additional),
    "allOf": (0, _SchemaKeywords.all_of),
    "anyOf": (0, _SchemaKeywords.any_of),
    "const": (_D6, _SchemaKeywords.const),
    "contains": (_D6, _SchemaKeywords.contains),
    "dependencies": (0, _SchemaKeywords.dependencies),
    "dependentRequired": (_2019, _SchemaKeywords.dependencies),
    "dependentSchemas": (_2019, _SchemaKeywords.dependencies),
    "else": (_D7, _SchemaKeywords.then),
    "enum": (0, _SchemaKeywords.enum),
    "exclusiveMaximum": (_D6, _SchemaKeywords.numeric_limit),
    "exclusiveMinimum": (_D6, _SchemaKeywords.numeric_limit),
    "format": (0, _SchemaKeywords.format),
    "items": (0, _SchemaKeywords.items),
    "maxItems": (0, _SchemaKeywords.size),
    "maxLength": (0, _SchemaKeywords.size),
    "maxProperties": (0, _SchemaKeywords.size),
    "maximum": (0, _SchemaKeywords.numeric_limit),
    "minItems": (0, _SchemaKeywords.size),
    "minLength": (0, _SchemaKeywords.size),
    "minProperties": (0, _SchemaKeywords.size),
    "minimum": (0, _SchemaKeywords.numeric_limit),
    "multipleOf": (0, _SchemaKeywords.multiple),
    "not": (0, _SchemaKeywords.negation),
    "oneOf": (0, _SchemaKeywords.one_of),
    "pattern": (0, _SchemaKeywords.pattern),
    "patternProperties": (0, _SchemaKeywords.pattern_properties),
    "prefixItems": (_2020, _SchemaKeywords.prefix),
    "properties": (0, _SchemaKeywords.properties),
    "propertyNames": (_D6, _SchemaKeywords.property_names),
    "required": (0, _SchemaKeywords.required_members),
    "then": (_D7, _SchemaKeywords.then),
    "type": (0, _SchemaKeywords.type),
    "unevaluatedItems": (_2019, _SchemaKeywords.unevaluated_items),
    "unevaluatedProperties": (_2019, _SchemaKeywords.unevaluated_members),
    "uniqueItems": (0, _SchemaKeywords.unique),
}

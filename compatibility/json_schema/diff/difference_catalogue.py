"""Catalogue of JSON Schema differences: every kind of the reference implementation, with its policy.

In the table, ``S`` marks a kind that both policies allow, ``L`` one that only LENIENT allows, ``-`` one that neither
allows. The family selects the reference implementation's message; the family ``none`` has no message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["DIFFERENCE_KINDS", "LENIENT", "STRICT", "DifferenceKind", "check_id", "explain"]


@dataclass(frozen=True, slots=True)
class DifferenceKind:
    """A kind of difference."""

    name: str
    mark: str
    family: str
    title: str


_OTHER_KINDS: Final = """
ID_CHANGED S none The id changed
TITLE_CHANGED S none The title changed
DESCRIPTION_CHANGED S none The description changed
DEFAULT_CHANGED S none The default changed
SCHEMA_ADDED - none Items must match a schema now
SCHEMA_REMOVED S none Items need not match a schema any more
TYPE_EXTENDED S none Any number is allowed where an integer was required
TYPE_NARROWED - type An integer is required where any number was allowed
TYPE_CHANGED - type The type changed
PATTERN_ADDED - keyword Strings must match a pattern now
PATTERN_REMOVED S none Strings need not match a pattern any more
PATTERN_CHANGED - changed Strings must match a different pattern
MULTIPLE_OF_ADDED - keyword multipleOf was added
MULTIPLE_OF_REMOVED S none multipleOf was removed
MULTIPLE_OF_EXPANDED - raised The new multipleOf is a multiple of the old one
MULTIPLE_OF_REDUCED S none The new multipleOf is a divisor of the old one
MULTIPLE_OF_CHANGED - changed The new multipleOf is neither a multiple nor a divisor of the old one
REQUIRED_ATTRIBUTE_ADDED - keyword A property is required now
REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED S none A property with a default is required now
REQUIRED_ATTRIBUTE_REMOVED S none A property is no longer required
ADDITIONAL_PROPERTIES_ADDED S none Additional properties are allowed now
ADDITIONAL_PROPERTIES_REMOVED L keyword Additional properties are no longer allowed
ADDITIONAL_PROPERTIES_EXTENDED S none The schema of additional properties was removed
ADDITIONAL_PROPERTIES_NARROWED L fewer Additional properties must match a schema now
UNEVALUATED_PROPERTIES_ADDED S none Unevaluated properties are allowed now
UNEVALUATED_PROPERTIES_REMOVED L keyword Unevaluated properties are no longer allowed
UNEVALUATED_PROPERTIES_EXTENDED S none The schema of unevaluated properties was removed
UNEVALUATED_PROPERTIES_NARROWED L fewer Unevaluated properties must match a schema now
ADDITIONAL_ITEMS_ADDED S none Additional items are allowed now
ADDITIONAL_ITEMS_REMOVED - keyword Additional items are no longer allowed
ADDITIONAL_ITEMS_EXTENDED S none The schema of additional items was removed
ADDITIONAL_ITEMS_NARROWED - fewer Additional items must match a schema now
UNEVALUATED_ITEMS_ADDED S none Unevaluated items are allowed now
UNEVALUATED_ITEMS_REMOVED - keyword Unevaluated items are no longer allowed
UNEVALUATED_ITEMS_EXTENDED S none The schema of unevaluated items was removed
UNEVALUATED_ITEMS_NARROWED - fewer Unevaluated items must match a schema now
DEPENDENCY_ARRAY_ADDED - keyword A property requires other properties now
DEPENDENCY_ARRAY_REMOVED S none A property no longer requires other properties
DEPENDENCY_ARRAY_EXTENDED - more A property requires more properties than before
DEPENDENCY_ARRAY_NARROWED S none A property requires fewer properties than before
DEPENDENCY_ARRAY_CHANGED - changed A property requires different properties
DEPENDENCY_SCHEMA_ADDED - keyword The object must match a schema now if a property is present
DEPENDENCY_SCHEMA_REMOVED S none The object need not match a schema any more if a property is present
PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL - open A property was added to an open content model
REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL - open A required property was added to an open content model
REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL L open A required property with a default was added to an open content model
OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL L open An optional property was added to an open content model
PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL S none A property with an empty schema was added to an open content model
REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL - unopen A required property was added to a content model that is not open
REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL S none A required property with a default was added to a content model that is not open
OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL S none An optional property was added to a content model that is not open
PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL S none A property was removed from an open content model
PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL S none A property with the schema false was removed from a closed content model
PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL L closed A property was removed from a closed content model
PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL S none A property was removed; additional properties cover it
PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL L lost A property was removed; additional properties do not cover it
PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL S none A property was added; additional properties cover it
PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL L alien A property was added; additional properties do not cover it
RESERVED_PROPERTY_REMOVED - none A property name is no longer reserved
RESERVED_PROPERTY_CONFLICTS_WITH_PROPERTY - none A property has a reserved name
UNIQUE_ITEMS_ADDED - keyword Items must be unique now
UNIQUE_ITEMS_REMOVED S none Items need not be unique any more
ITEM_ADDED_TO_OPEN_CONTENT_MODEL - open A tuple item was added to an open content model
ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL S none A tuple item with an empty schema was added to an open content model
ITEM_ADDED_TO_CLOSED_CONTENT_MODEL S none A tuple item was added to a closed content model
ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL S none A tuple item was removed from an open content model
ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL S none A tuple item with the schema false was removed from a closed content model
ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL - closed A tuple item was removed from a closed content model
ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL S none A tuple item was removed; additional items cover it
ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL - lost A tuple item was removed; additional items do not cover it
ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL S none A tuple item was added; additional items cover it
ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL - alien A tuple item was added; additional items do not cover it
ENUM_ARRAY_EXTENDED S none enum lists more values
ENUM_ARRAY_NARROWED - fewer enum lists fewer values
ENUM_ARRAY_CHANGED - type enum or const lists different values
COMBINED_TYPE_EXTENDED S none The combining keyword changed to a less restrictive one
COMBINED_TYPE_CHANGED - type The combining keyword changed
COMBINED_TYPE_SUBSCHEMAS_CHANGED - type The branches of a combination cannot be matched with the old ones
PRODUCT_TYPE_EXTENDED - more allOf has more branches
PRODUCT_TYPE_NARROWED S none allOf has fewer branches
SUM_TYPE_EXTENDED S none anyOf or oneOf has more branches
SUM_TYPE_NARROWED - fewer anyOf or oneOf has fewer branches
NOT_TYPE_EXTENDED - more not rejects more values
NOT_TYPE_NARROWED S none not rejects fewer values
"""  # noqa: E501 -- a table

_UPPER_LIMITS: Final = {
    "MAX_LENGTH": "maxLength",
    "MAXIMUM": "maximum",
    "EXCLUSIVE_MAXIMUM": "exclusiveMaximum",
    "MAX_PROPERTIES": "maxProperties",
    "MAX_ITEMS": "maxItems",
    "MAX_CONTAINS": "maxContains",
}
_LOWER_LIMITS: Final = {
    "MIN_LENGTH": "minLength",
    "MINIMUM": "minimum",
    "EXCLUSIVE_MINIMUM": "exclusiveMinimum",
    "MIN_PROPERTIES": "minProperties",
    "MIN_ITEMS": "minItems",
    "MIN_CONTAINS": "minContains",
}


def check_id(kind: str) -> str:
    """Return the check id of a kind, as in findings and documentation."""
    return f"JSON_{kind}"


def _limit_kinds() -> Iterator[DifferenceKind]:
    for names, rises, falls in (
        (_UPPER_LIMITS, ("S", "none"), ("-", "lowered")),
        (_LOWER_LIMITS, ("-", "raised"), ("S", "none")),
    ):
        for name, keyword in names.items():
            yield DifferenceKind(f"{name}_ADDED", "-", "keyword", f"{keyword} was added")
            yield DifferenceKind(f"{name}_REMOVED", "S", "none", f"{keyword} was removed")
            yield DifferenceKind(f"{name}_INCREASED", *rises, f"{keyword} was increased")
            yield DifferenceKind(f"{name}_DECREASED", *falls, f"{keyword} was decreased")


def _other_kinds() -> Iterator[DifferenceKind]:
    for line in _OTHER_KINDS.strip().splitlines():
        name, mark, family, title = line.split(" ", 3)
        yield DifferenceKind(name, mark, family, title)


DIFFERENCE_KINDS: Final[Mapping[str, DifferenceKind]] = {kind.name: kind for kind in (*_limit_kinds(), *_other_kinds())}
STRICT: Final = frozenset(check_id(kind.name) for kind in DIFFERENCE_KINDS.values() if kind.mark == "S")
LENIENT: Final = STRICT | {check_id(kind.name) for kind in DIFFERENCE_KINDS.values() if kind.mark == "L"}

_REASONS: Final[Mapping[str, str]] = {
    "keyword": "Existing values need not meet the new constraint.",
    "raised": "Existing values below the new number are no longer valid.",
    "lowered": "Existing values above the new number are no longer valid.",
    "changed": "Values that were valid under the old constraint may be invalid under the new one.",
    "fewer": "Values that only the old schema allows are no longer valid.",
    "more": "Existing values need not meet the added constraint.",
    "type": "Values that were valid under the old schema may be invalid under the new one.",
    "open": "Existing values may have any value under this name or at this index.",
    "unopen": "Existing values do not have it.",
    "closed": "Existing values may have it, and the new schema does not allow it.",
    "lost": "Existing values may have it, and may be invalid under the schema that applies now.",
    "alien": "Existing values were validated against a less restrictive schema.",
}
_POLICIES: Final[Mapping[str, str]] = {
    "S": "STRICT and LENIENT allow it.",
    "L": "LENIENT allows it, assuming that existing values are not affected; STRICT does not.",
    "-": "Neither STRICT nor LENIENT allows it.",
}


def explain(kind: DifferenceKind) -> str:
    """Return the consequence of a difference for existing values, and the policies that allow it."""
    return f"{_REASONS.get(kind.family, '')} {_POLICIES[kind.mark]}".strip()

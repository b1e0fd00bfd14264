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
SCHEMA_ADDED - none Items have a schema now
SCHEMA_REMOVED S none Items have no schema any more
TYPE_EXTENDED S none An integer may be any number now
TYPE_NARROWED - type A number must be an integer now
TYPE_CHANGED - type The type changed
PATTERN_ADDED - keyword Texts must match a pattern now
PATTERN_REMOVED S none Texts need not match a pattern any more
PATTERN_CHANGED - changed Texts must match another pattern
MULTIPLE_OF_ADDED - keyword Numbers must be multiples of a figure now
MULTIPLE_OF_REMOVED S none Numbers need not be multiples of a figure any more
MULTIPLE_OF_EXPANDED - raised The figure of multipleOf is a multiple of the old one
MULTIPLE_OF_REDUCED S none The figure of multipleOf divides the old one
MULTIPLE_OF_CHANGED - changed The new multipleOf is neither a multiple nor a divisor of the old one
REQUIRED_ATTRIBUTE_ADDED - keyword A property is required now
REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED S none A property with a default is required now
REQUIRED_ATTRIBUTE_REMOVED S none A property is not required any more
ADDITIONAL_PROPERTIES_ADDED S none Other properties are permitted now
ADDITIONAL_PROPERTIES_REMOVED L keyword Other properties are not permitted any more
ADDITIONAL_PROPERTIES_EXTENDED S none Other properties are free of their schema
ADDITIONAL_PROPERTIES_NARROWED L fewer Other properties have a schema now
UNEVALUATED_PROPERTIES_ADDED S none Unevaluated properties are permitted now
UNEVALUATED_PROPERTIES_REMOVED L keyword Unevaluated properties are not permitted any more
UNEVALUATED_PROPERTIES_EXTENDED S none Unevaluated properties are free of their schema
UNEVALUATED_PROPERTIES_NARROWED L fewer Unevaluated properties have a schema now
ADDITIONAL_ITEMS_ADDED S none Items behind the list are permitted now
ADDITIONAL_ITEMS_REMOVED - keyword Items behind the list are not permitted any more
ADDITIONAL_ITEMS_EXTENDED S none Items behind the list are free of their schema
ADDITIONAL_ITEMS_NARROWED - fewer Items behind the list have a schema now
UNEVALUATED_ITEMS_ADDED S none Unevaluated items are permitted now
UNEVALUATED_ITEMS_REMOVED - keyword Unevaluated items are not permitted any more
UNEVALUATED_ITEMS_EXTENDED S none Unevaluated items are free of their schema
UNEVALUATED_ITEMS_NARROWED - fewer Unevaluated items have a schema now
DEPENDENCY_ARRAY_ADDED - keyword A property demands others now
DEPENDENCY_ARRAY_REMOVED S none A property demands no others any more
DEPENDENCY_ARRAY_EXTENDED - more A property demands more others
DEPENDENCY_ARRAY_NARROWED S none A property demands fewer others
DEPENDENCY_ARRAY_CHANGED - changed A property demands different others
DEPENDENCY_SCHEMA_ADDED - keyword A property brings a schema for the object now
DEPENDENCY_SCHEMA_REMOVED S none A property brings no schema for the object any more
PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL - open A property is new, open model
REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL - open A required property is new, open model
REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL L open A required property with a default is new, open model
OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL L open An optional property is new, open model
PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL S none A property that demands nothing is new, open model
REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL - unopen A required property is new, model not open
REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL S none A required, defaulted property is new, not open
OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL S none An optional property is new, model not open
PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL S none A property is gone, open model
PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL S none A property that could not stand is gone, closed model
PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL L closed A property is gone, closed model
PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL S none A property is gone, others' schema fits
PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL L lost A property is gone, others' schema does not fit
PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL S none A property is new, others' schema fits
PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL L alien A property is new, others' schema does not fit
RESERVED_PROPERTY_REMOVED - none A property is not reserved any more
RESERVED_PROPERTY_CONFLICTS_WITH_PROPERTY - none A property has a reserved name
UNIQUE_ITEMS_ADDED - keyword Items must differ from each other now
UNIQUE_ITEMS_REMOVED S none Items need not differ from each other any more
ITEM_ADDED_TO_OPEN_CONTENT_MODEL - open A listed item is new, open model
ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL S none A listed item that demands nothing is new, open model
ITEM_ADDED_TO_CLOSED_CONTENT_MODEL S none A listed item is new, closed model
ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL S none A listed item is gone, open model
ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL S none A listed item that could not stand is gone, closed model
ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL - closed A listed item is gone, closed model
ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL S none A listed item is gone, others' schema fits
ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL - lost A listed item is gone, others' schema does not fit
ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL S none A listed item is new, others' schema fits
ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL - alien A listed item is new, others' schema does not fit
ENUM_ARRAY_EXTENDED S none More values are named
ENUM_ARRAY_NARROWED - fewer Fewer values are named
ENUM_ARRAY_CHANGED - type Other values are named
COMBINED_TYPE_EXTENDED S none A combination is wider than the one it was
COMBINED_TYPE_CHANGED - type A combination is another than it was
COMBINED_TYPE_SUBSCHEMAS_CHANGED - type Branches of a combination have none that follows them
PRODUCT_TYPE_EXTENDED - more More schemas must all hold
PRODUCT_TYPE_NARROWED S none Fewer schemas must all hold
SUM_TYPE_EXTENDED S none There are more schemas to choose from
SUM_TYPE_NARROWED - fewer There are fewer schemas to choose from
NOT_TYPE_EXTENDED - more More is refused than before
NOT_TYPE_NARROWED S none Less is refused than before
"""

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
            yield DifferenceKind(f"{name}_ADDED", "-", "keyword", f"There is a limit {keyword} now")
            yield DifferenceKind(f"{name}_REMOVED", "S", "none", f"There is no limit {keyword} any more")
            yield DifferenceKind(f"{name}_INCREASED", *rises, f"The limit {keyword} is higher")
            yield DifferenceKind(f"{name}_DECREASED", *falls, f"The limit {keyword} is lower")


def _other_kinds() -> Iterator[DifferenceKind]:
    for line in _OTHER_KINDS.strip().splitlines():
        name, mark, family, title = line.split(" ", 3)
        yield DifferenceKind(name, mark, family, title)


DIFFERENCE_KINDS: Final[Mapping[str, DifferenceKind]] = {kind.name: kind for kind in (*_limit_kinds(), *_other_kinds())}
STRICT: Final = frozenset(check_id(kind.name) for kind in DIFFERENCE_KINDS.values() if kind.mark == "S")
LENIENT: Final = STRICT | {check_id(kind.name) for kind in DIFFERENCE_KINDS.values() if kind.mark == "L"}

_REASONS: Final[Mapping[str, str]] = {
    "keyword": "Values without it were valid, and may not be any more.",
    "raised": "Values below the new figure were valid, and are not any more.",
    "lowered": "Values above the new figure were valid, and are not any more.",
    "changed": "Values that were valid under the old one may be invalid under the new one.",
    "fewer": "What is not among them any more was valid before.",
    "more": "What the new ones demand was not demanded before.",
    "type": "Values of the old kind were valid, and may not be any more.",
    "open": "Old values may carry the same name, or stand at the same place, with anything in it.",
    "unopen": "Old values do not have it.",
    "closed": "Old values carry it, and nothing permits it any more.",
    "lost": "Old values have it, and it is invalid under the schema that applies now.",
    "alien": "Old values were validated against a less restrictive schema.",
}
_POLICIES: Final[Mapping[str, str]] = {
    "S": "STRICT and LENIENT allow it.",
    "L": "LENIENT allows it, assuming that old values do not use it; STRICT does not.",
    "-": "Neither STRICT nor LENIENT allows it.",
}


def explain(kind: DifferenceKind) -> str:
    """Return the consequence of a difference for existing values, and the policies that allow it."""
    return f"{_REASONS.get(kind.family, '')} {_POLICIES[kind.mark]}".strip()

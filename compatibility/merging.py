"""Inheritance of metadata and rules from the previous version and from the subject's config."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from contractlog.compatibility.contract import Metadata, Rule, RuleSet

__all__ = [
    "VERSION_PROPERTY",
    "overlaid_metadata",
    "overlaid_rules",
    "present_metadata",
    "present_rules",
    "reserved_fields",
    "unversioned",
    "versioned",
    "without_rules",
]

VERSION_PROPERTY: Final = "confluent:version"
_RESERVED_PROPERTY: Final = "confluent:reserved"


def overlaid_metadata(*layers: Metadata | None) -> Metadata | None:
    """Merge layers of metadata: for each key the last layer wins, and all sensitive names are kept.

    >>> lower, upper = Metadata(properties={"a": "1", "b": "1"}), Metadata(properties={"b": "2"})
    >>> overlaid_metadata(lower, None, upper).properties
    {'a': '1', 'b': '2'}
    """
    found: Metadata | None = None
    for layer in layers:
        if layer is None:
            continue
        if found is None:
            found = layer
            continue
        found = Metadata(
            {**found.tags, **layer.tags},
            {**found.properties, **layer.properties},
            tuple(sorted({*found.sensitive, *layer.sensitive})),
        )
    return found


def overlaid_rules(*layers: RuleSet | None) -> RuleSet | None:
    """Merge layers of rule sets: in each list the last rule of a name wins; later layers come last."""
    found: RuleSet | None = None
    for layer in layers:
        if layer is None:
            continue
        if found is None:
            found = layer
            continue
        found = RuleSet(
            _laid_over(found.migration_rules, layer.migration_rules),
            _laid_over(found.domain_rules, layer.domain_rules),
            _laid_over(found.encoding_rules, layer.encoding_rules),
            layer.enable_at or found.enable_at,
        )
    return found


def _laid_over(lower: tuple[Rule, ...], upper: tuple[Rule, ...]) -> tuple[Rule, ...]:
    names = {rule.name for rule in upper}
    return (*(rule for rule in lower if rule.name not in names), *upper)


def without_rules(rule_set: RuleSet, names: Collection[str]) -> RuleSet:
    """Return a rule set without the rules of these names."""

    def kept(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        return tuple(rule for rule in rules if rule.name not in names)

    return replace(
        rule_set,
        migration_rules=kept(rule_set.migration_rules),
        domain_rules=kept(rule_set.domain_rules),
        encoding_rules=kept(rule_set.encoding_rules),
    )


def versioned(metadata: Metadata | None, version: int) -> Metadata:
    """Return metadata with the property that holds the version number."""
    metadata = metadata or Metadata()
    return replace(metadata, properties={**metadata.properties, VERSION_PROPERTY: str(version)})


def unversioned(metadata: Metadata | None) -> Metadata | None:
    """Return metadata without the property that ``versioned`` sets."""
    if metadata is None or VERSION_PROPERTY not in metadata.properties:
        return metadata
    properties = {name: value for name, value in metadata.properties.items() if name != VERSION_PROPERTY}
    return replace(metadata, properties=properties)


def present_metadata(metadata: Metadata | None) -> Metadata | None:
    """Return metadata, or None if it is empty."""
    return metadata if metadata is not None and metadata.body() else None


def present_rules(rule_set: RuleSet | None) -> RuleSet | None:
    """Return a rule set, or None if it is empty."""
    return rule_set if rule_set is not None and rule_set.body() else None


def reserved_fields(metadata: Metadata | None) -> tuple[str, ...]:
    """Return the field names that metadata reserves for later use, in order."""
    text = ("" if metadata is None else metadata.properties.get(_RESERVED_PROPERTY)) or ""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))

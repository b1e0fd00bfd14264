"""Inheritance of metadata and rules from the previous version and from the subject's config."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from contractlog.compatibility.data_contract import Metadata, Rule, RuleSet

__all__ = [
    "VERSION_PROPERTY",
    "add_version_property",
    "list_reserved_fields",
    "merge_metadata",
    "merge_rule_sets",
    "none_if_empty_metadata",
    "none_if_empty_rules",
    "remove_rules",
    "remove_version_property",
]

VERSION_PROPERTY: Final = "confluent:version"
_RESERVED_PROPERTY: Final = "confluent:reserved"


def merge_metadata(*layers: Metadata | None) -> Metadata | None:
    """Merge layers of metadata: for each key the last layer wins, and all sensitive names are kept.

    >>> lower, upper = Metadata(properties={"a": "1", "b": "1"}), Metadata(properties={"b": "2"})
    >>> merge_metadata(lower, None, upper).properties
    {'a': '1', 'b': '2'}
    """
    merged: Metadata | None = None
    for layer in layers:
        if layer is None:
            continue
        if merged is None:
            merged = layer
            continue
        merged = Metadata(
            {**merged.tags, **layer.tags},
            {**merged.properties, **layer.properties},
            tuple(sorted({*merged.sensitive, *layer.sensitive})),
        )
    return merged


def merge_rule_sets(*layers: RuleSet | None) -> RuleSet | None:
    """Merge layers of rule sets: in each list the last rule of a name wins; later layers come last."""
    merged: RuleSet | None = None
    for layer in layers:
        if layer is None:
            continue
        if merged is None:
            merged = layer
            continue
        merged = RuleSet(
            _merge_rules(merged.migration_rules, layer.migration_rules),
            _merge_rules(merged.domain_rules, layer.domain_rules),
            _merge_rules(merged.encoding_rules, layer.encoding_rules),
            layer.enable_at or merged.enable_at,
        )
    return merged


def _merge_rules(lower: tuple[Rule, ...], upper: tuple[Rule, ...]) -> tuple[Rule, ...]:
    names = {rule.name for rule in upper}
    return (*(rule for rule in lower if rule.name not in names), *upper)


def remove_rules(rule_set: RuleSet, names: Collection[str]) -> RuleSet:
    """Return a rule set without the rules of these names."""

    def remaining(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        return tuple(rule for rule in rules if rule.name not in names)

    return replace(
        rule_set,
        migration_rules=remaining(rule_set.migration_rules),
        domain_rules=remaining(rule_set.domain_rules),
        encoding_rules=remaining(rule_set.encoding_rules),
    )


def add_version_property(metadata: Metadata | None, version: int) -> Metadata:
    """Return metadata with the property that holds the version number."""
    metadata = metadata or Metadata()
    return replace(metadata, properties={**metadata.properties, VERSION_PROPERTY: str(version)})


def remove_version_property(metadata: Metadata | None) -> Metadata | None:
    """Return metadata without the property that ``add_version_property`` sets."""
    if metadata is None or VERSION_PROPERTY not in metadata.properties:
        return metadata
    properties = {name: value for name, value in metadata.properties.items() if name != VERSION_PROPERTY}
    return replace(metadata, properties=properties)


def none_if_empty_metadata(metadata: Metadata | None) -> Metadata | None:
    """Return metadata, or None if it is empty."""
    return metadata if metadata is not None and metadata.body() else None


def none_if_empty_rules(rule_set: RuleSet | None) -> RuleSet | None:
    """Return a rule set, or None if it is empty."""
    return rule_set if rule_set is not None and rule_set.body() else None


def list_reserved_fields(metadata: Metadata | None) -> tuple[str, ...]:
    """Return the field names that metadata reserves for later use, in order."""
    text = ("" if metadata is None else metadata.properties.get(_RESERVED_PROPERTY)) or ""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))

"""Rules and metadata of a schema, with the classes and names of confluent-kafka."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from contractlog.clients.confluent.bases import prefer_confluent_class
from contractlog.clients.confluent.json_object import JsonObject, list_parser, member

__all__ = [
    "Metadata",
    "MetadataProperties",
    "MetadataTags",
    "Rule",
    "RuleKind",
    "RuleMode",
    "RuleParams",
    "RulePhase",
    "RuleSet",
]


@prefer_confluent_class
class RuleKind(StrEnum):
    """Kind of a rule: it tests a value or changes it."""

    CONDITION = "CONDITION"
    TRANSFORM = "TRANSFORM"


@prefer_confluent_class
class RulePhase(StrEnum):
    """Phase in which a rule runs."""

    MIGRATION = "MIGRATION"
    DOMAIN = "DOMAIN"
    ENCODING = "ENCODING"


@prefer_confluent_class
class RuleMode(StrEnum):
    """Direction in which a rule runs."""

    UPGRADE = "UPGRADE"
    DOWNGRADE = "DOWNGRADE"
    UPDOWN = "UPDOWN"
    READ = "READ"
    WRITE = "WRITE"
    WRITEREAD = "WRITEREAD"


@prefer_confluent_class
@dataclass(slots=True)
class RuleParams:
    """Parameters of a rule."""

    params: dict[str, str] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return dict(self.params)

    @classmethod
    def from_dict(cls, src_dict: dict[str, Any]) -> Self:
        """Parse the JSON object."""
        return cls(dict(src_dict))

    def __hash__(self) -> int:
        return hash(frozenset(self.params.items()))


@prefer_confluent_class
@dataclass(frozen=True, slots=True)
class Rule(JsonObject):
    """A rule of a schema."""

    name: str | None = member("name")
    doc: str | None = member("doc")
    kind: RuleKind | None = member("kind", RuleKind)
    mode: RuleMode | None = member("mode", RuleMode)
    type: str | None = member("type")
    tags: list[str] | None = member("tags", hash=False)
    params: RuleParams | None = member("params", RuleParams.from_dict)
    expr: str | None = member("expr")
    on_success: str | None = member("onSuccess")
    on_failure: str | None = member("onFailure")
    disabled: bool | None = member("disabled")


@prefer_confluent_class
@dataclass(slots=True)
class RuleSet(JsonObject):
    """The rules of a schema, in the order in which they run."""

    migration_rules: list[Rule] | None = member("migrationRules", list_parser(Rule.from_dict), missing=list, hash=False)
    domain_rules: list[Rule] | None = member("domainRules", list_parser(Rule.from_dict), missing=list, hash=False)
    encoding_rules: list[Rule] | None = member(
        "encodingRules", list_parser(Rule.from_dict), missing=list, default=None, hash=False
    )
    enable_at: str | None = member("enableAt", default=None)

    def __hash__(self) -> int:
        rules = (*(self.migration_rules or ()), *(self.domain_rules or ()), *(self.encoding_rules or ()))
        return hash((frozenset(rules), self.enable_at))


@prefer_confluent_class
@dataclass(slots=True)
class MetadataTags:
    """Tags by path."""

    tags: dict[str, list[str]] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return dict(self.tags)

    @classmethod
    def from_dict(cls, src_dict: dict[str, Any]) -> Self:
        """Parse the JSON object."""
        return cls(dict(src_dict))

    def __hash__(self) -> int:
        return hash(frozenset((path, tuple(tags)) for path, tags in (self.tags or {}).items()))


@prefer_confluent_class
@dataclass(slots=True)
class MetadataProperties:
    """Properties by name."""

    properties: dict[str, str] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return dict(self.properties)

    @classmethod
    def from_dict(cls, src_dict: dict[str, Any]) -> Self:
        """Parse the JSON object."""
        return cls(dict(src_dict))

    def __hash__(self) -> int:
        return hash(frozenset(self.properties.items()))


@prefer_confluent_class
@dataclass(frozen=True, slots=True)
class Metadata(JsonObject):
    """Metadata of a schema."""

    tags: MetadataTags | None = member("tags", MetadataTags.from_dict)
    properties: MetadataProperties | None = member("properties", MetadataProperties.from_dict)
    sensitive: list[str] | None = member("sensitive", list, missing=list, hash=False)

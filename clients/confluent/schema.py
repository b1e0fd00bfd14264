"""Schemas and configuration, with the classes and names of confluent-kafka."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from contractlog.clients.confluent.bases import prefer_confluent_class
from contractlog.clients.confluent.json_object import JsonObject, list_parser, member
from contractlog.clients.confluent.rules import Metadata, RuleSet

__all__ = [
    "ConfigCompatibilityLevel",
    "RegisteredSchema",
    "Schema",
    "SchemaReference",
    "SchemaVersion",
    "ServerConfig",
]


@prefer_confluent_class
@dataclass(frozen=True, slots=True)
class SchemaVersion(JsonObject):
    """A version of a subject."""

    subject: str | None = member("subject")
    version: int | None = member("version")


@prefer_confluent_class
@dataclass(frozen=True, slots=True)
class SchemaReference(JsonObject):
    """Reference to another schema."""

    name: str | None = member("name")
    subject: str | None = member("subject")
    version: int | None = member("version")


@prefer_confluent_class
@dataclass(frozen=True, slots=True)
class Schema(JsonObject):
    """A schema without subject and version."""

    schema_str: str | None = member("schema")
    schema_type: str | None = member("schemaType", missing=lambda: "AVRO", default="AVRO")
    references: list[SchemaReference] | None = member(
        "references", list_parser(SchemaReference.from_dict), missing=list, factory=list, hash=False
    )
    metadata: Metadata | None = member("metadata", Metadata.from_dict, default=None)
    rule_set: RuleSet | None = member("ruleSet", RuleSet.from_dict, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object; it always has ``references``."""
        return {"references": []} | JsonObject.to_dict(self)


@prefer_confluent_class
@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A registered schema."""

    subject: str | None
    version: int | None
    schema_id: int | None
    guid: str | None
    schema: Schema

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        members = {"id": self.schema_id, "guid": self.guid, "subject": self.subject, "version": self.version}
        return self.schema.to_dict() | {name: value for name, value in members.items() if value is not None}

    @classmethod
    def from_dict(cls, src_dict: dict[str, Any]) -> Self:
        """Parse the JSON object."""
        return cls(
            subject=src_dict.get("subject"),
            version=src_dict.get("version"),
            schema_id=src_dict.get("id"),
            guid=src_dict.get("guid"),
            schema=Schema.from_dict(src_dict),
        )


@prefer_confluent_class
class ConfigCompatibilityLevel(StrEnum):
    """Compatibility level."""

    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"
    NONE = "NONE"


@prefer_confluent_class
@dataclass(slots=True)
class ServerConfig(JsonObject):
    """Configuration of a subject, or of the registry."""

    compatibility: ConfigCompatibilityLevel | None = member("compatibility", ConfigCompatibilityLevel, default=None)
    compatibility_level: ConfigCompatibilityLevel | None = member(
        "compatibilityLevel", ConfigCompatibilityLevel, default=None
    )
    compatibility_group: str | None = member("compatibilityGroup", default=None)
    default_metadata: Metadata | None = member("defaultMetadata", Metadata.from_dict, default=None)
    override_metadata: Metadata | None = member("overrideMetadata", Metadata.from_dict, default=None)
    default_rule_set: RuleSet | None = member("defaultRuleSet", RuleSet.from_dict, default=None)
    override_rule_set: RuleSet | None = member("overrideRuleSet", RuleSet.from_dict, default=None)

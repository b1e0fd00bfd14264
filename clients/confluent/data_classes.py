"""Schemas, rules, configuration and associations, with the classes and names of confluent-kafka."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields
from enum import Enum, StrEnum
from typing import Any, ClassVar, Final, Self

from contractlog.clients.confluent.bases import prefer_confluent_class
from contractlog.compatibility.json_text import camel_case

__all__ = [
    "Association",
    "AssociationCreateOrUpdateInfo",
    "AssociationCreateOrUpdateRequest",
    "AssociationInfo",
    "AssociationResponse",
    "ConfigCompatibilityLevel",
    "Metadata",
    "MetadataProperties",
    "MetadataTags",
    "RegisteredSchema",
    "Rule",
    "RuleKind",
    "RuleMode",
    "RuleParams",
    "RulePhase",
    "RuleSet",
    "Schema",
    "SchemaReference",
    "SchemaVersion",
    "ServerConfig",
]

_NAME: Final = "name"
_READ: Final = "read"
_MISSING: Final = "missing"


def member(
    read: Callable[[Any], Any] = lambda value: value,
    *,
    name: str | None = None,
    missing: Callable[[], Any] = lambda: None,
    default: Any = MISSING,
    factory: Any = MISSING,
    hash: bool | None = None,  # noqa: A002 - the name in dataclasses
) -> Any:
    """Declare a member of the JSON object that needs more than a plain field.

    Args:
        read: converts the JSON value to the attribute.
        name: its name in the JSON object; None: the attribute's in camel case.
        missing: makes the attribute if the JSON value is absent or null.
        default: default of the constructor.
        factory: factory of the constructor's default.
        hash: whether it is part of the hash; None: if it is part of equality.
    """
    metadata = {_NAME: name, _READ: read, _MISSING: missing}
    declared: Any = field(default=default, default_factory=factory, hash=hash, metadata=metadata)
    return declared


def list_parser(read: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    """Return a function that converts every item of a list."""
    return lambda values: [read(value) for value in values]


class JsonObject:
    """Dataclass that is written as a JSON object, in camel case, without the members that are None."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        values = ((_member_name(item), getattr(self, item.name)) for item in fields(self))
        return {name: _to_json(value) for name, value in values if value is not None}

    @classmethod
    def from_dict(cls, src_dict: dict[str, Any]) -> Self:
        """Parse the JSON object; unknown members are ignored."""
        return cls(**{item.name: _parse_member(item, src_dict.get(_member_name(item))) for item in fields(cls)})


def _member_name(item: Field[Any]) -> str:
    return item.metadata.get(_NAME) or camel_case(item.name)


def _parse_member(item: Field[Any], value: Any) -> Any:
    if not item.metadata:
        return value
    return item.metadata[_MISSING]() if value is None else item.metadata[_READ](value)


def _to_json(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_to_json(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    return value.to_dict() if hasattr(value, "to_dict") else value


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

    name: str | None = member()
    doc: str | None = member()
    kind: RuleKind | None = member(RuleKind)
    mode: RuleMode | None = member(RuleMode)
    type: str | None = member()
    tags: list[str] | None = member(hash=False)
    params: RuleParams | None = member(RuleParams.from_dict)
    expr: str | None = member()
    on_success: str | None = member()
    on_failure: str | None = member()
    disabled: bool | None = member()


@prefer_confluent_class
@dataclass(slots=True)
class RuleSet(JsonObject):
    """The rules of a schema, in the order in which they run."""

    migration_rules: list[Rule] | None = member(list_parser(Rule.from_dict), missing=list, hash=False)
    domain_rules: list[Rule] | None = member(list_parser(Rule.from_dict), missing=list, hash=False)
    encoding_rules: list[Rule] | None = member(list_parser(Rule.from_dict), missing=list, default=None, hash=False)
    enable_at: str | None = None

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

    tags: MetadataTags | None = member(MetadataTags.from_dict)
    properties: MetadataProperties | None = member(MetadataProperties.from_dict)
    sensitive: list[str] | None = member(list, missing=list, hash=False)


@prefer_confluent_class
@dataclass(frozen=True, slots=True)
class SchemaVersion(JsonObject):
    """A version of a subject."""

    subject: str | None
    version: int | None


@prefer_confluent_class
@dataclass(frozen=True, slots=True)
class SchemaReference(JsonObject):
    """Reference to another schema."""

    name: str | None
    subject: str | None
    version: int | None


@prefer_confluent_class
@dataclass(frozen=True, slots=True)
class Schema(JsonObject):
    """A schema without subject and version."""

    schema_str: str | None = member(name="schema")
    schema_type: str | None = member(missing=lambda: "AVRO", default="AVRO")
    references: list[SchemaReference] | None = member(
        list_parser(SchemaReference.from_dict), missing=list, factory=list, hash=False
    )
    metadata: Metadata | None = member(Metadata.from_dict, default=None)
    rule_set: RuleSet | None = member(RuleSet.from_dict, default=None)

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

    compatibility: ConfigCompatibilityLevel | None = member(ConfigCompatibilityLevel, default=None)
    compatibility_level: ConfigCompatibilityLevel | None = member(ConfigCompatibilityLevel, default=None)
    compatibility_group: str | None = None
    default_metadata: Metadata | None = member(Metadata.from_dict, default=None)
    override_metadata: Metadata | None = member(Metadata.from_dict, default=None)
    default_rule_set: RuleSet | None = member(RuleSet.from_dict, default=None)
    override_rule_set: RuleSet | None = member(RuleSet.from_dict, default=None)


@prefer_confluent_class
@dataclass(frozen=True, slots=True)
class Association(JsonObject):
    """Binding of a subject to the key or the value of a resource."""

    subject: str | None
    guid: str | None
    resource_name: str | None
    resource_namespace: str | None
    resource_id: str | None
    resource_type: str | None
    association_type: str | None
    frozen: bool = member(missing=bool, default=False)


@prefer_confluent_class
@dataclass(slots=True)
class AssociationInfo(JsonObject):
    """An association in a response."""

    subject: str | None = None
    association_type: str | None = None
    lifecycle: str | None = None
    frozen: bool = member(missing=bool, default=False)
    schema: Schema | None = member(Schema.from_dict, default=None)


@prefer_confluent_class
@dataclass(slots=True)
class AssociationCreateOrUpdateInfo(JsonObject):
    """An association to create or update."""

    subject: str | None = None
    association_type: str | None = None
    lifecycle: str | None = None
    frozen: bool | None = None
    schema: Schema | None = member(Schema.from_dict, default=None)
    normalize: bool | None = None


@prefer_confluent_class
@dataclass(slots=True)
class AssociationCreateOrUpdateRequest(JsonObject):
    """Request to create or update the associations of one resource."""

    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    associations: list[AssociationCreateOrUpdateInfo] | None = member(
        list_parser(AssociationCreateOrUpdateInfo.from_dict), default=None
    )


@prefer_confluent_class
@dataclass(slots=True)
class AssociationResponse(JsonObject):
    """Response with the associations of one resource."""

    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    associations: list[AssociationInfo] | None = member(list_parser(AssociationInfo.from_dict), default=None)

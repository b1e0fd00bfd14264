"""Configuration of subjects, and their associations with resources, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Self

from contractlog.compatibility.associations import Resource
from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.json_text import camel_case
from contractlog.compatibility.level import Level
from contractlog.compatibility.policy import Policy
from contractlog.compatibility.schema import SchemaDraft

__all__ = ["Association", "AssociationDraft", "Config", "Resource"]

_PLAIN_MEMBERS: Final = {
    "alias": "alias",
    "alias_for_deks": "aliasForDeks",
    "normalize": "normalize",
    "validate_fields": "validateFields",
    "validate_new_schemas": "validateNewSchemas",
    "validate_rules": "validateRules",
    "strict_json_schemas": "strictJsonSchemas",
    "group": "compatibilityGroup",
}
_METADATA_MEMBERS: Final = {"default_metadata": "defaultMetadata", "override_metadata": "overrideMetadata"}
_RULE_SET_MEMBERS: Final = {"default_rule_set": "defaultRuleSet", "override_rule_set": "overrideRuleSet"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Configuration of a subject, a context or the registry; None: not set, or inherited."""

    level: Level | None = None
    policy: Policy | None = None  #: for JSON schemas, as in other registries: STRICT or LENIENT
    own_policy: Policy | None = None  #: EXACT or None; contractlog's extension, takes precedence over ``policy``
    group: str | None = None  #: a metadata property; only versions with the same value of it are compared
    alias: str | None = None
    alias_for_deks: str | None = None
    normalize: bool | None = None
    validate_fields: bool | None = None
    validate_new_schemas: bool | None = None
    validate_rules: bool | None = None
    strict_json_schemas: bool | None = None  #: contractlog's extension: reject schemas that violate the meta-schema
    default_metadata: Metadata | None = None
    override_metadata: Metadata | None = None
    default_rule_set: RuleSet | None = None
    override_rule_set: RuleSet | None = None

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Self:
        """Parse a response about config; GET and PUT name the level differently."""
        level = body.get("compatibilityLevel") or body.get("compatibility")
        members: dict[str, Any] = {
            "level": Level.parse(level) if level else None,
            "policy": _parse_policy(body.get("compatibilityPolicy")),
            "own_policy": _parse_policy(body.get("contractlogPolicy")),
            **{name: body.get(member) for name, member in _PLAIN_MEMBERS.items()},
            **{
                n: Metadata.from_body(body[m]) if body.get(m) is not None else None
                for n, m in _METADATA_MEMBERS.items()
            },
            **{
                n: RuleSet.from_body(body[m]) if body.get(m) is not None else None for n, m in _RULE_SET_MEMBERS.items()
            },
        }
        return cls(**members)

    def body(self) -> dict[str, Any]:
        """Return the members that are set, as a request body."""
        members: dict[str, Any] = {
            "compatibility": self.level and self.level.value,
            "compatibilityPolicy": self.policy and self.policy.value,
            "contractlogPolicy": self.own_policy and self.own_policy.value,
            **{member: getattr(self, name) for name, member in _PLAIN_MEMBERS.items()},
        }
        for name, member in (_METADATA_MEMBERS | _RULE_SET_MEMBERS).items():
            value = getattr(self, name)
            members[member] = None if value is None else value.body()
        return {member: value for member, value in members.items() if value is not None}


def _parse_policy(text: Any) -> Policy | None:
    return Policy(text) if text in set(Policy) else None


@dataclass(frozen=True, slots=True)
class Association:
    """Binding of a subject to the key or the value of a resource."""

    subject: str
    guid: str | None = None
    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    association_type: str | None = None  #: ``key`` or ``value``
    lifecycle: str | None = None  #: ``STRONG``: the resource owns the subject; ``WEAK``: it only uses it
    frozen: bool = False  #: whether it can only be deleted together with its subject
    create_ts: int | None = None  #: milliseconds since 1970, UTC
    update_ts: int | None = None

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Self:
        """Parse an association of a response body."""
        members: dict[str, Any] = {item.name: body.get(camel_case(item.name)) for item in fields(cls)}
        frozen = body.get("frozen")
        owns_subject = body.get("lifecycle") == "STRONG"  # frozen unless the response says otherwise
        return cls(
            **members | {"subject": str(body["subject"]), "frozen": owns_subject if frozen is None else bool(frozen)}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AssociationDraft:
    """An association to create; its schema, if any, is registered under its subject."""

    association_type: str = "value"
    subject: str | None = None  #: None, allowed with a schema: the resource's own subject
    lifecycle: str | None = None
    frozen: bool | None = None
    schema: SchemaDraft | None = None
    normalize: bool | None = None

    def body(self) -> dict[str, Any]:
        """Return the request body."""
        members = {camel_case(item.name): getattr(self, item.name) for item in fields(self)}
        members["schema"] = None if self.schema is None else self.schema.body()
        return {member: value for member, value in members.items() if value is not None}

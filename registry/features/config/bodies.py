"""Request and response bodies of config and mode.

Members are in the reference's order; unset ones are omitted.
"""

from __future__ import annotations

from typing import Any, Final, Self

from msgspec import UNSET, Struct, UnsetType

from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.errors import Unprocessable
from contractlog.compatibility.level import Level
from contractlog.compatibility.policy import Policy
from contractlog.registry.http.request_bodies import MetadataBody, RuleSetBody, parse_metadata, parse_rule_set
from contractlog.registry.storage.model import ScopeSettings

__all__ = ["ConfigBody", "ConfigRequest", "ModeBody", "ModeRequest"]

_POLICIES: Final = frozenset({Policy.STRICT, Policy.LENIENT})  #: policies that clients know
_FLAG_MEMBERS: Final = ("normalize", "validate_fields", "validate_new_schemas", "validate_rules", "strict_json_schemas")
_TEXT_MEMBERS: Final = {"alias": "alias", "alias_for_deks": "aliasForDeks", "compatibility_group": "compatibilityGroup"}


class ConfigRequest(Struct, rename="camel"):
    """A change of the config: absent members stay unchanged, null clears a member."""

    alias: str | UnsetType | None = UNSET
    alias_for_deks: str | UnsetType | None = UNSET
    normalize: bool | UnsetType | None = UNSET
    validate_fields: bool | UnsetType | None = UNSET
    validate_new_schemas: bool | UnsetType | None = UNSET
    validate_rules: bool | UnsetType | None = UNSET
    compatibility: str | UnsetType | None = UNSET
    compatibility_level: str | UnsetType | None = UNSET
    compatibility_policy: str | UnsetType | None = UNSET
    compatibility_group: str | UnsetType | None = UNSET
    default_metadata: MetadataBody | UnsetType | None = UNSET
    override_metadata: MetadataBody | UnsetType | None = UNSET
    default_rule_set: RuleSetBody | UnsetType | None = UNSET
    override_rule_set: RuleSetBody | UnsetType | None = UNSET
    contractlog_policy: str | UnsetType | None = UNSET
    strict_json_schemas: bool | UnsetType | None = UNSET

    def patch(self) -> dict[str, Any]:
        """Return the members to set; an unknown compatibility policy is ignored, as in the reference.

        Raises:
            InvalidLevel: no level has this name.
            Unprocessable: a member that only contractlog has is invalid, or a database could not store a text.
        """
        level = self.compatibility if self.compatibility is not UNSET else self.compatibility_level
        patch: dict[str, Any] = {}
        if level is not UNSET:
            patch["level"] = None if level is None else Level.parse(str(level))
        for name in _FLAG_MEMBERS:
            if getattr(self, name) is not UNSET:
                patch[name] = getattr(self, name)
        for name, member in _TEXT_MEMBERS.items():
            if getattr(self, name) is not UNSET:
                patch[name] = _parse_text(member, getattr(self, name))
        policy = self.compatibility_policy
        if policy is None:
            patch["compatibility_policy"] = None
        elif isinstance(policy, str) and policy.upper() in _POLICIES:
            patch["compatibility_policy"] = Policy(policy.upper())
        if self.contractlog_policy is not UNSET:
            patch["own_policy"] = (
                None if self.contractlog_policy is None else _parse_contractlog_policy(str(self.contractlog_policy))
            )
        return patch | self._build_additions()

    def _build_additions(self) -> dict[str, Any]:
        metadata = {"default_metadata": self.default_metadata, "override_metadata": self.override_metadata}
        rules = {"default_rule_set": self.default_rule_set, "override_rule_set": self.override_rule_set}
        return {
            **{name: parse_metadata(body) for name, body in metadata.items() if not isinstance(body, UnsetType)},
            **{name: parse_rule_set(body) for name, body in rules.items() if not isinstance(body, UnsetType)},
        }


def _parse_text(name: str, text: str | None) -> str | None:
    if text and "\0" in text:
        raise Unprocessable(f"{name} holds a control character")
    return text or None


def _parse_contractlog_policy(text: str) -> Policy:
    if text.upper() != Policy.EXACT:
        raise Unprocessable("contractlogPolicy is EXACT or null")
    return Policy.EXACT


class ConfigBody(Struct, omit_defaults=True, rename="camel"):
    """The config that is set or in force; the response to PUT names the level ``compatibility``."""

    alias: str | None = None
    alias_for_deks: str | None = None
    normalize: bool | None = None
    validate_fields: bool | None = None
    validate_new_schemas: bool | None = None
    validate_rules: bool | None = None
    compatibility: str | None = None
    compatibility_level: str | None = None
    compatibility_policy: str | None = None
    compatibility_group: str | None = None
    default_metadata: dict[str, Any] | None = None
    override_metadata: dict[str, Any] | None = None
    default_rule_set: dict[str, Any] | None = None
    override_rule_set: dict[str, Any] | None = None
    contractlog_policy: str | None = None
    strict_json_schemas: bool | None = None

    @classmethod
    def of(cls, configured: ScopeSettings) -> Self:
        """Build the response to GET and DELETE."""
        return cls(
            alias=configured.alias,
            alias_for_deks=configured.alias_for_deks,
            normalize=configured.normalize,
            validate_fields=configured.validate_fields,
            validate_new_schemas=configured.validate_new_schemas,
            validate_rules=configured.validate_rules,
            compatibility_level=configured.level and configured.level.value,
            compatibility_policy=configured.compatibility_policy and configured.compatibility_policy.value,
            compatibility_group=configured.compatibility_group,
            default_metadata=_body_of(configured.default_metadata),
            override_metadata=_body_of(configured.override_metadata),
            default_rule_set=_body_of(configured.default_rule_set),
            override_rule_set=_body_of(configured.override_rule_set),
            contractlog_policy=configured.own_policy and configured.own_policy.value,
            strict_json_schemas=configured.strict_json_schemas,
        )

    @classmethod
    def echo(cls, configured: ScopeSettings) -> Self:
        """Build the response to PUT."""
        body = cls.of(configured)
        body.compatibility, body.compatibility_level = body.compatibility_level, None
        return body


def _body_of(value: Metadata | RuleSet | None) -> dict[str, Any] | None:
    return None if value is None else value.body()


class ModeRequest(Struct):
    """The mode to set; null clears it."""

    mode: str | None = None


class ModeBody(Struct, omit_defaults=True):
    """A mode."""

    mode: str | None = None

"""Request and response bodies of config and mode.

Members are in the reference's order; unset ones are omitted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, Self

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import fields as msgspec_fields

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.errors import Unprocessable
from contractlog.compatibility.identifiers import Subject, scope_name
from contractlog.compatibility.level import Level
from contractlog.registry.http.request_bodies import MetadataBody, RuleSetBody, parse_metadata, parse_rule_set
from contractlog.registry.storage.store_values import ScopeSettings

__all__ = ["ConfigBody", "ConfigRequest", "ModeBody", "ModeRequest", "SettingsBody"]

_POLICIES: Final = frozenset({Policy.STRICT, Policy.LENIENT})  #: policies that clients know
_MAX_GROUP_LENGTH: Final = 255
#: Members of the bodies that have another name than the setting.
_MEMBERS: Final = {"level": "compatibility_level", "own_policy": "contractlog_policy"}


def _parse_text(name: str, text: str) -> str | None:
    if "\0" in text:
        raise Unprocessable(f"{name} holds a control character")
    return text or None


def _parse_group(text: str) -> str | None:
    if len(text) > _MAX_GROUP_LENGTH:  # the change log has it for every registration
        raise Unprocessable(f"compatibilityGroup has more than {_MAX_GROUP_LENGTH} characters")
    return _parse_text("compatibilityGroup", text)


def _parse_contractlog_policy(text: str) -> Policy:
    if text.upper() != Policy.EXACT:
        raise Unprocessable("contractlogPolicy is EXACT or null")
    return Policy.EXACT


#: Parsers of the members that are neither unset nor null, by setting.
_PARSERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "level": Level.parse,
    "normalize": bool,
    "validate_fields": bool,
    "validate_new_schemas": bool,
    "validate_rules": bool,
    "strict_json_schemas": bool,
    "alias": partial(_parse_text, "alias"),
    "alias_for_deks": partial(_parse_text, "aliasForDeks"),
    "compatibility_group": _parse_group,
    "compatibility_policy": lambda text: Policy(text.upper()),
    "own_policy": _parse_contractlog_policy,
    "default_metadata": parse_metadata,
    "override_metadata": parse_metadata,
    "default_rule_set": parse_rule_set,
    "override_rule_set": parse_rule_set,
}


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
        """Return the settings to change; an unknown compatibility policy is ignored, as in the reference.

        Raises:
            InvalidLevel: no level has this name.
            Unprocessable: a member that only contractlog has is invalid, or a database could not store a string.
        """
        members = {name: getattr(self, _MEMBERS.get(name, name)) for name in _PARSERS}
        if self.compatibility is not UNSET:
            members["level"] = self.compatibility
        policy = self.compatibility_policy
        if isinstance(policy, str) and policy.upper() not in _POLICIES:
            del members["compatibility_policy"]
        return {
            name: None if value is None else _PARSERS[name](value)
            for name, value in members.items()
            if value is not UNSET
        }


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
        settings = configured.config.members()
        return cls(**{_MEMBERS.get(name, name): settings[name] for name in _PARSERS})

    @classmethod
    def echo(cls, configured: ScopeSettings) -> Self:
        """Build the response to PUT."""
        body = cls.of(configured)
        body.compatibility, body.compatibility_level = body.compatibility_level, None
        return body


class ModeRequest(Struct):
    """The mode to set; null clears it."""

    mode: str | None = None


class ModeBody(Struct, omit_defaults=True):
    """The mode of a subject, a context or the registry."""

    mode: str | None = None


class SettingsBody(Struct):
    """The config and the mode in force, and the scope that each is set for; null: the server's default."""

    subject: str
    config: ConfigBody
    mode: str
    sources: dict[str, str | None]

    @classmethod
    def of(cls, scope: Subject, effective: ScopeSettings, sources: Mapping[str, Subject | None]) -> Self:
        """Build the response; ``sources`` has the scopes by the names of the settings."""
        members = {member.name: member.encode_name for member in msgspec_fields(ConfigBody)}
        return cls(
            subject=scope_name(scope),
            config=ConfigBody.of(effective),
            mode=str(effective.mode),
            sources={
                members.get(_MEMBERS.get(name, name), name): None if source is None else scope_name(source)
                for name, source in sources.items()
            },
        )

"""Config and modes of a subject, of a context (``:.context:``), or of the registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self, TypeVar

from contractlog.clients.calls.body_shapes import CONFIG, require_shape
from contractlog.clients.calls.call import Call, SubjectLike, flag_parameters, scoped_path
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode

__all__ = [
    "Config",
    "config",
    "delete_config",
    "delete_level",
    "delete_mode",
    "level",
    "mode",
    "policy",
    "set_config",
    "set_level",
    "set_mode",
    "set_policy",
]

T = TypeVar("T")

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
            "policy": _parse_optional_policy(body.get("compatibilityPolicy")),
            "own_policy": _parse_optional_policy(body.get("contractlogPolicy")),
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


def config(subject: SubjectLike | None = None, *, inherited: bool = True) -> Call[Config]:
    """Return the config of a subject, or of the registry.

    Raises:
        LevelNotConfigured: the subject has no config of its own, and ``inherited`` is false.
    """
    return _read_config(subject, _parse_config, inherited=inherited)


def set_config(config: Config | Mapping[str, Any], subject: SubjectLike | None = None) -> Call[Config]:
    """Change the config of a subject, or of the registry, and return it.

    Args:
        config: its members that are not None are set; in a mapping, with the API's names, None clears one.
        subject: None for the registry.
    """
    body = config.body() if isinstance(config, Config) else dict(config)
    return Call("PUT", scoped_path("config", subject), _parse_config, body=body)


def delete_config(subject: SubjectLike | None = None) -> Call[Config]:
    """Delete the config of a subject, so that it inherits again; return the config that was in force."""
    return Call("DELETE", scoped_path("config", subject), _parse_config, repeatable=False)


def level(subject: SubjectLike | None = None, *, inherited: bool = True) -> Call[Level]:
    """Return the compatibility level of a subject, or of the registry.

    Raises:
        LevelNotConfigured: the subject has no level of its own, and ``inherited`` is false.
    """
    return _read_config(subject, lambda body: Level.parse(body["compatibilityLevel"]), inherited=inherited)


def set_level(level: Level | str, subject: SubjectLike | None = None) -> Call[Level]:
    """Set the compatibility level of a subject, or of the registry, and return it."""
    requested = Level.parse(level)
    return Call(
        "PUT",
        scoped_path("config", subject),
        lambda body: Level.parse(body.get("compatibility") or requested),
        body={"compatibility": requested.value},
    )


def delete_level(subject: SubjectLike | None = None) -> Call[Level | None]:
    """Delete the level of a subject, so that it inherits again; return the old one, or None if unknown."""
    return Call("DELETE", scoped_path("config", subject), _parse_previous_level, repeatable=False)


def policy(subject: SubjectLike | None = None) -> Call[Policy]:
    """Return the compatibility policy for JSON schemas of a subject; STRICT if none is set."""
    return _read_config(subject, _parse_policy, inherited=True)


def set_policy(policy: Policy, subject: SubjectLike | None = None) -> Call[Policy]:
    """Set the compatibility policy for JSON schemas of a subject, and return it."""
    exact = {"contractlogPolicy": policy.value}
    body = exact if policy is Policy.EXACT else {"compatibilityPolicy": policy.value, "contractlogPolicy": None}
    return Call("PUT", scoped_path("config", subject), _parse_policy, body=body)


def mode(subject: SubjectLike | None = None, *, inherited: bool = True) -> Call[Mode]:
    """Return the mode of a subject, or of the registry.

    Raises:
        ModeNotConfigured: the subject has no mode of its own, and ``inherited`` is false.
    """
    return Call(
        "GET",
        scoped_path("mode", subject),
        lambda body: Mode.parse(body["mode"]),
        flag_parameters(defaultToGlobal=inherited),
    )


def set_mode(mode: Mode | str, subject: SubjectLike | None = None, *, force: bool = False) -> Call[Mode]:
    """Set the mode of a subject, or of the registry, and return it."""
    requested = Mode.parse(mode)
    return Call(
        "PUT",
        scoped_path("mode", subject),
        lambda body: Mode.parse(body["mode"]),
        flag_parameters(force=force),
        {"mode": requested.value},
    )


def delete_mode(subject: SubjectLike | None = None, *, recursive: bool = False) -> Call[Mode]:
    """Delete the mode of a subject, so that it inherits again; return the mode that was in force."""
    path, query = scoped_path("mode", subject), flag_parameters(recursive=recursive)
    return Call("DELETE", path, lambda body: Mode.parse(body["mode"]), query, repeatable=False)


def _read_config(subject: SubjectLike | None, read: Callable[[Any], T], *, inherited: bool) -> Call[T]:
    """Return the call for a config; some servers have the inherited one only of subjects with versions."""
    general = _read_config(None, read, inherited=True) if inherited and subject is not None else None
    query = flag_parameters(defaultToGlobal=inherited)
    return Call("GET", scoped_path("config", subject), read, query, without_subject=general)


def _parse_config(body: Any) -> Config:
    require_shape(body, CONFIG)
    return Config.from_body(body)


def _parse_policy(body: Any) -> Policy:
    text = body.get("contractlogPolicy") or body.get("compatibilityPolicy")
    return Policy(text) if text in set(Policy) else Policy.STRICT


def _parse_previous_level(body: Any) -> Level | None:
    text = body.get("compatibilityLevel") or body.get("compatibility")
    return Level.parse(text) if text else None


def _parse_optional_policy(text: Any) -> Policy | None:
    return Policy(text) if text in set(Policy) else None

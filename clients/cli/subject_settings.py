"""Settings of subjects that the manifest sets and the registry does not have yet."""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from contractlog.clients.calls.config_and_mode import Config
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.registry import Registry
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.errors import (
    ContractlogError,
    LevelNotConfigured,
    RegistryError,
    ServerError,
    SubjectNotFound,
)
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode

__all__ = [
    "PlannedSettings",
    "SettingChange",
    "SettingIgnored",
    "apply_setting",
    "find_planned_contract",
    "find_setting_changes",
    "find_uncertain_settings",
    "list_own_settings",
    "lowered_level",
    "plan_settings",
    "wanted_settings",
]

#: Keys of the manifest that are members of a subject's config.
_MEMBERS: Final = {
    "normalize": "normalize",
    "compatibility_group": "compatibilityGroup",
    "validate_fields": "validateFields",
    "validate_rules": "validateRules",
}
#: Members that extend those of the context, so that the subject's own are compared.
_OWN_MEMBERS: Final = {
    "default_metadata": "defaultMetadata",
    "override_metadata": "overrideMetadata",
    "default_rule_set": "defaultRuleSet",
    "override_rule_set": "overrideRuleSet",
}
_SERVED_BY_ALL: Final = frozenset({"level", "mode"})  #: other servers may ignore the rest
_READ_PAUSES: Final = (0.0, 0.2, 0.5)  #: seconds; another node of the registry may have responded, which reads it later
_ANY_SUBJECT: Final = "contractlog-settings"  #: the request for permissions names a subject, which need not exist


@dataclass(frozen=True, slots=True)
class PlannedSettings:
    """Settings of a subject that are about to be changed; None: unchanged."""

    level: Level | None = None
    mode: Mode | None = None
    policy: Policy | None = None
    group: str | None = None  #: a metadata property; only versions with the same value of it are compared
    group_value: str | None = None  #: the value that new versions get; None: that of the latest version
    validate_fields: bool | None = None
    default_metadata: Metadata | None = None
    override_metadata: Metadata | None = None

    @property
    def decide_compatibility(self) -> bool:
        """True if the registry's own check, by the settings in force, has no meaning."""
        return (self.level, self.policy, self.group) != (None, None, None) or self.validate_fields is False


class SettingIgnored(ContractlogError):
    """A setting is not what it was set to: the registry does not have it."""


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting that the manifest changes, with the values as in JSON; None: not set."""

    subject: str
    setting: str  #: key of the manifest; an owner is part of ``override_metadata``
    before: Any
    after: Any


def find_setting_changes(registry: Registry, manifest: Manifest | None, subject: str) -> Iterator[SettingChange]:
    """Yield the settings in which the registry differs from the manifest."""
    rule = {} if manifest is None else manifest.find_settings(subject)
    before = _read_settings(registry, subject, rule)
    wanted = wanted_settings(rule, before.get("override_metadata"))
    for key in before:
        if key in wanted and not _is_same(before[key], wanted[key]):
            yield SettingChange(subject, key, before[key], wanted[key])


def apply_setting(registry: Registry, change: SettingChange) -> None:
    """Set a setting, and make sure that it is set: a registry may ignore those that it does not have.

    Raises:
        SettingIgnored: it is not set.
    """
    subject, setting, value = change.subject, change.setting, change.after
    try:
        if setting == "level":
            registry.set_level(value, subject)
        elif setting == "mode":
            registry.set_mode(value, subject)
        else:
            registry.set_config(_config_body(setting, value), subject)
    except ServerError as error:
        if type(error) is not ServerError or setting in _SERVED_BY_ALL:  # the registry is out of order
            raise
        raise SettingIgnored(f"not set, because the registry failed: {error}", setting=setting) from None
    for pause in _READ_PAUSES:
        time.sleep(pause)
        if _is_same(_read_settings(registry, subject, {setting})[setting], value):
            return
    raise SettingIgnored("not set, because the registry ignores it", setting=setting)


def find_planned_contract(registry: Registry, manifest: Manifest, subject: str) -> Config | None:
    """Return the metadata and rules that a subject's config adds once the manifest's settings are made.

    None if the manifest changes none of them.
    """
    changes = {change.setting: change.after for change in find_setting_changes(registry, manifest, subject)}
    changed = {member: changes[key] for key, member in _OWN_MEMBERS.items() if key in changes}
    return Config.from_body({**registry.config(subject).body(), **changed}) if changed else None


def find_uncertain_settings(registry: Registry, changes: Iterable[SettingChange]) -> list[str]:
    """Return the settings among these that the registry may not have, which shows when they are set."""
    names = dict.fromkeys(change.setting for change in changes if change.setting not in _SERVED_BY_ALL)
    try:
        if names:
            registry.permissions(_ANY_SUBJECT)  # an extension of contractlog, which has all settings
    except RegistryError:
        return list(names)
    return []


def wanted_settings(rule: Mapping[str, Any], override_metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the settings of a rule, with its owner as a property of the override metadata."""
    wanted = dict(rule)
    owner = wanted.pop("owner", None)
    if owner is not None:
        metadata = wanted.get("override_metadata", override_metadata or {})
        properties = {**metadata.get("properties", {}), "owner": owner}
        wanted["override_metadata"] = {**metadata, "properties": dict(sorted(properties.items()))}
    return wanted


def list_own_settings(own: Config, effective: Config) -> dict[str, Any]:
    """Return what a subject's own config sets, by key of the manifest, without its level."""
    body = own.body()
    settings = {key: body[member] for key, member in _MEMBERS.items() if member in body}
    if own.policy or own.own_policy:
        settings["policy"] = (effective.own_policy or effective.policy or Policy.STRICT).value
    return settings | {key: body[member] for key, member in _OWN_MEMBERS.items() if body.get(member)}


def plan_settings(changes: list[SettingChange], rule: Mapping[str, Any] | None) -> PlannedSettings:
    """Return the changes of one subject that decide about its versions; ``rule`` has its settings."""
    after = {change.setting: change.after for change in changes}
    properties = after.get("override_metadata", {}).get("properties", {})
    group = (rule or {}).get("compatibility_group")
    if "compatibility_group" not in after and group not in properties:
        group = None  # the registry judges by the group in force
    return PlannedSettings(
        level=Level(after["level"]) if "level" in after else None,
        mode=Mode(after["mode"]) if after.get("mode") not in {None, Mode.READONLY} else None,
        policy=Policy(after["policy"]) if "policy" in after else None,
        group=group,
        group_value=properties.get(group),
        validate_fields=after.get("validate_fields"),
        **{key: Metadata.from_body(after[key]) for key in ("default_metadata", "override_metadata") if key in after},
    )


def _config_body(setting: str, value: Any) -> dict[str, Any]:
    """Return the request that changes a setting of a subject's config."""
    if setting == "policy":
        exact = value == Policy.EXACT
        return {"contractlogPolicy": value} if exact else {"compatibilityPolicy": value, "contractlogPolicy": None}
    return {(_MEMBERS | _OWN_MEMBERS)[setting]: value}


def _read_settings(registry: Registry, subject: str, settings: Container[str]) -> dict[str, Any]:
    """Return settings of a subject as in JSON.

    Level and mode are read if they are needed, and all others if one of them is.
    """
    values: dict[str, Any] = {}
    if "level" in settings:
        values["level"] = registry.level(subject).value
    if "mode" in settings:
        values["mode"] = registry.mode(subject).value
    if not any(key in settings for key in ("policy", "owner", *_MEMBERS, *_OWN_MEMBERS)):
        return values
    own = _read_own_config(registry, subject)
    effective = registry.config(subject)
    values |= {key: effective.body().get(member) for key, member in _MEMBERS.items()}
    values |= {key: own.get(member) for key, member in _OWN_MEMBERS.items()}
    return values | {"policy": (effective.own_policy or effective.policy or Policy.STRICT).value}


def _is_same(value: Any, wanted: Any) -> bool:
    return bool(wanted == (value or type(wanted)()))


def _read_own_config(registry: Registry, subject: str) -> Mapping[str, Any]:
    try:
        config = registry.config(subject, inherited=False)
    except (LevelNotConfigured, SubjectNotFound):  # the latter from other registries
        config = Config()
    return config.body()


@contextmanager
def lowered_level(registry: Registry, subject: str, level: Level) -> Iterator[None]:
    """Set level NONE for a registration by waiver, and restore ``level``, also after an error.

    If the process is killed in between, the next plan restores the level, because the manifest has it.
    """
    try:
        registry.set_level(Level.NONE, subject)
        yield
    finally:
        registry.set_level(level, subject)

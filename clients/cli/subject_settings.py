"""Settings of subjects that the manifest sets and the registry does not have yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from contractlog.clients.calls.config_and_mode import Config
from contractlog.clients.cli.file_check import PlannedSettings
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.registry import Registry
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.errors import LevelNotConfigured
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode

__all__ = ["SettingChange", "config_body", "find_setting_changes", "plan_settings", "wanted_settings"]

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


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting that the manifest changes, with the values as in JSON; None: not set."""

    subject: str
    setting: str  #: key of the manifest; an owner is part of ``override_metadata``
    before: Any
    after: Any


def find_setting_changes(registry: Registry, manifest: Manifest | None, subject: str) -> Iterator[SettingChange]:
    """Yield the settings in which the registry differs from the manifest."""
    rule = (manifest and manifest.find_settings(subject)) or {}
    if "level" in rule:
        level = registry.level(subject)
        if level.value != rule["level"]:
            yield SettingChange(subject, "level", level.value, rule["level"])
    if "mode" in rule:
        mode = registry.mode(subject)
        if mode.value != rule["mode"]:
            yield SettingChange(subject, "mode", mode.value, rule["mode"])
    if rule.keys() <= {"level", "mode"}:
        return
    own = _read_own_config(registry, subject)
    effective = registry.config(subject)
    before = {key: effective.body().get(member) for key, member in _MEMBERS.items()}
    before |= {key: own.get(member) for key, member in _OWN_MEMBERS.items()}
    before["policy"] = (effective.own_policy or effective.policy or Policy.STRICT).value
    wanted = wanted_settings(rule, before["override_metadata"])
    for key in before:
        if key in wanted and wanted[key] != (before[key] or type(wanted[key])()):
            yield SettingChange(subject, key, before[key], wanted[key])


def wanted_settings(rule: Mapping[str, Any], override_metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the settings of a rule, with its owner as a property of the override metadata."""
    wanted = dict(rule)
    owner = wanted.pop("owner", None)
    if owner is not None:
        metadata = wanted.get("override_metadata", override_metadata or {})
        properties = {**metadata.get("properties", {}), "owner": owner}
        wanted["override_metadata"] = {**metadata, "properties": dict(sorted(properties.items()))}
    return wanted


def plan_settings(changes: list[SettingChange], rule: Mapping[str, Any] | None) -> PlannedSettings:
    """Return the changes of one subject that decide about its versions; ``rule`` has its settings."""
    after = {change.setting: change.after for change in changes}
    properties = after.get("override_metadata", {}).get("properties", {})
    group = (rule or {}).get("compatibility_group")
    if "compatibility_group" not in after and group not in properties:
        group = None  # the registry judges by the group in force
    return PlannedSettings(
        level=Level(after["level"]) if "level" in after else None,
        mode=Mode(after["mode"]) if "mode" in after else None,
        policy=Policy(after["policy"]) if "policy" in after else None,
        group=group,
        group_value=properties.get(group),
    )


def config_body(setting: str, value: Any) -> dict[str, Any]:
    """Return the request that changes a setting of a subject's config."""
    if setting == "policy":
        exact = value == Policy.EXACT
        return {"contractlogPolicy": value} if exact else {"compatibilityPolicy": value, "contractlogPolicy": None}
    return {(_MEMBERS | _OWN_MEMBERS)[setting]: value}


def _read_own_config(registry: Registry, subject: str) -> Mapping[str, Any]:
    try:
        config = registry.config(subject, inherited=False)
    except LevelNotConfigured:
        config = Config()
    return config.body()

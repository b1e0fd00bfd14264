"""Settings and modes of a scope: as members of the reference's bodies, and as columns of our table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from contractlog.compatibility.level import Level, Mode
from contractlog.compatibility.policy import Policy
from contractlog.registry.transfer.field_parsers import InvalidField, parse_metadata, parse_rule_set
from contractlog.registry.transfer.report import OddityKind, TransferReport
from contractlog.registry.transfer.snapshot import CONFIG_NAMES
from contractlog.registry.transfer.storage_limits import is_storable

__all__ = ["columns_to_config", "config_to_columns", "read_config", "read_mode", "require_valid_config"]

_MAX_MESSAGE_LENGTH: Final = 60  #: characters of a value in a message

_COLUMNS: Final = dict(
    zip(
        CONFIG_NAMES,
        (
            "alias",
            "alias_for_deks",
            "normalize",
            "validate_fields",
            "validate_new_schemas",
            "validate_rules",
            "level",
            "compatibility_policy",
            "compatibility_group",
            "default_metadata",
            "override_metadata",
            "default_rule_set",
            "override_rule_set",
            "own_policy",
            "strict_json_schemas",
        ),
        strict=True,
    )
)


def _parse_text(value: Any) -> str | None:
    return value if isinstance(value, str) and value and is_storable(value) else None


def _parse_flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _choice_parser(*values: str) -> Callable[[Any], str | None]:
    return lambda value: value.upper() if isinstance(value, str) and value.upper() in values else None


def _parse_metadata(value: Any) -> dict[str, Any] | None:
    parsed = parse_metadata(value)
    return None if parsed is None else parsed.body()


def _parse_rule_set(value: Any) -> dict[str, Any] | None:
    parsed = parse_rule_set(value)
    return None if parsed is None else parsed.body()


_PARSERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "alias": _parse_text,
    "aliasForDeks": _parse_text,
    "normalize": _parse_flag,
    "validateFields": _parse_flag,
    "validateNewSchemas": _parse_flag,
    "validateRules": _parse_flag,
    "compatibilityLevel": _choice_parser(*Level),
    "compatibilityPolicy": _choice_parser(Policy.STRICT, Policy.LENIENT),
    "compatibilityGroup": _parse_text,
    "defaultMetadata": _parse_metadata,
    "overrideMetadata": _parse_metadata,
    "defaultRuleSet": _parse_rule_set,
    "overrideRuleSet": _parse_rule_set,
    "contractlogPolicy": _choice_parser(Policy.EXACT),
    "strictJsonSchemas": _parse_flag,
}


def read_config(members: Mapping[str, Any], where: str, report: TransferReport) -> dict[str, Any]:
    """Return the members that this release supports, in order; others are reported as oddities.

    ``subject`` is ignored, because it is not a setting.
    """
    known: dict[str, Any] = {}
    for name in CONFIG_NAMES:
        if members.get(name) is not None:
            value = _parse_setting(name, members[name])
            if value is None:
                report.odd(OddityKind.UNKNOWN_SETTING, where, f"{name}={members[name]}")
            else:
                known[name] = value
    for name in members.keys() - set(CONFIG_NAMES) - {"subject"}:
        report.odd(OddityKind.UNKNOWN_SETTING, where, name)
    return known


def require_valid_config(members: Any) -> None:
    """Require that each member that this release supports has a valid value.

    Raises:
        InvalidField: one has an invalid value.
    """
    if not isinstance(members, dict):
        raise InvalidField(
            f"`config` is of another kind than it should be: {type(members).__name__} in place of an object"
        )
    for name in CONFIG_NAMES:
        if members.get(name) is not None and _parse_setting(name, members[name]) is None:
            raise InvalidField(f"`config`: {name} cannot be {str(members[name])[:_MAX_MESSAGE_LENGTH]!r}")


def _parse_setting(name: str, value: Any) -> Any:
    """Parse the value of a setting; None if it is invalid."""
    try:
        return _PARSERS[name](value)
    except (AttributeError, TypeError, ValueError):
        return None


def read_mode(value: Any, where: str, report: TransferReport) -> str | None:
    """Return a mode that this release supports; another one is reported as an oddity."""
    mode = _choice_parser(*Mode)(value)
    if mode is None:
        report.odd(OddityKind.UNKNOWN_SETTING, where, f"mode={value}")
    return mode


def config_to_columns(config: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a config to columns of the settings table; unset members are null."""
    return {
        column: json.dumps(config[name]) if isinstance(config.get(name), Mapping) else config.get(name)
        for name, column in _COLUMNS.items()
    }


def columns_to_config(row: Mapping[str, Any]) -> dict[str, Any]:
    """Convert columns of the settings table to a config; null is omitted."""
    return {
        name: json.loads(row[column]) if name.endswith(("Metadata", "RuleSet")) else row[column]
        for name, column in _COLUMNS.items()
        if row[column] is not None
    }

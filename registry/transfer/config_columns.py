"""Settings and modes of a scope: as members of the reference's bodies, and as columns of our table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, Subject
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.registry.transfer.import_parsers import InvalidField, parse_metadata, parse_rule_set
from contractlog.registry.transfer.registry_contents import is_storable
from contractlog.registry.transfer.report import OddityKind, TransferReport

__all__ = [
    "CONTRACTLOG_CONFIG_NAMES",
    "columns_to_config",
    "config_to_columns",
    "read_config",
    "read_mode",
    "require_valid_config",
    "scope_subject",
]

_MAX_MESSAGE_LENGTH: Final = 60  #: characters of a value in a message


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


#: Member of a config, in the reference's order: its column, and the parser of its values.
_SETTINGS: Final[Mapping[str, tuple[str, Callable[[Any], Any]]]] = {
    "alias": ("alias", _parse_text),
    "aliasForDeks": ("alias_for_deks", _parse_text),
    "normalize": ("normalize", _parse_flag),
    "validateFields": ("validate_fields", _parse_flag),
    "validateNewSchemas": ("validate_new_schemas", _parse_flag),
    "validateRules": ("validate_rules", _parse_flag),
    "compatibilityLevel": ("level", _choice_parser(*Level)),
    "compatibilityPolicy": ("compatibility_policy", _choice_parser(Policy.STRICT, Policy.LENIENT)),
    "compatibilityGroup": ("compatibility_group", _parse_text),
    "defaultMetadata": ("default_metadata", _parse_metadata),
    "overrideMetadata": ("override_metadata", _parse_metadata),
    "defaultRuleSet": ("default_rule_set", _parse_rule_set),
    "overrideRuleSet": ("override_rule_set", _parse_rule_set),
    "contractlogPolicy": ("own_policy", _choice_parser(Policy.EXACT)),
    "strictJsonSchemas": ("strict_json_schemas", _parse_flag),
}
#: The members that only contractlog has.
CONTRACTLOG_CONFIG_NAMES: Final = ("contractlogPolicy", "strictJsonSchemas")


def read_config(members: Mapping[str, Any], where: str, report: TransferReport) -> dict[str, Any]:
    """Return the members that this release supports, in order; others are reported as oddities.

    ``subject`` is ignored, because it is not a setting.
    """
    valid: dict[str, Any] = {}
    for name in _SETTINGS:
        if members.get(name) is not None:
            value = _parse_setting(name, members[name])
            if value is None:
                report.odd(OddityKind.UNKNOWN_SETTING, where, f"{name}={members[name]}")
            else:
                valid[name] = value
    for name in members.keys() - _SETTINGS.keys() - {"subject"}:
        report.odd(OddityKind.UNKNOWN_SETTING, where, name)
    return valid


def require_valid_config(members: Any) -> None:
    """Require that each member that this release supports has a valid value.

    Raises:
        InvalidField: one has an invalid value.
    """
    if not isinstance(members, dict):
        raise InvalidField(
            f"`config` is of another kind than it should be: {type(members).__name__} instead of an object"
        )
    for name in _SETTINGS:
        if members.get(name) is not None and _parse_setting(name, members[name]) is None:
            raise InvalidField(f"`config`: {name} cannot be {str(members[name])[:_MAX_MESSAGE_LENGTH]!r}")


def _parse_setting(name: str, value: Any) -> Any:
    """Parse the value of a setting; None if it is invalid."""
    try:
        return _SETTINGS[name][1](value)
    except (AttributeError, TypeError, ValueError):
        return None


def read_mode(value: Any, where: str, report: TransferReport) -> str | None:
    """Return a mode that this release supports; another one is reported as an oddity."""
    mode = _choice_parser(*Mode)(value)
    if mode is None:
        report.odd(OddityKind.UNKNOWN_SETTING, where, f"mode={value}")
    return mode


def scope_subject(scope: Subject) -> str | None:
    """Return the subject by which the reference names a scope; None for the default context.

    >>> scope_subject(Subject(".", "")), scope_subject(Subject(".eu", "")), scope_subject(Subject(".", "orders"))
    (None, ':.eu:', 'orders')
    """
    if scope.name:
        return str(scope)
    return None if scope.context == DEFAULT_CONTEXT else f":{scope.context}:"


def config_to_columns(config: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a config to columns of the settings table; unset members are null."""
    return {
        column: json.dumps(config[name]) if isinstance(config.get(name), Mapping) else config.get(name)
        for name, (column, _) in _SETTINGS.items()
    }


def columns_to_config(row: Mapping[str, Any]) -> dict[str, Any]:
    """Convert columns of the settings table to a config; null is omitted."""
    return {
        name: json.loads(row[column]) if name.endswith(("Metadata", "RuleSet")) else row[column]
        for name, (column, _) in _SETTINGS.items()
        if row[column] is not None
    }

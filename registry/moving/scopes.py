"""Settings and modes of a scope: as members of the reference's bodies, and as columns of our table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from contractlog.compatibility.level import Level, Mode
from contractlog.compatibility.policy import Policy
from contractlog.registry.moving.members import Unfit, metadata_of, rule_set_of
from contractlog.registry.moving.picture import SETTABLE
from contractlog.registry.moving.report import Report, Strange
from contractlog.registry.moving.storable import storable

__all__ = ["columns_of", "config_of", "known_config", "known_mode", "require_known"]

_SHOWN: Final = 60  #: characters of a value in a message

_COLUMNS: Final = dict(
    zip(
        SETTABLE,
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


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value and storable(value) else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _one_of(*values: str) -> Callable[[Any], str | None]:
    return lambda value: value.upper() if isinstance(value, str) and value.upper() in values else None


def _metadata(value: Any) -> dict[str, Any] | None:
    found = metadata_of(value)
    return None if found is None else found.body()


def _rule_set(value: Any) -> dict[str, Any] | None:
    found = rule_set_of(value)
    return None if found is None else found.body()


_READ: Final[Mapping[str, Callable[[Any], Any]]] = {
    "alias": _text,
    "aliasForDeks": _text,
    "normalize": _flag,
    "validateFields": _flag,
    "validateNewSchemas": _flag,
    "validateRules": _flag,
    "compatibilityLevel": _one_of(*Level),
    "compatibilityPolicy": _one_of(Policy.STRICT, Policy.LENIENT),
    "compatibilityGroup": _text,
    "defaultMetadata": _metadata,
    "overrideMetadata": _metadata,
    "defaultRuleSet": _rule_set,
    "overrideRuleSet": _rule_set,
    "contractlogPolicy": _one_of(Policy.EXACT),
    "strictJsonSchemas": _flag,
}


def known_config(members: Mapping[str, Any], where: str, report: Report) -> dict[str, Any]:
    """Return the members that this release supports, in order; others are reported as oddities.

    ``subject`` is ignored, because it is not a setting.
    """
    known: dict[str, Any] = {}
    for name in SETTABLE:
        if members.get(name) is not None:
            value = _read(name, members[name])
            if value is None:
                report.odd(Strange.UNKNOWN_SETTING, where, f"{name}={members[name]}")
            else:
                known[name] = value
    for name in members.keys() - set(SETTABLE) - {"subject"}:
        report.odd(Strange.UNKNOWN_SETTING, where, name)
    return known


def require_known(members: Any) -> None:
    """Require that each member that this release supports has a valid value.

    Raises:
        Unfit: one has an invalid value.
    """
    if not isinstance(members, dict):
        raise Unfit(f"`config` is of another kind than it should be: {type(members).__name__} in place of an object")
    for name in SETTABLE:
        if members.get(name) is not None and _read(name, members[name]) is None:
            raise Unfit(f"`config`: {name} cannot be {str(members[name])[:_SHOWN]!r}")


def _read(name: str, value: Any) -> Any:
    """Parse the value of a setting; None if it is invalid."""
    try:
        return _READ[name](value)
    except (AttributeError, TypeError, ValueError):
        return None


def known_mode(value: Any, where: str, report: Report) -> str | None:
    """Return a mode that this release supports; another one is reported as an oddity."""
    mode = _one_of(*Mode)(value)
    if mode is None:
        report.odd(Strange.UNKNOWN_SETTING, where, f"mode={value}")
    return mode


def columns_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a config to columns of the settings table; unset members are null."""
    return {
        column: json.dumps(config[name]) if isinstance(config.get(name), Mapping) else config.get(name)
        for name, column in _COLUMNS.items()
    }


def config_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Convert columns of the settings table to a config; null is omitted."""
    return {
        name: json.loads(row[column]) if name.endswith(("Metadata", "RuleSet")) else row[column]
        for name, column in _COLUMNS.items()
        if row[column] is not None
    }

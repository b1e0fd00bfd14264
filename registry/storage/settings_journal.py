"""Settings as the journal records them: a hash of all of them, and their values with secrets masked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from typing import Any, Final

from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.registry.storage.model import ScopeSettings

__all__ = ["MASK", "hash_settings", "mask_settings", "settings_members"]

MASK: Final = "***"  #: replaces the value of a sensitive property

_NAMES: Final = tuple(member.name for member in fields(ScopeSettings))
_METADATA: Final = ("default_metadata", "override_metadata")


def settings_members(configured: ScopeSettings) -> dict[str, Any]:
    """Return settings as JSON values; unset ones are None."""
    return {name: _plain(getattr(configured, name)) for name in _NAMES}


def hash_settings(configured: ScopeSettings) -> str | None:
    """Return the SHA-256 of the settings' canonical JSON: sorted, without spaces and unset members.

    None if nothing is set.
    """
    if configured.empty:
        return None
    text = json.dumps(_set_members(configured), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def mask_settings(configured: ScopeSettings) -> dict[str, Any]:
    """Return the members that are set, with sensitive properties masked.

    The two metadata overlay each other, so a property that is sensitive in one of them is masked in both.
    """
    values = _set_members(configured)
    sensitive = {name for member in _METADATA for name in values.get(member, {}).get("sensitive", ())}
    for member in _METADATA:
        if properties := values.get(member, {}).get("properties"):
            values[member] = values[member] | {"properties": _mask_properties(properties, sensitive)}
    return values


def _mask_properties(properties: Mapping[str, str], sensitive: set[str]) -> dict[str, str]:
    return {name: MASK if name in sensitive else value for name, value in properties.items()}


def _set_members(configured: ScopeSettings) -> dict[str, Any]:
    return {name: value for name, value in settings_members(configured).items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    return value.body() if isinstance(value, Metadata | RuleSet) else value

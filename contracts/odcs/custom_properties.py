"""Custom properties: what ODCS cannot say about an element, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["custom_entries", "read_custom"]


def custom_entries(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the member ``customProperties`` with values by name; no member if there are none."""
    entries = [{"property": name, "value": value} for name, value in values.items()]
    return {"customProperties": entries} if entries else {}


def read_custom(element: Mapping[str, Any]) -> dict[str, Any]:
    """Return the custom properties of an element; the first of a name counts."""
    entries = element.get("customProperties")
    values: dict[str, Any] = {}
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("property"), str):
            values.setdefault(entry["property"], entry.get("value"))
    return values

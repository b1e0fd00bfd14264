"""Contracts as YAML: parsed, and written in the order of the standard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from contractlog.compatibility.errors import UsageError
from contractlog.contracts.odcs.specification import BLOCKS
from contractlog.contracts.odcs.yaml_text import YamlDocument, parse_yaml, write_yaml

__all__ = ["parse_contract", "write_contract"]

_FIRST: Final = ("apiVersion", "kind", "id", "name", "version", "status", "physicalName", "logicalType", "physicalType")
_LAST: Final = ("quality", "properties", "items", "map", "customProperties")
#: members of a block that are written first and last


def parse_contract(content: bytes, name: str) -> YamlDocument:
    """Parse a contract, or anything else that is an object.

    Raises:
        UsageError: it is no YAML or no object; the message has file, line and column.
    """
    document = parse_yaml(content, name)
    if not isinstance(document.value, dict) or not document.value:
        raise UsageError(f"{name}:1:1: a contract must be an object with apiVersion, kind, id and version")
    return document


def write_contract(document: Mapping[str, Any]) -> str:
    """Return a contract as YAML, with members in the order of the standard, and unknown ones after these."""
    return write_yaml(_order(document, "contract"))


def _order(value: Any, kind: str) -> Any:
    if kind == "team":
        kind = "[member]" if isinstance(value, list) else "teamObject"
    kind = kind.rpartition("|")[2]
    if isinstance(value, list):
        return [_order(item, kind.strip("[]")) for item in value]
    if not isinstance(value, dict) or kind not in BLOCKS:
        return value
    members = BLOCKS[kind].members
    order = dict.fromkeys((*_FIRST, *(name for name in members if name not in _LAST), *_LAST))
    names = [
        *(each for each in order if each in value and each in members),
        *(each for each in value if each not in members),
    ]
    return {name: _order(value[name], members[name].kind if name in members else "any") for name in names}

"""Executors and actions that need no registration; each is imported when a rule first needs it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

__all__ = ["BUILTIN_ACTIONS", "BUILTIN_EXECUTORS", "make_builtin"]

BUILTIN_EXECUTORS: Final[Mapping[str, str]] = {
    "CEL": "contractlog.serdes.rules.cel:CelExecutor",
    "CEL_FIELD": "contractlog.serdes.rules.cel:CelFieldExecutor",
    "JSONATA": "contractlog.serdes.rules.jsonata:JsonataExecutor",
    "ENCRYPT": "contractlog.serdes.rules.encryption:FieldEncryptionExecutor",
    "ENCRYPT_PAYLOAD": "contractlog.serdes.rules.encryption:EncryptionExecutor",
}
BUILTIN_ACTIONS: Final[Mapping[str, str]] = {
    "ERROR": "contractlog.serdes.rules.executors:ErrorAction",
    "NONE": "contractlog.serdes.rules.executors:NoneAction",
    "DLQ": "contractlog.serdes.rules.dlq:DlqAction",
}


def make_builtin(table: Mapping[str, str], name: str) -> Any | None:
    """Return a new executor or action of a type; None if the table does not have it."""
    location = table.get(name)
    if location is None:
        return None
    module, _, class_name = location.partition(":")
    return getattr(import_module(module), class_name)()

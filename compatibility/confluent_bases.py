"""Inheritance of our exceptions from those of confluent-kafka, if that package is loaded.

Code that catches the other library's exceptions then catches ours. Nothing is imported for it: such code has already
loaded the library, so it is enough to look when one of our exceptions is created. ``except`` follows only real
inheritance, so the other class becomes a base.

A plain import would be simpler, and costs too much: of processor time, 560 ms for
``confluent_kafka.schema_registry.error``, whose package imports its clients with Authlib, HTTPX and fastavro, and 50 ms
for ``confluent_kafka.serialization``; all of ``contractlog --help`` takes 53 ms. 165 modules import names of
``errors.py``, the command line among them, so importing on first use would happen at every start. A class chosen when
an error is created would have to be made at run time, and would differ from the class that ``except`` names.
"""

from __future__ import annotations

import sys
from typing import Any, ClassVar

__all__ = ["SchemaRegistryError", "add_loaded_base"]


def add_loaded_base(error_class: type[Exception], module: str, name: str) -> None:
    """Add an exception class of a loaded module to the bases of ours; do nothing if it is not loaded."""
    loaded_class = getattr(sys.modules.get(module), name, None)
    if (
        isinstance(loaded_class, type)
        and issubclass(loaded_class, Exception)
        and not issubclass(error_class, loaded_class)
    ):
        bases = error_class.__bases__
        index = next((number for number, base in enumerate(bases) if issubclass(loaded_class, base)), len(bases))
        error_class.__bases__ = (*bases[:index], loaded_class, *bases[index:])  # a class precedes its own base classes


class _ErrorBase(Exception):
    """Intermediate base class: the bases of a direct subclass of ``Exception`` cannot be changed."""


class SchemaRegistryError(_ErrorBase):
    """Error response of a registry, with the constructor and attributes of confluent-kafka's."""

    UNKNOWN: ClassVar[int] = -1

    def __init__(self, http_status_code: int, error_code: int, error_message: str) -> None:
        add_loaded_base(SchemaRegistryError, "confluent_kafka.schema_registry.error", "SchemaRegistryError")
        Exception.__init__(self, http_status_code, error_code, error_message)
        self.__dict__.update(http_status_code=http_status_code, error_code=error_code, error_message=error_message)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        error: Any = self
        return f"{error.error_message} (HTTP status code {error.http_status_code}, SR code {error.error_code})"

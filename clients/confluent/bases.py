"""Replacement of our data classes by confluent-kafka's, if its registry client is installed.

Its serializers test ``isinstance(schema, Schema)``, and objects of different classes are never equal. So the names of
``contractlog.clients.confluent`` are its classes if they can be imported, else ours; the order in which a program
imports the two packages does not matter. Importing them costs a few tenths of a second, once.
"""

from __future__ import annotations

import inspect
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any, Final, TypeVar

__all__ = ["prefer_confluent_class"]

T = TypeVar("T")
_CONFLUENT_MODULE: Final = "confluent_kafka.schema_registry.common.schema_registry_client"


def prefer_confluent_class(cls: type[T]) -> type[T]:
    """Return confluent-kafka's class of this name if it can replace ours, else ours.

    It can if it has every public attribute of ours, and the same arguments (an enumeration: the same members).
    """
    replacement = getattr(_confluent_module(), cls.__name__, None)
    return replacement if isinstance(replacement, type) and _can_replace(cls, replacement) else cls


@cache
def _confluent_module() -> Any:
    try:
        return import_module(_CONFLUENT_MODULE)
    except ImportError:  # not installed, or without the packages that its client needs
        return None


def _can_replace(cls: type[Any], replacement: type[Any]) -> bool:
    if issubclass(cls, Enum):
        return issubclass(replacement, Enum) and set(cls.__members__) == set(replacement.__members__)
    if any(not hasattr(replacement, name) for name in dir(cls) if not name.startswith("_")):
        return False
    return list(inspect.signature(cls).parameters) == list(inspect.signature(replacement).parameters)

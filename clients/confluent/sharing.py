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

__all__ = ["shared"]

T = TypeVar("T")
_MODULE: Final = "confluent_kafka.schema_registry.common.schema_registry_client"


def shared(own: type[T]) -> type[T]:
    """Return confluent-kafka's class of this name if it can replace ours, else ours.

    It can if it has every public attribute of ours, and the same arguments (an enumeration: the same members).
    """
    other = getattr(_classes(), own.__name__, None)
    return other if isinstance(other, type) and _fits(own, other) else own


@cache
def _classes() -> Any:
    try:
        return import_module(_MODULE)
    except ImportError:  # not installed, or without the packages that its client needs
        return None


def _fits(own: type[Any], other: type[Any]) -> bool:
    if issubclass(own, Enum):
        return issubclass(other, Enum) and set(own.__members__) == set(other.__members__)
    if any(not hasattr(other, name) for name in dir(own) if not name.startswith("_")):
        return False
    return list(inspect.signature(own).parameters) == list(inspect.signature(other).parameters)

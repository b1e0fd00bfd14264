"""Classes of confluent-kafka, if its registry client is installed, as bases or in place of ours.

Its serializers test ``isinstance(schema, Schema)``, and objects of different classes are never equal. So the names of
``contractlog.clients.confluent`` are its classes if they can be imported, else ours; the order in which a program
imports the two packages does not matter. Importing them costs a few tenths of a second, once.
"""

from __future__ import annotations

import inspect
from enum import Enum
from typing import Any, TypeVar

try:
    from confluent_kafka.schema_registry.common import schema_registry_client as _confluent_module
    from confluent_kafka.schema_registry.error import OAuthTokenError as ConfluentTokenError
except ImportError:  # not installed, or without the packages that its client needs
    _confluent_module = None  # type: ignore[assignment]

    class ConfluentTokenError(Exception):  # type: ignore[no-redef]
        """Base class of ``OAuthTokenError``."""


__all__ = ["ConfluentTokenError", "prefer_confluent_class"]

T = TypeVar("T")


def prefer_confluent_class(cls: type[T]) -> type[T]:
    """Return confluent-kafka's class of this name if it can replace ours, else ours.

    It can if it has every public attribute of ours, and the same arguments (an enumeration: the same members).
    """
    replacement = getattr(_confluent_module, cls.__name__, None)
    return replacement if isinstance(replacement, type) and _can_replace(cls, replacement) else cls


def _can_replace(cls: type[Any], replacement: type[Any]) -> bool:
    if issubclass(cls, Enum):
        return issubclass(replacement, Enum) and set(cls.__members__) == set(replacement.__members__)
    if any(not hasattr(replacement, name) for name in dir(cls) if not name.startswith("_")):
        return False
    return list(inspect.signature(cls).parameters) == list(inspect.signature(replacement).parameters)

"""JSON serialization of this package's dataclasses, declared per member."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, field, fields
from enum import Enum
from typing import Any, ClassVar, Final, Self

__all__ = ["JsonObject", "list_parser", "member"]

_NAME: Final = "name"
_READ: Final = "read"
_MISSING: Final = "missing"


def member(
    name: str,
    read: Callable[[Any], Any] = lambda value: value,
    *,
    missing: Callable[[], Any] = lambda: None,
    default: Any = MISSING,
    factory: Any = MISSING,
    hash: bool | None = None,  # noqa: A002 - the name in dataclasses
) -> Any:
    """Declare a member of the JSON object.

    Args:
        name: its name in the JSON object.
        read: converts the JSON value to the attribute.
        missing: makes the attribute if the JSON value is absent or null.
        default: default of the constructor.
        factory: factory of the constructor's default.
        hash: whether it is part of the hash; None: if it is part of equality.
    """
    metadata = {_NAME: name, _READ: read, _MISSING: missing}
    declared: Any = field(default=default, default_factory=factory, hash=hash, metadata=metadata)
    return declared


def list_parser(read: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    """Return a function that converts every item of a list."""
    return lambda values: [read(value) for value in values]


class JsonObject:
    """Dataclass that is written as a JSON object, without the members that are None."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        values = ((item.metadata[_NAME], getattr(self, item.name)) for item in fields(self))
        return {name: _to_json(value) for name, value in values if value is not None}

    @classmethod
    def from_dict(cls, src_dict: dict[str, Any]) -> Self:
        """Parse the JSON object; unknown members are ignored."""
        return cls(**{item.name: _parse_member(item, src_dict.get(item.metadata[_NAME])) for item in fields(cls)})


def _parse_member(item: Field[Any], value: Any) -> Any:
    return item.metadata[_MISSING]() if value is None else item.metadata[_READ](value)


def _to_json(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_to_json(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    return value.to_dict() if hasattr(value, "to_dict") else value

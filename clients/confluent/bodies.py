"""How the classes of this package become JSON objects, and come from them: written once, declared by their members."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, field, fields
from enum import Enum
from typing import Any, ClassVar, Final, Self

__all__ = ["Body", "each", "member"]

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
    hash: bool | None = None,  # noqa: A002 - as dataclasses call it
) -> Any:
    """Declare a member of the JSON object.

    Args:
        name: how it is called there.
        read: makes the attribute of what stands there.
        missing: makes it where nothing stands there, or null.
        default: of the constructor.
        factory: makes the default of the constructor.
        hash: whether it counts for the hash; None: as for equality.
    """
    facts = {_NAME: name, _READ: read, _MISSING: missing}
    found: Any = field(default=default, default_factory=factory, hash=hash, metadata=facts)
    return found


def each(read: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    """Read a list."""
    return lambda values: [read(value) for value in values]


class Body:
    """A dataclass whose members stand in a JSON object; those that are None are left out."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def to_dict(self) -> dict[str, Any]:
        """Write the JSON object."""
        values = ((one.metadata[_NAME], getattr(self, one.name)) for one in fields(self))
        return {name: _written(value) for name, value in values if value is not None}

    @classmethod
    def from_dict(cls, src_dict: dict[str, Any]) -> Self:
        """Read the JSON object; members that are not known are passed over."""
        return cls(**{one.name: _read(one, src_dict.get(one.metadata[_NAME])) for one in fields(cls)})


def _read(one: Field[Any], value: Any) -> Any:
    return one.metadata[_MISSING]() if value is None else one.metadata[_READ](value)


def _written(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_written(one) for one in value]
    if isinstance(value, Enum):
        return value.value
    return value.to_dict() if hasattr(value, "to_dict") else value

"""Instances of an event class with example values, for tests that check the class against a schema."""

from __future__ import annotations

import collections.abc
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints
from uuid import UUID

__all__ = ["is_event_class", "make_events"]

_EXAMPLES: Final[Mapping[Any, Any]] = {
    int: 1,
    float: 1.5,
    str: "a",
    bytes: b"a",
    Decimal: Decimal("1.5"),
    datetime: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    date: date(2026, 1, 2),
    time: time(3, 4, 5),
    UUID: UUID("6f1c5a3e-8f0b-4d5e-9a67-2f3a1b4c5d6e"),
    Any: "a",
}
_LISTS: Final = frozenset({list, tuple, collections.abc.Sequence, collections.abc.Iterable})
_SETS: Final = frozenset({set, frozenset, collections.abc.Set})
_MAPPINGS: Final = frozenset({dict, collections.abc.Mapping})
_MAX_DEPTH: Final = 4  #: of classes in each other, from which optional values are left out
_MAX_EVENTS: Final = 32


def is_event_class(value: Any) -> bool:
    """Return whether a value is a dataclass or a class of pydantic."""
    return isinstance(value, type) and (is_dataclass(value) or hasattr(value, "model_fields"))


def make_events(event_class: Any) -> Iterator[Any]:
    """Yield instances, so that each alternative of each field is in one of them.

    Alternatives are None, members of unions, enums and ``Literal``, and both truth values.

    Raises:
        TypeError: a field has a type without example values, or the class rejects them.
    """
    number = min(_count_alternatives(event_class, frozenset()), _MAX_EVENTS)
    for choice in range(number):
        yield _make(event_class, choice, 0)


def _list_hints(event_class: Any) -> dict[str, Any]:
    """Return the types of the arguments of a class, by the name of the argument."""
    hints = get_type_hints(event_class)
    if is_dataclass(event_class):
        return {field.name: hints[field.name] for field in fields(event_class) if field.init}
    return {field.alias or name: hints[name] for name, field in event_class.model_fields.items()}


def _list_alternatives(hint: Any) -> tuple[Any, ...] | None:
    """Return the alternatives of a union, with None last; None for other types."""
    if get_origin(hint) not in {Union, types.UnionType}:
        return None
    return tuple(sorted(get_args(hint), key=lambda each: each is type(None)))


def _list_members(hint: Any) -> list[Any]:
    """Return all values of a type that has few; none for other types."""
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return list(hint)
    if hint is bool:
        return [True, False]
    return [None] if hint is type(None) else []


def _count_alternatives(hint: Any, outer: frozenset[Any]) -> int:
    """Return the number of instances that show each alternative of a type."""
    alternatives = _list_alternatives(hint)
    if alternatives is not None:
        return sum(_count_alternatives(each, outer) for each in alternatives)
    if members := _list_members(hint):
        return len(members)
    if is_event_class(hint):
        inner = () if hint in outer else _list_hints(hint).values()
        return max((_count_alternatives(each, outer | {hint}) for each in inner), default=1)
    return max((_count_alternatives(each, outer) for each in get_args(hint) if each is not ...), default=1)


def _make(hint: Any, choice: int, depth: int) -> Any:
    """Return the example of a type with a number; depth is that of classes in each other."""
    alternatives = _list_alternatives(hint)
    if alternatives is not None:
        is_deep = depth > _MAX_DEPTH and alternatives[-1] is type(None)
        return None if is_deep else _make(alternatives[choice % len(alternatives)], choice // len(alternatives), depth)
    hint = getattr(hint, "__supertype__", hint)  # of a NewType
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    members = _list_members(hint)
    if members:
        return members[choice % len(members)]
    if is_event_class(hint):
        values = {name: _make(each, choice, depth + 1) for name, each in _list_hints(hint).items()}
        try:
            return hint(**values)
        except ValueError as error:  # of pydantic
            raise TypeError(f"{hint.__name__} rejects example values: {error}") from None
    return _make_collection(
        hint, origin, arguments, lambda each: _make(each, choice, depth), is_deep=depth > _MAX_DEPTH
    )


def _make_collection(
    hint: Any, origin: Any, arguments: tuple[Any, ...], make: Callable[[Any], Any], *, is_deep: bool
) -> Any:
    """Return a collection with one example, or an example of a type without parts."""
    if origin in _LISTS or origin in _SETS:
        items = [] if is_deep else [make(arguments[0] if arguments else str)]
        return set(items) if origin in _SETS else tuple(items) if origin is tuple else items
    if origin in _MAPPINGS:
        return {} if is_deep else {"a": make(arguments[1] if arguments else str)}
    if hint not in _EXAMPLES:
        raise TypeError(f"there is no example value of {hint!r}")
    return _EXAMPLES[hint]

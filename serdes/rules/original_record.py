"""The record as the serializer was given it, for actions such as DLQ.

A key's serializer runs before that of the value, in the same thread or task. It leaves the key in a context variable
if actions are used in this process; the value's serializer takes it from there. Without rules, none is involved.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from contractlog.serdes.context import Context, MessageField

__all__ = ["ORIGINAL_KEYS", "OriginalRecord"]

_latest_key: ContextVar[tuple[str | None, Any] | None] = ContextVar("contractlog_original_key", default=None)


class _OriginalKeys:
    """Passing of original keys from serializers of keys to those of values."""

    def __init__(self) -> None:
        self.enabled = False  #: whether serializers of keys without rules pass them on, too

    def set(self, context: Context, key: Any) -> None:
        """Pass on the key of the record whose value comes next."""
        _latest_key.set((context.topic, key))

    def get(self, context: Context | None) -> Any:
        """Return the key of this record; None if no serializer of contractlog has seen it."""
        latest = _latest_key.get()
        return latest[1] if latest is not None and context is not None and latest[0] == context.topic else None

    def clear(self) -> None:
        """Forget the key, as the record is complete."""
        _latest_key.set(None)


ORIGINAL_KEYS = _OriginalKeys()


@dataclass(frozen=True, slots=True)
class OriginalRecord:
    """A record before serialization, or before deserialization."""

    context: Context | None
    key: Any
    value: Any

    @classmethod
    def of(cls, content: Any, context: Context | None) -> OriginalRecord:
        """Return the record of which this is the key or the value."""
        if context is not None and context.field == MessageField.KEY:
            return cls(context, content, None)
        return cls(context, ORIGINAL_KEYS.get(context), content)

    def with_content(self, content: Any) -> OriginalRecord:
        """Return the record with another key, or another value if it is one of a value."""
        is_key = self.context is not None and self.context.field == MessageField.KEY
        return replace(self, key=content) if is_key else replace(self, value=content)

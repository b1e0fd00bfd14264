"""Which subject a record's schema belongs to.

A strategy is a function of context and record name. Own strategies may be passed as well: any callable of
``(context, record_name)`` that returns a subject.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from contractlog.serdes.context import Context, MessageField
from contractlog.serdes.errors import SerializationError

__all__ = ["SubjectNameStrategy", "record_subject_name", "topic_record_subject_name", "topic_subject_name"]

SubjectNameStrategy: TypeAlias = Callable[[Context | None, str | None], str | None]


def topic_subject_name(context: Context | None, record_name: str | None = None) -> str:
    """Name the subject after the topic: ``<topic>-key`` or ``<topic>-value``; the default."""
    del record_name
    part = MessageField.KEY if context is not None and context.field == MessageField.KEY else MessageField.VALUE
    return f"{_topic(context)}-{part}"


def record_subject_name(context: Context | None, record_name: str | None = None) -> str:
    """Name the subject after the record's full name, or a JSON schema's title."""
    del context
    return _record(record_name)


def topic_record_subject_name(context: Context | None, record_name: str | None = None) -> str:
    """Name the subject after both: ``<topic>-<record name>``."""
    return f"{_topic(context)}-{_record(record_name)}"


def _topic(context: Context | None) -> str:
    if context is None or not context.topic:
        raise SerializationError(reason="the subject is named after the topic: pass a SerializationContext with one")
    return context.topic


def _record(record_name: str | None) -> str:
    if not record_name:
        raise SerializationError(reason="the subject is named after the record, and this schema has no name or title")
    return record_name

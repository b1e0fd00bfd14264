"""Names of fields, ``SUBJECT[:FIELD]``, and the topics that a subject may be named after."""

from __future__ import annotations

from contractlog.compatibility.identifiers import Subject, split_topic_subject

__all__ = ["list_possible_topics", "split_field_name"]


def split_field_name(text: str) -> tuple[str, str]:
    """Return the subject and the field of ``SUBJECT[:FIELD]``; the field is empty if there is none.

    >>> split_field_name("orders-value:legs[].carrier"), split_field_name(":.eu:orders-value")
    (('orders-value', 'legs[].carrier'), (':.eu:orders-value', ''))
    """
    start = text.index(":", 2) + 1 if text.startswith(":.") and ":" in text[2:] else 0
    name, _, field = text[start:].partition(":")
    return text[:start] + name, field


def list_possible_topics(subject: str) -> list[str]:
    """Return the topic that a subject of values may be named after, and the topic of the same name.

    >>> list_possible_topics(":.eu:orders-value"), list_possible_topics("orders")
    (['orders-value', 'orders'], ['orders'])
    """
    name = Subject.parse(subject).name
    match split_topic_subject(name):
        case topic, "value":
            return [name, topic]
    return [name]

"""Subject name strategies.

A strategy is a function of context and record name; any callable of ``(context, record_name)`` that returns a subject
may be passed. By default the subject is the one that the registry associates with the topic, or if there is none, one
named after the topic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final, TypeAlias

from contractlog.compatibility.errors import NotFound
from contractlog.serdes.asking import Steps, ask
from contractlog.serdes.context import Context, MessageField
from contractlog.serdes.errors import ContextMissing, SerializationError
from contractlog.serdes.memory import Memory

__all__ = [
    "CLUSTER_ID",
    "FALLBACK_TYPE",
    "AssociatedNameStrategy",
    "SubjectNameStrategy",
    "SubjectNameStrategyType",
    "associated_subjects",
    "parse_strategy",
    "record_subject_name",
    "topic_record_subject_name",
    "topic_subject_name",
]

SubjectNameStrategy: TypeAlias = Callable[[Context | None, str | None], str | None]

CLUSTER_ID: Final = "subject.name.strategy.kafka.cluster.id"
FALLBACK_TYPE: Final = "subject.name.strategy.fallback.type"
_ANY_CLUSTER: Final = "-"


class SubjectNameStrategyType(StrEnum):
    """Strategies by name; NONE, as a fall-back, makes a topic without association an error."""

    NONE = "NONE"
    TOPIC = "TOPIC"
    RECORD = "RECORD"
    TOPIC_RECORD = "TOPIC_RECORD"
    ASSOCIATED = "ASSOCIATED"


def topic_subject_name(context: Context | None, record_name: str | None = None) -> str:
    """Name the subject after the topic: ``<topic>-key`` or ``<topic>-value``."""
    del record_name
    return f"{_topic(context)}-{_part(context)}"


def record_subject_name(context: Context | None, record_name: str | None = None) -> str:
    """Name the subject after the record's full name, or a JSON schema's title."""
    del context
    return _record(record_name)


def topic_record_subject_name(context: Context | None, record_name: str | None = None) -> str:
    """Name the subject after topic and record: ``<topic>-<record name>``."""
    return f"{_topic(context)}-{_record(record_name)}"


BY_TYPE: Final[Mapping[SubjectNameStrategyType, SubjectNameStrategy]] = {
    SubjectNameStrategyType.TOPIC: topic_subject_name,
    SubjectNameStrategyType.RECORD: record_subject_name,
    SubjectNameStrategyType.TOPIC_RECORD: topic_record_subject_name,
}


class AssociatedNameStrategy:
    """Strategy by the registry's associations, requested once per topic, part and record name.

    Args:
        conf: ``subject.name.strategy.kafka.cluster.id``, the namespace in which topics are looked up (any), and
            ``subject.name.strategy.fallback.type``, the strategy for topics without an association (TOPIC).

    Raises:
        ValueError: a key is unknown, or a fall-back is.
    """

    def __init__(self, conf: Mapping[str, Any] | None = None) -> None:
        given = dict(conf or {})
        self._cluster_id: str | None = given.pop(CLUSTER_ID, None)
        self._fallback = _fallback(given.pop(FALLBACK_TYPE, None))
        if given:
            raise ValueError(f"unknown in subject.name.strategy.conf: {', '.join(map(str, given))}")
        self._resolver: Callable[[], Any] | None = None
        self._known: Memory[tuple[str, str, str | None], str] = Memory()

    def set_cluster_id_resolver(self, resolver: Callable[[], Any]) -> None:
        """Set the function that returns the cluster's id, called at the first look-up if none is configured.

        It may be a coroutine function.
        """
        self._resolver = resolver

    def subject(self, context: Context | None, record_name: str | None) -> Steps[str]:
        """Return the subject.

        Raises:
            SerializationError: a topic has several subjects, or none and no fall-back.
            RegistryError: the registry did not return the associations.
        """
        topic, part = _topic(context), _part(context)
        known = self._known.get((topic, part, record_name))
        if known is not None:
            return known
        cluster = self._cluster_id
        if not cluster:
            cluster = (yield from self._resolved()) or _ANY_CLUSTER
        try:
            found = yield ask(
                "associations_by_resource_name",
                topic,
                namespace=cluster,
                resource_type="topic",
                association_types=[str(part)],
            )
        except NotFound:
            found = []
        if len(found) > 1:
            raise SerializationError(reason=f"the topic is associated with {len(found)} subjects", topic=topic)
        if found:
            subject = str(found[0].subject)
        elif self._fallback is None:
            raise SerializationError(reason="the topic is associated with no subject", topic=topic)
        else:
            subject = str(self._fallback(context, record_name))
        return self._known.put((topic, part, record_name), subject)

    def _resolved(self) -> Steps[str | None]:
        resolver = self._resolver
        if resolver is None:
            return None
        try:
            found = yield lambda _source: resolver()
        except Exception as error:
            told = f"the id of the Kafka cluster is not known ({error}); {CLUSTER_ID} may name it"
            raise SerializationError(reason=told) from error
        if not found:
            raise SerializationError(reason=f"the id of the Kafka cluster is empty; {CLUSTER_ID} may name it")
        return str(found)


def associated_subjects(source: Any, topic: str, part: MessageField) -> list[str]:
    """Return the subjects that a registry associates with a part of a topic, in any Kafka cluster."""
    try:
        found = source.associations_by_resource_name(
            topic, namespace=_ANY_CLUSTER, resource_type="topic", association_types=[str(part)]
        )
    except NotFound:
        return []
    return list(dict.fromkeys(str(each.subject) for each in found))


def parse_strategy(text: str) -> SubjectNameStrategyType:
    """Parse the name of a strategy, as on the command line or in other clients.

    >>> parse_strategy("topic-record"), parse_strategy("TopicRecordNameStrategy")
    (<SubjectNameStrategyType.TOPIC_RECORD: 'TOPIC_RECORD'>, <SubjectNameStrategyType.TOPIC_RECORD: 'TOPIC_RECORD'>)

    Raises:
        ValueError: there is no such strategy.
    """
    word = re.sub("[^a-z]", "", text.lower()).removesuffix("strategy").removesuffix("name")
    for strategy in (*BY_TYPE, SubjectNameStrategyType.ASSOCIATED):
        if word == strategy.lower().replace("_", ""):
            return strategy
    raise ValueError(f"`{text}` is no strategy: write topic, record, topic-record or associated")


def _fallback(given: Any) -> SubjectNameStrategy | None:
    text = str(getattr(given, "value", given or SubjectNameStrategyType.TOPIC)).upper()
    if text == SubjectNameStrategyType.NONE:
        return None
    if text not in set(BY_TYPE):
        raise ValueError(f"{FALLBACK_TYPE} must be one of {', '.join(BY_TYPE)} and NONE, not {given!r}")
    return BY_TYPE[SubjectNameStrategyType(text)]


def _part(context: Context | None) -> MessageField:
    return MessageField.KEY if context is not None and context.field == MessageField.KEY else MessageField.VALUE


def _topic(context: Context | None) -> str:
    if context is None or not context.topic:
        raise ContextMissing(reason="the subject is named after the topic: pass a SerializationContext with one")
    return context.topic


def _record(record_name: str | None) -> str:
    if not record_name:
        raise SerializationError(reason="the subject is named after the record, and this schema has no name or title")
    return record_name

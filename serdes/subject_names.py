"""Subject name strategies.

A strategy is a function of context and record name; any callable of ``(context, record_name)`` that returns a subject
may be passed. By default the subject is the one that the registry associates with the topic, or if there is none, one
named after the topic. Serializers call strategies, however they are configured, through a ``SubjectResolver``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeAlias

from contractlog.compatibility.bounded_cache import BoundedCache
from contractlog.compatibility.errors import NotFound
from contractlog.compatibility.subject_names import SubjectNameStrategyType, derive_subject, parse_strategy
from contractlog.serdes.context import Context, MessageField
from contractlog.serdes.errors import ContextMissing, SerializationError
from contractlog.serdes.source_requests import Steps, request, run_sync

__all__ = [
    "CLUSTER_ID",
    "FALLBACK_TYPE",
    "AssociatedNameStrategy",
    "SubjectNameStrategy",
    "SubjectNameStrategyType",
    "SubjectResolver",
    "find_associated_subjects",
    "make_subject_resolver",
    "parse_strategy",
    "record_subject_name",
    "topic_record_subject_name",
    "topic_subject_name",
]

SubjectNameStrategy: TypeAlias = Callable[[Context | None, str | None], str | None]

CLUSTER_ID: Final = "subject.name.strategy.kafka.cluster.id"
FALLBACK_TYPE: Final = "subject.name.strategy.fallback.type"
_ANY_CLUSTER: Final = "-"
_MAX_SUBJECTS: Final = 1_000  #: cached subjects of topics


def topic_subject_name(context: Context | None, record_name: str | None = None) -> str:
    """Name the subject after the topic: ``<topic>-key`` or ``<topic>-value``."""
    del record_name
    return derive_subject(SubjectNameStrategyType.TOPIC, _require_topic(context), _part_of(context), "")


def record_subject_name(context: Context | None, record_name: str | None = None) -> str:
    """Name the subject after the record's full name, or a JSON schema's title."""
    del context
    return derive_subject(SubjectNameStrategyType.RECORD, "", "", _require_record_name(record_name))


def topic_record_subject_name(context: Context | None, record_name: str | None = None) -> str:
    """Name the subject after topic and record: ``<topic>-<record name>``."""
    topic, record = _require_topic(context), _require_record_name(record_name)
    return derive_subject(SubjectNameStrategyType.TOPIC_RECORD, topic, "", record)


STRATEGIES_BY_TYPE: Final[Mapping[SubjectNameStrategyType, SubjectNameStrategy]] = {
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
        self._fallback = _parse_fallback(given.pop(FALLBACK_TYPE, None))
        if given:
            raise ValueError(f"unknown keys in subject.name.strategy.conf: {', '.join(map(str, given))}")
        self._resolver: Callable[[], Any] | None = None
        self._subjects: BoundedCache[tuple[str, str, str | None], str] = BoundedCache(_MAX_SUBJECTS)

    def set_cluster_id_resolver(self, resolver: Callable[[], Any]) -> None:
        """Set the function that returns the cluster's id, called at the first lookup if none is configured.

        It may be a coroutine function.
        """
        self._resolver = resolver

    def subject(self, context: Context | None, record_name: str | None) -> Steps[str]:
        """Return the subject.

        Raises:
            SerializationError: a topic has several subjects, or none and no fall-back.
            RegistryError: the registry did not return the associations.
        """
        topic, part = _require_topic(context), _part_of(context)
        cached = self._subjects.get((topic, part, record_name))
        if cached is not None:
            return cached
        cluster = self._cluster_id
        if not cluster:
            cluster = (yield from self._resolve_cluster_id()) or _ANY_CLUSTER
        try:
            associations = yield request(
                "associations_by_resource_name",
                topic,
                namespace=cluster,
                resource_type="topic",
                association_types=[str(part)],
            )
        except NotFound:
            associations = []
        if len(associations) > 1:
            raise SerializationError(reason=f"the topic is associated with {len(associations)} subjects", topic=topic)
        if associations:
            subject = str(associations[0].subject)
        elif self._fallback is None:
            raise SerializationError(reason="the topic is associated with no subject", topic=topic)
        else:
            subject = str(self._fallback(context, record_name))
        return self._subjects.put((topic, part, record_name), subject)

    def _resolve_cluster_id(self) -> Steps[str | None]:
        resolver = self._resolver
        if resolver is None:
            return None
        try:
            cluster_id = yield lambda _source: resolver()
        except Exception as error:
            message = f"the id of the Kafka cluster is not known ({error}); {CLUSTER_ID} may name it"
            raise SerializationError(reason=message) from error
        if not cluster_id:
            raise SerializationError(reason=f"the id of the Kafka cluster is empty; {CLUSTER_ID} may name it")
        return str(cluster_id)


def find_associated_subjects(source: Any, topic: str, part: MessageField) -> list[str]:
    """Return the subjects that a registry associates with a part of a topic, in any Kafka cluster."""
    try:
        associations = source.associations_by_resource_name(
            topic, namespace=_ANY_CLUSTER, resource_type="topic", association_types=[str(part)]
        )
    except NotFound:
        return []
    return list(dict.fromkeys(str(each.subject) for each in associations))


_OWN_STRATEGIES: Final = (topic_subject_name, record_subject_name, topic_record_subject_name)
_CONFLUENT_PACKAGE: Final = "confluent_kafka.schema_registry"


class SubjectResolver(Protocol):
    """A prepared subject name strategy."""

    @property
    def cacheable(self) -> bool:
        """True if the subject depends only on topic, part and record name, so that it may be cached."""

    def subject(self, context: Context | None, record_name: str | None) -> Steps[str | None]:
        """Return the subject; None if the strategy gives none."""

    def resolve_offline(self, context: Context | None, record_name: str | None) -> str | None:
        """Return the subject without a request to the registry; for strategies that are not ``cacheable``."""

    def set_cluster_id_resolver(self, resolver: Callable[[], Any]) -> None:
        """Set the function that returns the id of the Kafka cluster."""


class _FunctionResolver:
    def __init__(self, strategy: SubjectNameStrategy) -> None:
        self.strategy = strategy
        self.cacheable = strategy in _OWN_STRATEGIES or getattr(strategy, "__module__", None) == _CONFLUENT_PACKAGE

    def subject(self, context: Context | None, record_name: str | None) -> Steps[str | None]:
        yield from ()
        return self.resolve_offline(context, record_name)

    def resolve_offline(self, context: Context | None, record_name: str | None) -> str | None:
        """Call the function."""
        try:
            return self.strategy(context, record_name)
        except SerializationError:
            raise
        except Exception as error:
            message = f"the subject name strategy failed: {type(error).__name__}: {error}"
            raise SerializationError(reason=message) from error

    def set_cluster_id_resolver(self, resolver: Callable[[], Any]) -> None:
        """Do nothing: functions need no cluster id."""


class _AssociationResolver:
    cacheable = True

    def __init__(self, strategy: AssociatedNameStrategy) -> None:
        self.subject = strategy.subject
        self.set_cluster_id_resolver = strategy.set_cluster_id_resolver

    def resolve_offline(self, context: Context | None, record_name: str | None) -> str | None:
        """Return a cached subject."""
        return run_sync(self.subject(context, record_name), None)


def make_subject_resolver(strategy: Any, kind: Any, conf: Mapping[str, Any] | None) -> SubjectResolver:
    """Prepare a strategy: the function if given, else the type, else ASSOCIATED.

    Raises:
        ValueError: it is not a strategy.
    """
    if strategy is not None:
        if isinstance(strategy, AssociatedNameStrategy):
            return _AssociationResolver(strategy)
        if type(strategy).__name__.endswith("AssociatedNameStrategy"):  # confluent-kafka's, sync or async
            return _AssociationResolver(AssociatedNameStrategy(conf))
        if not callable(strategy):
            raise ValueError(f"subject.name.strategy must be a function of context and record name, not {strategy!r}")
        return _FunctionResolver(strategy)
    text = str(getattr(kind, "value", kind or SubjectNameStrategyType.ASSOCIATED)).upper()
    if text == SubjectNameStrategyType.ASSOCIATED:
        return _AssociationResolver(AssociatedNameStrategy(conf))
    if text not in set(STRATEGIES_BY_TYPE):
        names = ", ".join((*STRATEGIES_BY_TYPE, SubjectNameStrategyType.ASSOCIATED))
        raise ValueError(f"subject.name.strategy.type must be one of {names}, not {kind!r}")
    return _FunctionResolver(STRATEGIES_BY_TYPE[SubjectNameStrategyType(text)])


def _parse_fallback(given: Any) -> SubjectNameStrategy | None:
    text = str(getattr(given, "value", given or SubjectNameStrategyType.TOPIC)).upper()
    if text == SubjectNameStrategyType.NONE:
        return None
    if text not in set(STRATEGIES_BY_TYPE):
        raise ValueError(f"{FALLBACK_TYPE} must be one of {', '.join(STRATEGIES_BY_TYPE)} and NONE, not {given!r}")
    return STRATEGIES_BY_TYPE[SubjectNameStrategyType(text)]


def _part_of(context: Context | None) -> MessageField:
    return MessageField.KEY if context is not None and context.field == MessageField.KEY else MessageField.VALUE


def _require_topic(context: Context | None) -> str:
    if context is None or not context.topic:
        raise ContextMissing(reason="the subject is named after the topic: pass a SerializationContext with one")
    return context.topic


def _require_record_name(record_name: str | None) -> str:
    if not record_name:
        raise SerializationError(reason="the subject is named after the record, and this schema has no name or title")
    return record_name

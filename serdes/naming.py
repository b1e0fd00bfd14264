"""Uniform access to subject name strategies, given as a function, a type or a configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from contractlog.serdes.asking import Steps, answered
from contractlog.serdes.context import Context
from contractlog.serdes.errors import SerializationError
from contractlog.serdes.subjects import (
    BY_TYPE,
    AssociatedNameStrategy,
    SubjectNameStrategy,
    SubjectNameStrategyType,
    record_subject_name,
    topic_record_subject_name,
    topic_subject_name,
)

__all__ = ["Naming", "naming_of"]

_OURS: Final = (topic_subject_name, record_subject_name, topic_record_subject_name)
_THEIRS: Final = "confluent_kafka.schema_registry"


class Naming(Protocol):
    """A prepared subject name strategy."""

    @property
    def by_place(self) -> bool:
        """True if the subject depends only on topic, part and record name, so that it may be cached."""

    def subject(self, context: Context | None, record_name: str | None) -> Steps[str | None]:
        """Return the subject; None if the strategy gives none."""

    def at_once(self, context: Context | None, record_name: str | None) -> str | None:
        """Return the subject without a request to the registry; for strategies that are not ``by_place``."""

    def set_cluster_id_resolver(self, resolver: Callable[[], Any]) -> None:
        """Set the function that returns the id of the Kafka cluster."""


class _Function:
    def __init__(self, strategy: SubjectNameStrategy) -> None:
        self.strategy = strategy
        self.by_place = strategy in _OURS or getattr(strategy, "__module__", None) == _THEIRS

    def subject(self, context: Context | None, record_name: str | None) -> Steps[str | None]:
        yield from ()
        return self.at_once(context, record_name)

    def at_once(self, context: Context | None, record_name: str | None) -> str | None:
        """Call the function."""
        try:
            return self.strategy(context, record_name)
        except SerializationError:
            raise
        except Exception as error:
            told = f"the subject name strategy failed: {type(error).__name__}: {error}"
            raise SerializationError(reason=told) from error

    def set_cluster_id_resolver(self, resolver: Callable[[], Any]) -> None:
        """Do nothing: functions need no cluster id."""


class _Associated:
    by_place = True

    def __init__(self, strategy: AssociatedNameStrategy) -> None:
        self.subject = strategy.subject
        self.set_cluster_id_resolver = strategy.set_cluster_id_resolver

    def at_once(self, context: Context | None, record_name: str | None) -> str | None:
        """Return a cached subject."""
        return answered(self.subject(context, record_name), None)


def naming_of(strategy: Any, kind: Any, conf: Mapping[str, Any] | None) -> Naming:
    """Prepare a strategy: the function if given, else the type, else ASSOCIATED.

    Raises:
        ValueError: it is not a strategy.
    """
    if strategy is not None:
        if isinstance(strategy, AssociatedNameStrategy):
            return _Associated(strategy)
        if type(strategy).__name__.endswith("AssociatedNameStrategy"):  # confluent-kafka's, sync or async
            return _Associated(AssociatedNameStrategy(conf))
        if not callable(strategy):
            raise ValueError(f"subject.name.strategy must be a function of context and record name, not {strategy!r}")
        return _Function(strategy)
    text = str(getattr(kind, "value", kind or SubjectNameStrategyType.ASSOCIATED)).upper()
    if text == SubjectNameStrategyType.ASSOCIATED:
        return _Associated(AssociatedNameStrategy(conf))
    if text not in set(BY_TYPE):
        names = ", ".join((*BY_TYPE, SubjectNameStrategyType.ASSOCIATED))
        raise ValueError(f"subject.name.strategy.type must be one of {names}, not {kind!r}")
    return _Function(BY_TYPE[SubjectNameStrategyType(text)])

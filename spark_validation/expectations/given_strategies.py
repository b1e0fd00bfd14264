"""Subject name strategies given by the user with ``--strategy``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from contractlog.compatibility.errors import UsageError
from contractlog.serdes.subject_names import SubjectNameStrategyType as Kind
from contractlog.serdes.subject_names import parse_strategy

__all__ = ["GivenStrategies"]


@dataclass(frozen=True)
class GivenStrategies:
    """Strategies given by the user, for the values of all topics or for single topics."""

    for_all: Kind | None = None
    by_topic: Mapping[tuple[str, str], Kind] = field(default_factory=dict)  #: (topic, part) -> strategy

    @classmethod
    def parse(cls, arguments: Iterable[str]) -> GivenStrategies:
        """Parse ``STRATEGY``, ``TOPIC=STRATEGY`` and ``TOPIC:key=STRATEGY``.

        Raises:
            UsageError: an argument has none of these forms, or two contradict each other.
        """
        for_all: Kind | None = None
        by_topic: dict[tuple[str, str], Kind] = {}
        for argument in arguments:
            target, equals, name = argument.rpartition("=")
            kind = _parse_strategy(name, argument)
            topic, colon, part = target.partition(":")
            if (equals and not topic) or (colon and part not in {"key", "value"}):
                raise UsageError(f"`--strategy {argument}` names no topic. Write TOPIC=STRATEGY or TOPIC:key=STRATEGY")
            existing = by_topic.setdefault((topic, part or "value"), kind) if equals else for_all or kind
            if existing is not kind:
                raise UsageError(f"`--strategy {argument}` contradicts another --strategy for the same topic")
            if not equals:
                for_all = kind
        return cls(for_all, by_topic)

    def of(self, topic: str, part: str) -> Kind | None:
        """Return the strategy given for a part of a topic; one for all topics applies to values only."""
        return self.by_topic.get((topic, part)) or (self.for_all if part == "value" else None)

    def require_topics(self, topics: Iterable[str]) -> None:
        """Check that every topic with a strategy is audited.

        Raises:
            UsageError: a topic is not audited.
        """
        missing = sorted({topic for topic, _ in self.by_topic} - set(topics))
        if missing:
            raise UsageError(f"--strategy names the topic `{missing[0]}`, which is not audited", topic=missing[0])


def _parse_strategy(name: str, argument: str) -> Kind:
    try:
        return parse_strategy(name)
    except ValueError:
        raise UsageError(
            f"`--strategy {argument}` names no strategy. Use topic, record, topic-record or associated", given=argument
        ) from None

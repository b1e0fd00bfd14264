"""Options of an audit about its evidence: producers, profiles of fields, and examples of violations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from contractlog.contracts.audit.producers import DEFAULT_PRODUCER_HEADERS

__all__ = ["EvidenceOptions"]


@dataclass(frozen=True, slots=True)
class EvidenceOptions:
    """Parts of a state besides counts of outcomes."""

    producer_headers: tuple[str, ...] = DEFAULT_PRODUCER_HEADERS  #: the first that a record has names its producer
    show_values: bool = False  #: whether examples and profiles hold values, instead of their types and lengths
    profiles: bool = True  #: whether fields are profiled
    #: patterns whose matching texts are counted, by topic and field
    patterns: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    sample_key: str = field(default="", repr=False)  #: secret key of the samples; empty: the public one

    def patterns_of(self, topic: str) -> dict[str, tuple[str, ...]]:
        """Return the patterns of a topic by field."""
        return {name: patterns for (of, name), patterns in self.patterns.items() if of == topic}

"""Options of an audit about its evidence: producers, profiles of fields, and examples of violations."""

from __future__ import annotations

from dataclasses import dataclass

from contractlog.contracts.audit.producers import DEFAULT_PRODUCER_HEADERS

__all__ = ["EvidenceOptions"]


@dataclass(frozen=True, slots=True)
class EvidenceOptions:
    """Parts of a state besides counts of outcomes."""

    producer_headers: tuple[str, ...] = DEFAULT_PRODUCER_HEADERS  #: the first that a record has names its producer
    show_values: bool = False  #: whether examples and profiles hold values, instead of their types and lengths
    profiles: bool = True  #: whether fields are profiled

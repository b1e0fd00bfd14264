"""Options of an audit about its evidence: who wrote the records, and what examples of violations show."""

from __future__ import annotations

from dataclasses import dataclass

from contractlog.contracts.audit.producers import DEFAULT_PRODUCER_HEADERS

__all__ = ["EvidenceOptions"]


@dataclass(frozen=True, slots=True)
class EvidenceOptions:
    """Parts of a state besides counts of outcomes."""

    producer_headers: tuple[str, ...] = DEFAULT_PRODUCER_HEADERS  #: the first that a record has names its producer
    show_values: bool = False  #: whether examples hold values, instead of their types and lengths

"""Estates of topics with true lineage, from a domain, a seed and kinds of pipelines.

Tuning and scoring are kept apart: thresholds may be settled with ``TUNING_SEEDS`` and ``TUNING_KINDS``, and scores are
those of ``SCORING_SEEDS`` with all kinds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from pipelines import PIPELINES, derive_topic
from topics import DOMAINS, Topic, TrueEdge, make_distractors

from contractlog.contracts.audit.mergeable_state import AuditState, Coverage
from contractlog.contracts.audit.value_samples import SampleDesign, make_design
from contractlog.spark_validation.lineage.sampling import sample_fields

__all__ = ["SCORING_SEEDS", "SECRET", "TUNING_KINDS", "TUNING_SEEDS", "Estate", "make_estate", "sample_estate"]

TUNING_SEEDS: Final = range(1, 21)
SCORING_SEEDS: Final = range(101, 111)
HELD_OUT_KINDS: Final = (
    "concatenation",
    "deduplication",
    "interruption",
    "lookup by two fields",
    "split",
    "truncation",
)
TUNING_KINDS: Final = tuple(kind for kind in PIPELINES if kind not in HELD_OUT_KINDS)
SECRET: Final = "key of the benchmark"  # noqa: S105 - protects nothing
CHAINED: Final = 0.3  #: share of pipelines that read a topic that was itself made from another
ATTEMPTS: Final = 20  #: kinds tried per topic; some need fields that a source lacks


@dataclass(frozen=True)
class Estate:
    """Topics, and the edges between them."""

    name: str
    domain: str
    topics: list[Topic]

    @property
    def edges(self) -> list[TrueEdge]:
        """The true edges of all topics."""
        return [edge for topic in self.topics for edge in topic.edges]


@dataclass(frozen=True)
class _Column:
    field: str
    rows: npt.NDArray[np.int64]
    values: pa.Array[Any]


def make_estate(domain: str, seed: int, size: int, kinds: tuple[str, ...] = tuple(PIPELINES)) -> Estate:
    """Return an estate of a number of topics; without kinds, all topics are unrelated.

    Args:
        domain: a name in ``DOMAINS``.
        seed: equal seeds give equal estates.
        size: number of topics. Every twenty topics have base topics of their own.
        kinds: the kinds of pipelines to choose from.
    """
    random = np.random.default_rng([seed, sorted(DOMAINS).index(domain)])
    topics: list[Topic] = []
    group = 0
    while len(topics) < size:
        group += 1
        topics += _make_group(random, domain, f"g{group}.", min(20, size - len(topics)), kinds)
    return Estate(f"{domain}-{seed}-{size}", domain, topics)


def _make_group(random: np.random.Generator, name: str, prefix: str, size: int, kinds: tuple[str, ...]) -> list[Topic]:
    domain = DOMAINS[name](random)
    topics = [*domain.streams, *(table.topic for table in domain.tables), *make_distractors(random, domain)][:size]
    if not kinds:
        return [_rename(topic, prefix) for topic in topics]
    derived: list[Topic] = []
    while len(topics) + len(derived) < size:
        for _ in range(ATTEMPTS):
            kind = kinds[int(random.integers(0, len(kinds)))]
            chained = [topic for topic in derived if topic.kind not in {"aggregate", "sessions", "dead letters"}]
            pool = chained if chained and random.random() < CHAINED else domain.streams
            source = pool[int(random.integers(0, len(pool)))]
            topic = derive_topic(random, f"d{len(derived)}.{random.integers(1000, 9999)}", kind, domain, source)
            if topic is not None:
                derived.append(topic)
                break
        else:
            break
    return [_rename(topic, prefix) for topic in (*topics, *derived)]


def _rename(topic: Topic, prefix: str) -> Topic:
    edges = tuple(
        TrueEdge((prefix + e.source[0], e.source[1]), (prefix + e.target[0], e.target[1]), e.kind, e.directed)
        for e in topic.edges
    )
    return Topic(prefix + topic.name, topic.frame, topic.times, edges, topic.kind)


def sample_estate(estate: Estate, design: SampleDesign | None = None) -> AuditState:
    """Return the state of an audit of all topics, with samples only, by default of an audit's design."""
    samples = {}
    coverage = set()
    design = design or make_design(SECRET)
    for topic in estate.topics:
        offsets = np.arange(len(topic.times)) if topic.offsets is None else topic.offsets
        coverage.add(Coverage(topic.name, 0, 0, int(offsets.max(initial=-1)) + 1, len(offsets)))
        columns = [column for name in topic.frame if (column := _column(name, topic.frame[name])) is not None]
        sampled = sample_fields(columns, topic.times, 0, offsets, design, secret=SECRET)
        for field, sample in sampled.items():
            samples[topic.name, "value", field] = sample
    return AuditState(frozenset(coverage), samples=samples)


def _column(name: str, values: pd.Series) -> _Column | None:
    rows = np.flatnonzero(values.notna().to_numpy())
    if not len(rows):
        return None
    return _Column(name, rows, pa.array(values.iloc[rows].tolist()))

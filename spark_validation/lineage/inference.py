"""Inference of lineage edges from samples: the source of each field of each topic.

This is a first slice of lineage: it finds fields copied row by row and fields looked up by a key, but not aggregates,
arithmetic, masking or fields of record keys. If values alone cannot determine which of two topics came first, no edge
is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from contractlog.contracts.audit.mergeable_state import AuditState
from contractlog.contracts.audit.report import LineageEdge
from contractlog.spark_validation.lineage.copied_fields import TopicCopy, find_copy
from contractlog.spark_validation.lineage.sample_arrays import SampledTopic, group_by_topic
from contractlog.spark_validation.lineage.table_lookups import find_lookups

__all__ = ["ProgressDisplay", "infer_edges"]

CLEAR_DIFFERENCE: Final = 0.1  #: a difference in shares of rows above this is significant

Copies = dict[tuple[str, str], TopicCopy]


class ProgressDisplay(Protocol):
    """Display of the progress of a long computation."""

    def start(self, total: int) -> None:
        """Start counting towards a total."""

    def __call__(self, done: int) -> None:
        """Update the amount done."""

    def finish(self) -> None:
        """Finish the display."""


def infer_edges(state: AuditState, *, progress: ProgressDisplay | None = None) -> list[LineageEdge]:
    """Return the edges proven by values, sorted by target and source.

    Args:
        state: the state of an audit with samples.
        progress: called with the number of topic comparisons done; each pair is compared both ways for copies, and both
        ways for lookups.
    """
    topics = group_by_topic(state.samples)
    if progress is None:
        return _infer_edges(topics, lambda: None)
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        progress(done)

    progress.start(2 * len(topics) * (len(topics) - 1))
    try:
        return _infer_edges(topics, step)
    finally:
        progress.finish()


def _infer_edges(topics: list[SampledTopic], step: Callable[[], None]) -> list[LineageEdge]:
    found_copies: Copies = {}
    for a in topics:
        for b in topics:
            if a is not b:
                copy = find_copy(a, b)
                if copy:
                    found_copies[a.name, b.name] = copy
                step()
    copies = _drop_ambiguous(found_copies)
    edges = []
    for target in topics:
        explained = _copy_edges(target, copies)
        edges += explained
        names = {edge["to"]["field"] for edge in explained}
        edges += _lookup_edges(target, topics, {field.name for field in target.fields} - names, copies, step)
    return sorted(edges, key=lambda edge: (*edge["to"].values(), *edge["from"].values()))


def _drop_ambiguous(copies: Copies) -> Copies:
    """Return the copies with a definite direction.

    Two topics can each appear to be copied from the other if copied records retain their timestamps. Then only a
    direction in which nearly all target rows have a counterpart, and clearly more than in reverse, is retained: the
    subset was made from the whole. Of two topics made from an unseen third, each is sometimes ahead, so neither
    direction is retained.
    """
    return {
        (a, b): copy
        for (a, b), copy in copies.items()
        if (b, a) not in copies
        or (copy.matched >= 1 - CLEAR_DIFFERENCE and copy.matched - copies[b, a].matched > CLEAR_DIFFERENCE)
    }


def _copy_edges(target: SampledTopic, copies: Copies) -> list[LineageEdge]:
    edges: list[LineageEdge] = []
    for field in target.fields:
        sources = [a for (a, b), copy in copies.items() if b == target.name and field.name in copy.fields]
        source = _nearest_source(sources, target.name, copies)
        if source is not None:
            copy = copies[source, target.name].fields[field.name]
            edges.append(
                {
                    "from": {"topic": source, "field": copy.source},
                    "to": {"topic": target.name, "field": field.name},
                    "method": "copy",
                    "score": copy.score,
                    "support": copy.support,
                    "lag_ms": copy.lag_ms,
                }
            )
    return edges


def _nearest_source(sources: list[str], target: str, copies: Copies) -> str | None:
    """Return the topic that a field comes from, among those that contain its values.

    A source with clearly more of the target's rows wins. Of the others, a topic that was itself made from another is
    the source if it dropped rows that the target lacks too; if it dropped none, both are equal and the first is
    returned.
    """
    if not sources:
        return None
    max_matched = max(copies[source, target].matched for source in sources)
    equal = sorted(source for source in sources if max_matched - copies[source, target].matched <= CLEAR_DIFFERENCE)
    nearest = equal[0]
    for source in equal[1:]:
        chain, back = copies.get((nearest, source)), copies.get((source, nearest))
        if (chain and chain.row_ratio < 1 - CLEAR_DIFFERENCE) or (back and back.row_ratio >= 1 - CLEAR_DIFFERENCE):
            nearest = source
    return nearest


def _lookup_edges(
    target: SampledTopic, topics: list[SampledTopic], unexplained: set[str], copies: Copies, step: Callable[[], None]
) -> list[LineageEdge]:
    best: dict[str, LineageEdge] = {}
    for table in topics:
        if table is target:
            continue
        step()
        if (target.name, table.name) in copies or not unexplained:
            continue
        for field, source in find_lookups(table, target, unexplained).items():
            edge: LineageEdge = {
                "from": {"topic": table.name, "field": source.source},
                "to": {"topic": target.name, "field": field},
                "method": "lookup",
                "score": source.score,
                "support": source.support,
                "lag_ms": None,
            }
            if field not in best or (edge["score"], edge["support"]) > (best[field]["score"], best[field]["support"]):
                best[field] = edge
    return list(best.values())

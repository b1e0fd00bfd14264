"""From samples to edges: what each field of each topic was made from.

A first slice of lineage: fields copied row by row and fields looked up by a key are found; aggregates, arithmetic,
masking and fields of record keys are not. Where values alone cannot tell which of two topics came first, no edge is
named.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from contractlog.contracts.observed.report import Edge
from contractlog.contracts.observed.states import AuditState
from contractlog.spark_validation.lineage.copies import Copied, copied
from contractlog.spark_validation.lineage.lookups import looked_up
from contractlog.spark_validation.lineage.topics import Topic, topics_of

__all__ = ["Progress", "edges"]

CLEARLY: Final = 0.1  #: shares of rows that differ by more are not the same

Copies = dict[tuple[str, str], Copied]


class Progress(Protocol):
    """Shows how far a long computation is."""

    def start(self, total: int) -> None:
        """Begin to count to a total."""

    def __call__(self, done: int) -> None:
        """Show how much is done."""

    def finish(self) -> None:
        """End."""


def edges(state: AuditState, *, progress: Progress | None = None) -> list[Edge]:
    """Return the edges that values prove, by target and source.

    Args:
        state: what an audit with samples left.
        progress: is told how many comparisons of two topics are done: each pair is compared both ways for copies, and
            both ways for look-ups.
    """
    topics = topics_of(state.samples)
    if progress is None:
        return _edges(topics, lambda: None)
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        progress(done)

    progress.start(2 * len(topics) * (len(topics) - 1))
    try:
        return _edges(topics, step)
    finally:
        progress.finish()


def _edges(topics: list[Topic], step: Callable[[], None]) -> list[Edge]:
    found_copies: Copies = {}
    for a in topics:
        for b in topics:
            if a is not b:
                made = copied(a, b)
                if made:
                    found_copies[a.name, b.name] = made
                step()
    copies = _directed(found_copies)
    found = []
    for target in topics:
        explained = _copies_of(target, copies)
        found += explained
        names = {edge["to"]["field"] for edge in explained}
        found += _lookups_of(target, topics, {field.name for field in target.fields} - names, copies, step)
    return sorted(found, key=lambda edge: (*edge["to"].values(), *edge["from"].values()))


def _directed(copies: Copies) -> Copies:
    """Where each of two topics holds rows of the other first, only a part that lies in the whole was made from it.

    So it is when a record made from another keeps its time. Two topics made from a third that nobody sees hold each
    other's rows first by turns: neither was made from the other.
    """
    return {
        (a, b): made
        for (a, b), made in copies.items()
        if (b, a) not in copies or (made.found >= 1 - CLEARLY and made.found - copies[b, a].found > CLEARLY)
    }


def _copies_of(target: Topic, copies: Copies) -> list[Edge]:
    found: list[Edge] = []
    for field in target.fields:
        sources = [a for (a, b), made in copies.items() if b == target.name and field.name in made.fields]
        source = _nearest(sources, target.name, copies)
        if source is not None:
            made = copies[source, target.name].fields[field.name]
            found.append(
                {
                    "from": {"topic": source, "field": made.source},
                    "to": {"topic": target.name, "field": field.name},
                    "method": "copy",
                    "score": made.score,
                    "support": made.support,
                    "lag_ms": made.lag_ms,
                }
            )
    return found


def _nearest(sources: list[str], target: str, copies: Copies) -> str | None:
    """Return the topic that a field comes from, among those that hold it.

    A source that holds clearly more of the target's rows wins. Of the others, one that was itself made from another is
    the source when it dropped rows which the target lacks too; when it dropped none, both are equal and the first is.
    """
    if not sources:
        return None
    most = max(copies[source, target].found for source in sources)
    equal = sorted(source for source in sources if most - copies[source, target].found <= CLEARLY)
    nearest = equal[0]
    for source in equal[1:]:
        chain, back = copies.get((nearest, source)), copies.get((source, nearest))
        if (chain and chain.kept < 1 - CLEARLY) or (back and back.kept >= 1 - CLEARLY):
            nearest = source
    return nearest


def _lookups_of(
    target: Topic, topics: list[Topic], unexplained: set[str], copies: Copies, step: Callable[[], None]
) -> list[Edge]:
    best: dict[str, Edge] = {}
    for table in topics:
        if table is target:
            continue
        step()
        if (target.name, table.name) in copies or not unexplained:
            continue
        for field, source in looked_up(table, target, unexplained).items():
            edge: Edge = {
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

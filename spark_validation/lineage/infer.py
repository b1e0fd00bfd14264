"""From samples to edges: what each field of each topic was made from.

A first slice of lineage: fields copied row by row and fields looked up by a key are found; aggregates, arithmetic,
masking and fields of record keys are not. Where values alone cannot tell which of two topics came first, no edge is
named.
"""

from __future__ import annotations

from typing import Final

from contractlog.contracts.observed.report import Edge
from contractlog.contracts.observed.states import AuditState
from contractlog.spark_validation.lineage.copies import Copied, copied
from contractlog.spark_validation.lineage.lookups import looked_up
from contractlog.spark_validation.lineage.topics import Topic, topics_of

__all__ = ["edges"]

CLEARLY: Final = 0.1  #: shares of rows that differ by more are not the same

Copies = dict[tuple[str, str], Copied]


def edges(state: AuditState) -> list[Edge]:
    """Return the edges that values prove, by target and source."""
    topics = topics_of(state.samples)
    copies = _directed(
        {(a.name, b.name): made for a in topics for b in topics if a is not b and (made := copied(a, b))}
    )
    found = []
    for target in topics:
        explained = _copies_of(target, copies)
        found += explained
        names = {edge["to"]["field"] for edge in explained}
        found += _lookups_of(target, topics, {field.name for field in target.fields} - names, copies)
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


def _lookups_of(target: Topic, topics: list[Topic], unexplained: set[str], copies: Copies) -> list[Edge]:
    best: dict[str, Edge] = {}
    for table in topics:
        if table is target or (target.name, table.name) in copies or not unexplained:
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

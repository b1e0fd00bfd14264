"""Inference of lineage edges from samples: the source of each field of each topic.

Copies of rows are found first. They tell which topics a topic was made from directly; then fields that were looked up
by a key, made by a common function, or computed from recurring values are found, too. Fields of record keys are not
found.

Two topics with the same rows at the same times are mirrors: the edge between them has no known direction, and other
edges name the one with the lowest name. If values cannot determine in another way which of two topics came first, no
edge is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Protocol

from contractlog.contracts.audit.mergeable_state import AuditState
from contractlog.contracts.lineage.edges import EdgeDirection, LineageEdge
from contractlog.spark_validation.lineage.candidate_fields import Candidates, find_candidates
from contractlog.spark_validation.lineage.copied_fields import CopiedField, Copies, TopicCopy
from contractlog.spark_validation.lineage.edge_evidence import FieldEdge, build_edge
from contractlog.spark_validation.lineage.function_fields import find_function_fields
from contractlog.spark_validation.lineage.mapped_fields import find_mapped_fields
from contractlog.spark_validation.lineage.nearest_source import nearest_sources
from contractlog.spark_validation.lineage.read_shares import measure_read_shares
from contractlog.spark_validation.lineage.sample_arrays import SampledTopic, group_by_topic
from contractlog.spark_validation.lineage.table_lookups import find_lookups
from contractlog.spark_validation.lineage.topic_copies import CLEAR_DIFFERENCE, compare_topics
from contractlog.spark_validation.lineage.windowed_aggregates import Aggregate, TargetKeys, find_aggregate

__all__ = ["ProgressDisplay", "infer_edges"]


class ProgressDisplay(Protocol):
    """Display of the progress of a long computation."""

    def start(self, total: int) -> None:
        """Start counting towards a total."""

    def __call__(self, done: int) -> None:
        """Update the amount done."""

    def finish(self) -> None:
        """Finish the display."""


def infer_edges(state: AuditState, *, secret: str = "", progress: ProgressDisplay | None = None) -> list[LineageEdge]:
    """Return the edges proven by values, sorted by target and source.

    Args:
        state: the state of an audit with samples.
        secret: the secret key of the samples, if they have one.
        progress: called with the number of topic comparisons done; each pair is compared both ways for copies, and both
        ways for lookups.
    """
    topics = group_by_topic(state.samples, secret)
    read_shares = measure_read_shares(state.coverage, [topic.name for topic in topics])
    if progress is None:
        return _infer_edges(topics, read_shares, lambda: None)
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        progress(done)

    progress.start(2 * len(topics) * (len(topics) - 1))
    try:
        return _infer_edges(topics, read_shares, step)
    finally:
        progress.finish()


def _infer_edges(
    topics: list[SampledTopic], read_shares: Mapping[str, float], step: Callable[[], None]
) -> list[LineageEdge]:
    candidates = find_candidates(topics, read_shares)
    compared = compare_topics(topics, candidates, read_shares, step)
    topics, originals = compared.topics, compared.originals
    all_topics = _TopicsAndCopies(
        topics,
        {topic.name: topic for topic in topics},
        candidates,
        compared.copies,
        [topic for topic in topics if topic.name not in originals],
        compared.read_shares,
        step,
    )
    edges: list[LineageEdge] = []
    for target in topics:
        original = originals.get(target.name)
        if original is not None:
            edges += _mirror_edges(all_topics.by_name[original], target, compared.mirrors[target.name])
            for _ in topics[1:]:
                step()  # instead of the lookups
        else:
            edges += _explain_fields(target, all_topics)
    return sorted(edges, key=lambda edge: (*edge["to"].values(), *edge["from"].values()))


@dataclass(frozen=True, slots=True)
class _TopicsAndCopies:
    """All topics, and the copies among them."""

    topics: list[SampledTopic]
    by_name: Mapping[str, SampledTopic]
    candidates: Candidates
    copies: Copies  #: with a definite direction
    originals: list[SampledTopic]  #: without mirrors of others
    read_shares: Mapping[str, float]  #: by topic
    step: Callable[[], None]  #: to be called after each comparison of two topics for lookups


def _explain_fields(target: SampledTopic, all_topics: _TopicsAndCopies) -> list[LineageEdge]:
    """Return edges to the fields of a topic.

    Order: copies of direct sources or, if there are none, aggregates; then lookups, other copies, conversions and
    mappings.
    """
    copies = all_topics.copies
    candidates = sorted(a for a, b in copies if b == target.name)
    nearest = nearest_sources(target, candidates, all_topics.by_name, copies, all_topics.read_shares)
    unexplained = {field.name for field in target.fields}
    edges: list[LineageEdge] = []

    def add(more: list[LineageEdge]) -> None:
        edges.extend(more)
        unexplained.difference_update(edge["to"]["field"] for edge in more)

    if not any(copies[source, target.name].fields.keys() == unexplained for source in nearest):
        add(_aggregate_edges(target, all_topics))
        if edges:  # other topics with equal aggregates are no sources
            add(_lookup_edges(target, all_topics, unexplained, all_topics.step))
            return edges
    contested = _contested_fields(target, nearest, copies)
    looked_up = {edge["to"]["field"] for edge in _lookup_edges(target, all_topics, contested, lambda: None)}
    add(_copy_edges(target, nearest, unexplained, all_topics, looked_up=looked_up))
    sources = sorted({edge["from"]["topic"] for edge in edges})
    add(_lookup_edges(target, all_topics, unexplained, all_topics.step))
    add(_copy_edges(target, candidates, unexplained, all_topics))
    for source in sources:
        add(_conversion_edges(all_topics.by_name[source], target, copies[source, target.name], unexplained))
    for source in sources:
        add(_mapping_edges(all_topics.by_name[source], target, copies[source, target.name], unexplained))
    return edges


def _aggregate_edges(target: SampledTopic, all_topics: _TopicsAndCopies) -> list[LineageEdge]:
    """Return the edges from the topic that a target aggregates, preferably from one that is no copy."""
    aggregates: dict[str, Aggregate] = {}
    foreign = TargetKeys(target)
    for source in all_topics.originals:
        pairs = all_topics.candidates.get((source.name, target.name))
        aggregate = find_aggregate(source, foreign, pairs) if pairs else None
        if aggregate is not None:
            aggregates[source.name] = aggregate
    if not aggregates:
        return []
    most = max((len(each.fields), each.score) for each in aggregates.values())
    equal = [name for name, each in aggregates.items() if (len(each.fields), each.score) == most]
    name = min(equal, key=lambda name: (any((other, name) in all_topics.copies for other in equal), name))
    aggregate, source = aggregates[name], all_topics.by_name[name]
    key = FieldEdge(
        "aggregate",
        aggregate.key,
        aggregate.target_key,
        round(aggregate.score, 4),
        len(aggregate.rows.targets),
        aggregate.rows,
    )
    edges = [
        build_edge(
            source, target, key, description=f"{aggregate.target_key} = {aggregate.key}, one record {aggregate.windows}"
        )
    ]
    for field, each in sorted(aggregate.fields.items()):
        edge = FieldEdge("aggregate", each.source, field, round(each.score, 4), len(each.rows.targets), each.rows)
        description = f"{field} = {each.function} of {each.source} {aggregate.windows}"
        edges.append(build_edge(source, target, edge, description=description))
    return edges


def _mirror_edges(original: SampledTopic, mirror: SampledTopic, copy: TopicCopy) -> list[LineageEdge]:
    return [_copy_edge(original, mirror, field, copied, "unknown") for field, copied in sorted(copy.fields.items())]


def _copy_edge(
    source: SampledTopic, target: SampledTopic, field: str, copied: CopiedField, direction: EdgeDirection = "known"
) -> LineageEdge:
    edge = FieldEdge("copy", copied.source, field, copied.score, len(copied.rows.targets), copied.rows)
    return build_edge(source, target, edge, direction=direction)


def _contested_fields(target: SampledTopic, candidates: list[str], copies: Copies) -> set[str]:
    """Return the fields that some candidates explain and others do not."""
    explained = [copies[name, target.name].fields.keys() for name in candidates]
    return {field for fields in explained for field in fields if not all(field in each for each in explained)}


def _copy_edges(
    target: SampledTopic,
    candidates: list[str],
    unexplained: AbstractSet[str],
    all_topics: _TopicsAndCopies,
    *,
    looked_up: AbstractSet[str] = frozenset(),
) -> list[LineageEdge]:
    """Return the edges from the fewest candidates that explain the fields.

    Of candidates with clearly the most rows, the one that explains most fields is taken, and so on for the rest. Fields
    that a lookup table explains equally well are ignored: other copies of the same source have them, too.
    """
    copies = all_topics.copies
    sources: dict[str, str] = {}
    remaining = set(unexplained)
    while True:
        fields = {name: copies[name, target.name].fields.keys() & remaining for name in candidates}
        counts = {name: len(explained - looked_up) for name, explained in fields.items() if explained - looked_up}
        if not counts:
            break
        max_matched = max(copies[name, target.name].matched for name in counts)
        clear = {
            name: n for name, n in counts.items() if copies[name, target.name].matched >= max_matched - CLEAR_DIFFERENCE
        }
        source = _clearest_source([name for name, n in clear.items() if n == max(clear.values())], target.name, copies)
        sources.update(dict.fromkeys(fields[source], source))
        remaining -= fields[source]
    return [
        _copy_edge(all_topics.by_name[source], target, field, copies[source, target.name].fields[field])
        for field, chosen in sources.items()
        for source in sorted({chosen, *_joined_sources(field, chosen, target.name, sources, copies)})
    ]


def _joined_sources(field: str, source: str, target: str, sources: Mapping[str, str], copies: Copies) -> Iterator[str]:
    """Yield unrelated sources of the target that have the field too: streams joined by it."""
    for other in set(sources.values()) - {source}:
        related = (source, other) in copies or (other, source) in copies
        if not related and field in copies[other, target].fields:
            yield other


def _clearest_source(sources: list[str], target: str, copies: Copies) -> str:
    """Return the topic that fields come from, among those that contain their values.

    A source with clearly more of the target's rows wins. Of the others, a topic that was itself made from another is
    the source if it dropped rows that the target lacks too; if it dropped none, both are equal and the first is
    returned.
    """
    max_matched = max(copies[source, target].matched for source in sources)
    equal = sorted(source for source in sources if max_matched - copies[source, target].matched <= CLEAR_DIFFERENCE)
    nearest = equal[0]
    for source in equal[1:]:
        chain, back = copies.get((nearest, source)), copies.get((source, nearest))
        if (chain and chain.row_ratio < 1 - CLEAR_DIFFERENCE) or (back and back.row_ratio >= 1 - CLEAR_DIFFERENCE):
            nearest = source
    return nearest


def _conversion_edges(
    source: SampledTopic, target: SampledTopic, copy: TopicCopy, unexplained: AbstractSet[str]
) -> list[LineageEdge]:
    return [
        build_edge(
            source,
            target,
            FieldEdge(each.method, each.source, field, each.score, len(each.rows.targets), each.rows),
            description=each.description,
        )
        for field, fields in find_function_fields(source, target, copy.rows, unexplained).items()
        for each in fields
    ]


def _mapping_edges(
    source: SampledTopic, target: SampledTopic, copy: TopicCopy, unexplained: AbstractSet[str]
) -> list[LineageEdge]:
    return [
        build_edge(
            source,
            target,
            FieldEdge(
                "bijection" if mapped.reversible else "function",
                mapped.source,
                field,
                mapped.score,
                mapped.support,
                mapped.rows,
            ),
        )
        for field, mapped in find_mapped_fields(source, target, copy, unexplained).items()
    ]


def _lookup_edges(
    target: SampledTopic, all_topics: _TopicsAndCopies, unexplained: AbstractSet[str], step: Callable[[], None]
) -> list[LineageEdge]:
    best: dict[str, LineageEdge] = {}
    for table in all_topics.topics:
        if table is target:
            continue
        step()
        if (target.name, table.name) in all_topics.copies or not unexplained:
            continue
        pairs = all_topics.candidates.get((table.name, target.name))
        for field, source in find_lookups(table, target, pairs, unexplained).items() if pairs else ():
            edge = build_edge(
                table,
                target,
                FieldEdge("lookup", source.source, field, source.score, source.support, source.rows),
                timed=False,
            )
            if field not in best or (edge["score"], edge["support"]) > (best[field]["score"], best[field]["support"]):
                best[field] = edge
    return list(best.values())

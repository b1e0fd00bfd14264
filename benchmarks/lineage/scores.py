"""Precision and recall of inferred edges against true ones.

An edge without direction is found where the true edge has none; elsewhere it is half a hit and half a false edge. A
topic and its mirrors cannot be told apart: an edge of one is an edge of all, and among themselves they need one edge
less than there are topics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from topics import TrueEdge

from contractlog.contracts.lineage.edges import LineageEdge

__all__ = ["Score", "bootstrap", "calibrate", "find_originals", "score_fields", "score_topics", "sum_scores"]

Pair = tuple[object, object]


@dataclass
class Score:
    """Counts of hits, of edges given out, and of true edges; hits may be halves."""

    hits: float = 0.0
    given: float = 0.0
    true: int = 0
    by_kind: dict[str, tuple[float, int]] = field(default_factory=dict)  #: hits and true edges
    missed: list[Pair] = field(default_factory=list)
    false: list[Pair] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """Share of the edges given out that are true; 1 without any."""
        return self.hits / self.given if self.given else 1.0

    @property
    def recall(self) -> float:
        """Share of true edges found; 1 without any."""
        return self.hits / self.true if self.true else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def score_fields(inferred: Iterable[LineageEdge], true: Sequence[TrueEdge]) -> Score:
    """Score edges between fields."""
    originals = find_originals(true)

    def canonical(source: tuple[str, str], target: tuple[str, str]) -> Pair:
        first, second = originals.get(source[0], source[0]), originals.get(target[0], target[0])
        if first == second:
            source, target = (source, target) if target[0] != first else (target, source)
            return (first, source[1]), target
        return (first, source[1]), (second, target[1])

    given: dict[Pair, bool] = {}
    for edge in inferred:
        pair = canonical((edge["from"]["topic"], edge["from"]["field"]), (edge["to"]["topic"], edge["to"]["field"]))
        given[pair] = given.get(pair, False) or _has_direction(edge)
    return _score(given, {canonical(edge.source, edge.target): (edge.directed, edge.kind) for edge in true})


def score_topics(inferred: Iterable[LineageEdge], true: Sequence[TrueEdge]) -> Score:
    """Score edges between topics."""
    originals = find_originals(true)

    def canonical(source: str, target: str) -> Pair:
        first, second = originals.get(source, source), originals.get(target, target)
        if first == second:
            return first, target if target != first else source
        return first, second

    given: dict[Pair, bool] = {}
    for edge in inferred:
        pair = canonical(edge["from"]["topic"], edge["to"]["topic"])
        given[pair] = given.get(pair, False) or _has_direction(edge)
    return _score(given, {canonical(edge.source[0], edge.target[0]): (edge.directed, edge.kind) for edge in true})


def find_originals(true: Iterable[TrueEdge]) -> dict[str, str]:
    """Return the topic that a mirror is equal to, by the mirror's name."""
    sources = {edge.target[0]: edge.source[0] for edge in true if not edge.directed}
    originals = {}
    for mirror in sources:
        original = mirror
        while original in sources:
            original = sources[original]
        originals[mirror] = original
    return originals


def _has_direction(edge: LineageEdge) -> bool:
    return edge.get("direction", "known") == "known"


def _score(given: dict[Pair, bool], true: dict[Pair, tuple[bool, str]]) -> Score:
    score = Score(true=len(true))
    hits: dict[Pair, float] = dict.fromkeys(true, 0.0)
    counted: set[frozenset[object]] = set()
    for (source, target), directed in given.items():
        pair, back = (source, target), (target, source)
        if not directed and frozenset(pair) in counted:
            continue  # the same edge without direction, written both ways
        if not directed:
            counted.add(frozenset(pair))
        score.given += 1
        match = next((each for each in (pair, back) if each in true), None)
        if match is None or (match == back and directed and true[back][0]):
            score.false.append(pair)
            continue
        share = 1.0 if directed or not true[match][0] else 0.5
        hits[match] = max(hits[match], share)
    for pair, share in hits.items():
        kind = true[pair][1]
        got, of = score.by_kind.get(kind, (0.0, 0))
        score.by_kind[kind] = got + share, of + 1
        score.hits += share
        if not share:
            score.missed.append(pair)
    return score


def sum_scores(scores: Iterable[Score]) -> Score:
    """Return the score of several estates together."""
    total = Score()
    for score in scores:
        total.hits += score.hits
        total.given += score.given
        total.true += score.true
        for kind, (hits, true) in score.by_kind.items():
            got, of = total.by_kind.get(kind, (0.0, 0))
            total.by_kind[kind] = got + hits, of + true
    return total


def bootstrap(scores: Sequence[Score], measure: Callable[[Score], float], draws: int = 1000) -> tuple[float, float]:
    """Return the interval of 95 % of a measure over estates drawn with replacement."""
    random = np.random.default_rng(0)
    values = [
        measure(sum_scores([scores[index] for index in random.integers(0, len(scores), len(scores))]))
        for _ in range(draws)
    ]
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def calibrate(inferred: Iterable[tuple[float, bool]]) -> list[tuple[float, int, float]]:
    """Return the lower end, the number of edges and their precision for each tenth of the score."""
    tenths: dict[int, list[bool]] = {}
    for score, hit in inferred:
        tenths.setdefault(min(9, int(score * 10)), []).append(hit)
    return [(tenth / 10, len(hits), sum(hits) / len(hits)) for tenth, hits in sorted(tenths.items())]

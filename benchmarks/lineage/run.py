"""Precision and recall of lineage on synthetic estates with known truth.

    python benchmarks/lineage/run.py [--out benchmarks/lineage/RESULTS.md]
    python benchmarks/lineage/run.py --tuning [--domain shop] [--seed 3] [--explain]

Makes estates of 15 topics in three domains for ten seeds, one of 200 topics, and one without lineage; samples them as
an audit does; infers edges; and prints the scores of edges between topics and between fields, by domain and by kind of
pipeline, with the intervals of 95 % over estates. ``--tuning`` uses the seeds and kinds that thresholds may be settled
with, and ``--explain`` lists what was missed and what is false.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from estates import SCORING_SEEDS, SECRET, TUNING_KINDS, TUNING_SEEDS, Estate, make_estate, sample_estate
from pipelines import PIPELINES
from scores import Score, bootstrap, calibrate, score_fields, score_topics, sum_scores
from topics import DOMAINS

from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.spark_validation.lineage.inference import infer_edges

SMALL, LARGE = 15, 200


class Results:
    """Scores of estates, and the scores of single edges."""

    def __init__(self) -> None:
        self.topics: list[Score] = []
        self.fields: list[Score] = []
        self.edges: list[tuple[float, bool]] = []
        self.seconds = 0.0

    def add(self, estate: Estate, *, explain: bool = False) -> None:
        """Infer the edges of an estate, and score them."""
        state = sample_estate(estate)
        started = time.process_time()
        edges = infer_edges(state, secret=SECRET)
        self.seconds += time.process_time() - started
        self.topics.append(score_topics(edges, estate.edges))
        self.fields.append(score_fields(edges, estate.edges))
        self.edges += [(edge["score"], score_fields([edge], estate.edges).hits >= 1) for edge in edges]
        if explain:
            _explain(estate, edges, self.fields[-1])


def _pair(edge: LineageEdge) -> tuple[tuple[str, str], tuple[str, str]]:
    return (edge["from"]["topic"], edge["from"]["field"]), (edge["to"]["topic"], edge["to"]["field"])


def _explain(estate: Estate, edges: Iterable[LineageEdge], score: Score) -> None:
    kinds = {(edge.source, edge.target): edge.kind for edge in estate.edges}
    kind_of_topic = {topic.name: topic.kind for topic in estate.topics}
    methods = {_pair(edge): edge["method"] for edge in edges}
    for missed in sorted(score.missed, key=str):
        print(f"  {estate.name} missed {kinds.get(missed, 'of a mirror'):22} {missed}")
    for false in sorted(score.false, key=str):
        kind = kind_of_topic[false[1][0]]
        print(f"  {estate.name} FALSE  {methods.get(false)} of {kind:22} {false}")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write the results to this file, as Markdown")
    parser.add_argument("--tuning", action="store_true", help="use the seeds and kinds for tuning")
    parser.add_argument("--domain", choices=sorted(DOMAINS))
    parser.add_argument("--seed", type=int)
    parser.add_argument("--explain", action="store_true", help="list missed and false edges")
    options = parser.parse_args()
    seeds: Iterable[int] = TUNING_SEEDS if options.tuning else SCORING_SEEDS
    if options.seed is not None:
        seeds = [options.seed]
    kinds = TUNING_KINDS if options.tuning else tuple(PIPELINES)
    domains = [options.domain] if options.domain else sorted(DOMAINS)
    lines = ["# Lineage: precision and recall on synthetic estates", ""]
    lines += ["Written by `python benchmarks/lineage/run.py --out benchmarks/lineage/RESULTS.md`.", ""]
    lines += ["| estates | edges | precision | recall | F1 | true edges | CPU s |", "|---|---|---|---|---|---|---|"]
    everything = Results()
    for domain in domains:
        results = Results()
        for seed in seeds:
            results.add(make_estate(domain, seed, SMALL, kinds), explain=options.explain)
        lines += _score_rows(f"{domain}, {len(results.topics)} of {SMALL} topics", results)
        everything.topics += results.topics
        everything.fields += results.fields
        everything.edges += results.edges
    if not options.tuning:
        large = Results()
        large.add(make_estate("flights", SCORING_SEEDS[0], LARGE))
        lines += _score_rows(f"flights, one of {LARGE} topics", large)
    unrelated = Results()
    for domain in domains:
        unrelated.add(make_estate(domain, next(iter(seeds)), SMALL * 4, ()))
    pairs = 3 * SMALL * 4 * (SMALL * 4 - 1)
    lines += [
        "",
        f"Without lineage: {sum(score.given for score in unrelated.topics):.0f} false edges in {pairs:,} pairs.",
        "",
    ]
    lines += ["| kind of pipeline | topic edges found | field edges found |", "|---|---|---|"]
    topics, fields = sum_scores(everything.topics), sum_scores(everything.fields)
    for kind in kinds:
        if kind in fields.by_kind:
            lines.append(f"| {kind} | {_share(topics.by_kind.get(kind, (0, 0)))} | {_share(fields.by_kind[kind])} |")
    lines += ["", "| score of a field edge from | edges | precision |", "|---|---|---|"]
    lines += [f"| {low:.1f} | {count} | {share:.3f} |" for low, count, share in calibrate(everything.edges)]
    text = "\n".join(lines) + "\n"
    print(text)
    if options.out:
        options.out.write_text(text)


def _score_rows(name: str, results: Results) -> list[str]:
    rows = []
    for noun, scores, seconds in (("topics", results.topics, f"{results.seconds:.1f}"), ("fields", results.fields, "")):
        total = sum_scores(scores)
        measures: list[Callable[[Score], float]] = [lambda s: s.precision, lambda s: s.recall, lambda s: s.f1]
        cells = [_interval(scores, measure, measure(total)) for measure in measures]
        rows.append(f"| {name} | {noun} | {' | '.join(cells)} | {total.true} | {seconds} |")
    return rows


def _interval(scores: list[Score], measure: Callable[[Score], float], value: float) -> str:
    if len(scores) == 1:
        return f"{value:.3f}"
    low, high = bootstrap(scores, measure)
    return f"{value:.3f} ({low:.2f} to {high:.2f})"


def _share(counts: tuple[float, int]) -> str:
    hits, true = counts
    return f"{hits:g} of {true}" if true else ""


if __name__ == "__main__":
    main()

"""Scores of lineage over shorter, thinner, lossy and skewed logs, and the cost of inference.

    python benchmarks/lineage/degradation.py [--out benchmarks/lineage/DEGRADATION.md] [--only history] [--seeds 2]

Changes the topics of scoring estates of 15 topics in three domains, samples them, infers edges, and prints precision
and recall. ``--only cost`` measures the CPU of inference for many topics, and the bytes of state per field.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from estates import SCORING_SEEDS, SECRET, Estate, make_estate, sample_estate
from scores import Score, score_fields, score_topics, sum_scores
from topics import DOMAINS, START_MS, STREAM_MS, Topic

from contractlog.contracts.audit.value_samples import SampleDesign, make_design
from contractlog.spark_validation.lineage.inference import infer_edges
from contractlog.spark_validation.state.state_files import write_values

SIZE: Final = 15
WIDE: Final = 50  #: fields of each topic of the wide estate

Change = Callable[[np.random.Generator, Topic, bool], Topic]
"""Function of a random generator, a topic, and whether the topic is the last of a chain of pipelines."""


@dataclass(frozen=True)
class Condition:
    """A change of the topics or of the samples."""

    name: str
    change: Change = lambda _random, topic, _last: topic
    design: SampleDesign | None = None


def main() -> None:
    """Run from the command line."""
    tables = {
        "history": ("share of the days", [_shorten(share) for share in (1.0, 0.6, 0.4, 0.2, 0.1)]),
        "sampling": ("records read", [_thin(share) for share in (0.5, 0.2, 0.1)]),
        "samples": ("sampled values per field", [_shrink(divisor) for divisor in (2, 4, 8)]),
        "losses": (
            "records lost by the last pipeline of each chain",
            [_lose(share) for share in (0.01, 0.1, 0.5, 0.9)],
        ),
        "skew": ("clock skew between topics, at most", [_skew(skew_ms) for skew_ms in (100, 1000, 10_000, 60_000)]),
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write the results to this file, as Markdown")
    parser.add_argument("--only", choices=[*tables, "cost"])
    parser.add_argument("--seeds", type=int, default=2, help="number of scoring seeds per domain")
    options = parser.parse_args()
    lines = ["# Lineage: scores of degraded logs, and cost", ""]
    lines += ["Written by `python benchmarks/lineage/degradation.py --out benchmarks/lineage/DEGRADATION.md`.", ""]
    lines += [f"Scores are those of {options.seeds} scoring seeds per domain, {SIZE} topics each.", ""]
    estates = [make_estate(domain, seed, SIZE) for domain in sorted(DOMAINS) for seed in SCORING_SEEDS[: options.seeds]]
    for key, (title, conditions) in tables.items():
        if options.only in {None, key}:
            lines += [f"| {title} | topic precision | topic recall | field precision | field recall |"]
            lines += ["|---|---|---|---|---|", *(_score(condition, estates) for condition in conditions), ""]
    if options.only in {None, "cost"}:
        lines += _measure_costs()
    text = "\n".join(lines).rstrip() + "\n"
    print(text)
    if options.out:
        options.out.write_text(text)


def _score(condition: Condition, estates: list[Estate]) -> str:
    """Return the row of a table."""
    topics: list[Score] = []
    fields: list[Score] = []
    for estate in estates:
        random = np.random.default_rng(7)
        sources = {edge.source[0] for edge in estate.edges}
        changed = replace(
            estate,
            topics=[
                condition.change(random, topic, topic.kind != "base" and topic.name not in sources)
                for topic in estate.topics
            ],
        )
        edges = infer_edges(sample_estate(changed, condition.design), secret=SECRET)
        topics.append(score_topics(edges, estate.edges))
        fields.append(score_fields(edges, estate.edges))
    scores = [sum_scores(topics), sum_scores(fields)]
    cells = [f"{share:.3f}" for score in scores for share in (score.precision, score.recall)]
    return f"| {condition.name} | {' | '.join(cells)} |"


def _keep(topic: Topic, rows: npt.NDArray[np.bool_]) -> Topic:
    frame = topic.frame[rows].reset_index(drop=True)
    return replace(topic, frame=frame, times=topic.times[rows])


def _read(topic: Topic, rows: npt.NDArray[np.bool_]) -> Topic:
    """Return a topic of which some records were not read: their offsets are missing."""
    return replace(_keep(topic, rows), offsets=np.flatnonzero(rows))


def _shorten(share: float) -> Condition:
    return Condition(
        f"{share:.0%}", lambda _random, topic, _last: _keep(topic, topic.times < START_MS + int(share * STREAM_MS))
    )


def _thin(share: float) -> Condition:
    return Condition(f"{share:.0%}", lambda random, topic, _last: _read(topic, random.random(len(topic.times)) < share))


def _shrink(divisor: int) -> Condition:
    design = make_design(SECRET)
    smaller = replace(design, breadth=design.breadth // divisor, depth=design.depth // divisor)
    return Condition(f"{smaller.breadth}, {smaller.depth} occurrences in depth", design=smaller)


def _lose(share: float) -> Condition:
    def change(random: np.random.Generator, topic: Topic, last: bool) -> Topic:  # noqa: FBT001 - a ``Change``
        return _keep(topic, random.random(len(topic.times)) >= share) if last else topic

    return Condition(f"{share:.0%}", change)


def _skew(skew_ms: int) -> Condition:
    def change(random: np.random.Generator, topic: Topic, _last: bool) -> Topic:  # noqa: FBT001 - a ``Change``
        return replace(topic, times=topic.times + int(random.integers(-skew_ms // 2, skew_ms // 2 + 1)))

    return Condition(f"{skew_ms / 1000:g} s", change)


def _measure_costs() -> list[str]:
    seed = SCORING_SEEDS[0]
    estates = {
        f"100 topics of {WIDE} fields": lambda: _widen(make_estate("flights", seed, 100)),
        "100 topics": lambda: make_estate("flights", seed, 100),
        "500 topics": lambda: make_estate("flights", seed, 500),
        "400 unrelated topics": lambda: make_estate("flights", seed, 400, ()),
    }
    rows = []
    for name, make in estates.items():
        state = sample_estate(make())
        fields = len(state.samples)
        started = time.process_time()
        edges = infer_edges(state, secret=SECRET)
        seconds = time.process_time() - started
        with tempfile.TemporaryDirectory() as folder:
            write_values(state, Path(folder))
            size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
        rows.append(f"| {name} | {fields:,} | {len(edges):,} | {seconds:.1f} | {size / fields:,.0f} |")
        print(rows[-1], file=sys.stderr, flush=True)
    return [
        "| estate | fields | edges | CPU s of inference | bytes of state per field |",
        "|---|---|---|---|---|",
        *rows,
    ]


def _widen(estate: Estate) -> Estate:
    """Return the estate with fields of many types added to each topic, without lineage."""
    random = np.random.default_rng(11)
    return replace(estate, topics=[_add_fields(random, topic) for topic in estate.topics])


def _add_fields(random: np.random.Generator, topic: Topic) -> Topic:
    count = len(topic.times)
    makers: list[Callable[[], npt.NDArray[np.generic]]] = [
        lambda: random.integers(0, 10**12, count),
        lambda: np.round(random.normal(1000, 400, count), 3),
        lambda: random.integers(0, 100, count),
        lambda: random.choice(np.array([f"code {number}" for number in range(300)]), count),
        lambda: random.integers(0, 3, count) == 0,
    ]
    added = {
        f"added{number}": makers[number % len(makers)]() for number in range(max(0, WIDE - len(topic.frame.columns)))
    }
    return replace(topic, frame=pd.concat([topic.frame, pd.DataFrame(added)], axis=1))


if __name__ == "__main__":
    main()

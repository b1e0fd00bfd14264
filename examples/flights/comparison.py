"""Comparison of the findings of the audit and the lineage with what was planted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson
import pyarrow.dataset

from flights.faults import Planted

__all__ = [
    "EXPECTED_EDGES",
    "Comparison",
    "KindScore",
    "compare_edges",
    "compare_violations",
    "format_table",
    "read_expected_edges",
    "read_violations",
]

EXPECTED_EDGES: Final = Path(__file__).with_name("expected_edges.json")

Violation: TypeAlias = tuple[str, int, int, str, str]  # topic, partition, offset, part, code
EdgeEnds: TypeAlias = tuple[str, str, str, str]  # from topic and field, to topic and field


@dataclass(frozen=True, slots=True)
class KindScore:
    """The numbers planted and detected of one kind of damage or edge."""

    kind: str
    expected: str
    planted: int
    detected: int

    @property
    def missed(self) -> int:
        """The number that was planted but not detected."""
        return self.planted - self.detected


@dataclass(frozen=True, slots=True)
class Comparison:
    """The numbers detected per kind, and the missed and the false findings."""

    scores: Sequence[KindScore]
    missed: Sequence[Any]
    false: Sequence[Any]

    @property
    def planted(self) -> int:
        """The number planted, of all kinds."""
        return sum(score.planted for score in self.scores)

    @property
    def detected(self) -> int:
        """The number detected with the right code, of all kinds."""
        return sum(score.detected for score in self.scores)

    @property
    def is_perfect(self) -> bool:
        """True if there are neither missed nor false findings."""
        return not self.missed and not self.false

    def format_sentence(self) -> str:
        """Format the result in one line."""
        return (
            f"planted {self.planted:,}, found {self.detected:,}, missed {len(self.missed):,}, false {len(self.false):,}"
        )


def read_violations(folder: Path) -> list[Violation]:
    """Read the position and code of each violation that the audit reported."""
    columns = ["topic", "partition", "offset", "part", "code"]
    columns_table = pyarrow.dataset.dataset(folder, format="parquet").to_table(columns=columns)
    return list(zip(*(columns_table.column(name).to_pylist() for name in columns), strict=True))


def compare_violations(planted: Iterable[Planted], reported: Iterable[Violation]) -> Comparison:
    """Compare the violations by position, part and code."""
    damage_by_violation = {
        (damage.topic, damage.partition, damage.offset, damage.part, damage.expected): damage for damage in planted
    }
    expected, reported = set(damage_by_violation), set(reported)
    planted_counts = Counter((damage.kind, damage.expected) for damage in damage_by_violation.values())
    detected_counts = Counter(
        (damage.kind, damage.expected) for violation, damage in damage_by_violation.items() if violation in reported
    )
    scores = [
        KindScore(kind, code, count, detected_counts[kind, code])
        for (kind, code), count in sorted(planted_counts.items())
    ]
    return Comparison(scores, sorted(expected - reported), sorted(reported - expected))


def compare_edges(expected: Iterable[Mapping[str, Any]], reported: Iterable[Mapping[str, Any]]) -> Comparison:
    """Compare the edges by topic and field at both ends."""
    expected_ends, reported_ends = set(map(get_ends, expected)), set(map(get_ends, reported))
    score = KindScore("edges", "", len(expected_ends), len(expected_ends & reported_ends))
    return Comparison([score], sorted(expected_ends - reported_ends), sorted(reported_ends - expected_ends))


def read_expected_edges() -> list[Mapping[str, Any]]:
    """Read the edges that the lineage should find."""
    edges: list[Mapping[str, Any]] = orjson.loads(EXPECTED_EDGES.read_bytes())
    return edges


def format_table(comparison: Comparison) -> str:
    """Format the scores as a text table, one line per kind."""
    rows = [("kind", "outcome", "planted", "found", "missed")]
    rows += [
        (score.kind, score.expected, f"{score.planted:,}", f"{score.detected:,}", f"{score.missed:,}")
        for score in comparison.scores
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row[:2], widths, strict=False))]
                  + [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)])
        for row in rows
    )  # fmt: skip


def get_ends(edge: Mapping[str, Any]) -> EdgeEnds:
    return edge["from"]["topic"], edge["from"]["field"], edge["to"]["topic"], edge["to"]["field"]

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

__all__ = ["EXPECTED_EDGES", "Marks", "Score", "expected_edges", "mark_edges", "mark_violations", "table", "violations"]

EXPECTED_EDGES: Final = Path(__file__).with_name("expected_edges.json")

Violation: TypeAlias = tuple[str, int, int, str, str]  # topic, partition, offset, part, code
EdgeEnds: TypeAlias = tuple[str, str, str, str]  # from topic and field, to topic and field


@dataclass(frozen=True, slots=True)
class Score:
    """The result for one kind of damage or edge."""

    kind: str
    expected: str
    planted: int
    found: int

    @property
    def missed(self) -> int:
        """The number that was planted and not found."""
        return self.planted - self.found


@dataclass(frozen=True, slots=True)
class Marks:
    """The findings that were right, missed and false."""

    scores: Sequence[Score]
    missed: Sequence[Any]
    false: Sequence[Any]

    @property
    def planted(self) -> int:
        """The number of all that there was to find."""
        return sum(score.planted for score in self.scores)

    @property
    def found(self) -> int:
        """The number of all that was found, with the right code."""
        return sum(score.found for score in self.scores)

    @property
    def perfect(self) -> bool:
        """True if nothing was missed and nothing false was reported."""
        return not self.missed and not self.false

    def sentence(self) -> str:
        """Return the result in one line."""
        return f"planted {self.planted:,}, found {self.found:,}, missed {len(self.missed):,}, false {len(self.false):,}"


def violations(folder: Path) -> list[Violation]:
    """Read the place and code of each violation that the audit reported."""
    columns = ["topic", "partition", "offset", "part", "code"]
    read = pyarrow.dataset.dataset(folder, format="parquet").to_table(columns=columns)
    return list(zip(*(read.column(name).to_pylist() for name in columns), strict=True))


def mark_violations(planted: Iterable[Planted], seen: Iterable[Violation]) -> Marks:
    """Compare record by record: the same place, the same part, the same code."""
    truth = {(one.topic, one.partition, one.offset, one.part, one.expected): one for one in planted}
    reported = set(seen)
    kinds = Counter((one.kind, one.expected) for one in truth.values())
    found = Counter((one.kind, one.expected) for place, one in truth.items() if place in reported)
    scores = [Score(kind, code, number, found[kind, code]) for (kind, code), number in sorted(kinds.items())]
    return Marks(scores, sorted(truth.keys() - reported), sorted(reported - truth.keys()))


def mark_edges(expected: Iterable[Mapping[str, Any]], seen: Iterable[Mapping[str, Any]]) -> Marks:
    """Compare edge by edge: the same field of the same topic at both ends."""
    truth, named = set(map(_ends, expected)), set(map(_ends, seen))
    score = Score("edges", "", len(truth), len(truth & named))
    return Marks([score], sorted(truth - named), sorted(named - truth))


def expected_edges() -> list[Mapping[str, Any]]:
    """Read the edges that there are to find."""
    edges: list[Mapping[str, Any]] = orjson.loads(EXPECTED_EDGES.read_bytes())
    return edges


def table(marks: Marks) -> str:
    """Return the scores as a text table, one line per kind."""
    rows = [("kind", "outcome", "planted", "found", "missed")]
    rows += [(s.kind, s.expected, f"{s.planted:,}", f"{s.found:,}", f"{s.missed:,}") for s in marks.scores]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row[:2], widths, strict=False))]
                  + [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)])
        for row in rows
    )  # fmt: skip


def _ends(edge: Mapping[str, Any]) -> EdgeEnds:
    return edge["from"]["topic"], edge["from"]["field"], edge["to"]["topic"], edge["to"]["field"]

"""Parquet tables of a state with a row per topic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["TopicTable"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TopicTable(Generic[T]):
    """A table of values by topic."""

    name: str  #: of the file
    columns: tuple[pa.Field[Any], ...]  #: beside the topic
    make_row: Callable[[T], Mapping[str, Any]]
    parse_row: Callable[[Mapping[str, Any]], T]

    def write(self, values: Mapping[str, T], folder: Path) -> None:
        """Write the values of topics into an existing folder."""
        rows = [{"topic": topic, **self.make_row(values[topic])} for topic in sorted(values)]
        schema = pa.schema([pa.field("topic", pa.string()), *self.columns])
        pq.write_table(pa.Table.from_pylist(rows, schema), folder / self.name, compression="zstd")

    def parse(self, rows: Iterable[Mapping[str, Any]]) -> dict[str, T]:
        """Return the values of the rows of a table, by topic.

        Raises:
            LookupError, TypeError, ValueError: a row is not one that ``write`` writes.
        """
        return {row["topic"]: self.parse_row(row) for row in rows}

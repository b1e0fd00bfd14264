"""Parquet storage of samples: a table of samples, and one of the rows that they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from contractlog.contracts.audit.samples import FieldSample, SampleDesign, SampledValue

__all__ = ["read_samples", "write_samples"]

SAMPLES: Final = "samples.parquet"
ROWS: Final = "sampled_rows.parquet"

Samples = Mapping[tuple[str, str, str], FieldSample]

_SAMPLES_COLUMNS: Final[list[pa.Field[Any]]] = [
    *(pa.field(name, pa.string()) for name in ("topic", "part", "field", "key")),
    *(pa.field(name, pa.int64()) for name in ("breadth", "depth", "repeats")),
    pa.field("value_hash", pa.list_(pa.uint64())),
    pa.field("turn", pa.list_(pa.uint32())),
    pa.field("row", pa.list_(pa.int32())),  # index into the table of rows
]
_ROWS_COLUMNS: Final[list[pa.Field[Any]]] = [
    pa.field("timestamp", pa.int64()),
    pa.field("partition", pa.int32()),
    pa.field("offset", pa.int64()),
    pa.field("cells", pa.binary()),
]


def write_samples(samples: Samples, folder: Path) -> None:
    """Write samples, by topic, part and field, into an existing folder."""
    numbers: dict[tuple[int, int, int, bytes], int] = {}
    lines = []
    for (topic, part, field), sample in sorted(samples.items()):
        design = sample.design
        rows = [numbers.setdefault(value[2:], len(numbers)) for value in sample.values]
        hashes, turns = [value.value_hash for value in sample.values], [value.turn for value in sample.values]
        place = (topic, part, field, design.key, design.breadth, design.depth, design.repeats)
        lines.append((*place, hashes, turns, rows))
    _write(lines, pa.schema(_SAMPLES_COLUMNS), folder / SAMPLES)
    _write(list(numbers), pa.schema(_ROWS_COLUMNS), folder / ROWS)


def read_samples(folder: Path) -> dict[tuple[str, str, str], FieldSample]:
    """Read the samples from a folder; empty if none were written."""
    if not (folder / SAMPLES).exists():
        return {}
    rows = list(zip(*(column.to_pylist() for column in pq.read_table(folder / ROWS).columns), strict=True))
    samples = {}
    for line in pq.read_table(folder / SAMPLES).to_pylist():
        design = SampleDesign(line["key"], line["breadth"], line["depth"], line["repeats"])
        places = zip(line["value_hash"], line["turn"], line["row"], strict=True)
        values = tuple(SampledValue(value_hash, turn, *rows[row]) for value_hash, turn, row in places)
        samples[line["topic"], line["part"], line["field"]] = FieldSample(design, values)
    return samples


def _write(lines: Sequence[tuple[object, ...]], schema: pa.Schema, path: Path) -> None:
    columns = zip(*lines, strict=True) if lines else ([] for _ in schema)
    arrays = [pa.array(list(column), field.type) for column, field in zip(columns, schema, strict=True)]
    pq.write_table(pa.table(arrays, schema=schema), path, compression="zstd")

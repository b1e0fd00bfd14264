"""Storage of states: a folder of Parquet tables, one row per value of ``contracts/audit``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, fields, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from contractlog.clients.bounded_file import read_bounded_file
from contractlog.compatibility.errors import UsageError
from contractlog.contracts.audit.field_profiles import FieldProfileKey
from contractlog.contracts.audit.mergeable_state import (
    AuditState,
    Cell,
    CellKey,
    Coverage,
    ViolationCounts,
    ViolationExample,
    ViolationKey,
)
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.producers import ProducerCounts, ProducerKey
from contractlog.contracts.audit.rule_counts import RuleCounts, RuleKey
from contractlog.contracts.audit.value_samples import FieldSample, SampleDesign, SampledValue
from contractlog.spark_validation.profiles.profile_files import PROFILES, parse_profiles, write_profiles
from contractlog.spark_validation.state.origin_files import ORIGINS
from contractlog.spark_validation.state.record_statistics_table import STATISTICS

__all__ = ["read_state", "read_values", "write_state", "write_values"]

FORMAT: Final = "contractlog.state/6"
_WITHOUT_PRODUCERS: Final = "contractlog.state/1"
_READABLE: Final = (
    _WITHOUT_PRODUCERS,
    "contractlog.state/2",
    "contractlog.state/3",
    "contractlog.state/4",
    "contractlog.state/5",
    FORMAT,
)
STATE: Final = "state.json"  #: written last, so a folder that contains it is complete
COVERAGE: Final = "coverage.parquet"
CELLS: Final = "cells.parquet"
VIOLATIONS: Final = "violations.parquet"
PRODUCERS: Final = "producers.parquet"  #: since format 2
RULES: Final = "rules.parquet"  #: since format 6

MAX_STATE_JSON_BYTES: Final = 16 * 1024 * 1024
MAX_TABLE_BYTES: Final = 1024 * 1024 * 1024  #: of a table, in memory
_BATCH_ROWS: Final = 1024

Rows = Mapping[str, tuple[pa.DataType, list[Any]]]
_PRODUCERS_TYPE: Final = pa.map_(pa.string(), pa.int64())
_EXAMPLE_FIELDS: Final[list[pa.Field[Any]]] = [
    pa.field("partition", pa.int32()),
    pa.field("offset", pa.int64()),
    pa.field("timestamp", pa.int64()),
    pa.field("producer", pa.string()),
    pa.field("size", pa.int64()),
    pa.field("failed_at", pa.int64()),
    pa.field("key", pa.string()),
    pa.field("headers", pa.map_(pa.string(), pa.string())),  # a list of pairs: names may repeat
    pa.field("decoded", pa.string()),
    pa.field("excerpt", pa.string()),
]
_EXAMPLE_TYPE: Final = pa.struct(_EXAMPLE_FIELDS)
SAMPLES: Final = "samples.parquet"
ROWS: Final = "sampled_rows.parquet"
Samples = Mapping[tuple[str, str, str], FieldSample]
_SAMPLES_COLUMNS: Final[list[pa.Field[Any]]] = [
    *(pa.field(name, pa.string()) for name in ("topic", "part", "field", "key")),
    *(pa.field(name, pa.int64()) for name in ("breadth", "depth", "repeats")),
    pa.field("value_hash", pa.list_(pa.uint64())),
    pa.field("turn", pa.list_(pa.uint32())),
    pa.field("row", pa.list_(pa.int32())),  # index into the table of rows
    pa.field("has_numbers", pa.list_(pa.bool_())),  # absent, as the next one, in states of earlier releases
    pa.field("has_forms", pa.list_(pa.bool_())),
]
_ROWS_COLUMNS: Final[list[pa.Field[Any]]] = [
    pa.field("timestamp", pa.int64()),
    pa.field("partition", pa.int32()),
    pa.field("offset", pa.int64()),
    pa.field("cells", pa.binary()),
    pa.field("numbers", pa.binary()),
    pa.field("forms", pa.binary()),
]


def write_state(state: AuditState, folder: Path) -> None:
    """Write a state into a folder, which is created if it does not exist; outcomes are written by name."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_table(folder / COVERAGE, _make_columns(Coverage, sorted(state.coverage)))
    cells = [
        (key, outcome, records, cell)
        for key, cell in sorted(state.cells.items(), key=lambda item: item[0])
        for outcome, records in sorted(cell.counts.items())
    ]
    _write_table(
        folder / CELLS,
        {
            **_make_columns(CellKey, [key for key, *_ in cells]),
            "outcome": (pa.string(), [outcome.name for _, outcome, *_ in cells]),
            "records": (pa.int64(), [records for *_, records, _ in cells]),
            "first_seen": (pa.int64(), [cell.first_seen for *_, cell in cells]),
            "last_seen": (pa.int64(), [cell.last_seen for *_, cell in cells]),
        },
    )
    violations = sorted(state.violations.items(), key=lambda item: item[0])
    _write_table(
        folder / VIOLATIONS,
        {
            **_make_columns(ViolationKey, [key for key, _ in violations]),
            "outcome": (pa.string(), [key.outcome.name for key, _ in violations]),
            "records": (pa.int64(), [violation.records for _, violation in violations]),
            "first_seen": (pa.int64(), [violation.first_seen for _, violation in violations]),
            "last_seen": (pa.int64(), [violation.last_seen for _, violation in violations]),
            "examples": (
                pa.list_(_EXAMPLE_TYPE),
                [[_example_row(example) for example in violation.examples] for _, violation in violations],
            ),
            "detail": (pa.string(), [violation.detail for _, violation in violations]),
            "first": (
                _EXAMPLE_TYPE,
                [violation.first and _example_row(violation.first) for _, violation in violations],
            ),
            "producers": (_PRODUCERS_TYPE, [sorted(violation.producers.items()) for _, violation in violations]),
        },
    )
    producers = sorted(state.producers.items(), key=lambda item: item[0])
    _write_table(
        folder / PRODUCERS,
        {
            **_make_columns(ProducerKey, [key for key, _ in producers]),
            **_make_columns(ProducerCounts, [counts for _, counts in producers]),
        },
    )
    rules = sorted(state.rules.items(), key=lambda item: item[0])
    _write_table(
        folder / RULES,
        {
            **_make_columns(RuleKey, [key for key, _ in rules]),
            **_make_columns(RuleCounts, [counts for _, counts in rules]),
        },
    )
    write_values(state, folder)
    description = {"format": FORMAT, "unsampled": sorted(map(list, state.unsampled))}
    (folder / STATE).write_text(json.dumps(description) + "\n")


def read_state(folder: Path) -> AuditState:
    """Read the state from a folder.

    Raises:
        UsageError: the folder contains no state, or one of another format.
    """
    try:
        description = _read_description(folder)
        if description.get("format") not in _READABLE:
            raise UsageError(f"{folder} has a state of another format: {str(description.get('format'))[:100]}")
        cells: dict[CellKey, Cell] = {}
        for row in _read_table(folder / CELLS).to_pylist():
            cell = Cell({Outcome[row["outcome"]]: row["records"]}, row["first_seen"], row["last_seen"])
            key = _make_value(CellKey, row)
            cells[key] = cells[key].merge(cell) if key in cells else cell
        return replace(
            read_values(folder),
            coverage=frozenset(_make_value(Coverage, row) for row in _read_table(folder / COVERAGE).to_pylist()),
            cells=cells,
            violations=dict(_read_violation(row) for row in _read_table(folder / VIOLATIONS).to_pylist()),
            unsampled=frozenset(map(tuple, description.get("unsampled", ()))),
            producers={} if description["format"] == _WITHOUT_PRODUCERS else _read_producers(folder),
            rules=_read_rules(folder) if (folder / RULES).exists() else {},
        )
    except (OSError, pa.ArrowException) as error:
        raise UsageError(f"{folder} has no readable state of an audit: {error}") from error
    except (LookupError, ValueError, AttributeError, TypeError) as error:
        raise UsageError(
            f"{folder} has no readable state of an audit: a table has other columns or values than audits write"
        ) from error


def _read_description(folder: Path) -> dict[str, Any]:
    """Read ``state.json``, and require the types of its members."""
    try:
        content = json.loads(read_bounded_file(folder / STATE, MAX_STATE_JSON_BYTES))
    except (ValueError, RecursionError):
        content = None
    description: dict[str, Any] = content if isinstance(content, dict) else {"unsampled": None}
    unsampled = description.get("unsampled", [])
    if not isinstance(unsampled, list) or not all(
        isinstance(each, list) and list(map(type, each)) == [str] * 3 for each in unsampled
    ):
        raise UsageError(
            f"{folder} has no readable state of an audit: `{STATE}` is not a JSON object as audits write it, with"
            " `format` and a list `unsampled` of topic, part and field"
        )
    return description


def _read_table(path: Path) -> pa.Table:
    """Read a table, whose compressed size says nothing about that in memory.

    Raises:
        UsageError: it is too large, or not a regular file.
    """
    if not path.is_file():
        raise UsageError(f"`{path}` does not exist, or is not a regular file")
    file = pq.ParquetFile(path)
    batches, size = [], path.stat().st_size
    for batch in file.iter_batches(_BATCH_ROWS) if size <= MAX_TABLE_BYTES else ():
        size += batch.nbytes
        if size > MAX_TABLE_BYTES:
            break
        batches.append(batch)
    if size > MAX_TABLE_BYTES:
        limit = MAX_TABLE_BYTES // 1024 // 1024
        raise UsageError(f"`{path}` is larger than {limit:,} MiB, the most that a table of a state has")
    return pa.Table.from_batches(batches, file.schema_arrow)


def _read_violation(row: Mapping[str, Any]) -> tuple[ViolationKey, ViolationCounts]:
    examples = tuple(map(_read_example, row["examples"]))
    producers = dict(row.get("producers", ()))
    first = row.get("first") and _read_example(row["first"])
    violation = ViolationCounts(
        row["records"], row["first_seen"], row["last_seen"], examples, row["detail"], producers, first
    )
    return _make_value(ViolationKey, {**row, "outcome": Outcome[row["outcome"]]}), violation


def _example_row(example: ViolationExample) -> dict[str, Any]:
    return dict(zip((field.name for field in fields(example)), astuple(example), strict=True))


def _read_example(row: Mapping[str, Any]) -> ViolationExample:
    headers = tuple((name, value) for name, value in row.get("headers", ()))
    return ViolationExample(**{**row, "headers": headers})


def _read_producers(folder: Path) -> dict[ProducerKey, ProducerCounts]:
    rows = _read_table(folder / PRODUCERS).to_pylist()
    return {_make_value(ProducerKey, row): _make_value(ProducerCounts, row) for row in rows}


def _read_rules(folder: Path) -> dict[RuleKey, RuleCounts]:
    rows = _read_table(folder / RULES).to_pylist()
    return {_make_value(RuleKey, row): _make_value(RuleCounts, row) for row in rows}


def _make_value(kind: type[Any], row: Mapping[str, Any]) -> Any:
    return kind(*(row[field.name] for field in fields(kind)))


def _make_columns(kind: type[Any], values: Iterable[Any]) -> Rows:
    """Return one column per field of a dataclass, in order."""
    rows = [astuple(value) for value in values]
    text: pa.DataType = pa.string()
    number: pa.DataType = pa.int64()
    return {
        field.name: (text if str(field.type) == "str" else number, [row[index] for row in rows])
        for index, field in enumerate(fields(kind))
    }


def _write_table(path: Path, columns: Rows) -> None:
    arrays: dict[str, pa.Array[Any]] = {name: pa.array(values, kind) for name, (kind, values) in columns.items()}
    pq.write_table(pa.table(arrays), path, compression="zstd")


def write_values(state: AuditState, folder: Path) -> None:
    """Write the parts of a state that may be large (samples, profiles, statistics, origins) into a folder."""
    _write_samples(state.samples, folder)
    write_profiles(state.profiles, folder)
    STATISTICS.write(state.statistics, folder)
    ORIGINS.write(state.origins, folder)


def read_values(folder: Path) -> AuditState:
    """Read a state of samples, profiles, statistics and origins from a folder; empty if none were written."""
    profiles, statistics, origins = (
        _read_table(folder / name).to_pylist() if (folder / name).exists() else []
        for name in (PROFILES, STATISTICS.name, ORIGINS.name)
    )
    return AuditState(
        samples=_read_samples(folder),
        profiles=parse_profiles(profiles),
        statistics=STATISTICS.parse(statistics),
        origins=ORIGINS.parse(origins),
    )


def _write_samples(samples: Samples, folder: Path) -> None:
    details: dict[tuple[int, int, int, bytes], tuple[bytes, bytes]] = {}
    row_numbers: dict[tuple[int, int, int, bytes], int] = {}
    lines = []
    for (topic, part, field), sample in sorted(samples.items()):
        design = sample.design
        rows = []
        for value in sample.values:
            row = value.timestamp, value.partition, value.offset, value.row
            rows.append(row_numbers.setdefault(row, len(row_numbers)))
            numbers, forms = details.get(row, (b"", b""))
            details[row] = numbers or value.numbers, forms or value.forms
        columns = (
            [value.value_hash for value in sample.values],
            [value.sampling_rank for value in sample.values],
            rows,
            [bool(value.numbers) for value in sample.values],
            [bool(value.forms) for value in sample.values],
        )
        lines.append((topic, part, field, design.key, design.breadth, design.depth, design.repeats, *columns))
    _write(lines, pa.schema(_SAMPLES_COLUMNS), folder / SAMPLES)
    _write([(*row, *details[row]) for row in row_numbers], pa.schema(_ROWS_COLUMNS), folder / ROWS)


def _read_samples(folder: Path) -> dict[FieldProfileKey, FieldSample]:
    if not (folder / SAMPLES).exists():
        return {}
    rows = _read_table(folder / ROWS).to_pylist()
    samples = {}
    for line in _read_table(folder / SAMPLES).to_pylist():
        design = SampleDesign(line["key"], line["breadth"], line["depth"], line["repeats"])
        absent = [False] * len(line["row"])
        occurrences = zip(
            line["value_hash"],
            line["turn"],
            (rows[row] for row in line["row"]),
            line.get("has_numbers", absent),
            line.get("has_forms", absent),
            strict=True,
        )
        values = tuple(
            SampledValue(
                value_hash,
                rank,
                row["timestamp"],
                row["partition"],
                row["offset"],
                row["cells"],
                row["numbers"] if has_numbers else b"",
                row["forms"] if has_forms else b"",
            )
            for value_hash, rank, row, has_numbers, has_forms in occurrences
        )
        samples[line["topic"], line["part"], line["field"]] = FieldSample(design, values)
    return samples


def _write(lines: Sequence[tuple[object, ...]], schema: pa.Schema, path: Path) -> None:
    columns = zip(*lines, strict=True) if lines else ([] for _ in schema)
    arrays = [pa.array(list(column), field.type) for column, field in zip(columns, schema, strict=True)]
    pq.write_table(pa.table(arrays, schema=schema), path, compression="zstd")

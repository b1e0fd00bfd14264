"""Examples of violating records: time, producer, key, headers, and the body as far as it can be read.

Values are masked in the worker unless they are to be shown, so that a state holds none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import pyarrow as pa

from contractlog.contracts.audit.mergeable_state import NO_TIMESTAMP, ViolationExample
from contractlog.contracts.audit.outcomes import NO_ID, NOT_DECODED, Outcome
from contractlog.contracts.audit.report import Part
from contractlog.spark_validation.columnar.column_validation import ColumnOutcomes
from contractlog.spark_validation.columnar.frames import Guids, read_frames, read_schema_headers
from contractlog.spark_validation.columnar.record_text import RenderedBody, render_bytes
from contractlog.spark_validation.columnar.validator_results import Validator
from contractlog.spark_validation.record_metadata.producers import BatchProducers
from contractlog.spark_validation.record_metadata.timestamps import NO_TIME, to_milliseconds

__all__ = ["ExampleReader"]

MAX_HEADERS: Final = 8
MAX_HEADER_NAME: Final = 64
EXCERPT_BYTES: Final = 64


@dataclass(frozen=True, slots=True)
class ExampleReader:
    """Reads examples from the records of a batch."""

    batch: pa.RecordBatch
    part: Part
    checked: ColumnOutcomes
    validators: Mapping[int, Validator]
    guids: Guids
    producers: BatchProducers | None
    show_values: bool

    def read(self, row: int, partition: int) -> ViolationExample:
        """Return the record in a row as an example."""
        record = self.batch.slice(row, 1)
        outcome = Outcome(int(self.checked.codes[row]))
        content: bytes = record.column(self.part)[0].as_py()
        body = content if outcome in NO_ID else self._body(record)
        rendered = self._render(outcome, int(self.checked.schema_ids[row]), body)
        time = int(to_milliseconds(record.column("timestamp"))[0])
        key = record.column("key")[0].as_py()
        producer = None if self.producers is None else self.producers.name_at(row)
        return ViolationExample(
            partition,
            record.column("offset")[0].as_py(),
            NO_TIMESTAMP if time == NO_TIME else time,
            producer or "",
            len(content),
            rendered.failed_at,
            "" if self.part == "key" or key is None else render_bytes(key, show=self.show_values),
            tuple(self._headers(record)),
            rendered.text,
            _excerpt(body, rendered.failed_at) if self.show_values else "",
        )

    def _body(self, record: pa.RecordBatch) -> bytes:
        """Return the key or value of a record without its frame."""
        column = cast("pa.BinaryArray", record.column(self.part))
        frames = read_frames(column, read_schema_headers(record.column("headers"), self.part), self.guids)
        return frames.data[frames.starts[0] : frames.ends[0]].tobytes()

    def _render(self, outcome: Outcome, schema_id: int, body: bytes) -> RenderedBody:
        if outcome in NOT_DECODED:
            return RenderedBody(render_bytes(body, show=self.show_values))
        return self.validators[schema_id].render(body, show=self.show_values)

    def _headers(self, record: pa.RecordBatch) -> Iterator[tuple[str, str]]:
        entries: list[dict[str, Any]] = record.column("headers")[0].as_py() or []
        for entry in entries[:MAX_HEADERS]:
            value = entry["value"]
            text = "null" if value is None else render_bytes(value, show=self.show_values)
            yield (entry["key"] or "")[:MAX_HEADER_NAME], text


def _excerpt(body: bytes, failed_at: int) -> str:
    """Return the bytes around a position in hexadecimal digits, that position in brackets."""
    middle = max(failed_at, 0)
    start = max(0, middle - EXCERPT_BYTES // 2)
    excerpt = body[start : start + EXCERPT_BYTES]
    digits = [f"[{byte:02x}]" if start + at == failed_at else f"{byte:02x}" for at, byte in enumerate(excerpt)]
    return " ".join([*(["…"] if start else []), *digits, *(["…"] if start + EXCERPT_BYTES < len(body) else [])])

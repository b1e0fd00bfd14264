"""Parser of each record's frame: a schema id or guid before the body, or in a header of the record.

Before the body: magic byte 0 and the schema id in four bytes, big-endian; or magic byte 1 and the schema's guid in
sixteen. In a header: the same bytes, and the body has no prefix.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from contractlog.serdes.wire import GUID_MAGIC, HEADER_SIZE, KEY_ID_HEADER, MAGIC, VALUE_ID_HEADER
from contractlog.spark_validation.columnar.arrow import from_numpy, read_numbers

__all__ = ["Frames", "Guids", "read_frames", "read_schema_headers"]

Guids = Mapping[bytes, int]
"""Schema ids by guid (16 bytes)."""

_NO_GUIDS: Final[Guids] = MappingProxyType({})
_GUID_FRAME: Final = 17
_UNKNOWN_ID: Final = 0
_NAMES: Final[Mapping[str, str]] = MappingProxyType({"key": KEY_ID_HEADER, "value": VALUE_ID_HEADER})


@dataclass(frozen=True, slots=True)
class Frames:
    """The frames of a column, as positions in its bytes; nothing is copied."""

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]  #: start of each body
    ends: NDArray[np.int64]
    null: NDArray[np.bool_]
    framed: NDArray[np.bool_]
    schema_ids: NDArray[np.int64]  #: unsigned numbers of 32 bits; 0 if there is no frame or the guid is unknown
    faults: dict[int, str] = field(default_factory=dict)  #: row -> sentence, for invalid headers and unknown guids

    def by_schema(self) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Yield each schema id with the rows of the records that carry it, ascending."""
        rows = np.flatnonzero(self.framed)
        ids = self.schema_ids[rows]
        if rows.size and (ids == ids[0]).all():
            yield int(ids[0]), rows
            return
        for schema_id in np.unique(ids).tolist():
            yield schema_id, rows[ids == schema_id]


def read_frames(
    bodies: pa.BinaryArray | pa.LargeBinaryArray, header_ids: pa.Array[Any] | None = None, guids: Guids = _NO_GUIDS
) -> Frames:
    """Read the frames of a column; slices and both offset widths are supported.

    Args:
        bodies: keys or values as stored in the log.
        header_ids: ids and guids from the records' headers, null if a record has none; a body with one has no prefix.
        guids: schema ids by guid.
    """
    size = len(bodies)
    wide = pa.types.is_large_binary(bodies.type)
    if not (wide or pa.types.is_binary(bodies.type)):
        raise TypeError(f"framed records are a binary or large_binary column, not {bodies.type}")
    _, offsets, content = bodies.buffers()
    data = read_numbers(content, np.uint8)
    bounds = read_numbers(offsets, np.int64) if wide else read_numbers(offsets, np.int32).astype(np.int64)
    bounds = bounds[bodies.offset : bodies.offset + size + 1] if size else np.zeros(1, np.int64)
    starts, ends = bounds[:-1], bounds[1:]
    null = np.asarray(bodies.is_null().to_numpy(zero_copy_only=False), np.bool_)
    long = ~null & (ends - starts >= HEADER_SIZE)
    padded = data if data.size else np.zeros(1, np.uint8)
    first = padded.take(starts, mode="clip")
    framed = long & (first == MAGIC)
    ids = np.zeros(size, np.int64)
    for nth in range(1, HEADER_SIZE):
        ids = (ids << 8) | padded.take(starts + nth, mode="clip")
    schema_ids = np.where(framed, ids, _UNKNOWN_ID)
    frames = Frames(data, starts + HEADER_SIZE, ends, null, framed, schema_ids)
    _read_guid_prefixes(frames, np.flatnonzero(~null & (first == GUID_MAGIC) & (ends - starts >= _GUID_FRAME)), guids)
    return frames if header_ids is None else _with_headers(frames, starts, header_ids, guids)


def _read_guid_prefixes(frames: Frames, rows: NDArray[np.intp], guids: Guids) -> None:
    """Read guids before bodies. An unknown one is the frame of a schema that the registry does not have."""
    for row in rows.tolist():
        start = int(frames.starts[row]) - HEADER_SIZE
        guid = frames.data[start + 1 : start + _GUID_FRAME].tobytes()
        schema_id = guids.get(guid)
        frames.framed[row], frames.schema_ids[row] = True, _UNKNOWN_ID if schema_id is None else schema_id
        frames.starts[row] = start + _GUID_FRAME
        if schema_id is None:
            frames.faults[row] = _describe_unknown_guid(guid)


def _with_headers(frames: Frames, whole: NDArray[np.int64], header_ids: pa.Array[Any], guids: Guids) -> Frames:
    """Apply ids and guids from headers, where present; each distinct header value is parsed once."""
    rows = np.flatnonzero(~np.asarray(header_ids.is_null()) & ~frames.null)
    encoded: Any = header_ids.dictionary_encode()
    indexes = np.asarray(encoded.indices.fill_null(0))
    parsed = [_parse_header(header_id or b"", guids) for header_id in encoded.dictionary.to_pylist()]
    faults = dict(frames.faults)
    for row in rows.tolist():
        framed, schema_id, fault = parsed[indexes[row]]
        frames.framed[row], frames.schema_ids[row] = framed, schema_id
        faults.pop(row, None)
        if fault:
            faults[row] = fault
    frames.starts[rows] = whole[rows]
    return Frames(frames.data, frames.starts, frames.ends, frames.null, frames.framed, frames.schema_ids, faults)


def _parse_header(header_id: bytes, guids: Guids) -> tuple[bool, int, str]:
    """Return whether a header has the form of an id or guid, the id, and a description of any fault."""
    if len(header_id) == HEADER_SIZE and header_id[0] == MAGIC:
        return True, int.from_bytes(header_id[1:]), ""
    if len(header_id) == _GUID_FRAME and header_id[0] == GUID_MAGIC:
        schema_id = guids.get(header_id[1:])
        if schema_id is None:
            return True, _UNKNOWN_ID, _describe_unknown_guid(header_id[1:])
        return True, schema_id, ""
    return False, _UNKNOWN_ID, f"the schema header holds {len(header_id)} bytes, which are not a schema id or guid"


def read_schema_headers(headers: pa.Array[Any], part: str) -> pa.Array[Any] | None:
    """Return each record's schema header value, null if it has none; None if no record has one.

    Of several headers with the name, the last one counts, as in deserializers.

    Args:
        headers: ``array<struct<key string, value binary>>``, null if a record has no headers.
        part: ``key`` or ``value``.
    """
    if headers.null_count == len(headers):
        return None
    entries: Any = pc.list_flatten(headers)
    named = np.flatnonzero(np.asarray(pc.equal(entries.field("key"), pa.scalar(_NAMES[part])).fill_null(False)))  # noqa: FBT003
    if not named.size:
        return None
    rows = np.asarray(pc.list_parent_indices(headers))[named]
    last = np.append(rows[1:] != rows[:-1], True)
    positions = np.full(len(headers), -1, np.int64)
    positions[rows[last]] = named[last]
    picked: pa.Array[Any] = entries.field("value").take(from_numpy(np.where(positions < 0, 0, positions)))
    missing = from_numpy(positions < 0)
    values: pa.Array[Any] = pc.if_else(missing, pa.nulls(len(headers), picked.type), picked)
    return values


def _describe_unknown_guid(guid: bytes) -> str:
    return f"the registry has no schema with the guid {UUID(bytes=guid)}"

"""Frame of a record: magic byte 0, the schema id in four bytes (big-endian), then the body.

Newer producers may send magic byte 1 and the schema's guid in sixteen bytes, in a header of the record.
"""

from __future__ import annotations

import struct
from typing import Final

from contractlog.compatibility.identifiers import SchemaId
from contractlog.serdes.errors import BadFrame

__all__ = [
    "GUID_MAGIC",
    "HEADER_SIZE",
    "KEY_ID_HEADER",
    "MAGIC",
    "VALUE_ID_HEADER",
    "decode_frame",
    "encode_frame",
    "encode_prefix",
    "missing_frame_error",
]

MAGIC: Final = 0
GUID_MAGIC: Final = 1
_HEADER: Final = struct.Struct(">BI")
HEADER_SIZE: Final = _HEADER.size

#: record headers in which newer producers send a schema's guid instead
KEY_ID_HEADER: Final = "__key_schema_id"
VALUE_ID_HEADER: Final = "__value_schema_id"


def encode_frame(schema_id: SchemaId, body: bytes | bytearray | memoryview = b"") -> bytes:
    r"""Put a schema id before a body.

    >>> encode_frame(SchemaId(7), b"body")
    b'\x00\x00\x00\x00\x07body'
    """
    return _HEADER.pack(MAGIC, schema_id) + body


def encode_prefix(schema_id: int) -> bytes:
    """Return the bytes that precede the body of every record of a schema."""
    return _HEADER.pack(MAGIC, schema_id)


def decode_frame(record: bytes | bytearray | memoryview) -> tuple[SchemaId, memoryview]:
    """Split a record into schema id and body; the body is not copied, and may be empty.

    Raises:
        BadFrame: there is no magic byte, or no room for an id.
    """
    if len(record) < HEADER_SIZE or record[0] != MAGIC:
        raise missing_frame_error(record)
    _, schema_id = _HEADER.unpack_from(record)
    return SchemaId(schema_id), memoryview(record)[HEADER_SIZE:]


def missing_frame_error(record: bytes | bytearray | memoryview) -> BadFrame:
    """Return the error that a record has no magic byte, or no room for an id."""
    if len(record) < HEADER_SIZE:
        return BadFrame(reason=f"{len(record)} bytes cannot hold a schema id")
    return BadFrame(reason=f"the record starts with byte 0x{record[0]:02x}, not with a schema id")

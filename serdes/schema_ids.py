"""Schema ids of records, before the body or in a header, and the functions that decide where.

``schema.id.serializer`` and ``schema.id.deserializer`` take the functions of this module, those of confluent-kafka of
the same names, or any function with their signature.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from uuid import UUID

from contractlog.serdes.context import Context, MessageField, header
from contractlog.serdes.errors import BadFrame, SerializationError
from contractlog.serdes.wire import (
    GUID_MAGIC,
    HEADER_SIZE,
    KEY_ID_HEADER,
    MAGIC,
    VALUE_ID_HEADER,
    encode_prefix,
    missing_frame_error,
)

__all__ = [
    "FrameId",
    "IdDeserializer",
    "IdSerializer",
    "dual_schema_id_deserializer",
    "header_schema_id_serializer",
    "id_header_name",
    "locate_head",
    "parse_id_header",
    "prefix_schema_id_deserializer",
    "prefix_schema_id_serializer",
    "set_id_header",
    "split_head",
]

IdSerializer: TypeAlias = Callable[[bytes, Any, Any], bytes]
IdDeserializer: TypeAlias = Callable[[bytes, Any, Any], Any]

_GUID_SIZE: Final = 17


@dataclass(slots=True)
class FrameId:
    """A schema's id and guid in a record, with the interface of confluent-kafka's ``SchemaId``."""

    schema_type: str
    id: int | None = None
    guid: UUID | None = None
    message_indexes: list[int] | None = None

    def id_to_bytes(self) -> bytes:
        """Return magic byte and id."""
        if self.id is None:
            raise SerializationError(reason="the schema has no id")
        return encode_prefix(self.id)

    def guid_to_bytes(self) -> bytes:
        """Return the magic byte of guids, and the guid."""
        if self.guid is None:
            raise SerializationError(reason="the registry's response contains no guid, so none can be sent in a header")
        return bytes((GUID_MAGIC,)) + self.guid.bytes

    def from_bytes(self, payload: io.BytesIO) -> io.BytesIO:
        """Read an id or a guid from the beginning of a stream, and return the stream.

        Raises:
            BadFrame: there is neither.
        """
        data = payload.getvalue()[payload.tell() :]
        head, start = split_head(data)
        self.set_from_head(head)
        payload.seek(start, io.SEEK_CUR)
        return payload

    def set_from_head(self, head: bytes) -> None:
        """Set the id or guid from its bytes."""
        if head[0] == MAGIC:
            self.id = int.from_bytes(head[1:])
        else:
            self.guid = UUID(bytes=head[1:])

    @property
    def head(self) -> bytes:
        """The bytes of the guid, or else of the id."""
        return self.id_to_bytes() if self.guid is None else self.guid_to_bytes()


def split_head(record: bytes) -> tuple[bytes, int]:
    """Return the bytes of the id or guid, and the offset of the body.

    Raises:
        BadFrame: the record does not start with either.
    """
    size = len(record)
    if size and record[0] == GUID_MAGIC and size >= _GUID_SIZE:
        return record[:_GUID_SIZE], _GUID_SIZE
    if size < HEADER_SIZE or record[0] != MAGIC:
        raise missing_frame_error(record)
    return record[:HEADER_SIZE], HEADER_SIZE


def locate_head(record: bytes, context: Context | None) -> tuple[bytes, int]:
    """Return the bytes of the id or guid, and the offset of the body.

    They are taken from the header, or else from before the body.

    Raises:
        BadFrame: the record has neither.
    """
    header_value = header(context, id_header_name(context))
    return split_head(record) if header_value is None else (parse_id_header(header_value), 0)


def parse_id_header(value: Any) -> bytes:
    """Return the bytes of the id or guid in a header that holds nothing else.

    Raises:
        BadFrame: it holds neither, or more.
    """
    if isinstance(value, str):
        try:
            value = value.encode()
        except UnicodeEncodeError:
            raise BadFrame(reason="the header of the schema's guid holds a string that has no bytes") from None
    if not isinstance(value, bytes | bytearray | memoryview):
        raise BadFrame(reason=f"the header of the schema's guid holds bytes, not {type(value).__name__}")
    head, end = split_head(bytes(value))
    if end != len(value):
        raise BadFrame(reason=f"the header of the schema's guid holds {len(value) - end} bytes too many")
    return head


def id_header_name(context: Context | None) -> str:
    """Return the name of the header that holds the schema id of this part."""
    return KEY_ID_HEADER if context is not None and context.field == MessageField.KEY else VALUE_ID_HEADER


def set_id_header(context: Context | None, value: bytes) -> None:
    """Set the header of this part; an earlier one is replaced.

    Raises:
        SerializationError: the context has no mutable headers.
    """
    headers: Any = getattr(context, "headers", None)
    name = id_header_name(context)
    if isinstance(headers, list):
        headers[:] = [pair for pair in headers if pair[0] != name]
        headers.append((name, value))
    elif isinstance(headers, dict):
        headers[name] = value
    else:
        raise SerializationError(reason="the schema's guid is sent in a header: pass a context with a list of headers")


def prefix_schema_id_serializer(payload: bytes, ctx: Any, schema_id: Any) -> bytes:
    """Put the id before the body; the default."""
    del ctx
    framed: bytes = schema_id.id_to_bytes() + payload
    return framed


def header_schema_id_serializer(payload: bytes, ctx: Any, schema_id: Any) -> bytes:
    """Put the guid into a header, and leave the body unchanged."""
    set_id_header(ctx, schema_id.guid_to_bytes())
    return payload


def prefix_schema_id_deserializer(payload: bytes, ctx: Any, schema_id: Any) -> io.BytesIO:
    """Read the id from before the body."""
    del ctx
    rest: io.BytesIO = schema_id.from_bytes(io.BytesIO(payload))
    return rest


def dual_schema_id_deserializer(payload: bytes, ctx: Any, schema_id: Any) -> io.BytesIO:
    """Read the guid from the header, or else the id from before the body; the default."""
    header_value = header(ctx, id_header_name(ctx))
    if header_value is None:
        return prefix_schema_id_deserializer(payload, ctx, schema_id)
    schema_id.from_bytes(io.BytesIO(parse_id_header(header_value)))
    return io.BytesIO(payload)

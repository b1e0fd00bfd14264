"""Header and blocks of Avro object container files, which are read within limits.

Files may be anybody's: a block of a few kilobytes can be compressed from gigabytes.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Final, Protocol

__all__ = ["MAX_BLOCK_BYTES", "AvroBlock", "read_blocks", "read_header"]

MAX_BLOCK_BYTES: Final = 64 * 1024 * 1024  #: of a block, compressed or not; writers make blocks of less than 1 MiB
_MAX_HEADER_BYTES: Final = 16 * 1024 * 1024
_MAX_XZ_MEMORY: Final = 256 * 1024 * 1024  #: bytes; the highest preset needs 65 MiB
_LARGE_HEADER: Final = "its header is too large"
_LARGE_BLOCK: Final = (
    f"a block is larger than {MAX_BLOCK_BYTES // 1024 // 1024} MiB: write the file again, with smaller blocks"
)
_MAGIC: Final = b"Obj\x01"
_SYNC_BYTES: Final = 16
_SHOWN: Final = 40  #: characters of the name of a codec
_CODEC_KEY: Final = "avro.codec"
_RAW: Final = -15  # window size of zlib; negative: without header
_MORE: Final = 0x80  # the continuation bit of a varint's byte
_LONG_BITS: Final = 63


@dataclass(frozen=True, slots=True)
class AvroHeader:
    """Header of a file."""

    metadata: Mapping[str, bytes]
    codec: str
    sync: bytes  #: the marker after each block


@dataclass(frozen=True, slots=True)
class AvroBlock:
    """Block of a file, decompressed."""

    records: int
    data: bytes


class _Decompressor(Protocol):
    def decompress(self, data: bytes, max_length: int) -> bytes: ...

    @property
    def eof(self) -> bool: ...


#: Decompressors that stop at a length, by codec; None: not compressed.
_DECOMPRESSORS: Final[Mapping[str, Callable[[], _Decompressor] | None]] = {
    "null": None,
    "deflate": lambda: zlib.decompressobj(_RAW),
    "bzip2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(memlimit=_MAX_XZ_MEMORY),
}


def read_header(stream: IO[bytes]) -> AvroHeader:
    """Read the header of a file.

    Raises:
        ValueError: the file has none, it is too large, or the blocks have a codec that is not supported.
    """
    if stream.read(len(_MAGIC)) != _MAGIC:
        raise ValueError("it does not begin as one")
    metadata: dict[str, bytes] = {}
    remaining = _MAX_HEADER_BYTES
    while count := _read_long(stream):
        if count < 0:
            _read_long(stream)  # size of the entries
        for _ in range(abs(count)):
            name, value = (_read_bytes(stream, remaining, _LARGE_HEADER) for _ in range(2))
            remaining -= len(name) + len(value) + 1
            metadata[name.decode()] = value
    codec = metadata.get(_CODEC_KEY, b"null").decode()
    if codec not in _DECOMPRESSORS:
        raise ValueError(
            f"its codec `{codec[:_SHOWN]}` is not supported, only {', '.join(_DECOMPRESSORS)}: write it again"
        )
    return AvroHeader(metadata, codec, _read_exactly(stream, _SYNC_BYTES))


def read_blocks(stream: IO[bytes], header: AvroHeader) -> Iterator[AvroBlock]:
    """Yield the blocks after a header.

    Raises:
        ValueError: a block is damaged or too large.
    """
    make = _DECOMPRESSORS[header.codec]
    while True:
        first = stream.read(1)
        if not first:
            return
        records = _read_long(stream, first)
        if records < 0:
            raise ValueError("a block has a negative number of records")
        data = _read_bytes(stream, MAX_BLOCK_BYTES, _LARGE_BLOCK)
        if make is not None:
            data = _decompress(make(), data)
        if _read_exactly(stream, _SYNC_BYTES) != header.sync:
            raise ValueError("a block does not end with the marker of the file")
        yield AvroBlock(records, data)


def _decompress(decompressor: _Decompressor, data: bytes) -> bytes:
    try:
        content = decompressor.decompress(data, MAX_BLOCK_BYTES + 1)
    except (zlib.error, lzma.LZMAError, OSError) as error:
        raise ValueError(f"a block cannot be decompressed: {error}") from None
    if len(content) > MAX_BLOCK_BYTES:
        raise ValueError(_LARGE_BLOCK)
    if not decompressor.eof:
        raise ValueError("a block cannot be decompressed: it is incomplete")
    return content


def _read_long(stream: IO[bytes], first: bytes = b"") -> int:
    raw, shift = 0, 0
    while True:
        byte = (first or _read_exactly(stream, 1))[0]
        first = b""
        raw |= (byte & ~_MORE) << shift
        if byte < _MORE:
            return (raw >> 1) ^ -(raw & 1)
        shift += 7
        if shift > _LONG_BITS:
            raise ValueError("a number is too large")


def _read_bytes(stream: IO[bytes], maximum: int, message: str) -> bytes:
    length = _read_long(stream)
    if length < 0:
        raise ValueError("a length is negative")
    if length > maximum:
        raise ValueError(message)
    return _read_exactly(stream, length)


def _read_exactly(stream: IO[bytes], length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise ValueError("the file ends too early")
    return data

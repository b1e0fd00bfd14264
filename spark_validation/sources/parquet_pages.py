"""Sizes of Parquet pages from their own headers, which the metadata of a file does not have."""

from __future__ import annotations

from typing import Final

__all__ = ["HEADER_BYTES", "read_page_size"]

HEADER_BYTES: Final = 32  #: that hold the first three members of a header
_INT32_MEMBER: Final = 0x15  #: Thrift's compact protocol: the next member, of type i32
_MORE: Final = 0x80  #: bit of a byte of a number: another one follows
_MAX_NUMBER_BYTES: Final = 5


def read_page_size(header: bytes) -> int | None:
    """Return the size of a page in memory, from the beginning of its header; None if it has another form.

    A header is a Thrift struct that begins with the kind of the page and its size in memory:
    https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift.
    """
    at, number = 0, 0
    for _ in ("kind", "size"):
        if header[at : at + 1] != bytes([_INT32_MEMBER]):
            return None
        number, shift, at = 0, 0, at + 1
        for byte in header[at : at + _MAX_NUMBER_BYTES]:
            number |= (byte & ~_MORE) << shift
            shift, at = shift + 7, at + 1
            if not byte & _MORE:
                break
        else:
            return None
    return (number >> 1) ^ -(number & 1)  # zigzag

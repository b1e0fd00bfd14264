"""Keys in the form of Tink: Protocol Buffers messages ``AesGcmKey`` and ``AesSivKey``.

Both messages have a version (field 1, absent for version 0) and the key: ``AesGcmKey`` in field 3, ``AesSivKey`` in
field 2. Keys are shorter than 128 bytes, so that each length is one byte.
"""

from __future__ import annotations

from typing import Final

__all__ = ["parse_key", "serialize_key"]

_VERSION_FIELD: Final = 1
_VARINT: Final = 0
_LENGTH_DELIMITED: Final = 2
_TYPE_BITS: Final = 3
_MAX_LENGTH: Final = 127


def serialize_key(key: bytes, field: int) -> bytes:
    """Return the message with a key in a field.

    >>> serialize_key(b"0123456789abcdef", 3).hex()
    '1a1030313233343536373839616263646566'
    """
    if len(key) > _MAX_LENGTH:
        raise ValueError(f"a key has at most {_MAX_LENGTH} bytes")
    return bytes([field << _TYPE_BITS | _LENGTH_DELIMITED, len(key)]) + key


def parse_key(message: bytes, field: int) -> bytes:
    """Return the key in a field of a message.

    Raises:
        ValueError: the message has no such field, an unknown field, or a version other than 0.
    """
    key, position = None, 0
    while position < len(message):
        tag, value = message[position], message[position + 1 : position + 2]
        if not value:
            raise ValueError("a key message ends within a field")
        if tag == _VERSION_FIELD << _TYPE_BITS | _VARINT and value == b"\0":
            position += 2
        elif tag == field << _TYPE_BITS | _LENGTH_DELIMITED and value[0] <= _MAX_LENGTH:
            key = message[position + 2 : position + 2 + value[0]]
            position += 2 + value[0]
            if position > len(message):
                raise ValueError("a key message ends within the key")
        else:
            raise ValueError("a key message has a field that is not supported")
    if key is None:
        raise ValueError("a key message has no key")
    return key

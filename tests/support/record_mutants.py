"""Records with small changes, most of which are in the second half."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from support.avro_codecs import encode_zigzag

__all__ = ["create_mutant"]

NUMBERS: Final = tuple(
    encode_zigzag(number)
    for number in (
        *(0, 1, -1, 2, -2, 5, 63, 64, -64, -65, 127, 128, 1_000, 10**6, 10**6 + 1, 10**7, 2**31 - 1, 2**31, -(2**31)),
        *(-(2**31) - 1, 2**32, 2**33, 2**40, 2**62, 2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 2**64, 2**70),
    )
)
INVALID_NUMBERS: Final = (
    b"\x80\x00",
    b"\x80\x80\x80\x80\x80\x00",
    b"\xff" * 9 + b"\x01",
    b"\xff" * 9 + b"\x02",
    b"\x80" * 10 + b"\x00",
)
TEXTS: Final = (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc3", b"\xe2\x82\xac", b"\x00")
Change = Callable[[bytearray, int, Random], None]


def create_mutant(body: bytes, other: bytes, random: Random) -> bytes:
    """Return a body with one to three changes, more often in its second half."""
    changed = bytearray(body)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        size = len(changed)
        at = int(size * (1 - random.random() ** 1.7)) if size else 0
        if random.random() < 0.04 and other:
            start = random.randrange(len(other))
            changed[at:] = other[start:]
        else:
            random.choice(CHANGES)(changed, at, random)
    return bytes(changed)


def _flip_bit(body: bytearray, at: int, random: Random) -> None:
    if at < len(body):
        body[at] ^= 1 << random.randrange(8)


def _replace_byte(body: bytearray, at: int, random: Random) -> None:
    if at < len(body):
        body[at] = random.randrange(256)


def _change_byte_slightly(body: bytearray, at: int, random: Random) -> None:
    if at < len(body):
        body[at] = max(0, min(255, body[at] + random.choice((-2, -1, 1, 2))))


def _insert_bytes(body: bytearray, at: int, random: Random) -> None:
    body[at:at] = random.randbytes(random.choice((1, 1, 2, 4)))


def _delete_bytes(body: bytearray, at: int, random: Random) -> None:
    del body[at : at + random.choice((1, 1, 2, 4))]


def _truncate(body: bytearray, at: int, _: Random) -> None:
    del body[at:]


def _insert_number(body: bytearray, at: int, random: Random) -> None:
    body[at : at + random.choice((0, 1, 1, 1, 2))] = random.choice(
        NUMBERS if random.random() < 0.9 else INVALID_NUMBERS
    )


def _insert_text(body: bytearray, at: int, random: Random) -> None:
    text = random.choice(TEXTS)
    body[at : at + len(text)] = text


def _repeat_bytes(body: bytearray, at: int, random: Random) -> None:
    body[at:at] = body[at : at + random.randint(1, 16)] * random.choice((1, 1, 1, 2, 40))


def _lengthen_number(body: bytearray, at: int, _: Random) -> None:
    """Encode a number in more bytes than necessary."""
    if at < len(body) and body[at] < 0x80:
        body[at : at + 1] = bytes((body[at] | 0x80, 0))


CHANGES: Final[tuple[Change, ...]] = (
    *(
        _flip_bit,
        _flip_bit,
        _flip_bit,
        _replace_byte,
        _replace_byte,
        _change_byte_slightly,
        _change_byte_slightly,
        _insert_bytes,
        _delete_bytes,
        _truncate,
        _insert_number,
        _insert_number,
        _insert_text,
        _repeat_bytes,
        _lengthen_number,
    ),
)

"""Forms of a value: what common functions make of it, as short keyed hashes.

A field that a function made from a source field has, in aligned rows, the value that the source's form has. All forms
of a value are hashed where the record is read; no text leaves it. A hash has 16 bits, which is enough for the agreement
of several rows and names no value.

Prefixes, suffixes and parts of a text allow guessing it step by step for whoever has the key. They are computed only
with a secret key, and not for texts that look like personal data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import blake2b, md5, sha1, sha256
from itertools import pairwise
from struct import Struct, pack, unpack_from
from typing import Final

__all__ = ["FORM_NAMES", "MAX_TEXT", "decode_forms", "encode_forms", "hash_forms"]

MAX_TEXT: Final = 512  #: characters of the longest text that has forms
MAX_PREFIX: Final = 16
MAX_SUFFIX: Final = 8
MAX_SEPARATORS: Final = 4  #: separators of a text at which parts begin and end

FORM_NAMES: Final = (
    "case and spaces",
    "MD5",
    "SHA-1",
    "SHA-256",
    *(f"first {length}" for length in range(1, MAX_PREFIX + 1)),
    *(f"last {length}" for length in range(1, MAX_SUFFIX + 1)),
    *(f"before separator {number}" for number in range(1, MAX_SEPARATORS + 1)),
    *(f"after separator {number}" for number in range(1, MAX_SEPARATORS + 1)),
    *(f"between separators {number} and {number + 1}" for number in range(1, MAX_SEPARATORS)),
)
"""Name of each form; its index is the form's bit in an encoded set."""

_FIRST_PREFIX: Final = 4
_FIRST_SUFFIX: Final = _FIRST_PREFIX + MAX_PREFIX
_FIRST_HEAD: Final = _FIRST_SUFFIX + MAX_SUFFIX
_FIRST_TAIL: Final = _FIRST_HEAD + MAX_SEPARATORS
_FIRST_MIDDLE: Final = _FIRST_TAIL + MAX_SEPARATORS
_SEPARATOR: Final = re.compile(r"[^0-9A-Za-z\u0080-\U0010ffff]")
_FLOAT: Final = re.compile(r"-?\d{1,15}\.0+")
_HEADER: Final = Struct("<IQ")
_HASH_BYTES: Final = 2


def hash_forms(text: str, key: bytes, *, parts: bool) -> dict[int, int]:
    """Return the hash of each form of a text, by the form's index in ``FORM_NAMES``.

    Args:
        text: the canonical text of the value.
        key: the key of all hashes.
        parts: whether prefixes, suffixes and parts are computed.
    """
    if not text or len(text) > MAX_TEXT:
        return {}
    forms = dict(_whole_forms(text))
    if parts:
        forms.update(_partial_forms(text))
    return {index: _hash(form, key) for index, form in forms.items()}


def _hash(text: str, key: bytes) -> int:
    """Return the upper 16 bits of ``sampling.hash_text``."""
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=8, key=key).digest()[6:], "little")


def _whole_forms(text: str) -> Iterator[tuple[int, str]]:
    yield 0, text.strip().casefold()
    data = text.encode(errors="surrogatepass")
    for index, digest in enumerate((md5, sha1, sha256), start=1):
        yield index, digest(data, usedforsecurity=False).hexdigest()


def _partial_forms(text: str) -> Iterator[tuple[int, str]]:
    for length in range(1, min(MAX_PREFIX, len(text) - 1) + 1):
        yield _FIRST_PREFIX + length - 1, text[:length]
    for length in range(1, min(MAX_SUFFIX, len(text) - 1) + 1):
        yield _FIRST_SUFFIX + length - 1, text[-length:]
    marks = [match.start() for match in _SEPARATOR.finditer(text)][:MAX_SEPARATORS]
    for number, mark in enumerate(marks):
        yield _FIRST_HEAD + number, _normalize_part(text[:mark])
        yield _FIRST_TAIL + number, _normalize_part(text[mark + 1 :])
    for number, (start, end) in enumerate(pairwise(marks)):
        yield _FIRST_MIDDLE + number, _normalize_part(text[start + 1 : end])


def _normalize_part(text: str) -> str:
    """Return the canonical text of a part: integral floats are integers."""
    return text.partition(".")[0] if _FLOAT.fullmatch(text) else text


def encode_forms(forms_by_field: Mapping[int, Mapping[int, int]]) -> bytes:
    """Return the forms of a row's values: of each field its id, a set of forms, and their hashes."""
    chunks = []
    for field, forms in sorted(forms_by_field.items()):
        if forms:
            indexes = sorted(forms)
            header = _HEADER.pack(field, sum(1 << index for index in indexes))
            chunks.append(header + pack(f"<{len(indexes)}H", *(forms[index] for index in indexes)))
    return b"".join(chunks)


def decode_forms(encoded: bytes) -> dict[int, dict[int, int]]:
    """Return the hashes of a row's forms, by field id and form."""
    forms: dict[int, dict[int, int]] = {}
    at = 0
    while at < len(encoded):
        field, bits = _HEADER.unpack_from(encoded, at)
        indexes = [index for index in range(len(FORM_NAMES)) if bits >> index & 1]
        at += _HEADER.size
        forms[field] = dict(zip(indexes, unpack_from(f"<{len(indexes)}H", encoded, at), strict=True))
        at += _HASH_BYTES * len(indexes)
    return forms

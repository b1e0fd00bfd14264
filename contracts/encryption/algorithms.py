"""Algorithms of data encryption keys (DEKs): generation of keys, encryption and decryption.

Ciphertexts have the form of Tink without associated data. AES-GCM: 12 bytes of nonce, the ciphertext, 16 bytes of tag.
AES-SIV (RFC 5297) is deterministic: 16 bytes of synthetic nonce, the ciphertext.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESSIV

from contractlog.contracts.encryption.errors import DecryptionFailed, InvalidKeyMaterial
from contractlog.contracts.encryption.tink_keys import parse_key, serialize_key

__all__ = ["GCM_OVERHEAD", "Cipher", "DekAlgorithm", "GcmCipher", "SivCipher", "create_cipher", "generate_key"]

_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16
GCM_OVERHEAD: Final = _NONCE_BYTES + _TAG_BYTES
_NO_ASSOCIATED_DATA: Final = b""


class DekAlgorithm(StrEnum):
    """Algorithm of a DEK, under its name in the API."""

    AES128_GCM = "AES128_GCM"
    AES256_GCM = "AES256_GCM"
    AES256_SIV = "AES256_SIV"


@dataclass(frozen=True, slots=True)
class _KeyForm:
    """Length of the key of an algorithm, and its field in the serialized key."""

    key_bytes: int
    field: int


_FORMS: Final = {
    DekAlgorithm.AES128_GCM: _KeyForm(16, 3),
    DekAlgorithm.AES256_GCM: _KeyForm(32, 3),
    DekAlgorithm.AES256_SIV: _KeyForm(64, 2),  # a key for CMAC, and one for CTR
}


class Cipher(Protocol):
    """A key in use; threads may share it."""

    def encrypt(self, plaintext: bytes) -> bytes:
        """Return the ciphertext."""

    def decrypt(self, ciphertext: bytes) -> bytes:
        """Return the plaintext.

        Raises:
            DecryptionFailed: the ciphertext was made with another key, or was changed.
        """


class GcmCipher:
    """AES-GCM with a random nonce for each message."""

    def __init__(self, key: bytes) -> None:
        self._aead = AESGCM(key)

    def encrypt(self, plaintext: bytes) -> bytes:
        """Return nonce, ciphertext and tag."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._aead.encrypt(nonce, plaintext, _NO_ASSOCIATED_DATA)

    def decrypt(self, ciphertext: bytes) -> bytes:
        """Return the plaintext.

        Raises:
            DecryptionFailed: the ciphertext was made with another key, or was changed.
        """
        if len(ciphertext) < GCM_OVERHEAD:
            raise DecryptionFailed
        try:
            return self._aead.decrypt(ciphertext[:_NONCE_BYTES], ciphertext[_NONCE_BYTES:], _NO_ASSOCIATED_DATA)
        except InvalidTag:
            raise DecryptionFailed from None


class SivCipher:
    """AES-SIV: equal plaintexts have equal ciphertexts."""

    def __init__(self, key: bytes) -> None:
        self._aead = AESSIV(key)

    def encrypt(self, plaintext: bytes) -> bytes:
        """Return synthetic nonce and ciphertext."""
        return self._aead.encrypt(plaintext, [_NO_ASSOCIATED_DATA])

    def decrypt(self, ciphertext: bytes) -> bytes:
        """Return the plaintext.

        Raises:
            DecryptionFailed: the ciphertext was made with another key, or was changed.
        """
        try:
            return self._aead.decrypt(ciphertext, [_NO_ASSOCIATED_DATA])
        except InvalidTag:
            raise DecryptionFailed from None


def generate_key(algorithm: DekAlgorithm) -> bytes:
    """Return a new random key in its serialized form."""
    form = _FORMS[algorithm]
    return serialize_key(os.urandom(form.key_bytes), form.field)


def create_cipher(algorithm: DekAlgorithm, serialized_key: bytes) -> Cipher:
    """Return the cipher of a serialized key.

    Raises:
        InvalidKeyMaterial: it is not a key of this algorithm.
    """
    form = _FORMS[algorithm]
    try:
        key = parse_key(serialized_key, form.field)
    except ValueError:
        raise InvalidKeyMaterial(algorithm=algorithm.value) from None
    if len(key) != form.key_bytes:
        raise InvalidKeyMaterial(algorithm=algorithm.value)
    return SivCipher(key) if algorithm is DekAlgorithm.AES256_SIV else GcmCipher(key)

"""Wrapping of keys with a local secret, the KMS type ``local-kms``."""

from __future__ import annotations

from typing import Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from contractlog.contracts.encryption.algorithms import GcmCipher

__all__ = ["LOCAL_KMS", "create_local_cipher"]

LOCAL_KMS: Final = "local-kms"  #: the KMS type
_KEY_BYTES: Final = 16


def create_local_cipher(secret: str) -> GcmCipher:
    """Return the cipher that wraps keys: AES128-GCM with HKDF-SHA256 of the secret, without salt and info."""
    key = HKDF(SHA256(), _KEY_BYTES, salt=None, info=None).derive(secret.encode())
    return GcmCipher(key)

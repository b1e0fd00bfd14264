"""Generation and wrapping of the DEKs of shared KEKs, which the registry does by itself."""

from __future__ import annotations

import base64
import binascii
from typing import Final

from contractlog.compatibility.errors import KeyGenerationFailed
from contractlog.contracts.encryption.algorithms import Cipher, DekAlgorithm, generate_key
from contractlog.contracts.encryption.errors import DecryptionFailed
from contractlog.contracts.encryption.local_kms import LOCAL_KMS, create_local_cipher
from contractlog.registry.features.dek_registry.key_values import StoredDek, StoredKek

__all__ = ["KeyGenerator"]

_TEST_SUBJECT: Final = "__TEST__"
_PROBE: Final = b"wrapped and unwrapped again"


class KeyGenerator:
    """Generates, wraps and unwraps DEKs with the KMS drivers of the registry: the local one.

    Args:
        local_secret: the secret of ``local-kms``; empty if there is none.
    """

    def __init__(self, local_secret: str) -> None:
        self._local = create_local_cipher(local_secret) if local_secret else None

    def generate(self, kek: StoredKek, subject: str, algorithm: DekAlgorithm) -> str:
        """Return a new key, wrapped, as base64.

        Raises:
            KeyGenerationFailed: the registry cannot use the KMS of the KEK.
        """
        return self.wrap(kek, subject, generate_key(algorithm))

    def wrap(self, kek: StoredKek, subject: str, key: bytes) -> str:
        """Return a wrapped key, as base64.

        Raises:
            KeyGenerationFailed: the registry cannot use the KMS of the KEK.
        """
        cipher = self._require_cipher(kek, f"Could not generate encrypted dek for {subject}")
        return base64.b64encode(cipher.encrypt(key)).decode()

    def unwrap(self, kek: StoredKek, dek: StoredDek) -> bytes:
        """Return the plaintext key of a DEK.

        Raises:
            KeyGenerationFailed: the registry cannot use the KMS of the KEK, or another key wrapped the DEK.
        """
        failure = f"Could not generate raw dek for {dek.id.subject}"
        cipher = self._require_cipher(kek, failure)
        try:
            return cipher.decrypt(base64.b64decode(dek.wrapped_key))
        except (DecryptionFailed, binascii.Error):
            detail = "the dek was wrapped with another key. Check the secret of the registry"
            raise KeyGenerationFailed(detail=f"{failure}: {detail}") from None

    def test(self, kek: StoredKek) -> None:
        """Wrap and unwrap a text.

        Raises:
            KeyGenerationFailed: the registry cannot use the KMS of the KEK.
        """
        cipher = self._require_cipher(kek, f"Could not generate encrypted dek for {_TEST_SUBJECT}")
        cipher.decrypt(cipher.encrypt(_PROBE))

    def _require_cipher(self, kek: StoredKek, failure: str) -> Cipher:
        if kek.kms_type != LOCAL_KMS:
            detail = f"this registry has no driver for the KMS type `{kek.kms_type}`, only for `{LOCAL_KMS}`"
            raise KeyGenerationFailed(detail=f"{failure}: {detail}. Use a KEK that is not shared")
        if self._local is None:
            detail = "this registry has no secret for `local-kms`. Set CONTRACTLOG_LOCAL_KMS_SECRET"
            raise KeyGenerationFailed(detail=f"{failure}: {detail}")
        return self._local

"""Errors of encryption; no message contains key material, plaintext or ciphertext."""

from __future__ import annotations

from contractlog.compatibility.errors import ContractlogError

__all__ = ["DecryptionFailed", "EncryptionError", "InvalidKeyMaterial"]


class EncryptionError(ContractlogError):
    """Base class of the errors of encryption and decryption."""


class InvalidKeyMaterial(EncryptionError):
    """A key is not a serialized key of its algorithm."""

    template = "The key material is not a serialized {algorithm} key. Check the algorithm of the DEK."


class DecryptionFailed(EncryptionError):
    """The ciphertext was not made with this key, or was changed."""

    template = "The ciphertext cannot be decrypted with this key: it was made with another key, or was changed."

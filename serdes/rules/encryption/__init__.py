"""Rules ENCRYPT and ENCRYPT_PAYLOAD: encryption and decryption of values; needs the extra ``rules``."""

from __future__ import annotations

from contractlog.serdes.rules.encryption.errors import (
    DekNotFound,
    EncryptionFailed,
    EncryptionRegistryError,
    InvalidEncryptionParameter,
    KekMismatch,
    KekNotFound,
    KeyUnwrapFailed,
    KmsUnavailable,
    Undecryptable,
    ValueNotEncryptable,
)
from contractlog.serdes.rules.encryption.executors import EncryptionExecutor, FieldEncryptionExecutor
from contractlog.serdes.rules.encryption.keyed_cipher import DekClock
from contractlog.serdes.rules.encryption.kms_drivers import KmsDriver, LocalKmsDriver, register_kms_driver

__all__ = [
    "DekClock",
    "DekNotFound",
    "EncryptionExecutor",
    "EncryptionFailed",
    "EncryptionRegistryError",
    "FieldEncryptionExecutor",
    "InvalidEncryptionParameter",
    "KekMismatch",
    "KekNotFound",
    "KeyUnwrapFailed",
    "KmsDriver",
    "KmsUnavailable",
    "LocalKmsDriver",
    "Undecryptable",
    "ValueNotEncryptable",
    "register_kms_driver",
]

"""Drivers of key management services (KMS), with confluent-kafka's names and methods.

Drivers that were written for confluent-kafka work without changes: only methods are called. Our own, of ``local-kms``,
``aws-kms``, ``azure-kms``, ``gcp-kms`` and ``hcvault``, need no registration.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, Protocol

from contractlog.contracts.encryption.local_kms import LOCAL_KMS, create_local_cipher
from contractlog.serdes.errors import RuleError

__all__ = [
    "KeyWrapper",
    "KmsClient",
    "KmsDriver",
    "LocalKmsDriver",
    "failed_operation",
    "find_kms_driver",
    "register_kms_driver",
    "reset_kms_drivers",
]

_SECRET: Final = "secret"  # noqa: S105 - the name of a key of the configuration
_SECRET_VARIABLE: Final = "LOCAL_SECRET"  # noqa: S105 - the name of a variable


class KeyWrapper(Protocol):
    """A key of a KMS in use."""

    def encrypt(self, plaintext: bytes, associated_data: bytes) -> bytes:
        """Return the wrapped key."""

    def decrypt(self, ciphertext: bytes, associated_data: bytes) -> bytes:
        """Return the key."""


class KmsClient(Protocol):
    """A connection to a KMS."""

    def get_aead(self, key_uri: str) -> KeyWrapper:
        """Return a key by its URL."""


class KmsDriver(ABC):
    """Creates connections to a KMS."""

    @abstractmethod
    def get_key_url_prefix(self) -> str:
        """Return the prefix of the URLs of its keys: the type of the KMS and ``://``."""

    @abstractmethod
    def new_kms_client(self, conf: Mapping[str, Any], key_url: str) -> KmsClient:
        """Return a connection.

        Args:
            conf: the configuration of rules, with the properties of the KEK.
            key_url: the URL of a key: the type of the KMS, ``://`` and the id of the key.
        """


class _LocalKmsClient:
    """The local secret as a KMS; every key id is the same key."""

    def __init__(self, secret: str) -> None:
        self._cipher = create_local_cipher(secret)

    def get_aead(self, key_uri: str) -> KeyWrapper:  # noqa: ARG002 -- the interface's
        """Return the key."""
        return self

    def encrypt(self, plaintext: bytes, associated_data: bytes) -> bytes:  # noqa: ARG002 -- the interface's
        """Return the wrapped key."""
        return self._cipher.encrypt(plaintext)

    def decrypt(self, ciphertext: bytes, associated_data: bytes) -> bytes:  # noqa: ARG002 -- the interface's
        """Return the key."""
        return self._cipher.decrypt(ciphertext)


class LocalKmsDriver(KmsDriver):
    """Driver of ``local-kms``, with the secret of the configuration, or of ``LOCAL_SECRET``."""

    def get_key_url_prefix(self) -> str:
        """Return ``local-kms://``."""
        return f"{LOCAL_KMS}://"

    def new_kms_client(self, conf: Mapping[str, Any], key_url: str) -> KmsClient:  # noqa: ARG002 -- the interface's
        """Return the secret as a KMS.

        Raises:
            RuleError: there is no secret.
        """
        secret = conf.get(_SECRET) or os.environ.get(_SECRET_VARIABLE)
        if not secret:
            raise RuleError(f"there is no secret: set `{_SECRET}` in the configuration of rules, or {_SECRET_VARIABLE}")
        return _LocalKmsClient(str(secret))

    @classmethod
    def register(cls) -> None:
        """Register the driver. Exists for programs written for confluent-kafka; lookups need no registration."""
        register_kms_driver(cls())


_DRIVERS: Final[list[Any]] = []
_LOCK: Final = threading.Lock()
#: Modules and classes of the drivers that need no registration, by the prefix of their URLs.
_BUILTIN_DRIVERS: Final[Mapping[str, tuple[str, str]]] = {
    "local-kms://": (__name__, "LocalKmsDriver"),
    "aws-kms://": ("contractlog.serdes.rules.encryption.aws_kms_driver", "AwsKmsDriver"),
    "azure-kms://": ("contractlog.serdes.rules.encryption.azure_kms_driver", "AzureKmsDriver"),
    "gcp-kms://": ("contractlog.serdes.rules.encryption.gcp_kms_driver", "GcpKmsDriver"),
    "hcvault://": ("contractlog.serdes.rules.encryption.vault_kms_driver", "VaultKmsDriver"),
}


def register_kms_driver(driver: Any) -> None:
    """Register a driver for all executors, after those that were registered before."""
    with _LOCK:
        _DRIVERS.append(driver)


def reset_kms_drivers() -> None:
    """Remove all registered drivers."""
    with _LOCK:
        _DRIVERS.clear()


def find_kms_driver(key_url: str) -> Any:
    """Return the first driver for a URL.

    Raises:
        RuleError: there is none.
    """
    with _LOCK:
        drivers = [*_DRIVERS]
    for driver in drivers:
        if key_url.startswith(driver.get_key_url_prefix()):
            return driver
    kms_type, separator, _ = key_url.partition("://")
    if kms_type + separator in _BUILTIN_DRIVERS:
        return _create_driver(kms_type, *_BUILTIN_DRIVERS[kms_type + separator])
    raise RuleError(f"there is no driver for the KMS type {kms_type}: register one with register_kms_driver")


def failed_operation(kms: str, operation: str, error: Exception) -> RuleError:
    """Return our error, with the class of the library's alone: its text may have names."""
    return RuleError(f"{kms} failed on {operation} with {type(error).__name__}")


def _create_driver(kms_type: str, module: str, class_name: str) -> Any:
    try:
        return getattr(import_module(module), class_name)()
    except ImportError:
        extra = kms_type.partition("-")[0]
        raise RuleError(f"the KMS type {kms_type} needs an extra: pip install 'contractlog[{extra}]'") from None

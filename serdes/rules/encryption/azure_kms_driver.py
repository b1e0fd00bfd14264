"""Driver of Azure Key Vault (``azure-kms``); needs the extra ``azure``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from azure.core.exceptions import AzureError, HttpResponseError
from azure.identity import ClientSecretCredential, DefaultAzureCredential
from azure.keyvault.keys import KeyClient
from azure.keyvault.keys.crypto import CryptographyClient, EncryptionAlgorithm

from contractlog.contracts.encryption.errors import DecryptionFailed
from contractlog.serdes.errors import RuleError
from contractlog.serdes.rules.encryption.kms_drivers import (
    KeyWrapper,
    KmsClient,
    KmsDriver,
    failed_operation,
    register_kms_driver,
)

__all__ = ["AzureKmsDriver"]

_KMS: Final = "Azure Key Vault"
_PREFIX: Final = "azure-kms://"
_KEY_ID: Final = re.compile(
    r"(https://[a-z0-9.-]{1,253}(?::[0-9]{1,5})?)/keys/([a-z0-9-]{1,127})(?:/([0-9a-f]{32}))?", re.ASCII | re.IGNORECASE
)
#: Form of a wrapped key that has the version of the key that wrapped it: ``azure:v1:VERSION:`` and the ciphertext.
_VERSIONED: Final = re.compile(rb"azure:v1:([0-9a-f]{32}):(.*)", re.ASCII | re.IGNORECASE | re.DOTALL)
_VERSION_SAVE: Final = "encrypt.azure.key.version.save"
_ALGORITHM: Final = EncryptionAlgorithm.rsa_oaep_256
_LIMITS: Final[Mapping[str, Any]] = {"connection_timeout": 5, "read_timeout": 10, "retry_total": 2}
_BAD_REQUEST: Final = 400  #: the response to a ciphertext that another key made


class AzureKmsDriver(KmsDriver):
    """Driver of Azure Key Vault; keys are named by ``https://VAULT.vault.azure.net/keys/NAME/VERSION``.

    The configuration of rules may have ``tenant.id``, ``client.id`` and ``client.secret``. Without them, the
    credentials are those that azure-identity finds. The version in the id may be absent; with
    ``encrypt.azure.key.version.save``, the wrapped key has the version in use, so that the key can be rotated.
    """

    def get_key_url_prefix(self) -> str:
        """Return ``azure-kms://``."""
        return _PREFIX

    def new_kms_client(self, conf: Mapping[str, Any], key_url: str) -> KmsClient:
        """Return a connection to a vault.

        Raises:
            RuleError: the id of the key is not valid.
        """
        _KeyId.parse(key_url)
        tenant, client, secret = (conf.get(name) for name in ("tenant.id", "client.id", "client.secret"))
        try:
            credential: Any = (
                ClientSecretCredential(tenant, client, secret)
                if tenant and client and secret
                else DefaultAzureCredential()
            )
        except ValueError:
            raise RuleError("tenant.id, client.id and client.secret are not valid") from None
        return _AzureKmsClient(credential, saves_version=str(conf.get(_VERSION_SAVE, "")).lower() == "true")

    @classmethod
    def register(cls) -> None:
        """Register the driver. Exists for programs written for confluent-kafka; lookups need no registration."""
        register_kms_driver(cls())


@dataclass(frozen=True, slots=True)
class _KeyId:
    """The id of a key; without a version, the latest is used."""

    vault: str
    name: str
    version: str | None

    @classmethod
    def parse(cls, key_url: str) -> _KeyId:
        """Parse the URL of a key.

        Raises:
            RuleError: the id of the key is not valid.
        """
        match = _KEY_ID.fullmatch(key_url.removeprefix(_PREFIX))
        if match is None:
            raise RuleError(
                "the id of a key in Azure is https://VAULT.vault.azure.net/keys/NAME, perhaps with /VERSION"
            )
        return cls(match[1], match[2], match[3])

    def url(self, version: str | None) -> str:
        """Return the URL of a version; None is the latest."""
        return f"{self.vault}/keys/{self.name}" + ("" if version is None else f"/{version}")


class _AzureKmsClient:
    """A connection to a vault."""

    def __init__(self, credential: Any, *, saves_version: bool) -> None:
        self._credential = credential
        self._saves_version = saves_version

    def get_aead(self, key_uri: str) -> KeyWrapper:
        """Return a key."""
        return _AzureKey(_KeyId.parse(key_uri), self._credential, saves_version=self._saves_version)


class _AzureKey:
    """A key in a vault."""

    def __init__(self, key_id: _KeyId, credential: Any, *, saves_version: bool) -> None:
        self._id = key_id
        self._credential = credential
        self._saves_version = saves_version

    def encrypt(self, plaintext: bytes, associated_data: bytes) -> bytes:  # noqa: ARG002 -- always empty
        """Return the wrapped key, with the version that wrapped it if this is configured."""
        try:
            version = self._id.version
            if self._saves_version and version is None:
                with KeyClient(self._id.vault, self._credential, **_LIMITS) as keys:
                    version = keys.get_key(self._id.name).properties.version
            with self._open(version) as client:
                ciphertext = bytes(client.encrypt(_ALGORITHM, plaintext).ciphertext)
        except AzureError as error:
            raise failed_operation(_KMS, "encrypt", error) from None
        return b"azure:v1:%s:%s" % (str(version).encode(), ciphertext) if self._saves_version else ciphertext

    def decrypt(self, ciphertext: bytes, associated_data: bytes) -> bytes:  # noqa: ARG002 -- always empty
        """Return the key.

        Raises:
            DecryptionFailed: another key wrapped it.
        """
        match = _VERSIONED.fullmatch(ciphertext)
        version, wrapped = (self._id.version, ciphertext) if match is None else (match[1].decode(), match[2])
        try:
            with self._open(version) as client:
                return bytes(client.decrypt(_ALGORITHM, wrapped).plaintext)
        except ValueError:
            raise DecryptionFailed from None
        except AzureError as error:
            if isinstance(error, HttpResponseError) and error.status_code == _BAD_REQUEST:
                raise DecryptionFailed from None
            raise failed_operation(_KMS, "decrypt", error) from None

    def _open(self, version: str | None) -> CryptographyClient:
        return CryptographyClient(self._id.url(version), self._credential, **_LIMITS)

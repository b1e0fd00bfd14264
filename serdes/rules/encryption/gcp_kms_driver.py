"""Driver of Google Cloud KMS (``gcp-kms``); needs the extra ``gcp``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from google.api_core.exceptions import GoogleAPIError, InvalidArgument
from google.auth.exceptions import GoogleAuthError
from google.cloud import kms_v1
from google.oauth2 import service_account

from contractlog.contracts.encryption.errors import DecryptionFailed
from contractlog.serdes.errors import RuleError
from contractlog.serdes.rules.encryption.kms_drivers import (
    KeyWrapper,
    KmsClient,
    KmsDriver,
    failed_operation,
    register_kms_driver,
)

__all__ = ["GcpKmsDriver"]

_KMS: Final = "Google Cloud KMS"
_PREFIX: Final = "gcp-kms://"
_KEY_NAME: Final = re.compile(
    r"projects/[^/\s]{1,128}/locations/[\w-]{1,63}/keyRings/[\w-]{1,63}/cryptoKeys/[\w-]{1,63}", re.ASCII
)
_TOKEN_URI: Final = "https://oauth2.googleapis.com/token"  # noqa: S105 -- an address
_SERVICE_ACCOUNT: Final = "service_account"
_SECONDS: Final = 10.0  #: of a request
#: Keys of the configuration, with those of a service account's file.
_MEMBERS: Final[Mapping[str, str]] = {
    "client.id": "client_id",
    "client.email": "client_email",
    "private.key.id": "private_key_id",
    "private.key": "private_key",
}


class GcpKmsDriver(KmsDriver):
    """Driver of Google Cloud KMS; keys are named by ``projects/…/locations/…/keyRings/…/cryptoKeys/…``.

    The configuration of rules may have ``client.id``, ``client.email``, ``private.key.id``, ``private.key`` and
    ``token.uri`` of a service account. Without them, the credentials are those that google-auth finds.
    """

    def get_key_url_prefix(self) -> str:
        """Return ``gcp-kms://``."""
        return _PREFIX

    def new_kms_client(self, conf: Mapping[str, Any], key_url: str) -> KmsClient:
        """Return a connection.

        Raises:
            RuleError: the id of the key, or the credentials, are not valid.
        """
        _parse_name(key_url)
        if conf.get("account.type", _SERVICE_ACCOUNT) != _SERVICE_ACCOUNT:
            raise RuleError(f"account.type must be {_SERVICE_ACCOUNT}")
        members = {member: conf.get(name) for name, member in _MEMBERS.items()}
        try:
            credentials = _make_credentials(members, conf.get("token.uri")) if all(members.values()) else None
            return _GcpKmsClient(kms_v1.KeyManagementServiceClient(credentials=credentials))
        except (ValueError, GoogleAuthError) as error:
            raise RuleError(f"the credentials of Google Cloud cannot be used: {type(error).__name__}") from None

    @classmethod
    def register(cls) -> None:
        """Register the driver. Exists for programs written for confluent-kafka; lookups need no registration."""
        register_kms_driver(cls())


def _make_credentials(members: Mapping[str, Any], token_uri: Any) -> Any:
    info = {"type": _SERVICE_ACCOUNT, "token_uri": token_uri or _TOKEN_URI, **members}
    credentials: Any = service_account.Credentials  # whose methods have no types
    return credentials.from_service_account_info(info)


class _GcpKmsClient:
    """A connection to Google Cloud KMS."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def get_aead(self, key_uri: str) -> KeyWrapper:
        """Return a key."""
        return _GcpKey(self._client, _parse_name(key_uri))


class _GcpKey:
    """A key in Google Cloud KMS."""

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self._name = name

    def encrypt(self, plaintext: bytes, associated_data: bytes) -> bytes:  # noqa: ARG002 -- always empty
        """Return the wrapped key."""
        request = {"name": self._name, "plaintext": plaintext}
        try:
            return bytes(self._client.encrypt(request=request, timeout=_SECONDS, retry=None).ciphertext)
        except (GoogleAPIError, GoogleAuthError) as error:
            raise failed_operation(_KMS, "encrypt", error) from None

    def decrypt(self, ciphertext: bytes, associated_data: bytes) -> bytes:  # noqa: ARG002 -- always empty
        """Return the key.

        Raises:
            DecryptionFailed: another key wrapped it.
        """
        request = {"name": self._name, "ciphertext": ciphertext}
        try:
            return bytes(self._client.decrypt(request=request, timeout=_SECONDS, retry=None).plaintext)
        except InvalidArgument:
            raise DecryptionFailed from None
        except (GoogleAPIError, GoogleAuthError) as error:
            raise failed_operation(_KMS, "decrypt", error) from None


def _parse_name(key_url: str) -> str:
    """Return the name of a key.

    Raises:
        RuleError: it is not valid.
    """
    name = key_url.removeprefix(_PREFIX)
    if _KEY_NAME.fullmatch(name) is None:
        raise RuleError(
            "the id of a key in Google Cloud is projects/PROJECT/locations/PLACE/keyRings/RING/cryptoKeys/NAME"
        )
    return name

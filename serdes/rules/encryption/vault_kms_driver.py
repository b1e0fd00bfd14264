"""Driver of the transit engine of Vault and OpenBao; needs the extra ``hcvault``."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import hvac
from hvac.exceptions import InvalidRequest, VaultError
from requests.exceptions import RequestException

from contractlog.compatibility.loopback import is_loopback
from contractlog.contracts.encryption.errors import DecryptionFailed
from contractlog.serdes.errors import RuleError
from contractlog.serdes.rules.encryption.kms_drivers import (
    KeyWrapper,
    KmsClient,
    KmsDriver,
    failed_operation,
    register_kms_driver,
)

__all__ = ["VaultKmsDriver"]

_KMS: Final = "Vault"
_PREFIX: Final = "hcvault://"
_KEY_PATH: Final = re.compile(r"/((?:[\w.~-]{1,128}/){1,16})keys/([\w.~-]{1,256})", re.ASCII)
_SECONDS: Final = 10  #: of a request
#: Parts of Vault's messages on a ciphertext that another key made.
_OTHER_KEY: Final = ("message authentication failed", "invalid ciphertext")
_SETTINGS: Final[Mapping[str, str]] = {
    "token.id": "VAULT_TOKEN",
    "namespace": "VAULT_NAMESPACE",
    "approle.role.id": "VAULT_APPROLE_ROLE_ID",
    "approle.secret.id": "VAULT_APPROLE_SECRET_ID",
    "ssl.ca.location": "VAULT_CACERT",
    "ssl.certificate.location": "VAULT_CLIENT_CERT",
    "ssl.key.location": "VAULT_CLIENT_KEY",
}


class VaultKmsDriver(KmsDriver):
    """Driver of the transit engine; keys are named by ``https://HOST:PORT/MOUNT/keys/NAME``.

    The configuration of rules may have ``token.id``, ``namespace``, ``approle.role.id`` and ``approle.secret.id``,
    ``ssl.ca.location``, ``ssl.certificate.location`` and ``ssl.key.location``, or else Vault's variables.
    """

    def get_key_url_prefix(self) -> str:
        """Return ``hcvault://``."""
        return _PREFIX

    def new_kms_client(self, conf: Mapping[str, Any], key_url: str) -> KmsClient:
        """Return a connection to the server of a key.

        Raises:
            RuleError: the id of the key is not valid, or the login failed.
        """
        url, _, _ = _parse_key(key_url)
        address = _require_trusted(url)
        settings = {name: conf.get(name) or os.environ.get(variable) for name, variable in _SETTINGS.items()}
        certificate, key = settings["ssl.certificate.location"], settings["ssl.key.location"]
        client = hvac.Client(
            url=address,
            token=settings["token.id"],
            namespace=settings["namespace"],
            verify=settings["ssl.ca.location"] or True,
            cert=(certificate, key) if certificate and key else certificate,
            timeout=_SECONDS,
            allow_redirects=False,  # a redirect would get the token
        )
        role, secret = settings["approle.role.id"], settings["approle.secret.id"]
        if role and secret:
            try:
                client.auth.approle.login(role_id=role, secret_id=secret)
            except (VaultError, RequestException) as error:
                raise failed_operation(_KMS, "the login", error) from None
        return _VaultKmsClient(client)

    @classmethod
    def register(cls) -> None:
        """Register the driver. Exists for programs written for confluent-kafka; lookups need no registration."""
        register_kms_driver(cls())


class _VaultKmsClient:
    """A connection to a server."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def get_aead(self, key_uri: str) -> KeyWrapper:
        """Return a key."""
        _, mount, name = _parse_key(key_uri)
        return _VaultKey(self._client.secrets.transit, mount, name)


class _VaultKey:
    """A key of the transit engine."""

    def __init__(self, transit: Any, mount: str, name: str) -> None:
        self._transit = transit
        self._mount = mount
        self._name = name

    def encrypt(self, plaintext: bytes, associated_data: bytes) -> bytes:  # noqa: ARG002 -- always empty
        """Return the wrapped key, a text such as ``vault:v1:…``."""
        try:
            response = self._transit.encrypt_data(
                name=self._name, plaintext=base64.b64encode(plaintext).decode(), mount_point=self._mount
            )
            return str(response["data"]["ciphertext"]).encode()
        except (VaultError, RequestException) as error:
            raise failed_operation(_KMS, "encrypt", error) from None

    def decrypt(self, ciphertext: bytes, associated_data: bytes) -> bytes:  # noqa: ARG002 -- always empty
        """Return the key.

        Raises:
            DecryptionFailed: another key wrapped it.
        """
        try:
            response = self._transit.decrypt_data(
                name=self._name, ciphertext=ciphertext.decode(), mount_point=self._mount
            )
            return base64.b64decode(response["data"]["plaintext"])
        except UnicodeDecodeError:
            raise DecryptionFailed from None
        except InvalidRequest as error:
            if any(part in str(error) for part in _OTHER_KEY):
                raise DecryptionFailed from None
            raise failed_operation(_KMS, "decrypt", error) from None
        except (VaultError, RequestException) as error:
            raise failed_operation(_KMS, "decrypt", error) from None


def _parse_key(key_url: str) -> tuple[SplitResult, str, str]:
    """Return the URL, the mount point and the name of a key.

    Raises:
        RuleError: the id of the key is not valid.
    """
    try:
        url = urlsplit(key_url.removeprefix(_PREFIX))
        valid = url.scheme in {"http", "https"} and url.hostname and "@" not in url.netloc and url.port != 0
    except ValueError:
        valid = False
    match = _KEY_PATH.fullmatch(url.path) if valid else None
    if match is None or url.query or url.fragment:
        raise RuleError("the id of a key in Vault is https://HOST:PORT/MOUNT/keys/NAME")
    return url, match[1].rstrip("/"), match[2]


def _require_trusted(url: SplitResult) -> str:
    """Return the address of a server to which credentials may be sent.

    The id of a key, which has the address, comes from the registry.

    Raises:
        RuleError: ``VAULT_ADDR`` names another server, or the connection would not be encrypted.
    """
    address = f"{url.scheme}://{url.netloc}"
    expected = os.environ.get("VAULT_ADDR")
    if expected and expected.rstrip("/") != address:
        raise RuleError("the key is on another server than VAULT_ADDR, which would get the credentials of this one")
    if not expected and url.scheme != "https" and not is_loopback(url.hostname or ""):
        raise RuleError("the key is on a server without TLS: to allow it, set VAULT_ADDR to its address")
    return address

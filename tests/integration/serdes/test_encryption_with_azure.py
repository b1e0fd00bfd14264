"""Requests to Azure Key Vault are those of confluent-kafka's driver; failures are typed."""

from __future__ import annotations

import logging
import re
import socket
import time
import traceback
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from azure.core.credentials import AccessTokenInfo
from azure.identity import ClientSecretCredential
from cryptography import x509
from cryptography.x509.oid import NameOID

from contractlog.clients import Registry
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings
from contractlog.serdes.errors import RuleError
from contractlog.serdes.rules.encryption import FieldEncryptionExecutor, KeyUnwrapFailed, KmsUnavailable
from contractlog.serdes.rules.encryption.azure_kms_driver import AzureKmsDriver
from contractlog.serdes.rules.encryption.kms_drivers import find_kms_driver

from support.encryption_rules import run_rule
from support.key_vault import KeyVault, serve_vault
from support.tls import Authority

pytestmark = pytest.mark.integration
TENANT = "00000000-0000-0000-0000-000000000001"
CREDENTIALS = {"tenant.id": TENANT, "client.id": "client", "client.secret": "planted secret 4711"}
VERSION = "0123456789abcdef0123456789abcdef"


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeyVault]:
    authority = Authority(tmp_path_factory.mktemp("tls"))
    pair = authority.sign_certificate("vault", [(NameOID.COMMON_NAME, "vault")], [x509.DNSName("one.vault.example")])
    served = KeyVault({"first": VERSION, "second": VERSION})
    with pytest.MonkeyPatch.context() as patch, serve_vault(served, pair) as port:
        served.host = f"one.vault.example:{port}"
        resolve = socket.getaddrinfo
        patch.setattr(socket, "getaddrinfo", lambda _, *more, **named: resolve("127.0.0.1", *more, **named))
        patch.setenv("REQUESTS_CA_BUNDLE", str(authority.certificate))
        token = AccessTokenInfo("token-4711", int(time.time()) + 3_600)
        patch.setattr(ClientSecretCredential, "get_token_info", lambda *_, **__: token)
        yield served


@pytest.fixture
def registry() -> Iterator[Registry]:
    app = create_app(Settings(database_url="sqlite://"))
    with Registry(app=app) as client:
        yield client
    app.state.close()


def make(registry: Registry, **conf: str) -> FieldEncryptionExecutor:
    executor = FieldEncryptionExecutor(registry=registry)
    executor.configure({}, CREDENTIALS | conf)
    return executor


def options(key_id: str, kek: str = "pii") -> dict[str, str]:
    return {"encrypt_kek_name": kek, "encrypt_kms_type": "azure-kms", "encrypt_kms_key_id": key_id}


def test_a_key_in_azure_wraps_and_unwraps(vault: KeyVault, registry: Registry) -> None:
    key_id = f"https://{vault.host}/keys/first/{VERSION}"
    encrypted = run_rule(make(registry), "WRITE", "x", **options(key_id))
    assert run_rule(make(registry), "READ", encrypted, **options(key_id)) == "x"


def test_another_key_unwraps_nothing(vault: KeyVault, registry: Registry) -> None:
    right, wrong = (f"https://{vault.host}/keys/{name}/{VERSION}" for name in ("first", "second"))
    encrypted = run_rule(make(registry), "WRITE", "x", **options(right, "first"))
    registry.create_kek("second", "azure-kms", wrong)
    registry.create_dek("second", "orders-value", registry.dek("first", "orders-value").encrypted_key_material)
    with pytest.raises(KeyUnwrapFailed):
        run_rule(make(registry), "READ", encrypted, **options(wrong, "second"))


@pytest.mark.parametrize(
    ("key_id", "message"),
    [
        ("http://{host}/keys/first", "the id of a key in Azure is https://"),
        ("https://{host}/keys/first/../other", "the id of a key in Azure is https://"),
        ("https://{host}/keys/none/" + VERSION, "Azure Key Vault failed on decrypt with ResourceNotFoundError"),
    ],
)
def test_a_key_that_cannot_be_used_is_a_typed_error_without_secrets(
    vault: KeyVault, registry: Registry, caplog: pytest.LogCaptureFixture, key_id: str, message: str
) -> None:
    caplog.set_level(logging.DEBUG)
    registry.create_kek("pii", "azure-kms", key_id.format(host=vault.host))
    registry.create_dek("pii", "orders-value", "d3JhcHBlZA==")
    with pytest.raises(KmsUnavailable, match=re.escape(message)) as failure:
        run_rule(make(registry), "READ", "QUJD", **options(key_id.format(host=vault.host)))
    assert isinstance(failure.value, RuleError)
    told = "".join(traceback.format_exception(failure.value)) + caplog.text
    assert CREDENTIALS["client.secret"] not in told
    assert "token-4711" not in told


@pytest.mark.parametrize("saves", [False, True])
def test_requests_and_wrapped_keys_are_those_of_the_official_driver(vault: KeyVault, *, saves: bool) -> None:
    official = import_module("confluent_kafka.schema_registry.rules.encryption.azurekms.azure_driver")
    url = f"azure-kms://https://{vault.host}/keys/first"
    conf = CREDENTIALS | ({"encrypt.azure.key.version.save": "true"} if saves else {})
    drivers = [AzureKmsDriver(), official.AzureKmsDriver()]
    recorded: list[Any] = []
    wrapped: list[bytes] = []
    for driver in drivers:
        vault.requests.clear()
        wrapped.append(driver.new_kms_client(conf, url).get_aead(url).encrypt(b"key", b""))
        recorded.append([*vault.requests])
    assert recorded[0] == recorded[1]
    assert [each.startswith(b"azure:v1:" + VERSION.encode() + b":") for each in wrapped] == [saves, saves]
    for ciphertext in wrapped:
        unwrapping: list[Any] = []
        for driver in drivers:
            vault.requests.clear()
            assert driver.new_kms_client(CREDENTIALS, url).get_aead(url).decrypt(ciphertext, b"") == b"key"
            unwrapping.append([*vault.requests])
        assert unwrapping[0] == unwrapping[1]
    assert isinstance(find_kms_driver(url), AzureKmsDriver)

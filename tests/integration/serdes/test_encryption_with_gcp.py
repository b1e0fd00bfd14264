"""Requests to Google Cloud KMS are those of confluent-kafka's driver; failures are typed."""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import grpc
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.cloud import kms_v1
from google.cloud.kms_v1.services.key_management_service.transports import KeyManagementServiceGrpcTransport

from contractlog.clients import Registry
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings
from contractlog.serdes.errors import RuleError
from contractlog.serdes.rules.encryption import FieldEncryptionExecutor, KeyUnwrapFailed, KmsUnavailable
from contractlog.serdes.rules.encryption.gcp_kms_driver import GcpKmsDriver
from contractlog.serdes.rules.encryption.kms_drivers import find_kms_driver

from support.encryption_rules import run_rule

pytestmark = pytest.mark.integration
RING = "projects/p/locations/europe/keyRings/ring/cryptoKeys"
PRIVATE_KEY = (
    rsa.generate_private_key(65_537, 2_048)
    .private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    .decode()
)
CREDENTIALS = {
    "client.id": "1", "client.email": "a@b.example", "private.key.id": "planted-id-4711", "private.key": PRIVATE_KEY,
}  # fmt: skip


class Endpoint:
    """Google's service: its ciphertexts are the name of the key and the plaintext; it records the requests."""

    def __init__(self) -> None:
        self.requests: list[Any] = []

    def encrypt(self, request: kms_v1.EncryptRequest, context: grpc.ServicerContext) -> kms_v1.EncryptResponse:
        self.requests.append(request)
        if request.name.endswith("/none"):
            context.abort(grpc.StatusCode.NOT_FOUND, f"{request.name} not found")
        return kms_v1.EncryptResponse(ciphertext=request.name.encode() + b"|" + request.plaintext[::-1])

    def decrypt(self, request: kms_v1.DecryptRequest, context: grpc.ServicerContext) -> kms_v1.DecryptResponse:
        self.requests.append(request)
        name, _, content = request.ciphertext.partition(b"|")
        if name.decode() != request.name:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "Decryption failed")
        return kms_v1.DecryptResponse(plaintext=content[::-1])

    def handlers(self) -> Any:
        """Return the handlers of the service."""
        kinds = {"Encrypt": (self.encrypt, kms_v1.EncryptRequest, kms_v1.EncryptResponse),
                 "Decrypt": (self.decrypt, kms_v1.DecryptRequest, kms_v1.DecryptResponse)}  # fmt: skip
        methods = {
            name: grpc.unary_unary_rpc_method_handler(run, request.deserialize, response.serialize)
            for name, (run, request, response) in kinds.items()
        }
        return grpc.method_handlers_generic_handler("google.cloud.kms.v1.KeyManagementService", methods)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    served, server = Endpoint(), grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((served.handlers(),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    channel = grpc.insecure_channel(f"127.0.0.1:{port}")
    original = kms_v1.KeyManagementServiceClient

    def connect(credentials: Any = None) -> Any:
        del credentials  # the channel is local
        return original(transport=KeyManagementServiceGrpcTransport(channel=channel))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kms_v1, "KeyManagementServiceClient", connect)
        yield served
    channel.close()
    server.stop(None).wait()


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
    return {"encrypt_kek_name": kek, "encrypt_kms_type": "gcp-kms", "encrypt_kms_key_id": key_id}


def test_a_key_in_google_cloud_wraps_and_unwraps(endpoint: Endpoint, registry: Registry) -> None:
    encrypted = run_rule(make(registry), "WRITE", "x", **options(f"{RING}/one"))
    assert run_rule(make(registry), "READ", encrypted, **options(f"{RING}/one")) == "x"


def test_another_key_unwraps_nothing(endpoint: Endpoint, registry: Registry) -> None:
    encrypted = run_rule(make(registry), "WRITE", "x", **options(f"{RING}/one", "first"))
    registry.create_kek("second", "gcp-kms", f"{RING}/two")
    registry.create_dek("second", "orders-value", registry.dek("first", "orders-value").encrypted_key_material)
    with pytest.raises(KeyUnwrapFailed):
        run_rule(make(registry), "READ", encrypted, **options(f"{RING}/two", "second"))


@pytest.mark.parametrize(
    ("key_id", "conf", "message"),
    [
        (f"{RING}/none", {}, "Google Cloud KMS failed on encrypt with NotFound"),
        (f"{RING}/one/../two", {}, "the id of a key in Google Cloud is projects/"),
        ("https://evil.example/key", {}, "the id of a key in Google Cloud is projects/"),
        (f"{RING}/one", {"account.type": "user"}, "account.type must be service_account"),
        (f"{RING}/one", {"private.key": "planted-key-4711"}, "the credentials of Google Cloud cannot be used"),
    ],
)
@pytest.mark.usefixtures("endpoint")
def test_a_key_that_cannot_be_used_is_a_typed_error_without_secrets(
    registry: Registry,
    caplog: pytest.LogCaptureFixture,
    key_id: str,
    conf: dict[str, str],
    message: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(KmsUnavailable, match=re.escape(message)) as failure:
        run_rule(make(registry, **conf), "WRITE", "x", **options(key_id))
    assert isinstance(failure.value, RuleError)
    told = "".join(traceback.format_exception(failure.value)) + caplog.text
    assert "4711" not in told
    assert PRIVATE_KEY not in told


def test_requests_and_wrapped_keys_are_those_of_the_official_driver(endpoint: Endpoint) -> None:
    official = import_module("confluent_kafka.schema_registry.rules.encryption.gcpkms.gcp_driver")
    url = f"gcp-kms://{RING}/one"
    results: list[Any] = []
    for driver in (GcpKmsDriver(), official.GcpKmsDriver()):
        endpoint.requests.clear()
        key = driver.new_kms_client(CREDENTIALS, url).get_aead(url)
        wrapped = key.encrypt(b"key", b"")
        assert key.decrypt(wrapped, b"") == b"key"
        results.append((wrapped, [*endpoint.requests]))
    assert results[0] == results[1]
    assert isinstance(find_kms_driver(url), GcpKmsDriver)

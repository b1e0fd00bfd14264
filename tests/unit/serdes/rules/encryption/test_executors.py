"""Encrypted values stay readable as keys rotate; failures are typed and never show a secret."""

from __future__ import annotations

import base64
import io
import logging
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from contractlog.clients import Registry
from contractlog.contracts.encryption.algorithms import DekAlgorithm
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings
from contractlog.registry.storage import tables
from contractlog.serdes.errors import RuleError
from contractlog.serdes.rules import FieldType
from contractlog.serdes.rules.encryption import (
    DekNotFound,
    EncryptionExecutor,
    EncryptionFailed,
    EncryptionRegistryError,
    FieldEncryptionExecutor,
    InvalidEncryptionParameter,
    KekMismatch,
    KekNotFound,
    KeyUnwrapFailed,
    KmsDriver,
    KmsUnavailable,
    LocalKmsDriver,
    Undecryptable,
    ValueNotEncryptable,
    register_kms_driver,
)
from contractlog.serdes.rules.encryption.kms_drivers import reset_kms_drivers

from support.encryption_rules import KEY_ID, SUBJECT, SetClock, rule_context, run_rule

SECRET = "the planted secret 4711"  # noqa: S105
NUMBERS = iter(range(1, 1_000_000))


@pytest.fixture(scope="module")
def node() -> Iterator[Registry]:
    app = create_app(Settings(database_url="sqlite://", local_kms_secret=SECRET))
    with Registry(app=app) as registry:
        registry.app = app  # type: ignore[attr-defined]
        yield registry
    app.state.close()


@pytest.fixture
def kek(node: Registry) -> str:
    """A name that no other test uses."""
    del node
    return f"kek-{next(NUMBERS)}"


@pytest.fixture(autouse=True)
def _no_drivers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("LOCAL_SECRET", raising=False)
    yield
    reset_kms_drivers()


def make(node: Registry, secret: str | None = SECRET, clock: Any = None, **options: Any) -> FieldEncryptionExecutor:
    executor = FieldEncryptionExecutor(clock, registry=node, **options)
    executor.configure({}, {} if secret is None else {"secret": secret})
    return executor


class LostKms(KmsDriver):
    """A KMS that cannot be reached, with an error that has a secret in its text."""

    def get_key_url_prefix(self) -> str:
        return "lost://"

    def new_kms_client(self, conf: Any, key_url: str) -> Any:
        raise OSError(f"{key_url} with {conf['secret']} is unreachable")


@settings(max_examples=40)
@given(
    algorithm=st.sampled_from(DekAlgorithm),
    shared=st.booleans(),
    days=st.sampled_from(["0", "1", "30"]),
    text=st.text(max_size=20),
    content=st.binary(),
)
def test_what_was_encrypted_is_decrypted_by_another_process(
    node: Registry, *, algorithm: DekAlgorithm, shared: bool, days: str, text: str, content: bytes
) -> None:
    kek = f"kek-{next(NUMBERS)}"
    node.create_kek(kek, "local-kms", KEY_ID, shared=shared)
    options = {"encrypt_kek_name": kek, "encrypt_dek_algorithm": algorithm.value, "encrypt_dek_expiry_days": days}
    writer, reader = make(node, None if shared else SECRET), make(node, None if shared else SECRET)
    for value, kind in ((text, FieldType.STRING), (content, FieldType.BYTES)):
        encrypted = run_rule(writer, "WRITE", value, kind, **options)
        assert type(encrypted) is type(value)
        assert encrypted != value
        assert run_rule(reader, "READ", encrypted, kind, **options) == value
        raw = base64.b64decode(encrypted) if kind == FieldType.STRING else encrypted
        assert (days == "0") or raw[:5] == b"\0\0\0\0\1"


@settings(max_examples=25)
@given(
    algorithm=st.sampled_from(DekAlgorithm),
    shared=st.booleans(),
    pauses=st.lists(st.floats(0, 3), min_size=1, max_size=6),
)
def test_keys_rotate_by_age_and_every_record_stays_readable(
    node: Registry, *, algorithm: DekAlgorithm, shared: bool, pauses: list[float]
) -> None:
    kek, clock = f"kek-{next(NUMBERS)}", SetClock()
    node.create_kek(kek, "local-kms", KEY_ID, shared=shared)
    options = {"encrypt_kek_name": kek, "encrypt_dek_algorithm": algorithm.value, "encrypt_dek_expiry_days": "1"}
    records = []
    for pause in pauses:
        clock.days += pause
        records.append((run_rule(make(node, clock=clock), "WRITE", f"after {clock.days}", **options), clock.days))
    written_with = [int.from_bytes(base64.b64decode(encrypted)[1:5], "big") for encrypted, _ in records]
    assert written_with == sorted(written_with)
    assert node.dek_versions(kek, SUBJECT) == list(range(1, max(written_with) + 1))
    if clock.days < 0.9:
        assert max(written_with) == 1
    reader = make(node, clock=clock)
    assert [run_rule(reader, "READ", encrypted, **options) for encrypted, _ in records] == [
        f"after {days}" for _, days in records
    ]


def test_a_missing_kek_is_created_from_the_parameters_of_the_rule(node: Registry, kek: str) -> None:
    run_rule(make(node), "WRITE", "x", encrypt_kek_name=kek)
    stored = node.kek(kek)
    assert (stored.kms_type, stored.kms_key_id, stored.shared) == ("local-kms", KEY_ID, False)
    with pytest.raises(KekNotFound, match=r"add encrypt\.kms\.type"):
        run_rule(make(node), "WRITE", "x", encrypt_kek_name=f"{kek}-2", encrypt_kms_type=None)


def test_the_secret_comes_from_the_configuration_or_the_environment(
    node: Registry, kek: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    LocalKmsDriver.register()
    with pytest.raises(KmsUnavailable, match="there is no secret: set `secret`"):
        run_rule(make(node, None), "WRITE", "x", encrypt_kek_name=kek)
    encrypted = run_rule(make(node), "WRITE", "x", encrypt_kek_name=kek)
    monkeypatch.setenv("LOCAL_SECRET", SECRET)
    assert run_rule(make(node, None), "READ", encrypted, encrypt_kek_name=kek) == "x"


def test_equal_values_have_equal_ciphertexts_only_if_the_algorithm_is_deterministic(node: Registry, kek: str) -> None:
    executor = make(node)
    for algorithm in DekAlgorithm:
        options = {"encrypt_kek_name": kek, "encrypt_dek_algorithm": algorithm.value}
        values = {run_rule(executor, "WRITE", "x", **options) for _ in range(5)}
        assert len(values) == (1 if algorithm is DekAlgorithm.AES256_SIV else 5)


def test_a_payload_is_encrypted_as_a_whole(node: Registry, kek: str) -> None:
    executor = EncryptionExecutor(registry=node)
    executor.configure({}, {"secret": SECRET})
    options = {"encrypt_kek_name": kek, "rule_type": "ENCRYPT_PAYLOAD"}
    encrypted = executor.transform(rule_context("WRITE", **options), b"payload")
    assert b"payload" not in encrypted
    for body in (encrypted, io.BytesIO(encrypted)):
        assert executor.transform(rule_context("READ", **options), body) == b"payload"


def test_null_stays_null_and_other_types_are_not_encrypted(node: Registry, kek: str) -> None:
    executor = make(node)
    assert run_rule(executor, "WRITE", None, encrypt_kek_name=kek) is None
    assert run_rule(executor, "READ", None, encrypt_kek_name=kek) is None
    with pytest.raises(ValueNotEncryptable, match="a value of the type INT cannot be encrypted"):
        run_rule(executor, "WRITE", 1, FieldType.INT, encrypt_kek_name=kek)
    assert run_rule(executor, "READ", 1, FieldType.INT, encrypt_kek_name=kek) == 1
    with pytest.raises(RuleError, match="not in mode UPGRADE"):
        run_rule(executor, "UPGRADE", "x", encrypt_kek_name=kek)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"encrypt_kek_name": None}, "encrypt.kek.name is not valid: name the KEK"),
        ({"encrypt_dek_algorithm": "AES"}, "must be one of AES128_GCM, AES256_GCM, AES256_SIV"),
        ({"encrypt_dek_expiry_days": "-1"}, "a whole number from 0 to 100000"),
        ({"encrypt_dek_expiry_days": "²"}, "a whole number from 0 to 100000"),
        ({"encrypt_dek_expiry_days": "9" * 5000}, "a whole number from 0 to 100000"),
        ({"subject": None}, "encryption needs a subject"),
    ],
)
def test_invalid_parameters_are_named(node: Registry, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidEncryptionParameter) as failure:
        run_rule(make(node), "WRITE", "x", **parameters)
    assert message in str(failure.value)


def test_a_kek_that_is_not_that_of_the_rule_is_refused(node: Registry, kek: str) -> None:
    encrypted = run_rule(make(node), "WRITE", "x", encrypt_kek_name=kek)
    for mode, value in (("WRITE", "x"), ("READ", encrypted)):
        with pytest.raises(KekMismatch, match=f"has the KMS key id {KEY_ID}, but the rule requires other"):
            run_rule(make(node), mode, value, encrypt_kek_name=kek, encrypt_kms_key_id="other")
        with pytest.raises(KekMismatch, match="has the KMS type local-kms, but the rule requires aws-kms"):
            run_rule(make(node), mode, value, encrypt_kek_name=kek, encrypt_kms_type="aws-kms")


def test_a_key_that_another_secret_wrapped_is_refused(node: Registry, kek: str) -> None:
    encrypted = run_rule(make(node), "WRITE", "x", encrypt_kek_name=kek)
    for mode, value in (("WRITE", "x"), ("READ", encrypted)):
        with pytest.raises(KeyUnwrapFailed, match=f"no KMS key of the KEK {kek} unwraps version 1"):
            run_rule(make(node, "another secret"), mode, value, encrypt_kek_name=kek)


def test_deleting_the_keys_makes_records_unreadable(node: Registry, kek: str) -> None:
    encrypted = run_rule(make(node), "WRITE", "x", encrypt_kek_name=kek)
    node.delete_dek(kek, SUBJECT)
    assert run_rule(make(node), "READ", encrypted, encrypt_kek_name=kek) == "x"  # soft-deleted keys still decrypt
    with pytest.raises(DekNotFound):
        run_rule(make(node), "WRITE", "x", encrypt_kek_name=kek)
    node.delete_kek(kek)
    with pytest.raises(KekNotFound, match="cannot be decrypted"):
        run_rule(make(node), "READ", encrypted, encrypt_kek_name=kek)
    node.undelete_kek(kek)
    node.delete_dek(kek, SUBJECT, permanent=True)
    with pytest.raises(DekNotFound, match=f"version 1 of the DEK of {SUBJECT} under the KEK {kek}"):
        run_rule(make(node), "READ", encrypted, encrypt_kek_name=kek)


def test_a_deleted_key_is_noticed_when_the_cached_one_expires(node: Registry, kek: str) -> None:
    cached, uncached = make(node), make(node, cached_seconds=0)
    encrypted = run_rule(cached, "WRITE", "x", encrypt_kek_name=kek)
    assert run_rule(cached, "READ", encrypted, encrypt_kek_name=kek) == "x"
    assert run_rule(uncached, "READ", encrypted, encrypt_kek_name=kek) == "x"
    node.delete_dek(kek, SUBJECT)
    node.delete_dek(kek, SUBJECT, permanent=True)
    assert run_rule(cached, "READ", encrypted, encrypt_kek_name=kek) == "x"
    with pytest.raises(DekNotFound):
        run_rule(uncached, "READ", encrypted, encrypt_kek_name=kek)
    cached.close()
    with pytest.raises(DekNotFound):
        run_rule(cached, "READ", encrypted, encrypt_kek_name=kek)


@given(st.data())
def test_a_changed_value_is_never_decrypted(node: Registry, data: st.DataObject) -> None:
    days = data.draw(st.sampled_from(["0", "1"]))
    algorithm = data.draw(st.sampled_from(DekAlgorithm)).value
    options = {"encrypt_kek_name": "changed", "encrypt_dek_algorithm": algorithm, "encrypt_dek_expiry_days": days}
    executor = make(node)
    encrypted = bytearray(run_rule(executor, "WRITE", b"plaintext", FieldType.BYTES, **options))
    encrypted[data.draw(st.integers(0, len(encrypted) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises((Undecryptable, DekNotFound)):
        run_rule(executor, "READ", bytes(encrypted), FieldType.BYTES, **options)


@pytest.mark.parametrize("value", ["plaintext", "", "§", "AAAA", "cGxhaW50ZXh0"])
@pytest.mark.parametrize("days", ["0", "1"])
def test_a_text_that_was_not_encrypted_is_refused(node: Registry, value: str, days: str) -> None:
    executor = make(node)
    run_rule(executor, "WRITE", "x", encrypt_kek_name="plain", encrypt_dek_expiry_days=days)
    with pytest.raises(Undecryptable):
        run_rule(executor, "READ", value, encrypt_kek_name="plain", encrypt_dek_expiry_days=days)


def test_alternate_keys_are_tried_in_order(node: Registry, kek: str, caplog: pytest.LogCaptureFixture) -> None:
    tried: list[str] = []

    class OneKey(KmsDriver):
        def get_key_url_prefix(self) -> str:
            return "one://"

        def new_kms_client(self, conf: Any, key_url: str) -> Any:
            tried.append(key_url)
            if not key_url.endswith("/right"):
                raise OSError(conf["secret"])
            return LocalKmsDriver().new_kms_client(conf, key_url)

    register_kms_driver(OneKey())
    node.create_kek(kek, "one", "k/wrong", kms_props={"encrypt.alternate.kms.key.ids": "k/bad, ,k/right"})
    options = {"encrypt_kek_name": kek, "encrypt_kms_type": None, "encrypt_kms_key_id": None}
    encrypted = run_rule(make(node), "WRITE", "x", **options)
    assert run_rule(make(node), "READ", encrypted, **options) == "x"
    assert tried[:3] == ["one://k/wrong", "one://k/bad", "one://k/right"]
    assert SECRET not in caplog.text


def test_a_lost_kms_is_a_typed_error_without_its_text(node: Registry, kek: str) -> None:
    register_kms_driver(LostKms())
    node.create_kek(kek, "lost", "k")
    node.create_dek(kek, SUBJECT, "d3JhcHBlZA==")
    options = {"encrypt_kek_name": kek, "encrypt_kms_type": None, "encrypt_kms_key_id": None}
    for mode, value in (("WRITE", "x"), ("READ", "eA==")):
        with pytest.raises(KmsUnavailable, match=f"the KMS of the KEK {kek} cannot be used: OSError") as failure:
            run_rule(make(node), mode, value, **options)
        assert SECRET not in "".join(traceback.format_exception(failure.value))
    node.create_kek(f"{kek}-2", "other", "k")
    with pytest.raises(KmsUnavailable, match="there is no driver for the KMS type other"):
        run_rule(make(node), "WRITE", "x", **options | {"encrypt_kek_name": f"{kek}-2"})


def test_a_lost_registry_is_a_typed_error(kek: str) -> None:
    executor = FieldEncryptionExecutor()
    executor.configure({"url": "http://127.0.0.1:9", "max.retries": 0}, {"secret": SECRET})
    with pytest.raises(EncryptionRegistryError, match=f"the registry failed on the KEK {kek}"):
        run_rule(executor, "WRITE", "x", encrypt_kek_name=kek)
    executor.close()
    with pytest.raises(RuleError, match="register the executor with a client"):
        run_rule(FieldEncryptionExecutor(), "WRITE", "x")


def test_an_executor_has_one_configuration() -> None:
    executor = FieldEncryptionExecutor()
    executor.configure({"url": "http://a"}, {"secret": SECRET})
    executor.configure({"url": "http://a"}, {"secret": SECRET, "more": 1})
    with pytest.raises(RuleError, match="another registry"):
        executor.configure({"url": "http://b"}, {})
    with pytest.raises(RuleError, match="another value of secret") as failure:
        executor.configure({}, {"secret": "x"})
    assert SECRET not in str(failure.value)


def test_producers_that_start_together_share_one_key(node: Registry, kek: str) -> None:
    results: list[str] = []
    start = threading.Barrier(6)

    def produce() -> None:
        executor = make(node)
        start.wait(30)
        results.append(run_rule(executor, "WRITE", "x", encrypt_kek_name=kek, encrypt_dek_expiry_days="1"))

    threads = [threading.Thread(target=produce) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert node.dek_versions(kek, SUBJECT) == [1]
    reader = make(node)
    assert {run_rule(reader, "READ", each, encrypt_kek_name=kek, encrypt_dek_expiry_days="1") for each in results} == {
        "x"
    }
    assert len(results) == 6


def test_no_secret_no_key_and_no_plaintext_is_anywhere_else(
    node: Registry, kek: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    plaintext, failures = "planted plaintext 0815", []
    node.create_kek(kek, "local-kms", KEY_ID, shared=True)
    options = {"encrypt_kek_name": kek}
    executor = make(node)
    encrypted = run_rule(executor, "WRITE", plaintext, **options)
    key = node.dek(kek, SUBJECT)
    assert run_rule(executor, "READ", encrypted, **options) == plaintext
    for broken, mode, value, more in (
        (make(node, "wrong"), "READ", encrypted[:-8] + "AAAAAAA=", {}),
        (make(node), "WRITE", plaintext, {"encrypt_kms_type": "aws-kms"}),
        (make(node), "READ", plaintext, {}),
        (make(node), "READ", encrypted, {"encrypt_dek_algorithm": "AES256_SIV"}),
    ):
        with pytest.raises(EncryptionFailed) as failure:
            run_rule(broken, mode, value, **options | more)
        failures.append("".join(traceback.format_exception(failure.value)) + repr(failure.value.facts))
    store = node.app.state.services.store  # type: ignore[attr-defined]
    with store.open_snapshot() as snapshot:
        rows = [row for table in tables.metadata.sorted_tables for row in snapshot.connection.execute(select(table))]
    clear = key.key_material or ""
    everywhere = [caplog.text, repr(rows), *failures, repr(key), repr(executor.__dict__), str(node.changes(limit=1000))]
    for secret in (plaintext, clear, base64.b64decode(clear).hex(), repr(base64.b64decode(clear)), SECRET):
        assert secret
        assert not [text for text in everywhere if secret in text]

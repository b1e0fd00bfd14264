"""Keys in AWS KMS, as moto serves it: both sides wrap in the same form, and failures are typed."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import boto3
import pytest
from moto import mock_aws

from contractlog.clients import Registry
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings
from contractlog.serdes.errors import RuleError
from contractlog.serdes.rules import FieldType
from contractlog.serdes.rules.encryption import FieldEncryptionExecutor, KeyUnwrapFailed, KmsUnavailable
from contractlog.serdes.rules.encryption.aws_kms_driver import AwsKmsDriver

from support.encryption_rules import run_rule
from support.registry import create_sqlite, serve_in_thread

pytestmark = pytest.mark.integration
REGION = "eu-central-1"
CREDENTIALS = {"access.key.id": "AKIAEXAMPLE", "secret.access.key": "planted secret 4711"}


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ROLE_ARN", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    with mock_aws():
        yield boto3.client("kms", region_name=REGION)


@pytest.fixture
def registry() -> Iterator[Registry]:
    app = create_app(Settings(database_url="sqlite://"))
    with Registry(app=app) as client:
        yield client
    app.state.close()


def create_key(aws: Any) -> str:
    arn: str = aws.create_key()["KeyMetadata"]["Arn"]
    return arn


def make(registry: Registry, **conf: str) -> FieldEncryptionExecutor:
    executor = FieldEncryptionExecutor(registry=registry)
    executor.configure({}, CREDENTIALS | conf)
    return executor


def options(arn: str, kek: str = "pii") -> dict[str, str]:
    return {"encrypt_kek_name": kek, "encrypt_kms_type": "aws-kms", "encrypt_kms_key_id": arn}


def test_a_key_in_aws_wraps_and_unwraps(aws: Any, registry: Registry) -> None:
    AwsKmsDriver.register()
    arn = create_key(aws)
    encrypted = run_rule(make(registry), "WRITE", "x", **options(arn))
    assert run_rule(make(registry), "READ", encrypted, **options(arn)) == "x"


def test_a_role_is_assumed(aws: Any, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    arn = create_key(aws)
    conf = {"role.arn": "arn:aws:iam::123456789012:role/reader", "role.external.id": "7777"}
    encrypted = run_rule(make(registry, **conf), "WRITE", "x", **options(arn))
    monkeypatch.setenv("AWS_ROLE_ARN", conf["role.arn"])
    assert run_rule(make(registry), "READ", encrypted, **options(arn)) == "x"


def test_an_alternate_key_unwraps_what_it_wrapped(aws: Any, registry: Registry) -> None:
    right, wrong = create_key(aws), create_key(aws)
    run_rule(make(registry), "WRITE", "x", **options(right, "first"))
    wrapped = registry.dek("first", "orders-value").encrypted_key_material
    registry.create_kek("second", "aws-kms", wrong)
    registry.create_dek("second", "orders-value", wrapped)
    with pytest.raises(
        (KeyUnwrapFailed, KmsUnavailable)
    ):  # moto denies access, AWS responds with IncorrectKeyException
        run_rule(make(registry), "WRITE", "x", **options(wrong, "second"))
    alternates = {"encrypt.alternate.kms.key.ids": right}
    run_rule(make(registry, **alternates), "WRITE", "x", **options(wrong, "second"))


@pytest.mark.parametrize(
    ("arn", "message"),
    [
        ("key-1", "is its ARN"),
        ("arn:aws:kms:evil.example/:1:key/a", "is its ARN"),
        (f"arn:aws:kms:{REGION}:123456789012:key/none", "AWS responded with NotFoundException to Encrypt"),
    ],
)
def test_a_key_that_cannot_be_used_is_a_typed_error_without_secrets(registry: Registry, arn: str, message: str) -> None:
    with pytest.raises(KmsUnavailable, match=message) as failure:
        run_rule(make(registry), "WRITE", "x", **options(arn))
    assert CREDENTIALS["secret.access.key"] not in "".join(traceback.format_exception(failure.value))
    assert isinstance(failure.value, RuleError)


@pytest.mark.parametrize("official_writes", [True, False])
def test_keys_that_one_side_wraps_are_unwrapped_by_the_other(aws: Any, tmp_path: Any, *, official_writes: bool) -> None:
    official = import_module("confluent_kafka.schema_registry.rules.encryption.encrypt_executor")
    driver = import_module("confluent_kafka.schema_registry.rules.encryption.awskms.aws_driver")
    driver.AwsKmsDriver.register()
    arn = create_key(aws)
    with serve_in_thread(create_sqlite(tmp_path / "registry.db")) as url:
        theirs, ours = official.FieldEncryptionExecutor(), FieldEncryptionExecutor()
        for executor in (theirs, ours):
            executor.configure({"url": url}, CREDENTIALS)
        sides = [(theirs, official.FieldType.STRING), (ours, FieldType.STRING)]
        (writer, written_kind), (reader, read_kind) = sides if official_writes else sides[::-1]
        encrypted = run_rule(writer, "WRITE", "x", written_kind, **options(arn))
        assert run_rule(reader, "READ", encrypted, read_kind, **options(arn)) == "x"
        for executor in (theirs, ours):
            executor.close()

"""The official client and our executors read each other's encrypted values, with keys in our registry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from itertools import count
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient, SchemaRegistryError
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.rule_registry import RuleRegistry as OfficialRuleRegistry
from confluent_kafka.serialization import MessageField, SerializationContext

from contractlog.clients import Registry
from contractlog.contracts.encryption.algorithms import DekAlgorithm
from contractlog.serdes.rules import FieldType
from contractlog.serdes.rules.encryption import EncryptionExecutor, FieldEncryptionExecutor

from support.encryption_rules import SUBJECT, rule_context, run_rule
from support.registry import create_sqlite, serve_in_thread

official = import_module("confluent_kafka.schema_registry.rules.encryption.encrypt_executor")
official_client = import_module("confluent_kafka.schema_registry.rules.encryption.dek_registry.dek_registry_client")
official_local = import_module("confluent_kafka.schema_registry.rules.encryption.localkms.local_driver")

pytestmark = pytest.mark.integration
SECRET = "shared by both"  # noqa: S105
NUMBERS = count(1)
RULE = {
    "name": "encrypt", "kind": "TRANSFORM", "mode": "WRITEREAD", "type": "ENCRYPT", "tags": ["PII"],
    "params": {"encrypt.kek.name": "avro", "encrypt.kms.type": "local-kms", "encrypt.kms.key.id": "k"},
}  # fmt: skip
ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "email", "type": "string", "confluent:tags": ["PII"]},
        {"name": "card", "type": "bytes", "confluent:tags": ["PII"]},
    ],
}
VALUE = {"id": 1, "email": "é@example.org", "card": b"\x00\xff"}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    official_local.LocalKmsDriver.register()
    database = create_sqlite(tmp_path_factory.mktemp("registry") / "registry.db")
    with serve_in_thread(database, CONTRACTLOG_LOCAL_KMS_SECRET=SECRET) as url:
        yield url


class Sides:
    """Executors of both sides, closed at the end of a test."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._opened: list[Any] = []

    def official(self, kind: Any = None) -> Any:
        """Return an executor of the official client."""
        return self._configure((kind or official.FieldEncryptionExecutor)())

    def ours(self, kind: Any = FieldEncryptionExecutor) -> Any:
        """Return an executor of ours."""
        return self._configure(kind())

    def run(self, side: str, mode: str, value: Any, kind: FieldType, **options: Any) -> Any:
        """Apply a new executor to a field."""
        executor = getattr(self, side)()
        own_kind = kind if side == "ours" else getattr(official.FieldType, kind.value)
        return run_rule(executor, mode, value, own_kind, **options)

    def _configure(self, executor: Any) -> Any:
        executor.configure({"url": self._url}, {"secret": SECRET})
        self._opened.append(executor)
        return executor

    def close(self) -> None:
        """Close all."""
        for executor in self._opened:
            executor.close()


@pytest.fixture
def sides(url: str) -> Iterator[Sides]:
    opened = Sides(url)
    yield opened
    opened.close()


def register_kek(url: str, *, shared: bool = False) -> str:
    name = f"kek-{next(NUMBERS)}"
    with Registry(url) as registry:
        registry.create_kek(name, "local-kms", "key-1", shared=shared)
    return name


@pytest.mark.parametrize("days", ["0", "1"])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("algorithm", DekAlgorithm)
@pytest.mark.parametrize(("writer", "reader"), [("official", "ours"), ("ours", "official")])
def test_fields_are_read_both_ways(
    url: str, sides: Sides, writer: str, reader: str, *, algorithm: DekAlgorithm, shared: bool, days: str
) -> None:
    options = {
        "encrypt_kek_name": register_kek(url, shared=shared),
        "encrypt_dek_algorithm": algorithm.value,
        "encrypt_dek_expiry_days": days,
    }
    for value, kind in (("", FieldType.STRING), ("é", FieldType.STRING), (b"\0" * 40, FieldType.BYTES)):
        encrypted = sides.run(writer, "WRITE", value, kind, **options)
        assert encrypted != value
        assert sides.run(reader, "READ", encrypted, kind, **options) == value


@pytest.mark.parametrize("official_writes", [True, False])
def test_payloads_are_read_both_ways(url: str, sides: Sides, *, official_writes: bool) -> None:
    theirs, ours = sides.official(official.EncryptionExecutor), sides.ours(EncryptionExecutor)
    writer, reader = (theirs, ours) if official_writes else (ours, theirs)
    options = {"encrypt_kek_name": register_kek(url), "rule_type": "ENCRYPT_PAYLOAD"}
    encrypted = writer.transform(rule_context("WRITE", **options), b"payload")
    assert reader.transform(rule_context("READ", **options), encrypted) == b"payload"


def test_the_official_client_creates_and_reads_keys(url: str) -> None:
    with (
        official_client.DekRegistryClient({"url": url}) as client,
        official_client.DekRegistryClient({"url": url}) as other,
    ):
        exchange_keys(client, other)
    with (
        official_client.DekRegistryClient({"url": url}) as third,
        pytest.raises(SchemaRegistryError) as conflict,
    ):
        third.register_dek("official", ":.eu:a/b", "b3RoZXI=", official_client.DekAlgorithm.AES256_SIV, 2)
    assert (conflict.value.http_status_code, conflict.value.error_code) == (409, 40971)


def exchange_keys(client: Any, other: Any) -> None:
    """Create keys with a client, and read them with another, which has nothing in its cache."""
    kek = client.register_kek("official", "local-kms", "k", kms_props={"region": "eu"}, doc="d", context=".eu")
    assert (kek.name, kek.kms_props.properties, kek.doc, kek.shared) == ("official", {"region": "eu"}, "d", False)
    assert other.get_kek("official") == kek
    with pytest.raises(SchemaRegistryError) as conflict:
        other.register_kek("official2", "", "k")
    assert (conflict.value.http_status_code, conflict.value.error_code) == (422, 42271)
    algorithm = official_client.DekAlgorithm.AES256_SIV
    dek = client.register_dek("official", ":.eu:a/b", "d3JhcHBlZA==", algorithm, 2)
    assert (dek.subject, dek.version, dek.encrypted_key_material, dek.deleted) == (":.eu:a/b", 2, "d3JhcHBlZA==", None)
    for version in (2, -1):
        assert other.get_dek("official", ":.eu:a/b", algorithm, version).ts == dek.ts
    for missing in (lambda: other.get_kek("none"), lambda: other.get_dek("official", "none")):
        with pytest.raises(SchemaRegistryError) as refused:
            missing()
        assert (refused.value.http_status_code, refused.value.error_code) == (404, 40470)


@pytest.mark.parametrize("ours_first", [True, False])
def test_our_executor_works_in_the_official_serializers_and_deserializers(url: str, *, ours_first: bool) -> None:
    topic = f"orders-{next(NUMBERS)}"
    client = SchemaRegistryClient({"url": url})
    schema = Schema.from_dict({"schema": json.dumps(ORDER), "schemaType": "AVRO", "ruleSet": {"domainRules": [RULE]}})
    client.register_schema(f"{topic}-value", schema)
    executors = [FieldEncryptionExecutor(), official.FieldEncryptionExecutor()]
    rules = []
    for executor in executors if ours_first else executors[::-1]:
        registry = OfficialRuleRegistry()
        registry.register_executor(executor)
        rules.append(registry)
    context = SerializationContext(topic, MessageField.VALUE)
    conf = {"auto.register.schemas": False, "use.latest.version": True}
    serializer = AvroSerializer(client, conf=conf, rule_conf={"secret": SECRET}, rule_registry=rules[0])
    record = serializer(dict(VALUE), context)  # it changes the value in place
    assert b"example.org" not in record
    deserializer = AvroDeserializer(client, rule_conf={"secret": SECRET}, rule_registry=rules[1])
    assert deserializer(record, context) == VALUE
    for executor in executors:
        executor.close()
    client.__exit__()


@pytest.mark.parametrize(("writer", "reader"), [("official", "ours"), ("ours", "official")])
def test_subjects_of_a_context_have_deks_of_their_own(url: str, sides: Sides, writer: str, reader: str) -> None:
    options = {"encrypt_kek_name": f"kek-{next(NUMBERS)}"}
    encrypted = sides.run(writer, "WRITE", "x", FieldType.STRING, subject=":.eu:orders-value", **options)
    assert sides.run(reader, "READ", encrypted, FieldType.STRING, subject=":.eu:orders-value", **options) == "x"
    with Registry(url) as registry:
        assert registry.dek_subjects(options["encrypt_kek_name"]) == [":.eu:orders-value"]
        assert (
            registry.with_context(".eu").dek(options["encrypt_kek_name"], "orders-value").subject == ":.eu:orders-value"
        )


def test_the_official_executor_takes_the_key_that_ours_created(url: str, sides: Sides) -> None:
    kek = register_kek(url)
    for side in ("ours", "official"):
        sides.run(side, "WRITE", "x", FieldType.STRING, encrypt_kek_name=kek)
    with Registry(url) as registry:
        assert registry.dek_versions(kek, SUBJECT) == [1]

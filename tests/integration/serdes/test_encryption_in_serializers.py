"""Records that our serializers or the official ones encrypt are read by both."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from importlib import import_module
from itertools import count
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient, avro, json_schema
from confluent_kafka.schema_registry.rule_registry import RuleRegistry as OfficialRuleRegistry
from confluent_kafka.serialization import MessageField, SerializationContext

from contractlog.clients import AsyncRegistry, Registry
from contractlog.compatibility.data_contract import Rule, RuleSet
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.serdes.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from contractlog.serdes.errors import RuleFailed
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer
from contractlog.serdes.rules import RuleRegistry
from contractlog.serdes.rules.encryption import FieldEncryptionExecutor, KekNotFound, KeyUnwrapFailed

official = import_module("confluent_kafka.schema_registry.rules.encryption.encrypt_executor")
official_local = import_module("confluent_kafka.schema_registry.rules.encryption.localkms.local_driver")

pytestmark = pytest.mark.integration
SECRET = {"secret": "shared by both"}
NUMBERS = count(1)
PII = ["PII"]
AVRO = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "email", "type": ["null", "string"], "confluent:tags": PII},
        {"name": "card", "type": "bytes", "confluent:tags": PII},
        {"name": "notes", "type": {"type": "array", "items": "string"}, "confluent:tags": PII},
    ],
}
JSON = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "email": {"type": "string", "confluent:tags": PII},
        "notes": {"type": "array", "items": {"type": "string"}, "confluent:tags": PII},
    },
}
VALUES = {
    "AVRO": {"id": 1, "email": "é@example.org", "card": b"\0\xff", "notes": ["a", ""]},
    "JSON": {"id": 1, "email": "é@example.org", "notes": ["a", ""]},
}
LATEST = {"use.latest.version": True, "auto.register.schemas": False}


@pytest.fixture
def ours(registry_url: str) -> Iterator[Registry]:
    official_local.LocalKmsDriver.register()
    with Registry(registry_url) as client:
        yield client


@pytest.fixture
def theirs(registry_url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": registry_url}) as client:
        yield client


@pytest.fixture
def their_rules() -> Iterator[Any]:
    rules = OfficialRuleRegistry()
    executors = [official.FieldEncryptionExecutor(), official.EncryptionExecutor()]
    for executor in executors:
        rules.register_executor(executor)
    yield rules
    for executor in executors:
        executor.close()


def register(ours: Registry, form: str, *, payload: bool = False, **parameters: str) -> tuple[str, str]:
    """Register a schema with an encryption rule; return topic and KEK."""
    number = next(NUMBERS)
    topic, kek = f"orders-{number}", f"kek-{number}"
    params = {"encrypt.kek.name": kek, "encrypt.kms.type": "local-kms", "encrypt.kms.key.id": "k", **parameters}
    kind = "ENCRYPT_PAYLOAD" if payload else "ENCRYPT"
    rules = (Rule("encrypt", type=kind, mode="WRITEREAD", tags=() if payload else ("PII",), params=params),)
    rule_set = RuleSet(encoding_rules=rules) if payload else RuleSet(domain_rules=rules)
    text = json.dumps(AVRO if form == "AVRO" else JSON)
    ours.register(f"{topic}-value", SchemaDraft(text, SchemaType(form), rule_set=rule_set))
    return topic, kek


def make_pair(side: str, form: str, client: Any, rules: Any) -> tuple[Any, Any]:
    options = {"rule_conf": SECRET, "rule_registry": rules}
    if form == "AVRO":
        module: Any = avro if side == "official" else None
        writer, reader = (
            (module.AvroSerializer, module.AvroDeserializer) if module else (AvroSerializer, AvroDeserializer)
        )
        return writer(client, conf=LATEST, **options), reader(client, **options)
    if side == "official":
        return (
            json_schema.JSONSerializer(None, client, conf=LATEST, **options),
            json_schema.JSONDeserializer(None, schema_registry_client=client, **options),
        )
    return (
        JSONSerializer(None, client, conf=LATEST, **options),
        JSONDeserializer(None, schema_registry_client=client, **options),
    )


@pytest.mark.parametrize("form", ["AVRO", "JSON"])
@pytest.mark.parametrize("payload", [False, True])
@pytest.mark.parametrize("parameters", [{}, {"encrypt.dek.expiry.days": "1", "encrypt.dek.algorithm": "AES256_SIV"}])
def test_records_are_read_both_ways(
    ours: Registry, theirs: Any, their_rules: Any, *, form: str, payload: bool, parameters: dict[str, str]
) -> None:
    topic, _ = register(ours, form, payload=payload, **parameters)
    context = SerializationContext(topic, MessageField.VALUE)
    write_ours, read_ours = make_pair("ours", form, ours, RuleRegistry())
    write_theirs, read_theirs = make_pair("official", form, theirs, their_rules)
    for write in (write_ours, write_theirs):
        record = write(dict(VALUES[form]), context)
        assert b"example.org" not in record
        for read in (read_ours, read_theirs):
            assert read(record, context) == VALUES[form]


def test_a_failure_stops_the_record_and_names_its_cause(ours: Registry) -> None:
    topic, kek = register(ours, "AVRO")
    context = SerializationContext(topic, MessageField.VALUE)
    record = AvroSerializer(ours, conf=LATEST, rule_conf=SECRET)(VALUES["AVRO"], context)
    with pytest.raises(RuleFailed) as failure:
        AvroDeserializer(ours, rule_conf={"secret": "another"})(record, context)
    assert isinstance(failure.value.__cause__, KeyUnwrapFailed)
    ours.delete_dek(kek, f"{topic}-value")
    ours.delete_kek(kek)
    with pytest.raises(RuleFailed) as failure:
        AvroDeserializer(ours, rule_conf=SECRET)(record, context)
    assert isinstance(failure.value.__cause__, KekNotFound)
    for text in ("shared by both", "another", "example.org"):
        assert text not in str(failure.value)


def test_async_serializers_encrypt_with_a_client_of_the_executor(ours: Registry, registry_url: str) -> None:
    topic, _ = register(ours, "AVRO")
    context = SerializationContext(topic, MessageField.VALUE)

    async def exchange() -> Any:
        rules = RuleRegistry()
        rules.register_executor(FieldEncryptionExecutor(registry=ours))
        async with AsyncRegistry(registry_url) as client:
            writer = await AsyncAvroSerializer(client, conf=LATEST, rule_conf=SECRET, rule_registry=rules)
            reader = await AsyncAvroDeserializer(client, rule_conf=SECRET, rule_registry=rules)
            record = await writer(VALUES["AVRO"], context)
            assert b"example.org" not in record
            return await reader(record, context)

    assert asyncio.run(exchange()) == VALUES["AVRO"]

"""``produce`` and ``consume`` with a broker that requires TLS, SCRAM and permissions."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka.admin import AclOperation

from support.deadlines import eventually
from support.kafka import SecuredKafka

pytestmark = pytest.mark.integration

CLERK = "clerk"
SECRET = "pass-word=of; the#clerk"  # noqa: S105 - of a broker that lives as long as the tests
SCHEMA = '{"type": "object", "properties": {"id": {"type": "integer"}}}'


@pytest.fixture(scope="module", autouse=True)
def _clerk(secured_kafka: SecuredKafka) -> None:
    """A user who may do nothing yet."""
    secured_kafka.create_user(CLERK, SECRET)


@pytest.fixture
def properties(secured_kafka: SecuredKafka, tmp_path: Path) -> Path:
    return secured_kafka.write_properties(tmp_path / "clerk.properties", CLERK, SECRET)


@pytest.fixture
def topic(secured_kafka: SecuredKafka) -> str:
    return secured_kafka.create_topic()


def run(verb: str, *arguments: object, given: str = "", code: int = 0, **environment: str) -> tuple[str, str]:
    done = attempt(verb, *arguments, given=given, **environment)
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


def attempt(verb: str, *arguments: object, given: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "contractlog.clients.cli.main", verb, *map(str, arguments)]
    clean = {name: text for name, text in os.environ.items() if not name.startswith("CONTRACTLOG_B")}
    done = subprocess.run(
        command, input=given, env=clean | environment, text=True, capture_output=True, check=False, timeout=120
    )
    assert SECRET not in done.stdout + done.stderr
    return done


def test_a_user_with_permissions_on_the_topic_alone_produces_and_consumes(
    secured_kafka: SecuredKafka, properties: Path, topic: str, registry_url: str
) -> None:
    secured_kafka.permit(CLERK, topic, AclOperation.READ, AclOperation.WRITE)
    properties.with_name("schema.json").write_text(SCHEMA)
    place = ("--registry", registry_url)
    written = ("--schema", properties.with_name("schema.json"), *place, "--broker-config", properties)
    out, _ = run("produce", topic, *written, given='{"id": 1}\n{"id": 2}\n')
    assert out == f"2 records written to {topic}\n"
    named = {"CONTRACTLOG_BROKER_CONFIG": str(properties)}
    out, said = run("consume", topic, *place, **named)
    assert ([json.loads(line) for line in out.splitlines()], said) == ([{"id": 1}, {"id": 2}], "")


def test_a_user_without_a_permission_is_told_which(
    secured_kafka: SecuredKafka, properties: Path, topic: str, registry_url: str
) -> None:
    place = ("--registry", registry_url, "--broker-config", properties)
    assert f"has no topic `{topic}` that this user may see" in run("consume", topic, *place, code=2)[1]
    secured_kafka.permit(CLERK, topic, AclOperation.DESCRIBE)
    secured_kafka.produce(topic, [{"value": b"x"}])
    # a broker applies what it was permitted a moment later: until then, it denies that the partition exists
    refused = eventually(lambda: done if (done := attempt("consume", topic, *place)).returncode == 4 else None)
    assert "Topic authorization failed" in refused.stderr
    properties.with_name("schema.json").write_text(SCHEMA)
    written = ("--schema", properties.with_name("schema.json"), *place)
    said = run("produce", topic, *written, given='{"id": 1}\n', code=4)[1]
    assert "does not permit this user" in said


@pytest.mark.parametrize("verb", ["produce", "consume"])
def test_errors_of_the_broker_or_its_client_are_one_sentence(
    secured_kafka: SecuredKafka, topic: str, registry_url: str, tmp_path: Path, verb: str
) -> None:
    file = tmp_path / "other.properties"

    def said(password: str = SECRET, **further: str) -> str:
        secured_kafka.write_properties(file, CLERK, password, **further)
        told = run(verb, topic, "--registry", registry_url, "--broker-config", file, code=2)[1]
        assert told.count("\n") == 1
        return told

    if verb == "consume":
        assert re.search("rejected the credentials or the TLS connection: .*Authentication failed", said("no"))
    else:
        assert "rejected the credentials or the TLS connection: " in said(ssl_ca_location="")
        assert 'No such configuration property: "no.such"' in said(no_such="x")

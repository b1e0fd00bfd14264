"""Messages and log lines of Kafka clients show no value of a property, and are escaped."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from contractlog.clients.cli.broker import Brokers
from contractlog.compatibility.errors import UsageError
from contractlog.serdes.kafka_client import client_config, make_client

from support.deadlines import eventually


@pytest.mark.parametrize("kind", [Producer, AdminClient])
def test_log_lines_of_librdkafka_are_escaped(kind: Any, capfd: pytest.CaptureFixture[str]) -> None:
    properties = {"debug": "broker", "client.id": "\x1b[31mhostile\n::error::"}
    client = make_client(kind, client_config(Brokers("127.0.0.1:9", properties)))
    printed = ""

    def is_printed() -> bool:
        nonlocal printed
        client.poll(0)
        printed += capfd.readouterr().err
        return "hostile" in printed

    eventually(is_printed)
    assert printed.startswith("librdkafka: ")
    assert "\\x1b[31mhostile\\n" in printed
    assert "\x1b" not in printed
    assert "\n::error" not in printed


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("security.protocol", "HUNTERPW"),
        ("compression.type", "HUNTERPW"),
        ("debug", "broker,HUNTERPW"),
        ("linger.ms", "-98765"),
        ("batch.size", "HUNTERPW"),
        ("ssl.ca.location", "/HUNTERPW"),
    ],
)
def test_a_message_about_a_property_has_no_value(name: str, value: str) -> None:
    properties = {"security.protocol": "ssl", name: value}
    with pytest.raises(UsageError, match=r"--broker-config: .*(propert|ssl)") as error:
        make_client(Producer, client_config(Brokers("a:1", properties)))
    assert "HUNTERPW" not in str(error.value)
    assert "98765" not in str(error.value)

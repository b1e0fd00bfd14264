"""Messages about properties of Kafka clients name the property, and never its value."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer

from contractlog.clients.cli.broker import Brokers
from contractlog.compatibility.errors import UsageError
from contractlog.serdes.kafka_client import client_config, make_client


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

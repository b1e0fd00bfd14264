"""``mock://NAME`` is the real service in this process, one per name."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from uuid import uuid4

import pytest

from contractlog.clients.confluent import AsyncSchemaRegistryClient, Schema, SchemaRegistryClient
from contractlog.compatibility.errors import IncompatibleSchema, SubjectNotFound

FIRST = Schema('{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}', "AVRO")
BROKEN = Schema('{"type":"record","name":"Order","fields":[{"name":"total","type":"double"}]}', "AVRO")
WITHOUT_EXTRA = """
import sys
sys.modules["sqlalchemy"] = None
from contractlog.clients.confluent import SchemaRegistryClient
from contractlog.compatibility.errors import UsageError
try:
    SchemaRegistryClient({"url": "mock://x"})
except UsageError as error:
    print(error)
"""
ENDS = """
from contractlog.clients.confluent import SchemaRegistryClient
import sys
assert not any(name.startswith("contractlog.registry") for name in sys.modules)
client = SchemaRegistryClient.new_client({"url": "mock://x"})
print(client.get_subjects())
"""


@pytest.fixture
def url() -> str:
    """A name that no other test has."""
    return f"mock://{uuid4()}"


def test_clients_of_one_name_share_a_registry(url: str) -> None:
    with SchemaRegistryClient.new_client({"url": url}) as one:
        registered = one.register_schema("orders-value", FIRST)
        assert one.config() == {"url": url}
    with SchemaRegistryClient({"url": url, "basic.auth.user.info": "a:b", "proxy": "http://127.0.0.1:9"}) as other:
        assert other.get_latest_version("orders-value").schema_id == registered
        assert other.test_compatibility("orders-value", BROKEN) is False
        with pytest.raises(IncompatibleSchema):
            other.register_schema("orders-value", BROKEN)


def test_another_name_is_another_registry(url: str) -> None:
    with SchemaRegistryClient({"url": url}) as one, SchemaRegistryClient({"url": url + "-2"}) as other:
        one.register_schema("orders-value", FIRST)
        with pytest.raises(SubjectNotFound):
            other.get_latest_version("orders-value")


def test_the_asynchronous_client_meets_the_same_registry(url: str) -> None:
    async def subjects() -> list[str]:
        async with AsyncSchemaRegistryClient({"url": url}) as client:
            return await client.get_subjects()

    with SchemaRegistryClient({"url": url}) as client:
        client.register_schema("orders-value", FIRST)
    assert asyncio.run(subjects()) == ["orders-value"]


def test_it_is_no_address_among_others(url: str) -> None:
    with pytest.raises(ValueError, match="one of several"):
        SchemaRegistryClient({"url": f"http://x,{url}"})


def run(script: str) -> str:
    """Return what a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=240)
    assert not done.stderr
    return done.stdout.strip()


def test_without_the_extra_it_names_the_install_command() -> None:
    assert run(WITHOUT_EXTRA) == "`mock://x` needs an extra: pip install 'contractlog[server]'"


def test_the_service_is_loaded_when_it_is_asked_for_and_lets_the_process_end() -> None:
    assert run(ENDS) == "[]"

"""The Python package ``python-schema-registry-client`` and its unusual requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from schema_registry.client import AsyncSchemaRegistryClient, SchemaRegistryClient
from schema_registry.client.errors import ClientError
from schema_registry.client.schema import AvroSchema, JsonSchema
from schema_registry.serializers import AvroMessageSerializer, JsonMessageSerializer

from support.registry import serve_in_thread
from support.request_recorder import RecordedRequests, record_requests

pytestmark = pytest.mark.e2e

ID: Final = {"name": "id", "type": "long"}
NOTE: Final = {"name": "note", "type": ["null", "string"], "default": None}
SENT: Final = (
    r"POST /subjects/t-value",
    r"POST /subjects/t-value/versions",
    r"GET /schemas/ids/1",
    r"GET /schemas/ids/1/versions",
    r"GET /subjects",
    r"GET /subjects/t-value/versions",
    r"GET /subjects/t-value/versions/latest",
    r"GET /subjects/t-value/versions/1",
    r"POST /compatibility/subjects/t-value/versions/latest\?verbose=false",
    r"POST /compatibility/subjects/t-value/versions/latest\?verbose=true",
    r"GET /config/",
    r"PUT /config/",
    r"PUT /config/t-value",
    r"GET /config/t-value",
    r"DELETE /subjects/t-value/versions/latest",
    r"DELETE /subjects/t-value",
)


def record(*fields: dict[str, Any]) -> AvroSchema:
    return AvroSchema({"type": "record", "name": "Order", "fields": [ID, *fields]})


BAD: Final = record({"name": "total", "type": "double"})


class Awaited:
    """The awaited client, called as the other one is."""

    def __init__(self, url: str, loop: asyncio.Runner) -> None:
        self._client, self._loop = AsyncSchemaRegistryClient(url), loop

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)
        return lambda *arguments, **named: self._loop.run(method(*arguments, **named))


@pytest.fixture(params=["8", pytest.param("7.6", marks=pytest.mark.slow), pytest.param("5.5", marks=pytest.mark.slow)])
def front(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RecordedRequests]:
    """A service of its own in each response profile, and a listener in front of it."""
    database = f"sqlite:///{tmp_path / 'registry.db'}"
    with serve_in_thread(database, CONTRACTLOG_RESPONSE_PROFILE=request.param) as url, record_requests(url) as seen:
        yield seen


@pytest.mark.parametrize("kind", ["waiting", "awaited"])
def test_it_makes_its_whole_round(front: RecordedRequests, kind: str) -> None:
    with asyncio.Runner() as loop:
        client, other = (
            SchemaRegistryClient(front.url) if kind == "waiting" else Awaited(front.url, loop) for _ in range(2)
        )
        registers_and_reads(client, other)
        if kind == "waiting":
            serializes(client, other)
        configures_and_deletes(client)
    assert front.missing(SENT) == [], front.lines()
    for one in front.requests:
        assert one.headers["authorization"] == "Basic Og=="
        assert one.headers["accept"].startswith("application/vnd.schemaregistry.v1+json, ")
    asked, made = [one for one in front.requests if one.method == "POST"][:2]
    assert [asked.line, made.line] == ["POST /subjects/t-value", "POST /subjects/t-value/versions"]
    assert list(json.loads(made.body)) == ["schema", "schemaType"]
    assert '": "' in json.loads(made.body)["schema"]


def registers_and_reads(client: Any, other: Any) -> None:
    assert client.register("t-value", record()) == 1
    assert client.test_compatibility("t-value", record(NOTE)) is True
    assert client.test_compatibility("t-value", BAD) is False
    judged = client.test_compatibility("t-value", BAD, verbose=True)
    assert judged["is_compatible"] is False
    assert any("READER_FIELD_MISSING_DEFAULT_VALUE" in message for message in judged["messages"])
    assert client.register("t-value", record(NOTE)) == 2
    with pytest.raises(ClientError) as caught:
        client.register("t-value", BAD)
    assert (caught.value.http_code, caught.value.server_traceback["error_code"]) == (409, 40901)

    assert other.get_by_id(1).raw_schema == record().raw_schema
    assert other.get_by_id(99) is None
    assert [(one.subject, one.version) for one in other.get_schema_subject_versions(1)] == [("t-value", 1)]
    assert other.get_schema("t-value").version == 2
    assert other.get_schema("t-value", 1).schema_id == 1
    assert other.get_schema("nobody") is None
    assert other.get_versions("t-value") == [1, 2]
    assert other.get_subjects() == ["t-value"]
    assert other.check_version("t-value", record()).version == 1
    assert other.check_version("t-value", BAD) is None
    assert other.register("t-value", record(NOTE)) == 2


def serializes(client: Any, other: Any) -> None:
    written = AvroMessageSerializer(client).encode_record_with_schema("t-value", record(), {"id": 7})
    assert written == bytes.fromhex("00000000010e")
    assert AvroMessageSerializer(other).decode_message(written) == {"id": 7}
    schema = JsonSchema({"type": "object", "title": "J", "properties": {"id": {"type": "integer"}}})
    written = JsonMessageSerializer(client).encode_record_with_schema("json-value", schema, {"id": 7})
    assert written[5:] == b'{"id": 7}'
    assert JsonMessageSerializer(other).decode_message(written) == {"id": 7}


def configures_and_deletes(client: Any) -> None:
    assert client.get_compatibility() == "BACKWARD"
    assert client.update_compatibility("BACKWARD") is True
    with pytest.raises(ClientError) as caught:
        client.get_compatibility("t-value")
    assert caught.value.http_code == 404
    assert client.update_compatibility("FULL", "t-value") is True
    assert client.get_compatibility("t-value") == "FULL"
    assert client.delete_version("t-value", "latest") == 2
    assert client.delete_subject("t-value") == [1]
    assert client.delete_subject("nobody") == []
    assert client.get_versions("t-value") == []

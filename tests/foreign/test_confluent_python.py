"""Confluent's Python client, blocking and asynchronous: every method and its requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from confluent_kafka.schema_registry import (
    AsyncSchemaRegistryClient,
    ConfigCompatibilityLevel,
    Metadata,
    MetadataProperties,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    ServerConfig,
    header_schema_id_serializer,
)
from confluent_kafka.schema_registry._async.avro import AsyncAvroDeserializer, AsyncAvroSerializer
from confluent_kafka.schema_registry._async.json_schema import AsyncJSONDeserializer, AsyncJSONSerializer
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.common.schema_registry_client import (
    AssociationCreateOrUpdateInfo,
    AssociationCreateOrUpdateRequest,
)
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from support.registry import serve_in_thread
from support.request_recorder import RecordedRequests, record_requests

pytestmark = pytest.mark.e2e

KINDS: Final = ("waiting", "awaited")
SERDES: Final = {
    "waiting": (AvroSerializer, AvroDeserializer, JSONSerializer, JSONDeserializer),
    "awaited": (AsyncAvroSerializer, AsyncAvroDeserializer, AsyncJSONSerializer, AsyncJSONDeserializer),
}
#: What the facts saw this client send; ``True`` where it formats a path, ``true`` where it passes parameters.
SENT: Final = (
    r"POST /subjects/t-value/versions\?normalize=False",
    r"POST /subjects/t-value/versions\?normalize=True",
    r"GET /schemas/ids/1",
    r"GET /schemas/ids/1\?subject=t-value",
    r"GET /schemas/ids/1\?subject=t-value&format=resolved&reference_format=qualified",
    r"GET /schemas/guids/[0-9a-f-]{36}",
    r"GET /schemas/types",
    r"GET /schemas/ids/1/subjects\?offset=0&limit=-1",
    r"GET /schemas/ids/1/versions\?offset=0&limit=-1",
    r"POST /subjects/t-value\?normalize=False&deleted=False",
    r"POST /subjects/t-value\?normalize=False&deleted=True",
    r"GET /subjects\?deleted=false&deleted_only=false&offset=0&limit=-1",
    r"GET /subjects\?deleted=true&deleted_only=true&offset=0&limit=-1&subjectPrefix=t-",
    r"GET /subjects/t-value/versions/latest",
    r"GET /subjects/t-value/metadata\?deleted=false&key=own%2520er&value=a%252Fb",
    r"GET /subjects/t-value/versions/1\?deleted=false",
    r"GET /subjects/t-value/versions\?deleted=false&deleted_only=false&offset=0&limit=-1",
    r"GET /subjects/base/versions/1/referencedby\?offset=0&limit=-1",
    r"DELETE /subjects/t-value/versions/1",
    r"DELETE /subjects/t-value/versions/1\?permanent=true",
    r"DELETE /subjects/t-value",
    r"DELETE /subjects/t-value\?permanent=true",
    r"PUT /config",
    r"PUT /config/t-value",
    r"GET /config",
    r"GET /config/t-value",
    r"DELETE /config/t-value",
    r"POST /compatibility/subjects/t-value/versions/latest\?normalize=False&verbose=False",
    r"POST /compatibility/subjects/t-value/versions\?normalize=False&verbose=True",
    r"GET /mode",
    r"PUT /mode\?force=True",
    r"GET /mode/t-value",
    r"PUT /mode/t-value\?force=False",
    r"DELETE /mode/t-value",
    r"GET /contexts\?offset=0&limit=-1",
    r"POST /associations",
    r"GET /associations/resources/-/t\?resourceType=topic&associationType=value",
    r"DELETE /associations/resources/id-of-bound\?cascadeLifecycle=[Tt]rue&resourceType=topic&associationType=value",
)


class Calls:
    """A client of either kind: what is awaited is awaited here; names of methods are kept."""

    def __init__(self, client: Any, loop: asyncio.Runner | None, called: set[str]) -> None:
        self._client, self._loop, self._called = client, loop, called

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)

        def call(*arguments: Any, **named: Any) -> Any:
            self._called.add(name)
            return self.result(method(*arguments, **named))

        return call

    def result(self, value: Any) -> Any:
        """Return what comes out of a call, awaited where that is needed."""
        return self._loop.run(value) if self._loop is not None and hasattr(value, "__await__") else value

    def serde(self, position: int, kind: str, *arguments: Any, **named: Any) -> Any:
        """Make a serializer or a deserializer of this kind."""
        made = self.result(SERDES[kind][position](*arguments, **named))
        return lambda value, context: self.result(made(value, context))


def order(*fields: dict[str, Any]) -> str:
    first = {"name": "id", "type": "long"}
    return json.dumps({"type": "record", "name": "Order", "namespace": "acme", "fields": [first, *fields]})


NOTE: Final = {"name": "note", "type": ["null", "string"], "default": None}
BAD: Final = Schema(order({"name": "total", "type": "double"}), "AVRO")
ONE: Final = Schema(order(), "AVRO")
TWO: Final = Schema(order(NOTE), "AVRO", metadata=Metadata(None, MetadataProperties({"own er": "a/b"}), []))
FORWARD: Final = ConfigCompatibilityLevel.FORWARD
REFUSED: Final = SchemaRegistryError


def codes(caught: pytest.ExceptionInfo[SchemaRegistryError]) -> tuple[int, int]:
    return caught.value.http_status_code, caught.value.error_code


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def front(tmp_path: Path) -> Iterator[RecordedRequests]:
    """A service of its own, because ids and what is global are looked at, and a listener in front of it."""
    with serve_in_thread(f"sqlite:///{tmp_path / 'registry.db'}") as url, record_requests(url) as seen:
        yield seen


@pytest.fixture
def opened(kind: str) -> Iterator[Any]:
    """A function that makes clients of this kind, and the names of the methods that were called."""
    with ExitStack() as stack:
        loop = stack.enter_context(asyncio.Runner()) if kind == "awaited" else None

        def client(url: str) -> Calls:
            conf = {"url": url, "timeout": 20}
            made = AsyncSchemaRegistryClient(conf) if loop else SchemaRegistryClient(conf)
            stack.callback(lambda: loop.run(made.aclose()) if loop else made.close())
            client.made = made  # type: ignore[attr-defined]
            return Calls(made, loop, client.called)  # type: ignore[attr-defined]

        client.called = set()  # type: ignore[attr-defined]
        yield client


def test_every_method_is_answered_and_the_requests_are_those_of_the_facts(
    front: RecordedRequests, opened: Any, kind: str
) -> None:
    client = opened(front.url)
    registers_and_reads(client)
    client.clear_latest_caches()
    is_refused_and_asks(client)
    binds(client)
    serializes(client, kind)
    deletes(client)
    changes_what_is_global(client)
    assert front.missing(SENT) == [], front.lines()
    public = {name for name in dir(type(opened.made)) if not name.startswith("_") and name != "new_client"}
    assert public - opened.called == {"aclose" if kind == "awaited" else "close"}, "methods that were not called"
    for request in front.requests:
        assert request.headers["confluent-client-version"].startswith("python/")
        wanted = "*/*" if request.method in {"POST", "PUT"} else "application/vnd.schemaregistry.v1+json, "
        assert request.headers["accept"].startswith(wanted)


def registers_and_reads(client: Calls) -> None:
    assert client.config()["timeout"] == 20
    assert client.register_schema("t-value", ONE) == 1
    full = client.register_schema_full_response("t-value", TWO, normalize_schemas=True)
    assert (full.schema_id, full.version) == (2, 2)
    client.clear_caches()
    assert json.loads(client.get_schema(1).schema_str) == json.loads(order())
    assert client.get_schema(1, "t-value").schema_type == "AVRO"
    client.clear_caches()
    resolved = client.get_schema(1, "t-value", "resolved", "qualified")
    assert json.loads(resolved.schema_str)["name"] == "Order"
    assert client.get_schema_by_guid(full.guid).metadata.properties.properties == {"own er": "a/b"}
    assert set(client.get_schema_types()) == {"AVRO", "JSON"}
    assert client.get_subjects_by_schema_id(1) == ["t-value"]
    assert [(one.subject, one.version) for one in client.get_schema_versions(1)] == [("t-value", 1)]
    client.clear_caches()
    assert client.lookup_schema("t-value", ONE).version == 1
    assert client.lookup_schema("t-value", TWO, deleted=True).version == 2
    assert client.get_subjects() == ["t-value"]
    assert client.get_subjects("t-", deleted=True, deleted_only=True) == []
    assert client.get_latest_version("t-value").schema_id == 2
    client.clear_caches()
    assert client.get_version("t-value", 1).schema_id == 1
    assert client.get_versions("t-value") == [1, 2]
    assert client.get_contexts() == ["."]
    client.register_schema("base", Schema('{"type":"record","name":"Base","fields":[]}', "AVRO"))
    reference = [SchemaReference("Base", "base", 1)]
    leaning = client.register_schema("leaning", Schema(order({"name": "b", "type": "Base"}), "AVRO", reference))
    assert client.get_referenced_by("base", 1) == [leaning]


def is_refused_and_asks(client: Calls) -> None:
    with pytest.raises(REFUSED) as caught:
        client.register_schema("t-value", BAD)
    assert codes(caught) == (409, 40901)
    assert client.test_compatibility("t-value", BAD) is False
    assert client.test_compatibility("t-value", ONE) is True
    assert client.test_compatibility_all_versions("t-value", BAD, verbose=True) is False
    with pytest.raises(REFUSED) as caught:
        client.get_compatibility("t-value")
    assert codes(caught) == (404, 40408)
    assert client.set_compatibility("t-value", "FULL")["compatibility"] == "FULL"
    assert client.get_compatibility("t-value") == "FULL"
    assert client.set_config("t-value", ServerConfig(FORWARD))["compatibility"] == "FORWARD"
    assert client.get_config("t-value").compatibility_level == FORWARD
    assert client.delete_config("t-value").compatibility_level == FORWARD
    assert client.get_config().compatibility_level == ConfigCompatibilityLevel.BACKWARD
    assert client.update_mode("t-value", "READONLY") == "READONLY"
    assert client.get_mode("t-value") == "READONLY"
    with pytest.raises(REFUSED) as caught:
        client.delete_subject("t-value")
    assert codes(caught) == (422, 42205)
    assert client.delete_mode("t-value") == "READONLY"
    assert client.get_latest_with_metadata("t-value", {"own er": "a/b"}).version == 2


def binds(client: Calls) -> None:
    info = AssociationCreateOrUpdateInfo(association_type="value", schema=ONE)
    request = AssociationCreateOrUpdateRequest("bound", "lkc-1", "id-of-bound", "topic", [info])
    assert client.create_association(request).resource_id == "id-of-bound"
    (bond,) = client.get_associations_by_resource_name("bound", "lkc-1", "topic", ["value"])
    assert bond.subject == ":.lkc-1:bound-value"
    client.delete_associations("id-of-bound", "topic", ["value"], cascade_lifecycle=True)
    assert client.get_associations_by_resource_name("bound", "lkc-1", "topic", ["value"]) == []


def serializes(client: Calls, kind: str) -> None:
    context = SerializationContext("t", MessageField.VALUE)
    source = client._client
    written = client.serde(0, kind, source, order())({"id": 7}, context)
    assert written == bytes.fromhex("00000000010e")
    newest = client.serde(0, kind, source, conf={"auto.register.schemas": False, "use.latest.version": True})
    assert newest({"id": 7, "note": "x"}, context) == bytes.fromhex("00000000020e020278")
    client.clear_caches()
    assert client.serde(1, kind, source)(written, context) == {"id": 7}
    client.clear_caches()
    evolved = client.serde(1, kind, source, conf={"use.latest.version": True})
    assert evolved(written, context) == {"id": 7, "note": None}
    text = json.dumps({"type": "object", "title": "J", "properties": {"id": {"type": "integer"}}})
    context = SerializationContext("j", MessageField.VALUE)
    data = client.serde(2, kind, text, source)({"id": 7}, context)
    assert json.loads(data[5:]) == {"id": 7}
    assert client.serde(3, kind, text, schema_registry_client=source)(data, context) == {"id": 7}
    headers: list[tuple[str, bytes]] = []
    context = SerializationContext("h", MessageField.VALUE, headers)
    conf = {"schema.id.serializer": header_schema_id_serializer}
    bare = client.serde(0, kind, source, order(NOTE), conf=conf)({"id": 7, "note": "long enough"}, context)
    assert [(name, value[:1], len(value)) for name, value in headers] == [("__value_schema_id", b"\x01", 17)]
    client.clear_caches()
    assert client.serde(1, kind, source)(bare, context) == {"id": 7, "note": "long enough"}


def deletes(client: Calls) -> None:
    assert client.delete_version("t-value", 1) == 1
    assert client.delete_version("t-value", 1, permanent=True) == 1
    assert client.delete_subject("t-value") == [2]
    assert client.delete_subject("t-value", permanent=True) == [2]
    client.clear_caches()
    with pytest.raises(REFUSED) as caught:
        client.get_schema(1)
    assert codes(caught) == (404, 40403)


def changes_what_is_global(client: Calls) -> None:
    assert client.set_compatibility(level="NONE")["compatibility"] == "NONE"
    assert client.get_compatibility() == "NONE"
    assert client.update_global_mode("IMPORT", force=True) == "IMPORT"
    assert client.get_global_mode() == "IMPORT"
    assert client.update_global_mode("READWRITE") == "READWRITE"


def test_a_context_in_the_path_is_a_registry_of_its_own(front: RecordedRequests, opened: Any, kind: str) -> None:
    plain, inside = opened(front.url), opened(f"{front.url}/contexts/.team")
    assert plain.register_schema("other", Schema('"string"', "AVRO")) == 1
    assert inside.register_schema("t-value", ONE) == 1
    assert inside.register_schema("t-value", TWO) == 2
    with pytest.raises(REFUSED) as caught:
        inside.register_schema("t-value", BAD)
    assert codes(caught) == (409, 40901)
    inside.clear_caches()
    assert json.loads(inside.get_schema(1).schema_str) == json.loads(order())
    assert inside.lookup_schema("t-value", ONE).schema_id == 1
    assert inside.get_versions("t-value") == [1, 2]
    assert inside.get_latest_version("t-value").subject == ":.team:t-value"
    assert plain.get_schema(1).schema_str == '"string"'
    assert plain.get_versions(":.team:t-value") == [1, 2]
    with pytest.raises(REFUSED) as caught:
        plain.get_versions("t-value")
    assert codes(caught) == (404, 40401)
    context = SerializationContext("t", MessageField.VALUE)
    written = inside.serde(0, kind, inside._client, order())({"id": 7}, context)
    assert written == bytes.fromhex("00000000010e")
    assert inside.serde(1, kind, inside._client)(written, context) == {"id": 7}
    assert ":.team:t-value" in plain.get_subjects(":.team:")
    assert "POST /contexts/.team/subjects/t-value/versions?normalize=False" in front.lines()

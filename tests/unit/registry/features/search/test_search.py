"""Search over HTTP: the index follows the journal and contains only latest live versions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from contractlog.registry.settings import Settings

from support.deadlines import eventually
from support.registry import in_process

SEARCH = "/contractlog/v1/search"


@pytest.fixture
def node(database_url: str) -> Iterator[httpx2.Client]:
    with in_process(Settings(database_url=database_url)) as client:
        client.app.state.services.start()  # type: ignore[attr-defined]
        yield client


def record(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": n, "type": t} for n, t in fields.items()]}


def register(node: httpx2.Client, subject: str, schema: Any, **members: Any) -> int:
    body = {"schema": json.dumps(schema)} | members
    answer = node.post(f"/subjects/{subject}/versions", json=body)
    assert answer.status_code == 200, answer.text
    return int(answer.json()["id"])


def ask(node: httpx2.Client, **query: Any) -> dict[str, Any]:
    """Search once the index has come as far as the journal."""

    def search() -> dict[str, Any] | None:
        answer = node.get(SEARCH, params=query)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found if found["indexed_to"] == found["head"] else None

    found = eventually(search)
    assert found is not None
    return found


def places(node: httpx2.Client, **query: Any) -> list[tuple[str, int, str]]:
    return [(hit["subject"], hit["version"], hit["path"]) for hit in ask(node, **query)["hits"]]


def test_a_hit_tells_the_version_and_which_field_it_is(node: httpx2.Client) -> None:
    street = record("Street", street="string")
    schema_id = register(node, "orders", record("Order", id="long", address=street))
    assert ask(node, field="street")["hits"] == [
        {"subject": "orders", "version": 1, "id": schema_id, "kind": "field", "name": "street",
         "path": "address.street"}
    ]  # fmt: skip
    assert places(node, field="STREET") == places(node, field="street")
    assert places(node, field="stree") == []


def test_only_the_latest_live_version_is_found(node: httpx2.Client) -> None:
    node.put("/config", json={"compatibility": "NONE"})
    register(node, "s", record("R", old="long"))
    assert places(node, field="old") == [("s", 1, "old")]
    register(node, "s", record("R", new="long"))
    assert places(node, field="old") == []
    assert places(node, field="new") == [("s", 2, "new")]
    node.delete("/subjects/s/versions/2")
    assert places(node, field="old") == [("s", 1, "old")]
    assert places(node, field="new") == []
    node.delete("/subjects/s")
    assert places(node, field="old") == []
    node.delete("/subjects/s?permanent=true")
    assert places(node, field="old") == []


def test_types_tags_and_properties_are_found(node: httpx2.Client) -> None:
    schema = record("Person", mail="string")
    schema["namespace"] = "com.acme"
    schema["fields"][0]["confluent:tags"] = ["PII"]
    metadata = {
        "properties": {"owner": "team-a", "key": "hidden"},
        "tags": {"com.acme.Person.*": ["GDPR"]},
        "sensitive": ["key"],
    }
    register(node, "people", schema, metadata=metadata)
    assert places(node, type="person") == places(node, type="com.acme.Person") == [("people", 1, "")]
    assert places(node, type="string") == [("people", 1, "mail")]
    assert places(node, tag="pii") == [("people", 1, "mail")]
    assert places(node, tag="GDPR") == [("people", 1, "com.acme.Person.*")]
    assert places(node, property="owner") == places(node, property="owner=team-a") == [("people", 1, "")]
    assert places(node, property="owner=team-b") == []
    assert places(node, property="key") == [("people", 1, "")]
    assert places(node, property="key=hidden") == places(node, property="hidden") == []


def test_json_schemas_are_found_too(node: httpx2.Client) -> None:
    schema = {
        "title": "Order",
        "type": "object",
        "properties": {
            "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"$ref": "#/$defs/Sku"}}}}
        },
        "$defs": {"Sku": {"type": "string", "format": "uuid", "confluent:tags": ["KEY"]}},
    }
    register(node, "orders", schema, schemaType="JSON")
    assert places(node, field="sku") == [("orders", 1, "lines[].sku")]
    assert places(node, type="uuid") == places(node, tag="KEY") == [("orders", 1, "#$defs.Sku")]
    assert places(node, type="Sku") == [("orders", 1, "lines[].sku")]
    assert places(node, type="order") == [("orders", 1, "")]


def test_several_words_are_all_in_the_schema(node: httpx2.Client) -> None:
    register(node, "a", record("A", mail="string", age="int"))
    register(node, "b", record("B", mail="string"))
    assert places(node, field="mail") == [("a", 1, "mail"), ("b", 1, "mail")]
    assert places(node, field="mail", type="int") == [("a", 1, "mail")]
    assert places(node, field="mail", type="in", match="prefix") == [("a", 1, "mail")]
    assert places(node, field="mail", type="bytes") == []


def test_a_prefix_is_the_beginning_of_a_word_in_any_writing(node: httpx2.Client) -> None:
    schema = {"type": "object", "properties": {name: {} for name in ("straße", "Strand", "stück", "a\0b", "日本", "")}}
    register(node, "s", schema, schemaType="JSON")
    assert places(node, field="str", match="prefix") == [("s", 1, "Strand"), ("s", 1, "straße")]
    assert places(node, field="STRASSE") == [("s", 1, "straße")]
    assert places(node, field="日", match="prefix") == [("s", 1, "日本")]
    assert places(node, field="a\0b") == [("s", 1, "a�b")]


def test_long_words_are_told_apart(node: httpx2.Client) -> None:
    names = ["x" * 1_000 + end for end in "ab"]
    register(node, "s", {"type": "object", "properties": {name: {} for name in names}}, schemaType="JSON")
    assert [path[-1] for _, _, path in places(node, field=names[0])] == ["a"]
    assert len(places(node, field="x" * 500, match="prefix")) == 2


@pytest.mark.parametrize("match", ["exact", "prefix"])
def test_pages_of_any_size_tell_every_hit_once(node: httpx2.Client, match: str) -> None:
    shared = record("Shared", mail="string", mail2="string")
    for number in range(6):
        register(node, f"s{number}", shared)
    register(node, ":.eu:s", shared)
    whole = places(node, field="mail", match=match)
    assert len(whole) == 7 * (1 + (match == "prefix"))
    for limit in (1, 2, 5):
        told, after = [], ""
        while True:
            page = ask(node, field="mail", match=match, limit=limit, after=after)
            told += [(hit["subject"], hit["version"], hit["path"]) for hit in page["hits"]]
            after = page.get("next")
            if after is None:
                break
        assert told == whole
    assert places(node, field="mail", context=".eu") == [(":.eu:s", 1, "mail")]


def test_words_go_with_their_schema(node: httpx2.Client) -> None:
    from sqlalchemy import func, select

    from contractlog.registry.storage.tables import search_terms

    register(node, "s", record("R", x="long"))
    ask(node, field="x")
    node.delete("/subjects/s")
    node.delete("/subjects/s?permanent=true")
    ask(node, field="x")
    with node.app.state.services.store.open_snapshot() as snapshot:  # type: ignore[attr-defined]
        assert snapshot.connection.execute(select(func.count()).select_from(search_terms)).scalar() == 0


@pytest.mark.parametrize(
    "query",
    [
        "",
        "match=prefix",
        "field=x&match=some",
        "field=x&limit=0",
        "field=x&after=x",
        "field=x&after=kqDAAQEB",
        "field=x&limit=1001",
        "field=x&context=eu",
    ],
)
def test_a_parameter_that_cannot_be_used_is_named(node: httpx2.Client, query: str) -> None:
    answer = node.get(f"{SEARCH}?{query}")
    assert (answer.status_code, answer.json()["error_code"]) == (422, 42281)

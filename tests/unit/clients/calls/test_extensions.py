"""contractlog's own resources through the client."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Iterator
from itertools import count, repeat
from typing import Any

import pytest

from contractlog.clients import AsyncRegistry, CompatibilityResult, Registry
from contractlog.clients.calls import each_schema, extensions
from contractlog.clients.calls.call import Call
from contractlog.compatibility.errors import (
    ChangesAhead,
    InvalidQuery,
    InvalidSchema,
    SubjectNotFound,
    UnreadableResponse,
)
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import Reference, RegisteredSchema, SchemaDraft
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings


def record(name: str, **fields: Any) -> SchemaDraft:
    described = [{"name": n, "type": t} for n, t in fields.items()]
    return SchemaDraft(json.dumps({"type": "record", "name": name, "fields": described}))


def test_the_journal_is_read_page_by_page(registry: Registry) -> None:
    for subject in "abc":
        registry.register(subject, record(subject))
    first = registry.changes(limit=2)
    assert [one["target"] for one in first["changes"]] == ["a/1", "b/1"]
    assert [one["target"] for one in registry.changes(first["next"], wait=5)["changes"]] == ["c/1"]
    assert registry.changes("latest")["head"] == 3
    with pytest.raises(ChangesAhead):
        registry.changes(99)


def test_a_search_names_its_words(registry: Registry) -> None:
    assert registry.search(field="x", tag="PII", prefix=True, limit=5)["hits"] == []
    with pytest.raises(InvalidQuery):
        registry.search()
    call = extensions.search(field="a b", property="owner=x", prefix=True)
    assert call.target == "/contractlog/v1/search?field=a%20b&property=owner%3Dx&match=prefix"


def test_versions_and_drafts_are_compared(registry: Registry) -> None:
    registry.set_level("NONE")
    registry.register("s", record("R", x="long"))
    registry.register("s", record("R", x="string"))
    assert registry.difference(("s", 1), ("s", "latest"), level=Level.FULL)["kind"] == "breaking"
    assert registry.difference(("s", "latest"), record("R", x="string"))["kind"] == "none"


def test_the_graph_goes_both_ways(registry: Registry) -> None:
    registry.register("item", record("Item"))
    leaning = SchemaDraft(record("Order", item="Item").text, references=(Reference("Item", "item", 1),))
    registry.register("order", leaning)
    assert [one["subject"] for one in registry.graph("item")["nodes"]] == ["item", "order"]
    assert [one["subject"] for one in registry.graph("item", direction="references")["nodes"]] == ["item"]


def test_many_are_looked_up_and_judged_with_an_answer_or_an_error_each(registry: Registry) -> None:
    known = registry.register("s", record("R", x="long"))
    found, missing, broken = registry.lookup_many(
        [("s", record("R", x="long")), ("nobody", record("R")), ("s", SchemaDraft("nonsense"))]
    )
    assert isinstance(found, RegisteredSchema)
    assert (found.schema_id, found.version, found.guid) == (known.schema_id, known.version, known.guid)
    assert json.loads(found.text) == json.loads(record("R", x="long").text)
    assert isinstance(missing, SubjectNotFound)
    assert isinstance(broken, InvalidSchema)
    yes, no, unreadable = registry.check_many(
        [("s", record("R", x="double")), ("s", record("R", x="string")), ("s", SchemaDraft("nonsense"))]
    )
    assert yes == CompatibilityResult(compatible=True)
    assert isinstance(no, CompatibilityResult)
    assert not no
    assert no.messages
    assert isinstance(unreadable, InvalidSchema)


def test_fetches_are_read_back(registry: Registry) -> None:
    known = registry.register("s", record("R"))
    registry.schema_by_id(known.schema_id)
    [told] = registry.fetches(known.schema_id)
    assert (told["id"], told["count"]) == (known.schema_id, 1)
    assert registry.fetches(subject="s", days=1) == [told]


def test_the_client_to_be_awaited_has_the_same_methods() -> None:
    for name in {name for name in extensions.__all__ if not name.startswith("each_")}:
        waiting, awaited = getattr(Registry, name), getattr(AsyncRegistry, name)
        assert inspect.signature(waiting) == inspect.signature(awaited)
        assert inspect.iscoroutinefunction(awaited)


def test_awaited_calls_answer_alike() -> None:
    app = create_app(Settings(database_url="sqlite://"))

    async def ask() -> None:
        async with AsyncRegistry(app=app) as registry:
            await registry.register("s", record("R"))
            assert (await registry.changes())["next"] == 1
            assert (await registry.search(field="x"))["hits"] == []
            assert (await registry.difference(("s", 1), record("R")))["kind"] == "none"
            assert len((await registry.graph("s"))["nodes"]) == 1
            assert len(await registry.lookup_many([("s", record("R"))])) == 1
            assert len(await registry.check_many([("s", record("R"))])) == 1
            assert await registry.fetches(subject="s") == []

    asyncio.run(ask())
    app.state.close()


@pytest.mark.parametrize("following", [0, -1, 7, "8", True, 1.5])
def test_pages_of_edges_that_do_not_advance_are_rejected(following: Any) -> None:
    call = extensions.lineage_edges(after=7)
    with pytest.raises(UnreadableResponse, match="not a number above 7"):
        call.read({"edges": [], "next": following})
    assert call.read({"edges": [], "next": 8})["next"] == 8
    assert call.read({"edges": []}) == {"edges": []}


def test_lists_whose_pages_do_not_end_are_rejected() -> None:
    pages = extensions.each_lineage_edge()
    with pytest.raises(UnreadableResponse, match="pages without items"):
        exhaust(pages, ({"edges": [], "next": number} for number in count(1)))
    with pytest.raises(UnreadableResponse, match="not a number above 3"):
        exhaust(extensions.each_change(3), repeat({"changes": [{}], "next": 3}))
    with pytest.raises(UnreadableResponse, match="followed by itself"):
        exhaust(extensions.each_hit(field="a"), repeat({"hits": [{}], "next": "x"}))
    with pytest.raises(UnreadableResponse, match="pages without items"):
        exhaust(extensions.each_hit(field="a"), ({"hits": [], "next": str(number)} for number in count(1)))
    version = RegisteredSchema.__new__(RegisteredSchema)
    exhaust(each_schema(), repeat([version]))  # the server ignores the offset


def exhaust(pages: Any, responses: Iterator[Any]) -> None:
    """Send responses to calls until there are no more; fail if they do not end."""
    response = None
    for _ in range(10_000):
        try:
            step = pages.send(response)
        except StopIteration:
            return
        response = next(responses) if isinstance(step, Call) else None
    pytest.fail("the pages do not end")

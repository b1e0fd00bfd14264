"""Cached lookups of a client: the requests it sends once, repeats, and after its own writes."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from contractlog.clients import AsyncRegistry, Caching, Exchange, Registry, Retries, calls
from contractlog.clients.cache import CachedLookups, ClientCaches
from contractlog.clients.calls import CallSequence
from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.errors import SchemaNotFound, SubjectNotFound, Unreachable, UnreadableResponse
from contractlog.compatibility.identifiers import SchemaId
from contractlog.compatibility.schema import Reference, RegisteredSchema, SchemaDraft
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings


class Counting:
    """Counts requests by route, and what the memories knew."""

    def __init__(self) -> None:
        self.routes: Counter[str] = Counter()
        self.lookups: Counter[tuple[str, bool]] = Counter()
        self.exchanges: list[Exchange] = []

    def exchanged(self, exchange: Exchange) -> None:
        self.routes[exchange.route] += 1
        self.exchanges.append(exchange)

    def looked_up(self, cache: str, *, hit: bool) -> None:
        self.lookups[cache, hit] += 1


class World:
    """The real service in process, a client that is counted, and another client that writes behind its back."""

    def __init__(self, **caching: Any) -> None:
        self.app = create_app(Settings(database_url="sqlite://"))
        self.watch = Counting()
        self.registry = Registry(app=self.app, watch=self.watch, caching=Caching(**caching))
        self.other = Registry(app=self.app)

    def close(self) -> None:
        self.registry.close()
        self.other.close()
        self.app.state.close()


@pytest.fixture
def world() -> Any:
    made = World()
    yield made
    made.close()


def order(*names: str, **properties: str) -> SchemaDraft:
    fields = [{"name": name, "type": "long", "default": 0} for name in names]
    text = json.dumps({"type": "record", "name": "Order", "fields": fields})
    return SchemaDraft(text, metadata=Metadata(properties=properties) if properties else None)


BY_ID = "/schemas/ids/{}"
VERSION = "/subjects/{}/versions/{}"


def test_an_id_is_asked_for_once(world: World) -> None:
    registered = world.other.register("s", order("a"))
    found = [world.registry.schema_by_id(registered.schema_id) for _ in range(5)]
    assert world.watch.routes[BY_ID] == 1
    assert {schema.text for schema in found} == {registered.text}
    assert world.watch.lookups == {("id", False): 1, ("id", True): 4}


def test_a_guid_is_asked_for_once(world: World) -> None:
    registered = world.other.register("s", order("a"))
    found = [world.registry.schema_by_guid(str(registered.guid)) for _ in range(5)]
    assert world.watch.routes["/schemas/guids/{}"] == 1
    assert {(schema.text, schema.guid) for schema in found} == {(registered.text, registered.guid)}


def test_the_latest_version_is_believed_until_this_client_writes(world: World) -> None:
    for subject in ("s", "t"):
        world.other.register(subject, order("a"))
        assert world.registry.latest(subject).version == 1
    world.other.register("s", order("a", "b"))
    assert world.registry.latest("s").version == 1
    assert world.registry.version("s", "latest").version == 2, "version() always asks"
    world.registry.register("s", order("a", "b", "c"))
    assert world.registry.latest("s").version == 3
    asked = world.watch.routes[VERSION]
    assert world.registry.latest("t").version == 1
    assert world.watch.routes[VERSION] == asked, "writing to one subject forgets nothing of another"


@pytest.mark.parametrize(
    ("write", "left"),
    [
        (lambda r: r.delete_version("s", 2), 1),
        (lambda r: r.derive("s", 2, metadata=Metadata(properties={"k": "v"})), 3),
        (lambda r: r.set_config({"alias": "t"}, "s"), 1),
        (lambda r: r.send(calls.delete_version("s", "latest")), 1),
    ],
    ids=["deleting", "deriving", "an alias", "any call"],
)
def test_writes_invalidate_affected_entries(world: World, write: Callable[[Registry], Any], left: int) -> None:
    world.other.register("t", order("x"))
    world.other.register("s", order("a"))
    world.other.register("s", order("a", "b"))
    assert world.registry.latest("s").version == 2
    write(world.registry)
    assert world.registry.latest("s").version == left


def test_a_deleted_subject_is_gone_at_once(world: World) -> None:
    world.other.register("s", order("a"))
    assert world.registry.latest("s").version == 1
    world.registry.delete_subject("s")
    with pytest.raises(SubjectNotFound):
        world.registry.latest("s")


def test_an_id_that_went_for_good_is_not_remembered(world: World) -> None:
    registered = world.other.register("s", order("a"))
    assert world.registry.schema_by_id(registered.schema_id)
    world.registry.delete_subject("s")
    assert world.registry.schema_by_id(registered.schema_id), "soft deletion hides nothing from readers"
    world.registry.delete_subject("s", permanent=True)
    with pytest.raises(SchemaNotFound):
        world.registry.schema_by_id(registered.schema_id)


def test_an_unknown_id_is_asked_for_once_until_something_is_registered(world: World) -> None:
    for _ in range(5):
        with pytest.raises(SchemaNotFound, match="Schema 1 not found"):
            world.registry.schema_by_id(1)
    assert world.watch.routes[BY_ID] == 1
    registered = world.registry.register("s", order("a"))
    assert world.registry.schema_by_id(1).text == registered.text


def test_the_latest_with_metadata_is_believed_by_its_properties(world: World) -> None:
    world.other.register("s", order("a", owner="x", tier="1"))
    world.other.register("s", order("a", "b", owner="y"))
    for _ in range(3):
        assert world.registry.latest_with_metadata("s", {"owner": "x", "tier": "1"}).version == 1
        assert world.registry.latest_with_metadata("s", {"tier": "1", "owner": "x"}).version == 1
        assert world.registry.latest_with_metadata("s", {"owner": "y"}).version == 2
    assert world.watch.routes["/subjects/{}/metadata"] == 2
    world.registry.register("s", order("a", "b", "c", owner="x", tier="1"))
    assert world.registry.latest_with_metadata("s", {"owner": "x", "tier": "1"}).version == 3
    with pytest.raises(SchemaNotFound):
        world.registry.latest_with_metadata("s", {"owner": "nobody"})


def test_contexts_share_connections_and_mix_nothing_up(world: World) -> None:
    first = world.registry.register("s", order("a"))
    inside = world.registry.with_context(".eu")
    second = inside.register("s", order("b"))
    assert (first.schema_id, second.schema_id) == (1, 1)
    assert world.registry.with_context("eu").versions("s") == [1]
    assert "a" in world.registry.schema_by_id(1).text
    assert json.loads(inside.schema_by_id(1).text) == json.loads(second.text)
    assert json.loads(world.registry.schema_by_id(1).text) == json.loads(first.text)
    assert (str(world.registry.latest("s").subject), str(inside.latest("s").subject)) == ("s", ":.eu:s")
    inside.register("s", order("b", "c"))
    assert world.registry.latest(":.eu:s").version == 2
    world.registry.register(":.eu:s", order("b", "c", "d"))
    assert inside.latest("s").version == 3
    assert inside.subjects() == [":.eu:s"]
    assert inside.set_level("NONE") == "NONE"
    assert (inside.level(), world.registry.level()) == ("NONE", "BACKWARD")
    assert world.registry.contexts() == inside.contexts() == [".", ".eu"]


def test_known_ids_are_served_while_the_registry_is_away(world: World) -> None:
    here = True

    async def service(scope: Any, receive: Any, send: Any) -> None:
        if here:
            await world.app(scope, receive, send)
        else:
            await send({"type": "http.response.start", "status": 502, "headers": []})
            await send({"type": "http.response.body", "body": b""})

    registered = world.other.register("s", order("a"))
    with Registry(app=service, retries=Retries(attempts=1)) as registry:
        text = registry.schema_by_id(registered.schema_id).text
        here = False
        with pytest.raises(UnreadableResponse):
            registry.subjects()
        assert registry.schema_by_id(registered.schema_id).text == text


def test_everything_can_be_forgotten(world: World) -> None:
    registered = world.other.register("s", order("a"))
    world.registry.schema_by_id(registered.schema_id)
    world.registry.latest("s")
    world.registry.forget()
    world.registry.schema_by_id(registered.schema_id)
    world.registry.latest("s")
    assert (world.watch.routes[BY_ID], world.watch.routes[VERSION]) == (2, 2)


def test_hooks_receive_no_subject_of_a_request(world: World) -> None:
    world.registry.register("s3cr3t", order("a"))
    with pytest.raises(SubjectNotFound):
        world.registry.versions("s3cr3t-too")
    told = [(one.method, one.route, one.status, one.attempt) for one in world.watch.exchanges]
    assert told == [
        ("POST", "/subjects/{}/versions", 200, 1),
        ("GET", "/subjects/{}/versions", 404, 1),
    ]
    assert all(one.seconds > 0 and "s3cr3t" not in str(one) for one in world.watch.exchanges)


def test_pages_are_gone_through_to_the_end(world: World) -> None:
    for number in range(7):
        world.other.register(f"s{number}", order("a"))
    world.other.register("s0", order("a", "b"))
    assert list(world.registry.each_subject(page=3)) == [f"s{number}" for number in range(7)]
    assert len(list(world.registry.each_schema(page=3))) == 8
    assert [str(one.subject) for one in world.registry.each_schema(prefix="s3", latest_only=True)] == ["s3"]
    assert len(list(world.registry.each_change(page=3))) == 8
    assert list(world.registry.each_change(since=8)) == []
    assert list(world.registry.each_hit(field="a")) == []


def test_the_twin_remembers_and_pages_alike() -> None:
    async def journey() -> None:
        app = create_app(Settings(database_url="sqlite://"))
        watch = Counting()
        async with AsyncRegistry(app=app, watch=watch) as registry:
            for number in range(5):
                await registry.register(f"s{number}", order("a"))
            found = [await registry.schema_by_id(1) for _ in range(3)]
            assert len({one.text for one in found}) == 1
            assert watch.routes[BY_ID] == 1
            for _ in range(2):
                with pytest.raises(SchemaNotFound):
                    await registry.schema_by_id(4711)
            assert watch.routes[BY_ID] == 2
            assert [one async for one in registry.each_subject(page=2)] == [f"s{number}" for number in range(5)]
            assert [str(one.subject) async for one in registry.each_schema(page=2)][-1] == "s4"
            assert len([one async for one in registry.each_change(page=2)]) == 5
            inside = registry.with_context(".eu")
            await inside.register("s0", order("b"))
            assert (await inside.latest("s0")).version == (await registry.latest("s0")).version == 1
            await registry.register("s0", order("a", "b"))
            assert ((await inside.latest("s0")).version, (await registry.latest("s0")).version) == (1, 2)
        app.state.close()

    asyncio.run(journey())


def driven(walk: CallSequence[RegisteredSchema], during: Callable[[], None]) -> RegisteredSchema:
    """Answer a walk's one question with a schema; something happens before the answer."""
    next(walk)
    during()
    try:
        walk.send(RegisteredSchema(SchemaId(1), '"string"'))
    except StopIteration as done:
        found: RegisteredSchema = done.value
        return found
    raise AssertionError


def test_an_answer_that_a_write_overtook_is_not_believed() -> None:
    memory = ClientCaches()
    known = CachedLookups(memory)
    write = calls.register("s", SchemaDraft('"string"'))
    assert driven(known.latest("s"), lambda: known.invalidate_after(write))
    assert isinstance(next(known.latest("s")), calls.Call), "it is asked again"
    assert driven(known.latest("s"), lambda: None)
    with pytest.raises(StopIteration):
        next(known.latest("s"))


def test_many_threads_see_one_truth(world: World) -> None:
    ids = [world.other.register(f"s{number}", order(f"f{number}")).schema_id for number in range(20)]
    wrong: list[Any] = []

    def read() -> None:
        wrong.extend(i for i in ids * 3 if f"f{i - 1}" not in world.registry.schema_by_id(i).text)

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_dependencies_are_not_requested_for_longer_than_the_time_of_a_call() -> None:
    now = [0.0]
    lookups = CachedLookups(ClientCaches(clock=lambda: now[0]), seconds=20.0)
    references = tuple(Reference(name, name, 1) for name in "abc")
    sequence = lookups.referenced(SchemaDraft("", references=references))
    dependency = RegisteredSchema(SchemaId(1), '"int"')
    next(sequence)
    now[0] = 19.0
    sequence.send(dependency)
    now[0] = 20.0
    with pytest.raises(Unreachable, match="within 20 seconds"):
        sequence.send(dependency)

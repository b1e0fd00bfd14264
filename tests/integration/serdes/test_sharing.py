"""A serializer shared by threads and tasks, with two subjects and new versions meanwhile.

Every version has the same fields in another order, so that a record under a wrong id is read as something else.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest

from contractlog.clients import AsyncRegistry, Registry
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import SchemaDraft
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from contractlog.serdes.avro.codegen.function_cache import CAPACITY, FUNCTION_CACHE
from contractlog.serdes.avro.interpreter.interpreter import InterpretedReader
from contractlog.serdes.avro.readers_and_writers import AvroReader, AvroWriter
from contractlog.serdes.wire import decode_frame

pytestmark = pytest.mark.integration

THREADS, TASKS, RECORDS = 64, 1_000, 30  # records at least, of each thread; and on until all versions are there
TOPICS = {topic: SerializationContext(topic, MessageField.VALUE) for topic in ("orders", "refunds")}
TAGS = {"type": "array", "items": "int"}
FIELDS: list[tuple[str, Any]] = [("n", "long"), ("text", "string"), ("paid", "boolean"), ("tags", TAGS)]
ORDERS = list(itertools.permutations(FIELDS))
NEWEST = {"use.latest.version": True, "auto.register.schemas": False, "latest.cache.ttl.sec": 0.02}
Written = tuple[str, dict[str, Any], bytes]


def schema(topic: str, order: int) -> SchemaDraft:
    fields = [{"name": name, "type": kind} for name, kind in ORDERS[order]]
    return SchemaDraft(json.dumps({"type": "record", "name": topic.capitalize(), "fields": fields}))


def values(random: Random) -> Iterator[tuple[str, dict[str, Any]]]:
    for number in itertools.count():
        topic = random.choice(tuple(TOPICS))
        tags = [random.randint(-5, 5) for _ in range(random.randint(0, 3))]
        yield topic, {"n": number, "text": f"{topic} {random.random()}", "paid": random.random() < 0.5, "tags": tags}


class Versions(threading.Thread):
    """Registers one version after the other, of one subject and of the other."""

    def __init__(self, client: Registry) -> None:
        super().__init__()
        self.client = client
        self.problem: BaseException | None = None

    def run(self) -> None:
        try:
            for order in range(1, len(ORDERS)):
                for topic in TOPICS:
                    self.client.register(f"{topic}-value", schema(topic, order))
                time.sleep(0.02)
        except BaseException as problem:  # noqa: BLE001 -- told by the fixture
            self.problem = problem


def everyone(work: Callable[[int], list[Written]]) -> list[Written]:
    """Let 64 threads begin at once, and return what they wrote."""
    begin = threading.Barrier(THREADS)

    def worker(number: int) -> list[Written]:
        begin.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return [record for records in pool.map(worker, range(THREADS)) for record in records]


def is_what_went_in(client: Registry, written: list[Written]) -> set[int]:
    """Each record carries an id of its own subject, and is read by that id alone as what it was."""
    ids = {
        topic: {client.version(f"{topic}-value", number).schema_id for number in client.versions(f"{topic}-value")}
        for topic in TOPICS
    }
    assert not ids["orders"] & ids["refunds"]
    readers = {
        one: InterpretedReader(parse_schema(client.schema_by_id(one).draft)) for some in ids.values() for one in some
    }
    for topic, value, data in written:
        schema_id, body = decode_frame(data)
        assert schema_id in ids[topic]
        assert readers[schema_id].decode(body) == value
    return {int(decode_frame(data)[0]) for _, _, data in written}


@pytest.fixture
def app() -> Iterator[Any]:
    """The real service, in process, on a database in memory."""
    from contractlog.registry.app import create_app
    from contractlog.registry.settings import Settings

    made = create_app(Settings(database_url="sqlite://"))
    yield made
    made.state.close()


@pytest.fixture
def client(app: Any) -> Iterator[Registry]:
    with Registry(app=app) as client:
        yield client


@pytest.fixture
def versions(app: Any) -> Iterator[Versions]:
    """Versions come from a thread and a client of their own, once it is started."""
    with Registry(app=app) as client:
        for topic in TOPICS:
            client.register(f"{topic}-value", schema(topic, 0))
        thread = Versions(client)
        yield thread
        thread.join()
        assert thread.problem is None


def test_threads_share_a_serializer_while_versions_come(client: Registry, versions: Versions) -> None:
    serializer, deserializer = AvroSerializer(client, None, conf=NEWEST), AvroDeserializer(client)
    versions.start()

    def work(number: int) -> list[Written]:
        made: list[Written] = []
        for topic, value in values(Random(number)):  # noqa: S311 -- repeats
            data = serializer(value, TOPICS[topic])
            assert data is not None
            assert deserializer(data, TOPICS[topic]) == value
            made.append((topic, value, data))
            if len(made) >= RECORDS and not versions.is_alive():
                return made
            time.sleep(0.002)
        raise AssertionError

    assert len(is_what_went_in(client, everyone(work))) > len(ORDERS) / 2


def test_threads_share_a_serializer_whose_one_schema_has_another_id_in_each_subject(client: Registry) -> None:
    """A context has ids of its own: the first record of each subject registers it, and no id goes to the other."""
    client.register(":.refunds:before", SchemaDraft('"int"'))
    subjects = {"orders": "orders-value", "refunds": ":.refunds:refunds-value"}
    serializer = AvroSerializer(
        client, schema("orders", 3), conf={"subject.name.strategy": lambda ctx, _: subjects[ctx.topic]}
    )

    def work(number: int) -> list[Written]:
        made: list[Written] = []
        for topic, value in itertools.islice(values(Random(number)), RECORDS):  # noqa: S311 -- repeats
            data = serializer(value, TOPICS[topic])
            assert data is not None
            made.append((topic, value, data))
        return made

    carried = {(topic, int(decode_frame(data)[0])) for topic, _, data in everyone(work)}
    assert carried == {(topic, int(client.version(subject, 1).schema_id)) for topic, subject in subjects.items()}
    assert len({schema_id for _, schema_id in carried}) == 2
    assert all(client.versions(subject) == [1] for subject in subjects.values())


def test_threads_share_more_schemas_than_code_is_kept_for() -> None:
    """Code is let go of and written again while others run it; each schema goes on having its own."""
    some = [parse_schema(schema(f"topic{number}", number % len(ORDERS))) for number in range(CAPACITY + 60)]
    codecs = [(AvroWriter(one, interpreted_first=0), AvroReader(one, interpreted_first=0)) for one in some]
    exact = [InterpretedReader(one) for one in some]

    def work(number: int) -> list[Written]:
        random = Random(number)  # noqa: S311 -- repeats
        for topic, value in itertools.islice(values(random), RECORDS):
            place = random.randrange(len(codecs))
            body = codecs[place][0].encode(value)
            assert codecs[place][1].decode(body) == exact[place].decode(body) == value, topic
        return []

    everyone(work)
    assert len(FUNCTION_CACHE) <= CAPACITY


def test_tasks_share_a_serializer_while_versions_come(app: Any, client: Registry, versions: Versions) -> None:
    versions.start()
    written = asyncio.run(_tasks(app, versions))
    assert len(written) >= 3 * TASKS
    assert len(is_what_went_in(client, written)) > len(ORDERS) / 2


async def _tasks(app: Any, versions: Versions) -> list[Written]:
    async with AsyncRegistry(app=app) as client:
        serializer = await AsyncAvroSerializer(client, None, conf=NEWEST)
        deserializer = AsyncAvroDeserializer(client)

        async def work(number: int) -> list[Written]:
            made: list[Written] = []
            for topic, value in values(Random(number)):  # noqa: S311 -- repeats
                data = await serializer(value, TOPICS[topic])
                assert data is not None
                await asyncio.sleep(0.05 + 0.001 * (number % 50))
                assert await deserializer(data, TOPICS[topic]) == value
                made.append((topic, value, data))
                if len(made) >= 3 and not versions.is_alive():
                    break
            return made

        return [one for some in await asyncio.gather(*map(work, range(TASKS))) for one in some]

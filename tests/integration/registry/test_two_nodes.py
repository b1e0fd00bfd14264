"""Two nodes on one PostgreSQL return each other's writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from contractlog.registry.settings import Settings

from support.deadlines import WAIT_SECONDS, eventually
from support.postgres import NEWEST, OLDEST
from support.registry import in_process

#: The oldest version is in the long part; `test_store.py` and `test_postgresql.py` have it in each run.
_VERSIONS = [NEWEST, pytest.param(OLDEST, marks=pytest.mark.slow)]
pytestmark = [
    pytest.mark.integration,
    pytest.mark.parametrize("upgraded_url_of_each_postgres", _VERSIONS, indirect=True),
]
CHANGES = "/contractlog/v1/changes"


@pytest.fixture
def nodes(upgraded_url_of_each_postgres: str) -> Iterator[tuple[httpx2.Client, httpx2.Client]]:
    settings = Settings(database_url=upgraded_url_of_each_postgres)
    with in_process(settings) as one, in_process(settings) as two:
        for node in (one, two):
            node.app.state.services.start()  # type: ignore[attr-defined]
        yield one, two


def register(node: httpx2.Client, subject: str, schema: Any = "string") -> int:
    answer = node.post(f"/subjects/{subject}/versions", json={"schema": json.dumps(schema)})
    assert answer.status_code == 200, answer.text
    return int(answer.json()["id"])


def test_a_commit_is_immediately_listed_by_the_other_node(nodes: tuple[httpx2.Client, httpx2.Client]) -> None:
    for number in range(50):
        one, two = nodes if number % 2 else reversed(nodes)
        register(one, f"s{number}")
        assert two.get(CHANGES, params={"since": number}).json()["next"] == number + 1


def test_waiting_callers_receive_commits_of_the_other_node(nodes: tuple[httpx2.Client, httpx2.Client]) -> None:
    one, two = nodes
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(two.get, CHANGES, params={"wait": 30})
        eventually(lambda: two.app.state.services.follower._waiters)  # type: ignore[attr-defined]
        register(one, "s")
        assert [change["target"] for change in waiting.result(20).json()["changes"]] == ["s/1"]


def test_readers_of_both_nodes_see_every_change_of_both_once_and_in_order(
    nodes: tuple[httpx2.Client, httpx2.Client],
) -> None:
    each, writers = 30, 3

    def write(node: httpx2.Client, name: str) -> None:
        for number in range(each):
            register(node, f"{name}-{number}")

    def follow(node: httpx2.Client) -> list[int]:
        told: list[int] = []
        while len(told) < each * writers * 2:
            page = node.get(CHANGES, params={"since": told[-1] if told else 0, "limit": 9, "wait": 5}).json()
            told += [change["sequence"] for change in page["changes"]]
        return told

    with ThreadPoolExecutor(10) as pool:
        readers = [pool.submit(follow, node) for node in nodes]
        writing = [pool.submit(write, node, f"{n}-{w}") for n, node in enumerate(nodes) for w in range(writers)]
        for one in writing:
            one.result(WAIT_SECONDS)
        assert [one.result(WAIT_SECONDS) for one in readers] == [list(range(1, each * writers * 2 + 1))] * 2


def test_a_hard_delete_shows_on_the_other_node_before_what_it_cached_grows_old(
    nodes: tuple[httpx2.Client, httpx2.Client],
) -> None:
    one, two = nodes
    two.app.state.services.cache._clock = lambda: 0.0  # type: ignore[attr-defined]  # it never grows old
    for number in range(3):
        schema_id = register(one, f"s{number}", {"type": "record", "name": f"R{number}", "fields": []})
        path = f"/schemas/ids/{schema_id}"
        assert two.get(path).status_code == 200
        assert [one.delete(f"/subjects/s{number}{query}").status_code for query in ("", "?permanent=true")] == [200] * 2
        eventually(lambda path=path: two.get(path).status_code == 404)  # type: ignore[misc]


def test_a_cached_id_is_refreshed_when_the_other_node_changes_it(
    nodes: tuple[httpx2.Client, httpx2.Client],
) -> None:
    one, two = nodes
    kept, dropped = register(one, "a"), register(one, "dropped", "long")
    shown = two.get(f"/schemas/ids/{kept}").content
    assert two.get(f"/schemas/ids/{dropped}").json()["deleted"] is False
    one.delete("/subjects/dropped")
    eventually(lambda: two.get(f"/schemas/ids/{dropped}").json()["deleted"])
    assert two.get(f"/schemas/ids/{kept}").content == shown


def test_the_search_index_of_two_nodes_has_every_schema_once(nodes: tuple[httpx2.Client, httpx2.Client]) -> None:
    def write(place: int) -> None:
        for number in range(25):
            fields = [{"name": "shared", "type": "long"}, {"name": f"own_{place}_{number}", "type": "string"}]
            schema = {"type": "record", "name": f"R{place}x{number}", "fields": fields}
            register(nodes[place % 2], f"s{place}-{number}", schema)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    for node in nodes:

        def caught_up(node: httpx2.Client = node) -> bool:
            found = node.get("/contractlog/v1/search", params={"field": "shared", "limit": 1000}).json()
            return found["indexed_to"] == found["head"] == 100

        eventually(caught_up)
        hits = node.get("/contractlog/v1/search", params={"field": "shared", "limit": 1000}).json()["hits"]
        assert len({hit["subject"] for hit in hits}) == len(hits) == 100


def test_fetches_of_two_nodes_add_up(nodes: tuple[httpx2.Client, httpx2.Client]) -> None:
    one, two = nodes
    schema_id = register(one, "s")
    for _ in range(3):
        for node in nodes:
            assert node.get(f"/schemas/ids/{schema_id}", headers={"User-Agent": "a"}).status_code == 200
            node.app.state.services.fetch_counter.flush()  # type: ignore[attr-defined]
    for node in (one, two):
        told = node.get("/contractlog/v1/fetches", params={"id": schema_id}).json()["fetches"]
        assert [(line["client"], line["count"]) for line in told] == [("a", 6)]

"""The journal over HTTP: ordered, gapless, with cheap long polling, on every database."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import event

from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.features.change_log.follower import ChangeLogFollower
from contractlog.registry.settings import Settings

from support.deadlines import WAIT_SECONDS, eventually
from support.registry import in_process

CHANGES = "/contractlog/v1/changes"


@pytest.fixture
def node(database_url: str) -> Iterator[httpx2.Client]:
    with in_process(Settings(database_url=database_url)) as client:
        yield client


def follower_of(node: httpx2.Client) -> ChangeLogFollower:
    follower: ChangeLogFollower = node.app.state.services.follower  # type: ignore[attr-defined]
    return follower


def wait_for_waiters(node: httpx2.Client, count: int) -> None:
    """Return once so many requests wait for changes."""
    eventually(lambda: len(follower_of(node)._waiters) == count)


def register(node: httpx2.Client, subject: str) -> None:
    assert node.post(f"/subjects/{subject}/versions", json={"schema": json.dumps("string")}).status_code == 200


def ask(node: httpx2.Client, **query: Any) -> dict[str, Any]:
    answer = node.get(CHANGES, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_each_effect_is_one_line_in_the_order_in_which_it_came(node: httpx2.Client) -> None:
    register(node, "a")
    node.put("/config/b", json={"compatibility": "FULL"})
    node.delete("/subjects/a")
    node.delete("/subjects/a?permanent=true")
    found = ask(node)
    assert [change["sequence"] for change in found["changes"]] == [1, 2, 3, 4]
    assert [(change["action"].split(".")[0], change["target"]) for change in found["changes"]] == [
        ("version", "a/1"), ("settings", "b"), ("version", "a/1"), ("version", "a/1")
    ]  # fmt: skip
    assert all(change["at"] > 1_700_000_000_000 and change["actor"] == "anonymous" for change in found["changes"])
    assert found["changes"][0]["after"]
    assert (found["next"], found["head"]) == (4, 4)


def test_pages_of_any_size_tell_every_change_once(node: httpx2.Client) -> None:
    for number in range(7):
        register(node, f"s{number}")
    for limit in (1, 3, 7, 100):
        told, since = [], 0
        while (page := ask(node, since=since, limit=limit))["changes"]:
            assert len(page["changes"]) <= limit
            told += [change["sequence"] for change in page["changes"]]
            since = page["next"]
        assert told == [1, 2, 3, 4, 5, 6, 7]
        assert since == page["head"] == 7


def test_a_page_of_long_changes_ends_early_and_every_change_is_told_once(node: httpx2.Client) -> None:
    register(node, "first")
    for number in range(9):
        body = {"defaultMetadata": {"properties": {"text": str(number) * 900_000}}}
        assert node.put("/config/s", json=body).status_code == 200
    register(node, "last")
    told, pages, since = [], 0, 0
    while (page := ask(node, since=since, limit=1_000))["changes"]:
        assert page["head"] == 11
        told += [change["sequence"] for change in page["changes"]]
        pages, since = pages + 1, page["next"]
    assert (told, pages) == (list(range(1, 12)), 3)
    assert ask(node, since=10)["changes"][0]["target"] == "last/1"


def test_latest_tells_where_the_journal_ends(node: httpx2.Client) -> None:
    assert ask(node, since="latest") == {"changes": [], "next": 0, "head": 0, "head_hash": None}
    register(node, "a")
    newest = ask(node)["changes"][0]["hash"]
    assert ask(node, since="latest") == {"changes": [], "next": 1, "head": 1, "head_hash": newest}
    assert ask(node, since=0, wait=1)["head_hash"] == newest


def test_waiting_callers_receive_commits_of_this_process_immediately(node: httpx2.Client) -> None:
    follower_of(node)._every = 3_600.0  # it never looks by itself
    ask(node, since=0, wait=0.01)  # the follower has begun
    with ThreadPoolExecutor(1) as pool:
        for number in range(3):
            waiting = pool.submit(ask, node, since=number, wait=30)
            wait_for_waiters(node, 1)
            register(node, f"s{number}")
            assert [change["target"] for change in waiting.result(20)["changes"]] == [f"s{number}/1"]


def test_waiting_ends_with_an_empty_response_at_the_timeout(node: httpx2.Client) -> None:
    register(node, "a")
    for _ in range(2):
        began = time.monotonic()
        page = ask(node, since=1, wait=0.3)
        assert (page["changes"], page["next"], page["head"]) == ([], 1, 1)
        assert time.monotonic() - began > 0.25


def test_existing_changes_are_returned_without_waiting(node: httpx2.Client) -> None:
    register(node, "a")
    with ThreadPoolExecutor(1) as pool:
        for _ in range(2):
            assert pool.submit(ask, node, wait=30).result(20)["next"] == 1


def test_many_who_wait_cost_no_more_questions_than_one(node: httpx2.Client) -> None:
    waiting_clients = 60
    follower_of(node)._every = 3_600.0
    ask(node, since=0, wait=0.01)
    store = node.app.state.services.store  # type: ignore[attr-defined]
    asked: list[str] = []
    event.listen(store._engines.readers, "before_cursor_execute", lambda *seen: asked.append(seen[2]))
    with ThreadPoolExecutor(waiting_clients) as pool:
        waiting = [pool.submit(ask, node, since=0, wait=30) for _ in range(waiting_clients)]
        wait_for_waiters(node, waiting_clients)
        asked.clear()
        register(node, "a")
        assert all(one.result(20)["next"] == 1 for one in waiting)
    assert 1 <= len([statement for statement in asked if "FROM changes" in statement]) < 10


def test_a_closing_process_answers_those_who_wait(node: httpx2.Client) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask, node, since=0, wait=30)
        wait_for_waiters(node, 1)
        node.app.state.services.follower.release()  # type: ignore[attr-defined]
        assert waiting.result(20)["changes"] == []
    assert ask(node, since=0, wait=20)["changes"] == []


def test_a_reader_that_is_ahead_of_the_journal_is_told_so(node: httpx2.Client) -> None:
    register(node, "a")
    for query in ("since=2", "since=2&wait=5"):
        answer = node.get(f"{CHANGES}?{query}")
        assert (answer.status_code, answer.json()["error_code"]) == (409, 40980)


@pytest.mark.parametrize(
    "query",
    [
        "since=x",
        "since=-2",
        "since=-1",
        "since=1.5",
        f"since={10**18}",
        "since=" + "9" * 5_000,
        "limit=0",
        "limit=ten",
        "limit=1001",
        "limit=99999999999999999999",
        "wait=-1",
        "wait=nan",
        "wait=x",
        "wait=30.1",
        "wait=inf",
    ],
)
def test_a_parameter_that_cannot_be_read_is_named(node: httpx2.Client, query: str) -> None:
    answer = node.get(f"{CHANGES}?{query}")
    assert (answer.status_code, answer.json()["error_code"]) == (422, 42281)
    assert f"'{query.partition('=')[0]}'" in answer.json()["message"]
    assert " from 0 to " in answer.json()["message"] or " from 1 to 1000" in answer.json()["message"]


def test_parameters_without_a_value_are_absent(node: httpx2.Client) -> None:
    register(node, "a")
    assert node.get(f"{CHANGES}?since=&limit=&wait=").json()["next"] == 1
    assert len(node.get(f"{CHANGES}?limit=1000&wait=30").json()["changes"]) == 1


def test_a_reader_beside_many_writers_misses_nothing_and_sees_nothing_twice(node: httpx2.Client) -> None:
    writers, each = 4, 25
    told: list[int] = []

    def follow() -> None:
        since = 0
        while since < writers * each:
            page = ask(node, since=since, limit=7, wait=5)
            told.extend(change["sequence"] for change in page["changes"])
            since = page["next"]

    reader = threading.Thread(target=follow)
    reader.start()
    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(lambda number: register(node, f"s{number}"), range(writers * each)))
    reader.join(WAIT_SECONDS)
    assert told == list(range(1, writers * each + 1))


def test_a_caller_who_was_removed_during_the_wait_receives_no_change(tmp_path: Path) -> None:
    users = tmp_path / "users.toml"
    password = HashedPassword.of("password", n=2, r=1, p=1)
    writer = format_entry("writer", password, ["*"], ["*"])
    users.write_text(writer + format_entry("removed", password, ["*"], []))
    with in_process(Settings(database_url="sqlite://", users_file=str(users))) as node, ThreadPoolExecutor(1) as pool:
        node.auth = ("removed", "password")
        assert node.get(CHANGES, params={"since": 0, "wait": 0.01}).status_code == 200  # the follower has begun
        waiting = pool.submit(node.get, CHANGES, params={"since": 0, "wait": 30})
        wait_for_waiters(node, 1)
        users.write_text(writer)
        eventually(lambda: node.get("/subjects").status_code == 401)
        node.auth = ("writer", "password")
        register(node, "a")
        assert waiting.result(WAIT_SECONDS).status_code == 401

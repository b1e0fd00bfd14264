"""Cached versions are used only by a single writer, and are never older than the last commit."""

from __future__ import annotations

import json
import threading

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.registry.http.fastpath.cache_by_path import PathCache
from contractlog.registry.settings import Settings

from support.registry import in_process

SUBJECTS = ("a", "b", ":.eu:a", ":.:c")
PATHS = [f"/subjects/{subject}/versions/{number}" for subject in SUBJECTS for number in ("latest", "1", "2")]


def schema(fields: int) -> str:
    members = [{"name": f"f{one}", "type": "int", "default": one} for one in range(fields)]
    return json.dumps({"type": "record", "name": "R", "fields": members})


subjects = st.sampled_from(SUBJECTS)
writes = st.one_of(
    st.tuples(st.just("register"), subjects, st.integers(0, 3)),
    st.tuples(st.just("delete"), subjects, st.booleans()),
    st.tuples(st.just("delete version"), subjects, st.integers(1, 2)),
    st.tuples(st.just("alias"), subjects, st.sampled_from(("", *SUBJECTS))),
    st.tuples(st.just("mode"), subjects, st.sampled_from(("IMPORT", "READWRITE", "READONLY"))),
    st.tuples(st.just("import"), subjects, st.integers(50, 53)),
)


def write(http: httpx2.Client, one: tuple[str, str, object]) -> None:
    what, subject, value = one
    if what == "register":
        http.post(f"/subjects/{subject}/versions", json={"schema": schema(int(str(value)))})
    elif what == "delete":
        http.delete(f"/subjects/{subject}", params={"permanent": str(value).lower()})
    elif what == "delete version":
        for permanent in ("false", "true"):
            http.delete(f"/subjects/{subject}/versions/{value}", params={"permanent": permanent})
    elif what == "alias":
        http.put(f"/config/{subject}", json={"alias": value})
    elif what == "mode":
        http.put(f"/mode/{subject}", params={"force": "true"}, json={"mode": value})
    else:
        body = {"schema": schema(5), "id": value, "version": int(str(value)) - 49}
        http.post(f"/subjects/{subject}/versions", json=body)


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(writes, min_size=1, max_size=12))
def test_after_each_write_memory_says_what_the_database_says(sequence: list[tuple[str, str, object]]) -> None:
    with in_process(Settings(database_url="sqlite://")) as http:
        for one in sequence:
            write(http, one)
            for path in PATHS:
                asked = [http.get(path), http.get(path), http.get(path, params={"deleted": "False"})]
                truth = http.get(path, params={"beside": "memory"})  # a question that memory does not know
                assert {(answer.status_code, answer.content) for answer in asked} == {
                    (truth.status_code, truth.content)
                }
                assert asked[1].headers["content-type"] == truth.headers["content-type"]


def hits(http: httpx2.Client) -> int:
    lines = http.get("/metrics").text.splitlines()
    return int(next(line for line in lines if line.startswith("contractlog_cache_hits_total")).split()[1])


def test_the_second_question_is_answered_from_memory_until_the_next_commit() -> None:
    with in_process(Settings(database_url="sqlite://")) as http:
        http.post("/subjects/a/versions", json={"schema": schema(0)})
        found = []
        for step in ("latest", "latest", "1", "1", None, "latest"):
            if step is None:
                http.post("/subjects/b/versions", json={"schema": schema(1)})
            else:
                assert http.get(f"/subjects/a/versions/{step}").json()["version"] == 1
            found.append(hits(http))
        assert found == [0, 1, 1, 2, 2, 2]


@pytest.mark.integration
def test_nothing_is_remembered_where_other_nodes_write(upgraded_postgres_url: str) -> None:

    with in_process(Settings(database_url=upgraded_postgres_url)) as http:
        http.post("/subjects/a/versions", json={"schema": schema(0)})
        for _ in range(3):
            assert http.get("/subjects/a/versions/latest").status_code == 200
        assert hits(http) == 0


def test_readers_never_see_less_than_what_was_acknowledged(tmp_path: object) -> None:
    with in_process(Settings(database_url=f"sqlite:///{tmp_path}/registry.db")) as http:
        acknowledged, last = 0, 40
        wrong: list[tuple[int, int]] = []
        seen: list[int] = []

        def read() -> None:
            newest = 0
            while newest < last and not wrong:
                least = max(acknowledged, newest)
                answer = http.get("/subjects/a/versions/latest")
                newest = answer.json()["version"] if answer.status_code == 200 else 0
                seen.append(newest)
                if newest < least:
                    wrong.append((newest, least))

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        for number in range(1, last + 1):
            assert http.post("/subjects/a/versions", json={"schema": schema(number)}).status_code == 200
            acknowledged = number
        for reader in readers:
            reader.join()
        assert not wrong
        assert len(set(seen)) > 3


def test_responses_read_before_or_during_a_commit_are_not_cached() -> None:
    remembered = PathCache(10_000)
    before = remembered.generation
    remembered.close()
    remembered.put("/x", b"old", generation=before)
    remembered.put("/x", b"old", generation=remembered.generation)
    during = remembered.generation
    remembered.open()
    remembered.put("/x", b"old", generation=during)
    assert remembered.get("/x") is None
    remembered.put("/x", b"new", generation=remembered.generation)
    assert remembered.get("/x") == b"new"


def test_a_commit_that_fails_leaves_nothing_to_be_remembered() -> None:
    remembered = PathCache(10_000)
    remembered.close()
    for _ in range(2):
        remembered.put("/x", b"x", generation=remembered.generation)
        assert remembered.get("/x") is None
        remembered.close()
    remembered.open()
    remembered.put("/x", b"x", generation=remembered.generation)
    assert remembered.get("/x") == b"x"


def test_memory_is_bounded() -> None:
    remembered = PathCache(10_000)
    for number in range(100):
        remembered.put(f"/{number}", b"x" * 500, generation=remembered.generation)
        assert 0 < remembered.size <= 10_000
    remembered.put("/large", b"x" * 20_000, generation=remembered.generation)
    assert remembered.get("/large") is None

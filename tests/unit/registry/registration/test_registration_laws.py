"""Laws of registration, for any history and any concurrency."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import httpx2
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.settings import Settings

from support.registry import in_process

FIELD = st.builds(
    lambda name, kind, default: {"name": name, "type": kind, **({"default": default[kind]} if default else {})},
    st.sampled_from("abc"),
    st.sampled_from(["int", "long", "string"]),
    st.sampled_from([None, {"int": 0, "long": 0, "string": ""}]),
)
SCHEMA = st.lists(FIELD, max_size=3, unique_by=lambda field: field["name"]).map(
    lambda fields: json.dumps({"type": "record", "name": "R", "fields": fields})
)


def record(*names: str) -> str:
    fields = [{"name": name, "type": "string", "default": ""} for name in names]
    return json.dumps({"type": "record", "name": "R", "fields": fields})


@settings(max_examples=12, deadline=None)
@given(history=st.lists(SCHEMA, min_size=1, max_size=8), level=st.sampled_from(list(Level)))
def test_no_accepted_version_breaks_its_level_and_registering_again_changes_nothing(
    history: list[str], level: Level
) -> None:
    with in_process(Settings(database_url="sqlite://", level=level)) as http:
        for schema in history:
            first = http.post("/subjects/s/versions", json={"schema": schema})
            again = http.post("/subjects/s/versions", json={"schema": schema})
            assert first.status_code in {200, 409}
            assert (again.status_code, again.json()) == (first.status_code, first.json())
        numbers = http.get("/subjects/s/versions").json()
        parsed = [
            ParsedVersion(
                number, parse_schema(SchemaDraft(http.get(f"/subjects/s/versions/{number}").json()["schema"]))
            )
            for number in numbers
        ]
    assert numbers == list(range(1, len(numbers) + 1))
    for place, one in enumerate(parsed):
        assert check_compatibility(one.parsed, parsed[:place], level).compatible


def test_32_threads_get_one_id_for_one_schema_and_one_each_without_gaps_for_many() -> None:
    with in_process(Settings(database_url="sqlite://")) as http:

        def register(number: int) -> tuple[int, int, int]:
            same = http.post("/subjects/same/versions", json={"schema": record("a")})
            own = http.post("/subjects/many/versions", json={"schema": record("a", f"b{number}")})
            alone = http.post(f"/subjects/own-{number}/versions", json={"schema": record("c")})
            assert [same.status_code, own.status_code, alone.status_code] == [200, 200, 200]
            return same.json()["id"], own.json()["id"], alone.json()["id"]

        with ThreadPoolExecutor(32) as pool:
            found = list(pool.map(register, range(32)))
        same, own, alone = ({ids[place] for ids in found} for place in range(3))
        assert (len(same), len(own), len(alone)) == (1, 32, 1)
        assert same | own | alone == set(range(1, 35))
        assert http.get("/subjects/many/versions").json() == list(range(1, 33))


def test_of_two_that_exclude_each_other_one_is_accepted() -> None:
    def typed(kind: str) -> str:
        return json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": kind}]})

    kinds = ["string", "int", "boolean", "null"] * 4
    with in_process(Settings(database_url="sqlite://", level=Level.FULL_TRANSITIVE)) as http:

        def register(kind: str) -> httpx2.Response:
            return http.post("/subjects/s/versions", json={"schema": typed(kind)})

        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(register, kinds))
        assert sorted({answer.status_code for answer in answers}) == [200, 409]
        assert http.get("/subjects/s/versions").json() == [1]
        assert {answer.json()["id"] for answer in answers if answer.status_code == 200} == {1}


def test_requests_beyond_the_queue_limit_get_503_immediately() -> None:
    import threading

    with in_process(Settings(database_url="sqlite://", max_pending_writes=1, read_threads=4)) as http:
        store, gate = http.app.state.services.store, threading.Event()  # type: ignore[attr-defined]
        held = store.transact(lambda _change: gate.wait(30))
        while not held.running():
            pass
        store.transact(lambda _change: None)
        answer = http.delete("/subjects/s")
        gate.set()
        assert (answer.status_code, answer.json()["error_code"]) == (503, 503)
        assert held.result(30)

"""The work of requests and callers is limited, and stops if a caller hangs up."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from starlette.types import Message

from contractlog.compatibility.errors import TooManyRequests, WorkLimitExceeded
from contractlog.compatibility.step_budget import StepBudget
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.execution.work_limits import (
    LONG_CHARACTERS,
    SHORT_STEPS,
    CallerUsage,
    RequestAbandoned,
    RequestWork,
    ShortWorkExceeded,
    current_work,
)
from contractlog.registry.settings import Settings
from contractlog.registry.transfer.online_import import OnlineImport

from support.registry import in_process
from support.slow_checks import create_many_branches

LONG = "x" * 100_000


def body(number: int, **more: Any) -> dict[str, Any]:
    return {"schemaType": "JSON", "schema": create_many_branches(number, 60), **more}


def many(http: httpx2.Client, members: list[dict[str, Any]]) -> list[dict[str, Any]]:
    answer = http.post("/contractlog/v1/check", json={"schemas": members}, timeout=120)
    assert answer.status_code == 200
    results: list[dict[str, Any]] = answer.json()["results"]
    return results


def test_one_request_buys_no_more_work_however_many_members_it_has() -> None:
    steps = 30_000  # the first comparison takes all of them
    with in_process(Settings(database_url="sqlite://", request_steps=steps)) as http:
        plain = {"subject": "plain", "schema": '"int"'}
        members = [body(number, subject="wide") for number in range(10)]
        first, second, *others, last = many(http, [*members, plain])
        assert first["is_compatible"]
        assert [finding["check"] for finding in second["findings"]] == ["WORK_LIMIT_EXCEEDED"]
        assert f"more than {steps} steps" in second["messages"][0]
        refused = {"error_code": 422, "message": WorkLimitExceeded(limit=steps).message}
        assert [*others, last] == [refused] * 9
        assert many(http, [plain])[0]["is_compatible"]  # each request has steps of its own


def test_registrations_checks_and_differences_are_bounded_alike() -> None:
    with in_process(Settings(database_url="sqlite://", request_steps=30_000)) as http:
        assert http.post("/subjects/s/versions", json=body(0)).status_code == 200
        registered = http.post("/subjects/s/versions", json=body(1))
        assert (registered.status_code, registered.json()["error_code"]) == (409, 40901)
        assert "too complex to compare: more than 30000 steps" in registered.json()["message"]
        for path in ("versions", "versions/latest"):
            checked = http.post(f"/compatibility/subjects/s/{path}?verbose=true", json=body(1)).json()
            assert not checked["is_compatible"]
            assert "too complex" in checked["messages"][0]
        different = http.post("/contractlog/v1/diff?earlier=s:1", json=body(1)).json()
        assert {finding["check"] for finding in different["findings"]} == {"WORK_LIMIT_EXCEEDED"}


def test_looking_up_parses_no_more_than_a_request_may() -> None:
    """With a reference the content is compared with every version that has none, whatever its length."""
    with in_process(Settings(database_url="sqlite://", request_steps=10_000)) as http:
        assert http.put("/config/s", json={"compatibility": "NONE"}).status_code == 200
        http.post("/subjects/r/versions", json={"schema": json.dumps({"type": "fixed", "name": "R", "size": 1})})
        for number in range(8):
            text = {"type": "fixed", "name": f"F{number}", "size": 1, "doc": "x" * 60_000}
            assert http.post("/subjects/s/versions", json={"schema": json.dumps(text)}).status_code == 200
        reference = {"name": "R", "subject": "r", "version": 1}
        http.app.state.services.registration._checker.parser._cache.clear()  # type: ignore[attr-defined]
        wanted = {"schema": '{"type": "array", "items": "R"}', "references": [reference]}
        answer = http.post("/subjects/s", json=wanted)
        assert (answer.status_code, answer.json()["error_code"]) == (422, 422)


def test_a_caller_over_its_budget_gets_429_and_others_do_not() -> None:
    with in_process(Settings(database_url="sqlite://", caller_steps=20_000)) as http:
        assert http.post("/subjects/s/versions", json=body(0)).status_code == 200
        assert http.post("/compatibility/subjects/s/versions", json=body(1)).status_code == 200
        refused = http.post("/compatibility/subjects/s/versions", json=body(2))  # an equal one takes no work
        assert (refused.status_code, refused.json()["error_code"]) == (429, 429)
        assert "20000 steps" in refused.json()["message"]
        assert http.get("/subjects/s/versions").status_code == 200  # reads are no work
        threads: ThreadPools = http.app.state.services.threads  # type: ignore[attr-defined]
        threads._callers.require("somebody else")


def long_metadata(characters: int) -> dict[str, Any]:
    return {"properties": {f"p{number}": "v" * (characters // 100) for number in range(100)}}


def long_rules(characters: int) -> dict[str, Any]:
    rule = {"kind": "CONDITION", "mode": "WRITE", "type": "CUSTOM", "expr": "x" * (characters // 100)}
    return {"domainRules": [{"name": f"r{number}", **rule} for number in range(100)]}


@pytest.mark.parametrize("origin", ["request", "default metadata", "default rules", "previous version"])
@pytest.mark.parametrize(("characters", "statuses"), [(600_000, {200, 429}), (4_000, {200})])
def test_metadata_and_rules_that_are_stored_count_as_work(origin: str, characters: int, statuses: set[int]) -> None:
    with in_process(Settings(database_url="sqlite://", caller_steps=500_000)) as http:
        config: dict[str, Any] = {"compatibility": "NONE"}
        if origin == "default metadata":
            config["defaultMetadata"] = long_metadata(characters)
        elif origin == "default rules":
            config["defaultRuleSet"] = long_rules(characters)
        assert http.put("/config/s", json=config).status_code == 200
        answers = []
        for number in range(20):
            schema: dict[str, Any] = {"schema": json.dumps({"type": "fixed", "name": f"F{number}", "size": 1})}
            if origin == "request" or (origin == "previous version" and not number):
                schema["metadata"] = long_metadata(characters)
            answers.append(http.post("/subjects/s/versions", json=schema).status_code)
        assert set(answers) == statuses
        if characters < 10_000:
            threads: ThreadPools = http.app.state.services.threads  # type: ignore[attr-defined]
            assert not len(threads._callers._used), "little metadata costs nothing"


def test_used_steps_of_a_caller_decay() -> None:
    now = 0.0
    callers = CallerUsage(600, clock=lambda: now)
    callers.add("a", 2_000)  # little work is free
    callers.require("a")
    callers.add("a", 2_600)
    with pytest.raises(TooManyRequests, match="try again in 6 seconds"):
        callers.require("a")
    now += 6
    callers.require("a")
    unlimited = CallerUsage(0, clock=lambda: now)
    unlimited.add("a", 10**9)
    unlimited.require("a")
    assert not unlimited.is_calm("a")
    assert unlimited.is_calm("b")


def test_work_that_takes_long_is_done_again_beside_other_long_work() -> None:
    places: list[str] = []

    def work() -> str:
        places.append(threading.current_thread().name)
        return current_work.get().compare(lambda steps: steps.spend(SHORT_STEPS + 1) or "done")

    async def run() -> None:
        threads = ThreadPools(2, max_waiting=9)
        current_work.set(RequestWork(steps=StepBudget(10 * SHORT_STEPS)))
        assert await threads.run_schema_work("short", work) == "done"
        assert (
            await threads.run_schema_work("short", work) == "done"
        )  # known to take long: it is not tried as short work again
        current_work.get().steps.stop()
        with pytest.raises(WorkLimitExceeded):
            await threads.run_schema_work("short", work)
        threads.close()

    asyncio.run(run())
    assert places[0].startswith("contractlog_")
    assert {name.split("_")[0] for name in places[1:]} == {"contractlog-long"}


def test_reads_find_a_thread_however_many_schemas_are_compared() -> None:
    done = threading.Event()

    async def run() -> None:
        threads = ThreadPools(4, max_waiting=99)
        comparing = [asyncio.create_task(threads.run_schema_work("short", done.wait)) for _ in range(20)]
        await asyncio.sleep(0)
        assert await asyncio.wait_for(threads.run(lambda: 1), 40) == 1
        done.set()
        await asyncio.gather(*comparing)
        threads.close()

    asyncio.run(run())


def leaving(gone: asyncio.Event) -> Callable[[], Any]:
    async def receive() -> Message:
        await gone.wait()
        return {"type": "http.disconnect"}

    return receive


@pytest.mark.parametrize("state", ["waiting", "running"])
def test_work_ends_when_its_caller_has_gone(state: str) -> None:
    began, done, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        began.set()
        try:
            while True:
                current_work.get().require()
        finally:
            ended.set()

    async def request(threads: ThreadPools, gone: asyncio.Event) -> None:
        mine = RequestWork(receive=leaving(gone))
        current_work.set(mine)
        try:
            await threads.run_schema_work(LONG, work)
        finally:
            mine.close()

    async def run() -> None:
        threads, gone = ThreadPools(2, max_waiting=9), asyncio.Event()
        before = None
        if state == "waiting":
            before = asyncio.create_task(threads.run_schema_work(LONG, done.wait))
            await asyncio.sleep(0)
        asking = asyncio.create_task(request(threads, gone))
        if state == "running":
            assert await asyncio.to_thread(began.wait, 40)
        else:
            await asyncio.sleep(0)
        gone.set()
        with pytest.raises(RequestAbandoned):
            await asyncio.wait_for(asking, 40)
        done.set()
        if before is not None:
            await before
        assert await asyncio.wait_for(threads.run_schema_work(LONG, lambda: 1), 40) == 1  # the place is free again
        threads.close()

    asyncio.run(run())
    assert began.is_set() == ended.is_set() == (state == "running")


def test_a_request_whose_caller_has_gone_is_not_answered() -> None:
    with in_process(Settings(database_url="sqlite://")) as http:
        assert http.post("/subjects/s/versions", json=body(0)).status_code == 200
        app, held, sent = http.app, threading.Event(), []  # type: ignore[attr-defined, var-annotated]
        threads: ThreadPools = app.state.services.threads

        async def run() -> None:
            before = asyncio.create_task(threads.run_schema_work(LONG, held.wait))
            await asyncio.sleep(0)
            content = json.dumps(body(1)).encode()
            messages = iter([{"type": "http.request", "body": content}, {"type": "http.disconnect"}])

            async def receive() -> Message:
                return next(messages)

            async def send(message: Message) -> None:
                sent.append(message)

            path = "/compatibility/subjects/s/versions"
            scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
            headers = [(b"host", b"x"), (b"content-type", b"application/json")]
            await asyncio.wait_for(app({**scope, "headers": headers, "client": ("x", 1)}, receive, send), 40)
            held.set()
            await before

        asyncio.run(run())
        assert not sent


def test_an_import_whose_caller_has_gone_writes_nothing() -> None:
    lines = [
        {"format": "contractlog.export/1"},
        {"kind": "schema", "context": ".", "id": 7, "type": "AVRO", "schema": '"long"'},
        {"kind": "version", "subject": "s", "version": 1, "id": 7},
        {"kind": "end", "lines": 4},
    ]
    export = "".join(json.dumps(line) + "\n" for line in lines).encode()
    with in_process(Settings(database_url="sqlite://")) as http:
        receiving: OnlineImport = http.app.state.services.imports  # type: ignore[attr-defined]
        gone = RequestWork()
        gone.abandon()
        token = current_work.set(gone)
        with pytest.raises(RequestAbandoned):
            receiving.take(io.BytesIO(export), actor="me", dry_run=False, modes=True)
        current_work.reset(token)
        assert http.get("/subjects").json() == []
        assert http.post("/contractlog/v1/import", content=export).status_code == 200
        assert http.get("/subjects").json() == ["s"]


def test_short_work_gives_up_before_it_parses_a_long_history() -> None:
    work = RequestWork(steps=StepBudget(10**6))
    work.begin_short(SHORT_STEPS)
    with pytest.raises(ShortWorkExceeded):
        work.parse(40 * SHORT_STEPS)
    work.begin_long()
    work.parse(40 * SHORT_STEPS)


def test_a_schema_with_large_references_is_long_work() -> None:
    """The text of the schema itself is short, so only the parser knows how much there is to parse."""
    work = RequestWork()
    work.begin_short(SHORT_STEPS)
    work.parse(LONG_CHARACTERS)
    with pytest.raises(ShortWorkExceeded):
        work.parse(LONG_CHARACTERS + 1)
    work.begin_long()
    work.parse(LONG_CHARACTERS + 1)

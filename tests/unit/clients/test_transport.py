"""Requests to an application in this process."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from contractlog.clients import AsyncRegistry, Registry, Retries
from contractlog.compatibility.errors import Unreachable, UsageError


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answer with what was asked."""
    message = await receive()
    asked = {
        "method": scope["method"],
        "raw_path": scope["raw_path"].decode(),
        "query": scope["query_string"].decode(),
        "body": message["body"].decode(),
        "headers": {name.decode(): value.decode() for name, value in scope["headers"]},
    }
    answer = [json.dumps(asked)]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": json.dumps(answer).encode()})


async def silent(scope: Any, receive: Any, send: Any) -> None:
    """Never answer."""
    await asyncio.sleep(3600)


def test_an_application_is_spoken_to_in_this_process() -> None:
    with Registry(app=echo) as registry:
        asked = json.loads(registry.subjects(prefix="a/ü")[0])
        assert (asked["method"], asked["raw_path"], asked["query"]) == (
            "GET",
            "/subjects",
            "subjectPrefix=a%2F%C3%BC",
        )


def test_threads_share_a_client_in_process() -> None:
    with Registry(app=echo) as registry, ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda number: json.loads(registry.subjects(prefix=str(number))[0])["query"], range(50))
        assert list(answers) == [f"subjectPrefix={number}" for number in range(50)]


def test_closing_twice_is_harmless_and_no_thread_stays() -> None:
    before = threading.active_count()
    registry = Registry(app=echo)
    registry.subjects()
    registry.close()
    registry.close()
    assert threading.active_count() == before


@pytest.mark.parametrize("url", ["registry:8081", "ftp://registry", "http://", "", "http://h:port", "http://[::1"])
def test_invalid_urls_are_rejected_immediately(url: str) -> None:
    with pytest.raises(UsageError, match="URL"):
        Registry(url)


def test_a_registry_needs_a_url_or_an_application() -> None:
    with pytest.raises(UsageError):
        Registry()
    with pytest.raises(UsageError):
        Registry("http://registry", app=echo)


def test_an_application_that_does_not_answer_is_given_up() -> None:
    with Registry(app=silent, timeout=0.05, retries=Retries(attempts=1)) as registry, pytest.raises(Unreachable):
        registry.subjects()


def test_an_error_of_the_application_itself_is_seen() -> None:
    async def failing(scope: Any, receive: Any, send: Any) -> None:
        raise TimeoutError("its own")

    with Registry(app=failing) as registry, pytest.raises(TimeoutError, match="its own"):
        registry.subjects()


def test_the_asynchronous_client_speaks_in_process() -> None:
    async def ask() -> list[str]:
        async with AsyncRegistry(app=echo) as registry:
            return await registry.subjects()

    assert json.loads(asyncio.run(ask())[0])["raw_path"] == "/subjects"


def test_a_name_too_long_for_a_url_is_a_usage_error() -> None:
    name = "x" * 70_000
    with (
        Registry(app=echo) as registry,
        pytest.raises(UsageError, match=r"70,0\d\d characters, and at most 65,536") as error,
    ):
        registry.versions(name)
    assert len(str(error.value)) < 500

    async def send() -> None:
        async with AsyncRegistry(app=echo) as registry:
            await registry.versions(name)

    with pytest.raises(UsageError, match="65,536"):
        asyncio.run(send())

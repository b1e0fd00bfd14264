"""On SIGTERM, a server responds to waiting requests for changes and stops immediately."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from support.deadlines import eventually
from support.registry import start_server, stop_server

pytestmark = pytest.mark.e2e


def test_a_process_that_ends_answers_those_who_wait(tmp_path: Path) -> None:
    process, url = start_server(f"sqlite:///{tmp_path / 'registry.db'}")
    with ThreadPoolExecutor(3) as pool:
        asked = {"url": f"{url}/contractlog/v1/changes", "params": {"wait": 30}, "timeout": 40}
        waiting = [pool.submit(httpx2.get, **asked) for _ in range(3)]
        eventually(lambda: "\ncontractlog_http_requests_in_flight 4\n" in httpx2.get(f"{url}/metrics", timeout=60).text)
        began = time.monotonic()
        stop_server(process)
        assert time.monotonic() - began < 20
        assert [one.result(60).json()["changes"] for one in waiting] == [[], [], []]

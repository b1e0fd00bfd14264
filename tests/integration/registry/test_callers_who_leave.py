"""Work for callers who hang up is stopped, and other reads continue."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path
from typing import Final

import httpx2
import pytest

from support.deadlines import eventually
from support.registry import run_server
from support.slow_checks import create_many_branches

CALLERS: Final = 12
IN_FLIGHT: Final = re.compile(r"^contractlog_http_requests_in_flight (\d+)$", re.MULTILINE)


def in_flight(client: httpx2.Client) -> int:
    found = IN_FLIGHT.search(client.get("/metrics").text)
    assert found is not None
    return int(found[1])


@pytest.mark.slow
def test_work_for_disconnected_callers_stops_and_others_read_meanwhile(tmp_path: Path) -> None:
    """Without limits each caller would buy 28 comparisons of half a second, on one thread for all callers."""
    members = [
        {"subject": "s", "schemaType": "JSON", "schema": create_many_branches(number, 150)} for number in range(28)
    ]
    body = json.dumps({"schemas": members}).encode()
    head = f"POST /contractlog/v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with run_server(f"sqlite:///{tmp_path / 'r.db'}") as url, httpx2.Client(base_url=url, timeout=60) as client:
        client.post("/subjects/n/versions", json={"schema": '"int"'}).raise_for_status()
        address = (client.base_url.host, client.base_url.port or 0)
        callers = [socket.create_connection(address) for _ in range(CALLERS)]
        for caller in callers:
            caller.sendall(head + body)
        eventually(lambda: in_flight(client) > CALLERS)  # all are being served, beside this question
        for caller in callers:
            caller.close()
        client.get("/subjects/n/versions/latest").raise_for_status()
        eventually(lambda: in_flight(client) == 1, 60)  # what is under way ends, and nothing else is begun for them

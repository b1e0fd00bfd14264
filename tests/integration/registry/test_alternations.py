"""A node returns what another one has acknowledged, in ten thousand alternations."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from histories.cluster import Forge, Node, forging

pytestmark = [pytest.mark.integration, pytest.mark.slow]
ALTERNATIONS = 10_000
IN_A_ROUND = 5  #: writes on one node, each followed by a read on the other
LEVELS = ("NONE", "BACKWARD", "FORWARD", "FULL")


@pytest.fixture
def nodes(upgraded_postgres_url: str, tmp_path: Path) -> Iterator[list[http.client.HTTPConnection]]:
    with forging() as forge:
        started = [_started(number, forge, tmp_path, upgraded_postgres_url) for number in range(2)]
        connections = [http.client.HTTPConnection("127.0.0.1", node.port, timeout=30) for node in started]
        with closing(connections[0]), closing(connections[1]):
            yield connections
        for node in started:
            node.stop()


def _started(number: int, forge: Forge, folder: Path, url: str) -> Node:
    node = Node(number, forge, folder, url, "")
    node.start()
    return node


def ask(node: http.client.HTTPConnection, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    node.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
    answer = node.getresponse()
    return answer.status, json.loads(answer.read())


def schema(name: str) -> dict[str, str]:
    fields = [{"name": name, "type": "int", "default": 0}]
    return {"schema": json.dumps({"type": "record", "name": "R", "fields": fields})}


def test_ten_thousand_alternations_are_never_stale(nodes: list[http.client.HTTPConnection]) -> None:
    """A version is registered, its level set, the version deleted; whoever writes takes turns, and the other reads."""
    for number in range(ALTERNATIONS // IN_A_ROUND):
        here, there = nodes if number % 2 else reversed(nodes)
        subject = f"s{number % 50}"
        path = f"/subjects/{subject}/versions"
        status, registered = ask(here, "POST", path, schema(f"f{number}"))
        assert status == 200, registered
        status, latest = ask(there, "GET", f"{path}/latest")
        assert (status, latest.get("id"), latest.get("version")) == (200, registered["id"], registered["version"])
        assert ask(here, "GET", f"/schemas/ids/{registered['id']}")[0] == 200
        assert ask(there, "GET", f"/schemas/ids/{registered['id']}")[1]["schema"] == registered["schema"]

        level = {"compatibility": LEVELS[number % 4]}
        assert ask(there, "PUT", f"/config/{subject}", level) == (200, level)
        assert ask(here, "GET", f"/config/{subject}") == (200, {"compatibilityLevel": level["compatibility"]})

        mode = {"mode": "READONLY"}
        assert ask(here, "PUT", f"/mode/{subject}", mode) == (200, mode)
        status, refused = ask(there, "POST", path, schema(f"g{number}"))
        assert (status, refused["error_code"]) == (422, 42205)
        assert ask(here, "DELETE", f"/mode/{subject}")[0] == 200

        assert ask(there, "DELETE", f"{path}/{registered['version']}") == (200, registered["version"])
        assert ask(here, "GET", f"{path}/{registered['version']}")[0] == 404

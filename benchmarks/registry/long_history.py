"""Registration of one more version after a long history, checked against every version of it.

    python benchmarks/registry/long_history.py [--versions 1000] [--fields 200] [--check]
                                               [--out FILE --label before|after]

Processor time of the process per registration, in process, on SQLite: cold is the first one after the start.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any

from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings

from report import figures, missed_goals, part, print_ratio, store_figures

GOAL_COLD_MS, GOAL_WARM_MS = 150, 10
_WARM_REGISTRATIONS = 9


def _avro(number: int, fields: int) -> dict[str, str]:
    members = [{"name": f"field_{index}", "type": ["null", "long"], "default": None} for index in range(fields)]
    members.append({"name": f"added_{number}", "type": ["null", "string"], "default": None})
    return {"schema": json.dumps({"type": "record", "name": "Order", "fields": members})}


def _json(number: int, fields: int) -> dict[str, str]:
    members = {f"field_{index}": {"type": "integer", "title": f"{number}"} for index in range(fields)}
    return {"schema": json.dumps({"type": "object", "properties": members}), "schemaType": "JSON"}


FORMATS: dict[str, Callable[[int, int], dict[str, str]]] = {"Avro": _avro, "JSON Schema": _json}


class LocalApp:
    """An app on a database, called without a socket."""

    def __init__(self, url: str) -> None:
        self._app = create_app(Settings(database_url=url, caller_steps=0))

    async def send(self, method: str, path: str, content: dict[str, Any] | None = None) -> float:
        """Send a request; return its processor time in milliseconds."""
        body, status, sent = b"" if content is None else json.dumps(content).encode(), [0], [b""]
        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        scope = {"type": "http", "http_version": "1.1", "method": method, "path": path, "raw_path": path.encode()}
        scope |= {"query_string": b"", "headers": [*headers, (b"content-length", b"%d" % len(body))]}
        scope |= {"client": ("127.0.0.1", 1), "server": ("localhost", 8081), "scheme": "http"}
        messages = [{"type": "http.request", "body": body}]

        async def receive() -> dict[str, Any]:
            if not messages:
                await asyncio.Event().wait()
            return messages.pop()

        async def note(message: dict[str, Any]) -> None:
            status[0] = message.get("status", status[0])
            sent[0] += message.get("body", b"")

        started = time.process_time()
        await self._app(scope, receive, note)
        seconds = time.process_time() - started
        assert status[0] == HTTPStatus.OK, sent[0][:500]
        return seconds * 1_000

    def close(self) -> None:
        """End the threads of the app."""
        self._app.state.close()


async def _fill(app: LocalApp, create: Callable[[int, int], dict[str, str]], versions: int, fields: int) -> None:
    await app.send("PUT", "/config/orders", {"compatibility": "NONE"})
    for number in range(versions):
        await app.send("POST", "/subjects/orders/versions", create(number, fields))
    await app.send("PUT", "/config/orders", {"compatibility": "FULL_TRANSITIVE"})


async def _measure(
    app: LocalApp, create: Callable[[int, int], dict[str, str]], versions: int, fields: int
) -> list[float]:
    await app.send("POST", "/subjects/other/versions", create(0, fields))  # modules and statements are compiled
    return [
        await app.send("POST", "/subjects/orders/versions", create(versions + number, fields))
        for number in range(_WARM_REGISTRATIONS + 1)
    ]


def main() -> int:
    """Measure each format; with ``--check``, return 1 if a goal was missed."""
    parser = argparse.ArgumentParser(description="registration after a long history")
    parser.add_argument("--versions", type=int, default=1_000)
    parser.add_argument("--fields", type=int, default=200)
    parser.add_argument("--check", action="store_true", help="exit with 1 if a goal is missed")
    parser.add_argument("--out", type=Path, help="JSON file with the figures, as for run.py")
    parser.add_argument("--label", default="after", help="what was measured, for --out")
    arguments = parser.parse_args()
    part.name = "one more version"
    size = (arguments.versions, arguments.fields)
    for name, create in FORMATS.items():
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:///{folder}/bench.db"
            filling = LocalApp(url)
            asyncio.run(_fill(filling, create, *size))
            filling.close()
            fresh = LocalApp(url)
            cold, *warm = asyncio.run(_measure(fresh, create, *size))
            fresh.close()
        print(f"\n{name}: FULL_TRANSITIVE, {size[0]} versions of {size[1]} fields; CPU ms of one more registration")
        print_ratio(f"{name}, cold", cold, GOAL_COLD_MS, at_most=True)
        print_ratio(f"{name}, warm", statistics.median(warm), GOAL_WARM_MS, at_most=True)
        for kind, milliseconds in (("cold", cold), ("warm", statistics.median(warm))):
            figures.append({"part": part.name, "name": f"{name}, {kind}", "cpu_us": round(milliseconds * 1_000)})
    if arguments.out is not None:
        store_figures(arguments.out, arguments.label)
    return 1 if arguments.check and missed_goals else 0


if __name__ == "__main__":
    sys.exit(main())

"""Time that a served registry takes for each hostile request, and for other callers' reads meanwhile.

    python benchmarks/registry/hostile.py [--database-url sqlite:///FILE]

Every schema of ``tests/support/hostile.py`` is registered, and a variant of it is checked against it. Then one request
has as many schemas as fit into a body, each of which takes long to compare with the one before it, and twelve such
requests are sent by callers who hang up. A process of its own reads a version from the database every few milliseconds.
For a single schema, only reads concurrent with its requests are counted. The responses are tested in
``tests/integration/registry/test_hostile_schemas_over_http.py``.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

import httpx2

from support.hostile import HOSTILE
from support.hostile_requests import Request, meet
from support.registry import served
from support.slow_checks import many_branches

ANSWERED, NEIGHBOUR = 2.0, 0.1  #: the goals, in seconds, for one schema
BOUGHT, BESIDE, IDLE = 10.0, 0.3, 2.0  #: for many: processor seconds; seconds of a read; idle seconds after a hang-up
MEMBERS, BRANCHES, HUNG_UP = 28, 150, 12
FORCE = "the server as it is: full durability, metrics, request ids and counts of fetches on, authentication off"
PAUSE = 0.005
PATH = "/subjects/neighbour/versions/1"
CHECK = "/contractlog/v1/check"
Read = tuple[float, float]  #: its beginning and its end


def read(url: str, told: Connection) -> None:
    """Read until a message arrives, then send the beginning and end of each read."""
    reads: list[Read] = []
    with httpx2.Client(base_url=url, timeout=60) as client:
        while not told.poll(PAUSE):
            began = time.perf_counter()
            client.get(PATH).raise_for_status()
            reads.append((began, time.perf_counter()))
    told.send(reads)


@contextmanager
def neighbour(url: str) -> Iterator[list[Read]]:
    """Read beside the work of the block; the list that is yielded has the reads afterwards."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=read, args=(url, theirs))
    process.start()
    reads: list[Read] = []
    try:
        yield reads
        ours.send("enough")
        reads += ours.recv()
        process.join()
    finally:
        process.terminate()


def measured(url: str) -> tuple[dict[str, list[Request]], list[Read]]:
    """Send every hostile request while a neighbour reads."""
    with httpx2.Client(base_url=url, timeout=60) as client:
        client.post("/subjects/neighbour/versions", json={"schema": '"int"'}).raise_for_status()
        with neighbour(url) as reads:
            time.sleep(1)
            found = {name: list(meet(client, name)) for name in HOSTILE}
    return found, reads


def many() -> bytes:
    """Return the body of a request for many checks."""
    members = [
        {"subject": "many", "schemaType": "JSON", "schema": many_branches(number, BRANCHES)}
        for number in range(MEMBERS)
    ]
    return json.dumps({"schemas": members}).encode()


def processor_seconds(client: httpx2.Client) -> float:
    """Return the processor time that the server has used."""
    text = client.get("/metrics").text
    return float(next(line.split()[1] for line in text.splitlines() if line.startswith("process_cpu_seconds_total ")))


def hang_up(url: str, body: bytes) -> None:
    """Send a request, and disconnect before its response."""
    host, _, port = url.rpartition("//")[2].partition(":")
    head = f"POST {CHECK} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(head.encode() + body)
        time.sleep(0.3)


def bought(url: str) -> tuple[float, float, list[Read]]:
    """Send requests for many checks, and then some that hang up.

    Return the processor seconds of a request, those used after the hang-ups, and the reads of the neighbour.
    """
    body = many()
    with httpx2.Client(base_url=url, timeout=120) as client, neighbour(url) as reads:
        time.sleep(1)
        before = processor_seconds(client)
        client.post(CHECK, content=body, headers={"Content-Type": "application/json"}).raise_for_status()
        used = processor_seconds(client) - before
        callers = [threading.Thread(target=hang_up, args=(url, body)) for _ in range(HUNG_UP)]
        for one in callers:
            one.start()
        for one in callers:
            one.join()
        time.sleep(IDLE)  # requests in flight may end
        before = processor_seconds(client)
        time.sleep(IDLE)
        after = processor_seconds(client) - before
    return used, after, reads


def verdict(name: str, figure: float, goal: float) -> bool:
    """Print a figure beside its goal, and return whether it was reached."""
    print(f"-> {name:58} {figure:7.3f} s  goal {goal} s  {'reached' if figure <= goal else 'MISSED'}")
    return figure <= goal


def main() -> int:
    """Measure and print; with ``--check``, return 1 if a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    with tempfile.TemporaryDirectory() as folder:
        parser.add_argument("--database-url", default=f"sqlite:///{folder}/registry.db")
        parser.add_argument("--check", action="store_true", help="exit with 1 where a goal is missed")
        arguments = parser.parse_args()
        database = arguments.database_url
        with served(database) as url:
            found, reads = measured(url)
            written = httpx2.get(url + PATH).content
        with served(f"sqlite:///{folder}/bought.db", CONTRACTLOG_CALLER_STEPS="0") as url:
            httpx2.post(url + "/subjects/neighbour/versions", json={"schema": '"int"'}).raise_for_status()
            used, after, meanwhile_read = bought(url)
        with served(database) as url:
            assert httpx2.get(url + PATH).content == written
    print(f"level BACKWARD, 1 version per subject of the neighbour; {FORCE}")
    print("a second process read what the first one wrote")
    print(f"{'hostile schema':58} {'request':10} {'answer':>13} {'seconds':>8} {'slowest read beside':>20}")
    beside: dict[Read, float] = {}
    for name, requests in found.items():
        for one in requests:
            meanwhile = {r: r[1] - r[0] for r in reads if r[0] < one.began + one.seconds and r[1] > one.began}
            beside |= meanwhile
            slowest = max(meanwhile.values(), default=0.0)
            told = " ".join(str(part) for part in one.told if part is not None)
            print(f"{name:58} {one.what:10} {told:>13} {one.seconds:8.3f} {slowest:20.3f}")
    taken = sorted(beside.values())
    over = sum(one > NEIGHBOUR for one in taken)
    slowest = max(one.seconds for requests in found.values() for one in requests)
    reached = [
        verdict("slowest answer", slowest, ANSWERED),
        verdict("slowest read of the neighbour", taken[-1], NEIGHBOUR),
        verdict(f"processor time of one request for {MEMBERS} checks", used, BOUGHT),
        verdict(f"processor time after {HUNG_UP} such callers hung up", after, IDLE / 2),
        verdict("slowest read of the neighbour meanwhile", max(end - began for began, end in meanwhile_read), BESIDE),
    ]
    print(f"   of {len(taken)} reads beside hostile requests {over} took longer ({over / len(taken):.2%});", end=" ")
    print(f"median {taken[len(taken) // 2]:.3f} s, 99 % within {taken[len(taken) * 99 // 100]:.3f} s")
    return 1 if arguments.check and not all(reached) else 0


if __name__ == "__main__":
    sys.exit(main())

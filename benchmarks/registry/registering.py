"""Registrations compared with one transaction for each, and two nodes with the same work."""

from __future__ import annotations

import itertools
import os
import statistics
import threading
from collections.abc import Iterator

from reporting import told, verdict
from work import CONNECTIONS, VERSIONS, fetched, registered, version, writer

from load import Measured, load, post
from servers import running

GOALS = {"sqlite": 3, "postgresql": 5}
SLOWEST = 5  #: times the median

_runs = itertools.count()


def against(server: tuple[int, int], seconds: float, clients: int = CONNECTIONS) -> Measured:
    """Let clients register schemas under subjects of their own."""
    run = f"r{os.getpid()}-{next(_runs)}"
    return load(*server, [writer(place, run) for place in range(clients)], seconds)


def registration(kind: str, database: str, durability: str, seconds: float, count: int) -> None:
    """Compare registrations with one transaction for each."""
    print(f"\nregistration on {kind}, {durability}: level BACKWARD, {VERSIONS} versions per subject")
    print(f"{CONNECTIONS} clients, but where it says one; metrics and request ids on, authentication off")
    single, alone, ours = [], [], []
    for _ in range(count):
        with running("single", database, core=None) as server:
            against(server, seconds / 2)  # until statements are compiled
            single.append(against(server, seconds))
        with running("registry", database, core=None) as server:
            against(server, seconds / 2)
            alone.append(against(server, seconds / 2, 1))
            ours.append(against(server, seconds))
            newest = registered(server[0], f"new-{os.getpid()}-{next(_runs)}", version(next(_runs), 3))
            written = fetched(server[0], f"/schemas/ids/{newest}")
            if kind == "postgresql":
                with running("registry", database, core=None) as second:
                    assert fetched(second[0], f"/schemas/ids/{newest}") == written
        with running("registry", database, core=None) as later:
            assert fetched(later[0], f"/schemas/ids/{newest}") == written
    told("one transaction per request", single)
    told("registry, 1 client", alone)
    many = told("registry", ours)
    ratio = statistics.median(one.per_second for one in ours) / statistics.median(one.per_second for one in single)
    verdict(f"registration on {kind}", ratio, GOALS[kind])
    verdict("p99 / p50", many.percentile(0.99) / many.percentile(0.5), SLOWEST, at_most=True)
    beside = "a second node while the first one ran, and " if kind == "postgresql" else ""
    print(f"  what was written was read by {beside}a process that was started later")
    if kind == "postgresql":
        together(database, seconds)


def together(database: str, seconds: float) -> None:
    """Give two nodes the same schemas of the same subjects concurrently: none may fail, and both agree."""
    run = f"t{os.getpid()}-{next(_runs)}"
    with running("registry", database, core=None) as first, running("registry", database, core=None) as second:
        found: list[Measured] = []

        def one(server: tuple[int, int]) -> None:
            found.append(load(*server, [_same(place, run) for place in range(CONNECTIONS // 2)], seconds))

        clients = [threading.Thread(target=one, args=(server,)) for server in (first, second)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        names = [f"{run}-{place}-0" for place in range(CONNECTIONS // 2)]
        for name in names:
            path = f"/subjects/{name}/versions/latest"
            assert fetched(first[0], path) == fetched(second[0], path)
    refused = sum(one.refused for one in found)
    print(f"  two nodes, the same schemas on both: {sum(one.requests for one in found):,} answers, {refused} refused")
    assert refused == 0


def _same(place: int, run: str) -> Iterator[bytes]:
    for subject in itertools.count():
        for number in range(1, VERSIONS + 1):
            yield post(f"/subjects/{run}-{place}-{subject}/versions", version(place * 100_000 + subject, number))

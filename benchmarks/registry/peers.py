"""The registry compared with Apicurio Registry: warm, the same work, in the same run."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable

from apicurio import PREFIX, VERSION, apicurio
from reporting import resident, rounds, told
from work import CONNECTIONS, VERSIONS, fetched, registered, version, writer

from load import Measured, get, load
from servers import running

WARM_SECONDS = 30


def peers(database: str, durability: str, seconds: float, count: int) -> None:
    """Compare reads and registrations, per second and per second of processor time."""
    print(f"\nbeside Apicurio Registry {VERSION} on Java 25: level BACKWARD, {VERSIONS} versions per subject")
    print(f"the registry on SQLite, {durability}; Apicurio on its own H2 in memory: nothing of it is durable")
    print(f"metrics and request ids on, no authentication, no access log; {CONNECTIONS} connections, both on all cores")
    with running("registry", database, core=None) as ours, apicurio() as theirs:
        sides = {"registry": (ours, ""), "Apicurio": (theirs, PREFIX)}
        for name, (server, prefix) in sides.items():
            for number in range(1, VERSIONS + 1):
                registered(server[0], "peer", version(7, number), prefix=prefix)
            for work in _work(server, prefix, "warm", WARM_SECONDS / 3).values():
                work()
            print(f"  {name} is warm: {resident(server[1])} MiB")
        runs = {
            f"{what}, {name}": work
            for name, (server, prefix) in sides.items()
            for what, work in _work(server, prefix, "run", seconds).items()
        }
        found = rounds(runs, count)
        written = fetched(ours[0], "/schemas/ids/1")
        for what in _work(ours, "", "run", seconds):
            one, other = (told(f"{what}, {name}", found[f"{what}, {name}"]) for name in sides)
            print(
                f"  -> {what}: {one.per_second / other.per_second:.2f} times per second, "
                f"{other.microseconds / one.microseconds:.2f} times per second of processor time"
            )
    with running("registry", database, core=None) as second:
        assert fetched(second[0], "/schemas/ids/1") == written
    print("  a second process read what the first one wrote")


_numbers = itertools.count()


def _work(server: tuple[int, int], prefix: str, name: str, seconds: float) -> dict[str, Callable[[], Measured]]:
    def repeated(path: str) -> Measured:
        return load(*server, [itertools.repeat(get(prefix + path))] * CONNECTIONS, seconds)

    def registering() -> Measured:
        run = f"{name}-{os.getpid()}-{next(_numbers)}"
        return load(*server, [writer(place, run, prefix) for place in range(CONNECTIONS)], seconds)

    return {
        "GET /schemas/ids/1": lambda: repeated("/schemas/ids/1"),
        "versions/latest": lambda: repeated("/subjects/peer/versions/latest"),
        "registrations": registering,
    }

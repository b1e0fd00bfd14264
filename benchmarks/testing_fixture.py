"""Cost of a registry of its own for each test: creation, one request, and disposal.

An app that is made from scratch is measured for comparison.

python benchmarks/testing_fixture.py [--rounds 200]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

from contractlog.clients import Registry
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings
from contractlog.registry.testing import Registries

DRAFT = SchemaDraft('{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}')
FRESH = 20  #: rounds of the slow alternative


def test_of(make: Callable[[], Any], *, used: bool) -> None:
    """Do the work of a test's fixtures, and that of the shortest test."""
    app = make()
    with Registry(app=app) as registry:
        if used:
            assert registry.register("orders-value", DRAFT).schema_id == 1
    app.state.close()


def measured(rounds: int, make: Callable[[], Any], *, used: bool) -> str:
    """Return the median, the 95th percentile and the CPU time of a round, in milliseconds."""
    walls, cpu = [], time.process_time()
    for _ in range(rounds):
        begun = time.perf_counter()
        test_of(make, used=used)
        walls.append(1000 * (time.perf_counter() - begun))
    spent = 1000 * (time.process_time() - cpu) / rounds
    walls.sort()
    return (
        f"{statistics.median(walls):6.1f} ms median, {walls[int(len(walls) * 0.95)]:6.1f} ms p95, {spent:6.1f} ms CPU"
    )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    begun = time.perf_counter()
    registries = Registries()
    print(f"prepared once      {1000 * (time.perf_counter() - begun):6.1f} ms")
    test_of(lambda: registries.make({}), used=True)
    print("made and let go   ", measured(rounds, lambda: registries.make({}), used=False))
    print("with one write    ", measured(rounds, lambda: registries.make({}), used=True))
    print("an app from nothing", measured(FRESH, lambda: create_app(Settings(database_url="sqlite://")), used=True))
    registries.close()


if __name__ == "__main__":
    main()

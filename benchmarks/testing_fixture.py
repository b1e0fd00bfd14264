"""Cost of a separate registry for each test: creation, one request, and disposal.

For comparison, an app is created from scratch.

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
FROM_SCRATCH_ROUNDS = 20  #: rounds of the slower alternative


def run_test(make: Callable[[], Any], *, writes: bool) -> None:
    """Do the work of a test's fixture and, if it writes, of a short test."""
    app = make()
    with Registry(app=app) as registry:
        if writes:
            assert registry.register("orders-value", DRAFT).schema_id == 1
    app.state.close()


def measure_rounds(rounds: int, make: Callable[[], Any], *, writes: bool) -> str:
    """Return the median, the 95th percentile and the CPU time of a round, in milliseconds."""
    wall_times, cpu_before = [], time.process_time()
    for _ in range(rounds):
        start_time = time.perf_counter()
        run_test(make, writes=writes)
        wall_times.append(1000 * (time.perf_counter() - start_time))
    cpu_milliseconds = 1000 * (time.process_time() - cpu_before) / rounds
    wall_times.sort()
    percentile_95 = wall_times[int(len(wall_times) * 0.95)]
    return (
        f"{statistics.median(wall_times):6.1f} ms median, {percentile_95:6.1f} ms p95, {cpu_milliseconds:6.1f} ms CPU"
    )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    start_time = time.perf_counter()
    registries = Registries()
    print(f"prepared once      {1000 * (time.perf_counter() - start_time):6.1f} ms")
    run_test(lambda: registries.make({}), writes=True)
    print("created and closed ", measure_rounds(rounds, lambda: registries.make({}), writes=False))
    print("with one write     ", measure_rounds(rounds, lambda: registries.make({}), writes=True))
    print(
        "app from scratch   ",
        measure_rounds(FROM_SCRATCH_ROUNDS, lambda: create_app(Settings(database_url="sqlite://")), writes=True),
    )
    registries.close()


if __name__ == "__main__":
    main()

"""Setup of all tests; the fixtures are in ``tests/support``."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

from support.temporary_folder import use_memory

use_memory()
settings.register_profile("fresh", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeatable", settings.get_profile("fresh"), derandomize=True)
settings.load_profile("repeatable" if os.environ.get("CI") else "fresh")  # a busy machine is no failure

# A background job of a shell ignores SIGINT, and so would the commands that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

_RECURSION_LIMIT = sys.getrecursionlimit()
#: Objects between two collections of young garbage. With Python's 700, an app of one test (some 10,000 objects) is
#: traversed seven times and reaches the oldest generation: a quarter of the processor time of the unit tests.
_YOUNG_OBJECTS = 100_000

pytest_plugins = [
    "support.apicurio",
    "support.browser",
    "support.third_party_clients",
    "support.gate",
    "support.interactive_shells",
    "support.java_avro",
    "support.kafka",
    "support.object_store",
    "support.postgres",
    "support.registry",
    "support.spark",
    "support.tls",
]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage while tests are collected, and never look at them again."""
    gc.disable()
    try:
        result = yield
    finally:
        gc.enable()
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS)
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Restore Python's limit of recursion, which cel-python and jsonata raise for the whole process."""
    sys.setrecursionlimit(_RECURSION_LIMIT)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI nothing may be left out: a skipped test has failed."""
    report = yield
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, and in CI every part is required: {report.longrepr}"
    return report

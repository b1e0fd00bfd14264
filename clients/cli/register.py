"""``contractlog register``: put schema files into the registry; safe to repeat."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence

from contractlog.clients.cli.options import add_files, add_format, add_registry, level

__all__ = ["register"]


def register(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Register every file that is not registered; exit code 1 when one is refused."""
    add_files(parser)
    parser.add_argument("--level", type=level, help="set this compatibility level on every subject first")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and write nothing")
    add_registry(parser)
    add_format(parser)
    options = parser.parse_intermixed_args(argv)
    from contractlog.clients.cli.registering import run  # noqa: PLC0415 - the engines are slow to load; help is quick

    return run(options)

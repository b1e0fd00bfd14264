"""``contractlog check``: compatibility of schema files with the registered versions."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence

from contractlog.clients.cli.options import add_files, add_format, add_registry

__all__ = ["check"]


def check(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Check every file and suggest fixes; exit code 1 or 4 if one cannot be registered."""
    add_files(parser)
    add_registry(parser)
    add_format(parser)
    options = parser.parse_intermixed_args(argv)
    from contractlog.clients.cli.check_runner import run  # noqa: PLC0415 - slow to import, and not needed for --help

    return run(options, argv)

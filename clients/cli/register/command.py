"""``contractlog register``; what it runs is imported after ``--help``."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence

from contractlog.clients.cli.options import (
    REPORT_FORMATS,
    add_break_glass,
    add_files,
    add_format,
    add_output,
    add_registry,
    add_reports,
    parse_level,
)
from contractlog.clients.cli.output import apply_output_options

__all__ = ["register"]


def register(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Register all files that are not registered yet, or none if one is rejected (exit code 1 or 4)."""
    add_files(parser)
    parser.add_argument("--level", type=parse_level, help="set this compatibility level on every subject first")
    parser.add_argument(
        "--keep-going", action="store_true", help="register valid files even if others cannot be registered"
    )
    parser.add_argument("--dry-run", action="store_true", help="report what would be registered, and write nothing")
    add_break_glass(parser)
    add_registry(parser)
    add_format(parser, *REPORT_FORMATS)
    add_reports(parser)
    add_output(parser)
    options = parser.parse_intermixed_args(argv)
    from contractlog.clients.cli.register.runner import run  # noqa: PLC0415 - slow to import, and not needed for --help

    with apply_output_options(options):
        return run(options, argv)

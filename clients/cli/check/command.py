"""``contractlog check``; what it runs is imported after ``--help``."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from contractlog.clients.cli.options import (
    REPORT_FORMATS,
    add_files,
    add_format,
    add_output,
    add_registry,
    add_reports,
    parse_level,
)
from contractlog.clients.cli.output import apply_output_options

__all__ = ["check"]


def check(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Check every file and suggest fixes; exit code 1 or 4 if one cannot be registered."""
    add_files(parser)
    parser.add_argument(
        "--against",
        metavar="git:REVISION|FOLDER|lock",
        help="compare with the files of a git revision, such as git:main, or of another folder, not with a registry; "
        "lock: with the versions that contractlog.lock names (a folder of this name is ./lock)",
    )
    parser.add_argument("--level", type=parse_level, help="with --against: the compatibility level (default: BACKWARD)")
    parser.add_argument(
        "--lineage",
        type=Path,
        metavar="FILE",
        help="show next to each incompatible finding what is made from the field: the output of `contractlog lineage "
        "--format json`, or the report.json of an audit with --lineage",
    )
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "note"),
        default="error",
        help="exit with 1 from this severity on, also for findings that the level admits and for warnings about the "
        "folder or manifest (default: %(default)s)",
    )
    add_registry(parser)
    add_format(parser, *REPORT_FORMATS)
    add_reports(parser)
    add_output(parser)
    options = parser.parse_intermixed_args(argv)
    if options.level and not options.against:
        parser.error("--level needs --against: otherwise the registry has the levels of the subjects")
    from contractlog.clients.cli.check.runner import run  # noqa: PLC0415 - slow to import, and not needed for --help

    with apply_output_options(options):
        return run(options, argv)

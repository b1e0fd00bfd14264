"""``contractlog plan`` and ``contractlog apply``; what they run is imported after ``--help``."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from contractlog.clients.cli.options import (
    REPORT_FORMATS,
    add_break_glass,
    add_files,
    add_format,
    add_output,
    add_registry,
    add_reports,
    parse_output_path,
)
from contractlog.clients.cli.output import apply_output_options

__all__ = ["apply", "plan"]


def plan(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Show what would change; exit code 1 or 4 if a file cannot be registered."""
    add_files(parser)
    parser.add_argument(
        "--out", type=parse_output_path, metavar="FILE", help="write the plan to a file, for `apply --plan`"
    )
    _add_prune(parser)
    parser.add_argument("--exit-code", action="store_true", help="exit code 1 if something would change")
    add_registry(parser)
    add_format(parser, *REPORT_FORMATS)
    add_reports(parser)
    add_output(parser)
    options = parser.parse_intermixed_args(argv)
    from contractlog.clients.cli.plan_and_apply.runner import run_plan  # noqa: PLC0415 - slow to import, not needed for --help

    with apply_output_options(options):
        return run_plan(options, argv)


def apply(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Register files and apply settings, or nothing if a file is rejected (exit code 1 or 4)."""
    add_files(parser)
    parser.add_argument(
        "--plan",
        type=Path,
        metavar="FILE",
        help="the plan to apply, with its files; refused if the registry or the files have changed since",
    )
    _add_prune(parser)
    parser.add_argument("--allow-delete", action="store_true", help="permit the deletions of the plan")
    parser.add_argument(
        "--use-waivers", action="store_true", help="permit registrations by a waiver of the manifest, against the level"
    )
    parser.add_argument(
        "--update-lock", action="store_true", help="also write the versions to the contractlog.lock of the folder"
    )
    parser.add_argument(
        "--skip-protected",
        action="store_true",
        help="make the other changes if some need approvals by owners of protected subjects (exit code 4)",
    )
    add_break_glass(parser)
    add_registry(parser)
    add_format(parser, *REPORT_FORMATS)
    add_reports(parser)
    add_output(parser)
    options = parser.parse_intermixed_args(argv)
    from contractlog.clients.cli.plan_and_apply.runner import run_apply  # noqa: PLC0415 - slow to import, not needed for --help

    with apply_output_options(options):
        return run_apply(options, argv)


def _add_prune(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--prune",
        action="store_true",
        help="also soft-delete the subjects that the manifest's [[subjects]] match and that no file has, and remove "
        "the associations of matching subjects that [[associations]] does not have",
    )

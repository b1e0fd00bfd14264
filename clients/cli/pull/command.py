"""``contractlog pull``; what it runs is imported after ``--help``."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from pathlib import Path

from contractlog.clients.cli.options import (
    REPORT_FORMATS,
    add_environment,
    add_format,
    add_output,
    add_registry,
    add_reports,
)
from contractlog.clients.cli.output import apply_output_options
from contractlog.compatibility.errors import UsageError

__all__ = ["pull"]


def pull(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Write versions of subjects to files; exit code 1 if one was edited or a subject is missing."""
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help="the subjects to pull")
    parser.add_argument("--all", action="store_true", help="all subjects of the registry")
    parser.add_argument("--history", action="store_true", help="every version, in folders 1/, 2/ …")
    parser.add_argument("--force", action="store_true", help="overwrite files that were edited since the last pull")
    parser.add_argument("--out", type=_parse_folder, required=True, metavar="DIR", help="the folder to write")
    add_environment(parser)
    add_registry(parser)
    add_format(parser, *REPORT_FORMATS)
    add_reports(parser)
    add_output(parser)
    options = parser.parse_intermixed_args(argv)
    if bool(options.subjects) == options.all:
        raise UsageError("name subjects, or pass --all")
    with apply_output_options(options):
        from contractlog.clients.cli.pull.runner import run  # noqa: PLC0415 - slow to import

        return run(options, argv)


def _parse_folder(text: str) -> Path:
    if text == "-":
        raise ArgumentTypeError("`-` is not a folder; `pull` writes several files")
    return Path(text)

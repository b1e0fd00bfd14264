"""``contractlog lint``; what it runs is imported after ``--help``."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from contractlog.clients.cli.options import REPORT_FORMATS, add_format, add_output, add_reports
from contractlog.clients.cli.output import apply_output_options

__all__ = ["lint"]


def lint(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Report what rules find in schema files, and apply safe fixes; exit code 1 if a finding is grave."""
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE|FOLDER",
        help="schema files, whatever their names, and folders with schema files",
    )
    parser.add_argument(
        "--fix", action="store_true", help="change the files where a fix keeps the schema compatible; see --rules"
    )
    parser.add_argument("--only", action="append", default=[], metavar="RULE", help="apply this rule, and no other")
    parser.add_argument("--disable", action="append", default=[], metavar="RULE", help="do not apply this rule")
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "note"),
        default="error",
        help="the least severity that ends with exit code 1 (default: %(default)s)",
    )
    parser.add_argument(
        "--manifest",
        type=Path,
        metavar="FILE",
        help="the manifest, which may turn rules off or change their severity (default: contractlog.toml in the "
        "working directory or in the only folder that is named)",
    )
    parser.add_argument("--rules", action="store_true", help="list the rules and exit")
    parser.add_argument("--explain", metavar="RULE", help="show a rule with a bad and a good example, and exit")
    add_format(parser, *REPORT_FORMATS)
    add_reports(parser)
    add_output(parser)
    options = parser.parse_intermixed_args(argv)
    if not (options.files or options.rules or options.explain):
        manifest = options.manifest or Path("contractlog.toml")
        if not manifest.is_file():
            parser.error("name a schema file or a folder, or pass --rules or --explain")
        options.files = [str(manifest.parent)]
    from contractlog.clients.cli.lint.runner import run  # noqa: PLC0415 - slow to import, and not needed for --help

    with apply_output_options(options):
        return run(options, argv)

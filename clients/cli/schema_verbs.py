"""Arguments of ``check``, ``register``, ``plan``, ``apply``, ``promote`` and ``diff``."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from pathlib import Path

from contractlog.clients.cli.options import (
    REPORT_FORMATS,
    add_environment,
    add_files,
    add_format,
    add_output,
    add_registry,
    add_reports,
    add_timeout,
    parse_level,
)
from contractlog.clients.cli.output import apply_output_options
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.level import Level

__all__ = ["apply", "check", "diff", "plan", "promote", "register"]


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


def register(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Register all files that are not registered yet, or none if one is rejected (exit code 1 or 4)."""
    add_files(parser)
    parser.add_argument("--level", type=parse_level, help="set this compatibility level on every subject first")
    parser.add_argument(
        "--keep-going", action="store_true", help="register valid files even if others cannot be registered"
    )
    parser.add_argument("--dry-run", action="store_true", help="report what would be registered, and write nothing")
    add_registry(parser)
    add_format(parser, *REPORT_FORMATS)
    add_reports(parser)
    add_output(parser)
    options = parser.parse_intermixed_args(argv)
    from contractlog.clients.cli.plan.registration import run  # noqa: PLC0415 - slow to import, and not needed for --help

    with apply_output_options(options):
        return run(options, argv)


def plan(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Show what would change; exit code 1 or 4 if a file cannot be registered."""
    add_files(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the plan to a file, for `apply --plan`")
    _add_prune(parser)
    parser.add_argument("--exit-code", action="store_true", help="exit code 1 if something would change")
    add_registry(parser)
    add_format(parser, *REPORT_FORMATS)
    add_reports(parser)
    add_output(parser)
    options = parser.parse_intermixed_args(argv)
    from contractlog.clients.cli.plan.runner import run_plan  # noqa: PLC0415 - slow to import, not needed for --help

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
    add_registry(parser)
    add_format(parser, *REPORT_FORMATS)
    add_reports(parser)
    add_output(parser)
    options = parser.parse_intermixed_args(argv)
    from contractlog.clients.cli.plan.runner import run_apply  # noqa: PLC0415 - slow to import, not needed for --help

    with apply_output_options(options):
        return run_apply(options, argv)


def promote(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Show the versions of FROM that TO lacks; exit code 1 or 4 if the histories of a subject differ."""
    parser.add_argument("source", metavar="FROM", help="the environment of the manifest that has the versions")
    parser.add_argument("target", metavar="TO", help="the environment that gets them")
    parser.add_argument(
        "files",
        nargs="*",
        default=[],  # else argparse names them among the missing arguments
        metavar="FILE|FOLDER",
        help="only the subjects of these (default: the manifest's folder)",
    )
    parser.add_argument("--apply", action="store_true", help="register the versions")
    parser.add_argument(
        "--use-waivers",
        action="store_true",
        help="permit registrations by a waiver of the manifest, against the level that the subject has in TO",
    )
    parser.add_argument("--exit-code", action="store_true", help="exit code 1 if versions are missing")
    parser.add_argument("--manifest", type=Path, metavar="FILE", help="the manifest with the environments")
    parser.set_defaults(subject=None, references=[], environment=None)
    add_timeout(parser)
    add_format(parser, *REPORT_FORMATS)
    add_reports(parser)
    add_output(parser)
    options = parser.parse_intermixed_args(argv)
    from contractlog.clients.cli.promotion.runner import run  # noqa: PLC0415 - slow to import, not needed for --help

    with apply_output_options(options):
        return run(options, argv)


def _add_prune(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--prune",
        action="store_true",
        help="also soft-delete the subjects that the manifest's [[subjects]] match and that no file has, and remove "
        "the associations of matching subjects that [[associations]] does not have",
    )


def diff(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Compare two schemas or folders; exit code 1 if the change is incompatible at the level."""
    parser.add_argument(
        "earlier",
        metavar="EARLIER",
        help="the existing schema: a file, - for standard input, SUBJECT:VERSION for a registered one, "
        "git:REVISION:PATH for one of a git revision; or a folder of schemas, also of a git revision. "
        "The prefixes file: and subject: decide which is meant",
    )
    parser.add_argument("later", metavar="LATER", help="the new schema, or folder of schemas")
    parser.add_argument(
        "--level",
        type=parse_level,
        metavar="LEVEL",
        help=f"the level that decides the exit code: {', '.join(Level)} (default: that of the subject in the manifest, "
        f"else {Level.BACKWARD})",
    )
    parser.add_argument(
        "--policy",
        type=_parse_policy,
        default=Policy.STRICT,
        metavar="POLICY",
        help=f"compatibility policy for JSON Schema: {', '.join(Policy)} (default: %(default)s)",
    )
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="CHECK",
        help="also run this check, which the policy does not require, such as AVRO_DOC_LOST",
    )
    parser.add_argument(
        "--reference",
        action="append",
        default=[],
        dest="references",
        metavar="NAME=FILE",
        help="a schema file that both schemas reference as NAME, in place of the types of their folders; list files "
        "without references of their own first",
    )
    add_environment(parser)
    add_registry(parser)
    add_format(parser, *REPORT_FORMATS)
    add_reports(parser)
    add_output(parser)
    options = parser.parse_args(argv)
    from contractlog.clients.cli.diff.runner import run  # noqa: PLC0415 - slow to import, and not needed for --help

    with apply_output_options(options):
        return run(options, argv)


def _parse_policy(text: str) -> Policy:
    try:
        return Policy(text.upper())
    except ValueError:
        raise ArgumentTypeError(f"`{text}` is not one of {', '.join(Policy)}") from None

"""``contractlog changes``: entries of the change log."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import Any, Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.options import (
    add_environment,
    add_format,
    add_output,
    add_registry,
    connect,
    select_context,
)
from contractlog.clients.cli.output import apply_output_options, print_json, print_message, print_table
from contractlog.contracts.audit.time_text import describe_time

__all__ = ["changes"]

FORMAT: Final = "contractlog.changes/1"
_BYPASSED: Final = "protection.bypassed"


def changes(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """List the changes of the registry; with ``--break-glass``, those that bypassed approvals."""
    parser.add_argument("--since", type=int, default=0, metavar="NUMBER", help="only those after this number")
    parser.add_argument(
        "--break-glass",
        dest="bypassed",
        action="store_true",
        help="only changes of protected subjects that bypassed approvals",
    )
    add_environment(parser)
    add_registry(parser)
    add_format(parser)
    add_output(parser, kept="results and errors")
    options = parser.parse_args(argv)
    with apply_output_options(options):
        return _run(options)


def _run(options: Namespace) -> int:
    select_context(options)
    with connect(options) as registry:
        entries = [
            entry
            for entry in registry.each_change(options.since)
            if not options.bypassed or entry["action"] == _BYPASSED
        ]
    if options.format == "json":
        print_json({"format": FORMAT, "changes": entries})
    else:
        print_table(("NUMBER", "TIME", "ACTOR", "ACTION", "TARGET", "DETAILS"), [_row(entry) for entry in entries])
    if not entries:
        print_message("no change has bypassed approvals" if options.bypassed else "there are no changes")
    return exit_codes.CLEAN


def _row(entry: Mapping[str, Any]) -> tuple[object, ...]:
    details = entry.get("details") or {}
    reason = details.get("reason") if isinstance(details, Mapping) else None
    facts = (entry["sequence"], describe_time(entry.get("at")), entry.get("actor"))
    return (*facts, entry["action"], entry.get("target"), reason)

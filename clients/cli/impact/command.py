"""``contractlog impact``; what it runs is imported after ``--help``."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from contractlog.clients.cli.broker import add_broker_options
from contractlog.clients.cli.options import add_environment, add_format, add_output, add_registry
from contractlog.clients.cli.output import apply_output_options
from contractlog.clients.cli.published_lineage import add_time_of_lineage

__all__ = ["impact"]


def impact(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Print what a change reaches.

    The exit code is 0 whether it reaches anything or not, 1 if that is not known.
    """
    parser.add_argument(
        "subject",
        metavar="SUBJECT[:FIELD]",
        help="a subject, such as orders-value, or a topic; with the path of a field, such as "
        "orders-value:legs[].carrier (default: all fields)",
    )
    sources = parser.add_mutually_exclusive_group()
    sources.add_argument(
        "--lineage",
        type=Path,
        metavar="FILE",
        help="read lineage from the output of `contractlog lineage --format json`, or the report.json of an audit with "
        "--lineage (default: the lineage that the registry has)",
    )
    sources.add_argument(
        "--state",
        type=Path,
        metavar="DIR",
        help="infer lineage from the state of an audit, or from the audit's --out folder (needs the extra `spark`)",
    )
    add_time_of_lineage(parser, "of the registry, ")
    add_broker_options(parser)
    add_environment(parser)
    add_registry(parser)
    add_format(parser)
    add_output(parser, kept="the result and errors")
    options = parser.parse_args(argv)
    from contractlog.clients.cli.impact.runner import run  # noqa: PLC0415 - not needed for --help

    with apply_output_options(options):
        return run(options)

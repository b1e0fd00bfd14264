"""``contractlog journal``; what it runs is imported after ``--help``."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from pathlib import Path

from contractlog.clients.cli.options import add_environment, add_format, add_output, add_registry, parse_output_path
from contractlog.clients.cli.output import apply_output_options
from contractlog.clients.cli.verb_parser import add_action_parser
from contractlog.contracts.change_log.chain_verification import RecordedHead
from contractlog.contracts.change_log.cloud_events import EVENT_SOURCE

__all__ = ["journal"]


def journal(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Verify the hash chain of the change log, show its head, or export it.

    The exit code of ``verify`` is 1 if an entry was changed, is missing or out of order.
    """
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    verify = add_action_parser(actions, "journal verify", "verify the hash chain", "--head 1042:3af0…")
    verify.add_argument(
        "file", nargs="?", metavar="FILE", help="an output of `journal export`, - for stdin, instead of a registry"
    )
    verify.add_argument(
        "--head",
        type=_parse_head,
        metavar="HEAD",
        help="SEQUENCE:HASH or HASH, as `journal head`, exports and webhooks have it: also finds a cut tail and a "
        "rewritten chain",
    )
    head = add_action_parser(
        actions, "journal head", "show number and hash of the newest entry", "--database-url sqlite:///r.db"
    )
    export = add_action_parser(
        actions, "journal export", "write the entries, one per line", "--since 1000 --out changes.ndjson"
    )
    export.add_argument(
        "--format", choices=("cloudevents",), default="cloudevents", help="CloudEvents 1.0 in JSON (default)"
    )
    export.add_argument(
        "--source", default=EVENT_SOURCE, metavar="URI", help="source of the events (default: %(default)s)"
    )
    export.add_argument(
        "--out", type=parse_output_path, default=Path("-"), metavar="FILE", help="the file to write (default: stdout)"
    )
    for action in (verify, export):
        action.add_argument(
            "--since", type=_parse_sequence, default=0, metavar="N", help="only the entries after number N (default: 0)"
        )
    for action in (verify, head, export):
        action.add_argument(
            "--database-url",
            metavar="URL",
            help="read a database instead of a registry, even while it is served: sqlite:///FILE or postgresql://… "
            "(needs the extra `server`)",
        )
        add_environment(action)
        add_registry(action)
        add_output(action, kept="results and errors")
    for action in (verify, head):
        add_format(action)
    options = parser.parse_args(argv)
    from contractlog.clients.cli.change_log.journal_runner import run  # noqa: PLC0415 - not needed for --help

    with apply_output_options(options):
        return run(options)


def _parse_head(text: str) -> RecordedHead:
    try:
        return RecordedHead.parse(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def _parse_sequence(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):  # noqa: PLR2004 - the limit of the API
        raise ArgumentTypeError(f"`{text[:30]}` is not a number of an entry")
    return int(text)

"""``contractlog change``; what it runs is imported after ``--help``."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any, Final

from contractlog.clients.cli.options import (
    add_environment,
    add_format,
    add_output,
    add_references,
    add_registry,
    parse_level,
)
from contractlog.clients.cli.output import apply_output_options
from contractlog.clients.cli.verb_parser import add_action_parser

__all__ = ["change"]

_STATES: Final = ("open", "merged", "closed", "expired")
_KINDS: Final = ("registration", "deletion", "settings", "association", "contract")
_WHOLE: Final = "all"  #: value of ``--delete`` without a version
_DECISIONS: Final = {
    "approve": "approve a change request, as an owner of its subject",
    "merge": "make the change of a change request, exactly as it was approved",
    "close": "close a change request without making the change",
}


def change(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Open, approve and merge change requests for protected subjects."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    opener = _add_action(
        actions,
        "open",
        "open a change request, or check it again with another proposal (--update)",
        "orders-value schemas/orders-value.avsc --reason 'ids of the new shop are texts'",
    )
    opener.add_argument("subject", metavar="SUBJECT|:.CONTEXT:", help="the subject, or a context for its settings")
    opener.add_argument("file", nargs="?", metavar="FILE", help="register this schema file")
    opener.add_argument(
        "--delete", nargs="?", const=_WHOLE, metavar="VERSION", help="delete a version (default: all of the subject)"
    )
    opener.add_argument("--permanent", action="store_true", help="with --delete: hard-delete what is soft-deleted")
    opener.add_argument("--level", type=parse_level, metavar="LEVEL", help="set the compatibility level")
    opener.add_argument("--mode", metavar="MODE", help="set the mode: READWRITE, READONLY …")
    opener.add_argument("--normalize", action="store_true", help="register the normalized text")
    add_references(opener, "the file refers to")
    _add_reason(opener)
    opener.add_argument("--commit", metavar="ID", help="the commit that proposes the change")
    opener.add_argument("--url", metavar="URL", help="a page about the change, such as a pull request")
    opener.add_argument("--days", type=int, metavar="DAYS", help="until it expires (default: 30)")
    opener.add_argument("--update", type=int, metavar="NUMBER", help="replace the proposal of this change request")
    waive = _add_action(
        actions,
        "waive",
        "open a change request for a waiver: changes without approvals for some days",
        "orders-value --kind registration --days 7 --reason 'migration of the shop'",
    )
    waive.add_argument("subject", metavar="SUBJECT", help="the subject")
    waive.add_argument("--kind", choices=_KINDS, required=True, help="the kind of change")
    waive.add_argument("--days", type=int, default=7, metavar="DAYS", help="1 to 90 (default: %(default)d)")
    waive.add_argument("--user", metavar="NAME", help="who may make such changes (default: you)")
    _add_reason(waive)
    listing = _add_action(actions, "list", "list change requests, the newest first", "--status open")
    listing.add_argument("subject", nargs="?", metavar="SUBJECT", help="only those of this subject")
    listing.add_argument("--status", choices=_STATES, help="only those in this state")
    _add_number(_add_action(actions, "show", "show a change request with its evidence", "7"))
    for name, summary in _DECISIONS.items():
        decision = _add_action(actions, name, summary, "7 --revision 2" if name == "approve" else "7")
        _add_number(decision)
        if name == "approve":
            decision.add_argument(
                "--revision",
                type=int,
                required=True,
                metavar="REVISION",
                help="the revision that you have seen, as `change show` prints it; a later one is not approved",
            )
    comment = _add_action(actions, "comment", "comment on an open change request", "7 'why not a new field?'")
    _add_number(comment)
    comment.add_argument("text", metavar="TEXT", help="the comment")
    options = parser.parse_args(argv)
    from contractlog.clients.cli.change_requests.runner import run  # noqa: PLC0415 - not needed for --help

    with apply_output_options(options):
        return run(options)


def _add_action(actions: Any, name: str, summary: str, example: str) -> ArgumentParser:
    parser = add_action_parser(actions, f"change {name}", summary, example)
    add_environment(parser)
    add_registry(parser)
    add_format(parser)
    add_output(parser, kept="results and errors")
    return parser


def _add_number(parser: ArgumentParser) -> None:
    parser.add_argument("number", type=int, metavar="NUMBER", help="the number of the change request")


def _add_reason(parser: ArgumentParser) -> None:
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why the change is needed")

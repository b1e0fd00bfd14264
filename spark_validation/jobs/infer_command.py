"""``contractlog infer``: write quality rules that the records of an audit satisfy."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from contractlog.clients.cli.exit_codes import CLEAN
from contractlog.clients.cli.options import add_format
from contractlog.clients.cli.output import print_json, print_message, print_result
from contractlog.contracts.quality.inference import MIN_RECORDS

__all__ = ["infer"]

_FORMAT: Final = "contractlog.infer/1"


def infer(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Write ``<topic>.quality.yaml`` for the topics of an audit."""
    parser.add_argument(
        "topics", nargs="*", metavar="TOPIC", help="names or globs of topics (default: all of the audit)"
    )
    parser.add_argument(
        "--audit", type=Path, default=Path("audit"), metavar="DIR", help="folder of the audit (default: audit/)"
    )
    parser.add_argument(
        "--holdout",
        type=Path,
        metavar="DIR",
        help="folder of an audit of other records, such as later ones; rules that these do not satisfy are left out",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("quality"), metavar="DIR", help="folder of the files (default: quality/)"
    )
    parser.add_argument(
        "--min-records",
        type=_parse_count,
        default=MIN_RECORDS,
        metavar="N",
        help="records, or values of a field, that a rule is inferred from at least (default: %(default)s)",
    )
    parser.add_argument("--force", action="store_true", help="replace files that exist")
    add_format(parser)
    options = parser.parse_args(argv)
    return _run(options)


def _run(options: Namespace) -> int:
    from contractlog.spark_validation.jobs.infer_job import InferRequest, write_inferred  # noqa: PLC0415 - for fast help

    request = InferRequest(
        options.audit, options.holdout, options.out, tuple(options.topics), options.min_records, options.force
    )
    results = write_inferred(request)
    if options.format == "json":
        body: dict[str, Any] = {"format": _FORMAT, "topics": [result.body() for result in results]}
        print_json(body)
        return CLEAN
    for result in results:
        print_result(str(result))
    if any(result.file for result in results):
        print_message(f"evaluate them: contractlog audit --quality {options.out}")
    return CLEAN


def _parse_count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"`{text}` is not a number above 0")
    return int(text)

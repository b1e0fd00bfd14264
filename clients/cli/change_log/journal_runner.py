"""Implementation of ``contractlog journal``."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from contractlog.clients.atomic_file import open_atomically
from contractlog.clients.cli.change_log.journal_sources import ChangeLogSource, open_source
from contractlog.clients.cli.exit_codes import CLEAN, FINDINGS
from contractlog.clients.cli.output import print_json, print_json_line, print_message, print_result
from contractlog.compatibility.errors import UnreadableResponse, UsageError
from contractlog.contracts.change_log.chain_verification import ChainProblem, ChainReport, ProblemKind, verify_chain
from contractlog.contracts.change_log.cloud_events import format_cloud_event

__all__ = ["run"]

_FORMAT: Final = "contractlog.journal/1"


def run(options: Namespace) -> int:
    """Run an action, and return the exit code."""
    with open_source(options) as source:
        return {"head": _print_head, "verify": _verify, "export": _export}[options.action](source, options)


def _print_head(source: ChangeLogSource, options: Namespace) -> int:
    head = source.end
    if head is None or (head.sequence and head.hash is None):
        raise UsageError("the newest entry has no hash: an earlier release wrote it, and the next write chains it")
    if options.format == "json":
        print_json({"format": _FORMAT, "sequence": head.sequence, "hash": head.hash})
    elif head.sequence:
        print_result(str(head))
    else:
        print_message("the change log has no entries")
    return CLEAN


def _verify(source: ChangeLogSource, options: Namespace) -> int:
    report = verify_chain(source.read(options.since), since=options.since, end=source.end, head=options.head)
    if options.format == "json":
        print_json(_build_body(report))
    else:
        _print_report(report)
        if source.end is None and report.problem is not None and _lacks_beginning(report.since, report.problem):
            print_message("the file begins later: if it was exported with --since N, pass the same --since N")
    return CLEAN if report.problem is None else FINDINGS


def _build_body(report: ChainReport) -> dict[str, Any]:
    problem = report.problem
    return {
        "format": _FORMAT,
        "since": report.since,
        "verified_to": report.head.sequence,
        "hash": report.head.hash,
        "problem": problem and {"kind": problem.kind.value, "sequence": problem.sequence, "detail": problem.detail},
    }


def _lacks_beginning(since: int, problem: ChainProblem) -> bool:
    return problem.kind is ProblemKind.MISSING and problem.sequence == since + 1


def _print_report(report: ChainReport) -> None:
    head = report.head
    if report.problem is not None:
        print_result(report.problem.detail)
    if head.sequence == report.since:
        print_message("no entry was verified")
    elif report.problem is not None:
        print_message(f"the entries {report.since + 1:,} to {head.sequence:,} are chained to each other")
    else:
        print_result(f"verified entries {report.since + 1:,} to {head.sequence:,}; head {head}")


def _export(source: ChangeLogSource, options: Namespace) -> int:
    lines = _format_lines(source, options)
    if options.out == Path("-"):
        for line in lines:
            print_json_line(line)
        return CLEAN
    try:
        with open_atomically(options.out, 0o600) as file:
            file.writelines(line.encode() + b"\n" for line in lines)
    except OSError as error:
        raise UsageError(f"`{options.out}` cannot be written: {error.strerror}") from None
    if source.end is not None:
        print_message(f"wrote the entries to {source.end}")
    return CLEAN


def _format_lines(source: ChangeLogSource, options: Namespace) -> Iterator[str]:
    changes: Iterable[Any] = source.read(options.since)
    try:
        for change in changes:
            yield json.dumps(format_cloud_event(change, source=options.source), separators=(",", ":"))
    except ValueError as error:
        raise UnreadableResponse(f"an entry of the change log is unreadable: {error}") from None

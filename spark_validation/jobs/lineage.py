"""``contractlog lineage``: what topics were made from, found in their values."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import redirect_stdout
from datetime import UTC, datetime
from os import environ
from pathlib import Path
from tempfile import TemporaryDirectory

from contractlog.clients.cli.exit_codes import CLEAN, FINDINGS
from contractlog.compatibility.errors import UsageError
from contractlog.contracts.observed.report import Edge
from contractlog.contracts.observed.states import AuditState

__all__ = ["lineage"]


def lineage(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Print the edges that values prove; exit code 0 whether there are any or not."""
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help="what was this made from? (default: every topic)")
    parser.add_argument("--state", type=Path, metavar="FOLDER", help="the state that an audit left, or its --out")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write here in place of standard output")
    parser.add_argument(
        "--format", choices=("text", "json", "openlineage"), default="text", help="of the result (default: text)"
    )
    parser.add_argument(
        "--bootstrap-servers",
        metavar="HOST:PORT",
        default=environ.get("CONTRACTLOG_BOOTSTRAP_SERVERS"),
        help="the broker: names datasets in OpenLineage, and is audited when no --state is given",
    )
    audited = parser.add_argument_group("without --state, all topics are audited first")
    audited.add_argument("--registry", metavar="URL", help="the registry to audit with")
    audited.add_argument("--archive", type=Path, metavar="FOLDER", help="read this archive in place of a broker")
    options = parser.parse_args(argv)
    if options.state is None:
        with TemporaryDirectory(prefix="contractlog-") as folder:
            _audit(options, Path(folder))
            return _run(options, Path(folder))
    return _run(options, options.state)


def _audit(options: Namespace, folder: Path) -> None:
    from contractlog.spark_validation.jobs.audit import audit  # noqa: PLC0415 - Spark is slow to load

    arguments = ["--out", str(folder)]
    for name in ("registry", "bootstrap_servers", "archive"):
        if (value := getattr(options, name)) is not None:
            arguments += [f"--{name.replace('_', '-')}", str(value)]
    with redirect_stdout(sys.stderr):
        code = audit(ArgumentParser(prog="contractlog audit"), arguments)
    if code not in {CLEAN, FINDINGS}:
        raise UsageError("the audit did not come to its end, so there is nothing to find lineage in")


def _run(options: Namespace, folder: Path) -> int:
    from contractlog.spark_validation.lineage.infer import edges  # noqa: PLC0415 - numpy is slow to load
    from contractlog.spark_validation.states import read_state  # noqa: PLC0415

    inner = folder / "state"
    state = read_state(inner if inner.is_dir() else folder)
    missing = sorted(set(options.topics) - _topics(state))
    if missing:
        raise UsageError(f"the state holds no topic {missing[0]}; it has {', '.join(sorted(_topics(state))) or 'none'}")
    found = [edge for edge in edges(state) if not options.topics or edge["to"]["topic"] in options.topics]
    written = _written(found, state, options, folder)
    if options.out is None:
        sys.stdout.write(written)
    else:
        _replace(options.out, written)
        print(f"{len(found)} edges are in {options.out}", file=sys.stderr)
    return CLEAN


def _topics(state: AuditState) -> set[str]:
    return {coverage.topic for coverage in state.coverage} | {topic for topic, _, _ in state.samples}


def _written(found: list[Edge], state: AuditState, options: Namespace, folder: Path) -> str:
    if options.format == "json":
        return json.dumps({"lineage": found}, indent=2) + "\n"
    if options.format == "openlineage":
        from contractlog.spark_validation.lineage.openlineage import events  # noqa: PLC0415

        made = events(found, _namespace(options, folder), datetime.now(UTC))
        return "".join(json.dumps(event) + "\n" for event in made)
    from contractlog.spark_validation.lineage.words import FIRST_SLICE, told  # noqa: PLC0415

    if not state.samples:
        return "The state holds no samples of values, so there is nothing to find lineage in.\n"
    if not found:
        return f"No lineage was found in the values of {_listed(options, state)}.\n{FIRST_SLICE}\n"
    return f"{told(found)}\n\n{FIRST_SLICE}\n"


def _listed(options: Namespace, state: AuditState) -> str:
    names = options.topics or sorted(_topics(state))
    return ", ".join(names) if len(names) <= 5 else f"{len(names)} topics"  # noqa: PLR2004 - a line of names


def _namespace(options: Namespace, folder: Path) -> str:
    """Name the broker whose topics these are: as the arguments do, else as the audit's report does."""
    from contractlog.spark_validation.lineage.openlineage import kafka_namespace  # noqa: PLC0415

    if options.bootstrap_servers:
        return kafka_namespace(options.bootstrap_servers)
    for report in (folder / "report.json", folder.parent / "report.json"):
        try:
            source = json.loads(report.read_text(encoding="utf-8"))["source"]
            return kafka_namespace(source["bootstrap_servers"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    raise UsageError("OpenLineage names a topic by its broker: say which with --bootstrap-servers HOST:PORT")


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error

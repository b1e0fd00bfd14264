"""``contractlog lineage``: print the sources of topics, inferred from their values."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from contractlog.clients.cli.broker import BOOTSTRAP_VARIABLE, add_broker_config, find_brokers
from contractlog.clients.cli.exit_codes import CLEAN
from contractlog.clients.cli.options import add_registry, connect
from contractlog.clients.cli.output import harmless, say
from contractlog.compatibility.errors import UsageError
from contractlog.contracts.observed.report import Edge
from contractlog.contracts.observed.states import AuditState
from contractlog.spark_validation.jobs.audit import add_reading, source_of

__all__ = ["lineage"]

FORMAT: Final = "contractlog.lineage/1"


def lineage(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Print the edges proven by values; the exit code is 0 whether there are any or not."""
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help="what was this made from? (default: every topic)")
    parser.add_argument("--state", type=Path, metavar="DIR", help="the state that an audit left, or the audit's --out")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write here in place of standard output")
    parser.add_argument(
        "--format", choices=("text", "json", "openlineage"), default="text", help="of the result (default: text)"
    )
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        "--bootstrap-servers",
        metavar="HOST:PORT",
        help=f"the Kafka cluster (else {BOOTSTRAP_VARIABLE}): audited without --state; names topics in OpenLineage",
    )
    place.add_argument("--archive", type=Path, metavar="DIR", help="without --state, audit this Parquet archive")
    add_broker_config(parser)
    add_reading(parser)
    parser.add_argument(
        "--master", default="local[*]", metavar="URL", help="the Spark cluster (default: %(default)s, this machine)"
    )
    add_registry(parser)
    options = parser.parse_intermixed_args(argv)
    return _run(options, _audited(options) if options.state is None else _read(options.state))


def _audited(options: Namespace) -> AuditState:
    """Audit all topics, even if only some are requested: any other may be their source."""
    from contractlog.spark_validation.jobs.auditing import Order, audit_to_state  # noqa: PLC0415 - for fast help
    from contractlog.spark_validation.jobs.progress import ProgressLine  # noqa: PLC0415 - not needed for help
    from contractlog.spark_validation.strategies import GivenStrategies  # noqa: PLC0415 - as above

    source = source_of(options)
    with connect(options) as registry:
        order = Order(
            registry=registry,
            source=source,
            master=options.master,
            strategies=GivenStrategies.parse(options.strategy),
        )
        return audit_to_state(order, say=say, progress=ProgressLine("auditing", "offsets", sys.stderr))


def _read(folder: Path) -> AuditState:
    from contractlog.spark_validation.states import read_state  # noqa: PLC0415 - for fast help

    inner = folder / "state"
    return read_state(inner if inner.is_dir() else folder)


def _run(options: Namespace, state: AuditState) -> int:
    from contractlog.contracts.observed.bounds import unsampled_notes  # noqa: PLC0415 - for fast help
    from contractlog.spark_validation.jobs.progress import COMPARING, ProgressLine  # noqa: PLC0415 - as above
    from contractlog.spark_validation.lineage.infer import edges  # noqa: PLC0415 - as above

    known = sorted(_topics(state))
    missing = sorted(set(options.topics) - set(known))
    if missing:
        raise UsageError(f"no topic `{missing[0]}` was audited, only {_listed(known)}", topic=missing[0])
    progress = ProgressLine(*COMPARING, sys.stderr, announced=True)
    every = edges(state, progress=progress) if state.samples else []
    found = [edge for edge in every if not options.topics or edge["to"]["topic"] in options.topics]
    for (topic, part), notes in unsampled_notes(state).items():
        say(harmless(f"{topic} ({part}): {' '.join(notes)}"))
    written = _written(found, state, options)
    if options.out is None:
        sys.stdout.write(written)
    else:
        _replace(options.out, written)
        say(f"{len(found)} edges are in {options.out}")
    return CLEAN


def _topics(state: AuditState) -> set[str]:
    return {coverage.topic for coverage in state.coverage} | {topic for topic, _, _ in state.samples}


def _written(found: list[Edge], state: AuditState, options: Namespace) -> str:
    if options.format == "json":
        return json.dumps({"format": FORMAT, "lineage": found}, indent=1) + "\n"
    if options.format == "openlineage":
        from contractlog.spark_validation.lineage.openlineage import events  # noqa: PLC0415 - only when requested

        made = events(found, _namespace(options), datetime.now(UTC))
        return "".join(json.dumps(event) + "\n" for event in made)
    from contractlog.spark_validation.lineage.words import FIRST_SLICE, told  # noqa: PLC0415 - for fast help

    if not state.samples:
        return (
            "The audit kept no samples of values, so there is nothing to find lineage in. "
            "Audit again without --no-samples.\n"
        )
    if not found:
        looked_at = _listed(options.topics or sorted(_topics(state)))
        return f"No lineage was found in the values of {looked_at}.\n{FIRST_SLICE}\n"
    return f"{told(found)}\n\n{FIRST_SLICE}\n"


def _listed(topics: Sequence[str]) -> str:
    return harmless(", ".join(topics)) or "none" if len(topics) <= 8 else f"{len(topics)} topics"  # noqa: PLR2004 - fits a line


def _namespace(options: Namespace) -> str:
    """Return the namespace of the broker given by arguments or environment, else by the audit's report."""
    from contractlog.spark_validation.lineage.openlineage import kafka_namespace  # noqa: PLC0415 - only when requested

    brokers = find_brokers(options)
    if brokers is not None:
        return kafka_namespace(brokers.servers)
    state: Path | None = options.state
    for report in () if state is None else (state / "report.json", state.parent / "report.json"):
        try:
            return kafka_namespace(json.loads(report.read_text(encoding="utf-8"))["source"]["bootstrap_servers"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
    raise UsageError("OpenLineage names a topic by its broker: say which with --bootstrap-servers HOST:PORT")


def _replace(path: Path, text: str) -> None:
    """Write a file so that it appears complete or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error

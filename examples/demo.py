"""Demo of contractlog's main purpose on real data: ``make demo``.

A registry and a real Kafka broker start; CI checks and applies the schemas of a git repository, and rejects one
change; the flights that left New York in 2013 are published, some of them damaged on purpose; a rule of a contract
rejects a record at the producer, and a change in CI; an audit reads the whole history, and its findings are compared
with the planted damage. The folder stays; everything that was started is stopped.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections import Counter
from pathlib import Path
from typing import Any, Final

from ci_step import CIStep
from confluent_kafka import Consumer, TopicPartition
from rule_step import RuleStep

from contractlog.clients import Registry
from contractlog.compatibility.errors import ContractlogError, Unreachable
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.kafka_client import quiet_config

from child_process import ChildProcess
from demo_environment import EXAMPLES, DemoEnvironment, resolve_program
from environment_check import check_environment
from flights.comparison import (
    Comparison,
    compare_edges,
    compare_violations,
    format_table,
    read_expected_edges,
    read_violations,
)
from flights.faults import Planted, write_planted
from flights.publication import Publication
from flights.topics import AIRCRAFT, AIRPORTS, DEPARTED, create_topics
from interruption import INTERRUPTION_GUARD, install_signal_handlers
from kafka_jars import fetch_jars
from terminal_output import TerminalOutput

__all__ = ["main"]

COMPACTION_TIMEOUT_SECONDS: Final = 20.0
CATCH_UP_TIMEOUT_SECONDS: Final = 300.0
INTERRUPTED_EXIT_CODE: Final = 130


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 1 if the audit has missed or false findings."""
    arguments = parse_arguments(argv)
    output = TerminalOutput()
    install_signal_handlers()
    try:
        java = check_environment(arguments.folder)
        fetch_jars(java, output.print_line)  # before any other work: nothing else is downloaded
        output.print_line(
            f"contractlog on the flights that left New York in 2013. Java {java.release}; folder {arguments.folder}"
        )
        with DemoEnvironment(arguments.folder, output) as environment:
            return Demo(environment, arguments.records).run_steps()
    except KeyboardInterrupt:
        print("\ninterrupted; everything that was started is stopped", file=sys.stderr)
        return INTERRUPTED_EXIT_CODE
    except ContractlogError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 3 if isinstance(error, Unreachable) else 2


def parse_arguments(argv: list[str] | None) -> Namespace:
    parser = ArgumentParser(description="Run the main features of contractlog on real flights.")
    parser.add_argument(
        "--folder",
        type=_parse_folder,
        default=_parse_folder("demo"),
        help="folder of the database, the records and the report (default: demo)",
    )
    parser.add_argument(
        "--records", type=_parse_count, help="publish at most this many departures and observations (default: all)"
    )
    return parser.parse_args(argv)


def _parse_count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text} is not a number of records: use 1 or more")
    return int(text)


def _parse_folder(text: str) -> Path:
    return Path(text).resolve()


class Demo:
    """The eight steps of the demo."""

    def __init__(self, environment: DemoEnvironment, limit: int | None) -> None:
        self._environment, self._output, self._limit = environment, environment.output, limit
        self._audit = environment.folder / "audit"
        self._ci_step = CIStep(environment)

    def run_steps(self) -> int:
        """Run all steps, and print the conclusion."""
        self._start()
        self._apply_schemas()
        planted = self._publish_records() + self._break_rule()
        self._report_planted(planted)
        violations = self._audit_topics(planted)
        edges = self._infer_lineage()
        self._read_conformance()
        return self._print_conclusion(violations, edges)

    def _start(self) -> None:
        self._output.print_step(1, "A registry on SQLite and a real Apache Kafka start")
        self._environment.start_registry()
        self._environment.start_broker()
        create_topics(self._environment.broker.bootstrap_servers)
        for line in self._environment.shell_lines[:-1]:
            self._output.print_shell_line(line)

    def _apply_schemas(self) -> None:
        self._output.print_step(2, "Schemas are applied from a git repository, as CI does it; one change is rejected")
        self._ci_step.run()

    def _publish_records(self) -> list[Planted]:
        self._output.print_step(3, "The events of 2013 are published, each with the time at which it happened")
        self._output.print_indented("reading the flights, the weather, the airports and the aircraft")
        start_time = time.monotonic()
        with Registry(self._environment.registry_url) as registry:
            publication = Publication(self._environment.broker.bootstrap_servers, registry, self._output, self._limit)
            publication.publish_tables()
            with self._start_service() as service:
                publication.publish_weather()
                publication.publish_departures()
                counts = self._await_service(service)
        for writer in publication.writers:
            self._output.print_indented(f"{writer.topic}: {writer.acknowledged_count:,} records")
        self._output.print_indented(
            f"flights.delayed: {counts['written']:,} records, by a service that read {counts['read']:,} departures, "
            f"skipped {counts['unreadable']:,} unreadable ones, and found no airport for {counts['without_airport']:,}"
        )
        record_count = sum(writer.acknowledged_count for writer in publication.writers) + counts["written"]
        self._output.print_indented(f"{record_count:,} records in {time.monotonic() - start_time:.0f} s")
        planted = [planted_record for writer in publication.writers for planted_record in writer.planted]
        return planted + [Planted(**planted_record) for planted_record in counts["planted"]]

    def _start_service(self) -> ChildProcess:
        addresses = [
            "--bootstrap-servers",
            self._environment.broker.bootstrap_servers,
            "--registry",
            self._environment.registry_url,
        ]
        script = EXAMPLES / "flights" / "delayed_flights.py"
        command: list[str | Path] = ["python", script, *addresses, "--damage"]
        self._output.print_command(command)
        return ChildProcess(resolve_program(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _await_service(self, service: ChildProcess) -> dict[str, Any]:
        """Let the service read to the end, and return its counts."""
        self._output.print_indented("the service reads to the end")
        try:
            output, _ = service.process.communicate(timeout=CATCH_UP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            raise Unreachable("the service that derives flights.delayed did not catch up") from None
        if service.process.returncode:
            raise Unreachable("the service that derives flights.delayed failed; its messages are above")
        counts: dict[str, Any] = json.loads(output)
        return counts

    def _break_rule(self) -> list[Planted]:
        self._output.print_step(4, "A rule of the contract: rejected records go to a dead letter queue")
        return RuleStep(self._environment, self._ci_step).run()

    def _report_planted(self, planted: list[Planted]) -> None:
        self._output.print_step(5, "Some of the records were damaged on purpose; the audit does not know which")
        file = self._environment.folder / "planted.json"
        write_planted(planted, file)
        counts_by_kind = Counter(planted_record.kind for planted_record in planted)
        self._output.print_indented(", ".join(f"{count} {kind}" for kind, count in sorted(counts_by_kind.items())))
        self._output.print_indented(f"{len(planted):,} records in all, listed in {self._format_path(file)}")
        for topic in (AIRPORTS, AIRCRAFT):
            self._await_compaction(topic)

    def _await_compaction(self, topic: str) -> None:
        """Wait until the broker has removed records that were replaced by later ones."""
        deadline = time.monotonic() + COMPACTION_TIMEOUT_SECONDS
        while True:
            record_count, offset_count = _count_records(self._environment.broker.bootstrap_servers, topic)
            if record_count < offset_count:
                self._output.print_indented(
                    f"{topic} is compacted: {offset_count - record_count:,} of {offset_count:,} offsets are absent"
                )
                return
            if time.monotonic() > deadline:
                self._output.print_indented(f"{topic} is not compacted yet; the audit reads all its records")
                return
            time.sleep(0.5)

    def _audit_topics(self, planted: list[Planted]) -> Comparison:
        self._output.print_step(6, "The audit reads the whole history on Spark")
        start_time = time.monotonic()
        self._environment.run_command(
            "contractlog", "audit", "--out", self._audit, "--lineage", "--publish", expected=[0, 1], draws_progress=True
        )
        self._output.print_indented(
            f"audited in {time.monotonic() - start_time:.0f} s; comparison with the planted damage:"
        )
        comparison = compare_violations(planted, read_violations(self._audit / "violations.parquet"))
        self._output.print_indented(format_table(comparison))
        self._output.print_indented(comparison.format_sentence())
        for verdict, differences in (("missed", comparison.missed), ("false", comparison.false)):
            for difference in differences[:5]:
                self._output.print_indented(f"{verdict}: {' '.join(map(str, difference))}")
        self._print_broken_rules()
        return comparison

    def _print_broken_rules(self) -> None:
        report = json.loads((self._audit / "report.json").read_bytes())
        for part in report["topics"]:
            for violation in part["violations"]:
                if violation["code"] == Outcome.RULE_BROKEN.name:
                    first = f"partition {violation['first']['partition']} offset {violation['first']['offset']}"
                    self._output.print_indented(f"{part['topic']} {first}: RULE_BROKEN, {violation['detail']}")

    def _infer_lineage(self) -> Comparison:
        self._output.print_step(7, "The lineage of topics is inferred from their values (a preview)")
        self._environment.run_command("contractlog", "lineage", "--state", self._audit / "state")
        report = json.loads((self._audit / "report.json").read_bytes())
        comparison = compare_edges(read_expected_edges(), report["lineage"])
        self._output.print_indented(f"edges between fields: {comparison.format_sentence()}")
        for verdict, edges in (("missed", comparison.missed), ("false", comparison.false)):
            for topic, field, to_topic, to_field in edges:
                self._output.print_indented(f"{verdict}: {topic} {field} -> {to_topic} {to_field}")
        return comparison

    def _read_conformance(self) -> None:
        self._output.print_step(8, "The registry publishes the result")
        self._output.print_command(["curl", f"{self._environment.registry_url}/contractlog/v1/conformance/{DEPARTED}"])
        with Registry(self._environment.registry_url) as registry:
            for entry in registry.conformance(DEPARTED):
                self._output.print_indented(
                    f"{entry['topic']} {entry['part']}: {entry['verdict']}, {entry['conforming']:,} conforming and "
                    f"{entry['violating']:,} violating of {entry['records']:,} records"
                )

    def _print_conclusion(self, violations: Comparison, edges: Comparison) -> int:
        is_perfect = violations.is_perfect and edges.is_perfect
        self._output.print_line("")
        self._output.print_line(f"violations: {violations.format_sentence()}")
        self._output.print_line(f"lineage: {edges.format_sentence()}")
        self._output.print_line(f"all of it took {self._output.elapsed_seconds:.0f} s; registry and broker are stopped")
        self._output.print_line("")
        self._output.print_line(f"Look at the report in a browser: {self._audit / 'report.html'}")
        self._output.print_line("To try the commands of the report, start registry and broker again on this folder:")
        for command in (self._environment.serve_command, self._environment.broker_command):
            self._output.print_command(resolve_program(command))
        self._output.print_line("and set their addresses in the shell in which you type the commands:")
        for line in self._environment.shell_lines:
            self._output.print_shell_line(line)
        return 0 if is_perfect else 1

    def _format_path(self, path: Path) -> Path:
        return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _count_records(bootstrap_servers: str, topic: str) -> tuple[int, int]:
    """Return the number of records of a topic with one partition, and the number of its offsets."""
    consumer = Consumer(quiet_config(bootstrap_servers, **{"group.id": "demo-counts"}))
    try:
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)
        consumer.assign([TopicPartition(topic, 0, low)])
        records, position = 0, low
        while position < high:
            with INTERRUPTION_GUARD:
                batch = [message for message in consumer.consume(1_000, 0.5) if message.error() is None]
            records += len(batch)
            position = max([position, *(int(message.offset() or 0) + 1 for message in batch)])
        return records, high - low
    finally:
        consumer.close()


if __name__ == "__main__":
    sys.exit(main())

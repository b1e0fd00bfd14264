"""Demo of contractlog's main purpose on real data: ``make demo``.

A registry and a real Kafka broker start; schemas pass the checks and one is rejected; the flights that left New York in
2013 are published, some of them damaged on purpose; an audit reads the whole history, and its findings are compared
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

from confluent_kafka import Consumer, TopicPartition
from interruption import HELD, listen

from contractlog.clients import Registry
from contractlog.compatibility.errors import ContractlogError, Unreachable
from contractlog.serdes.kafka_client import quiet_config

from children import Child
from flights.compare import Marks, expected_edges, mark_edges, mark_violations, table, violations
from flights.faults import Planted, write_planted
from flights.publish import Publication
from flights.topics import AIRCRAFT, AIRPORTS, DEPARTED, SCHEMAS, create_topics
from kafka_jars import fetch_jars
from preflight import look_ahead
from stage import EXAMPLES, Stage, runnable
from talk import Talk

__all__ = ["main"]

REFUSED: Final = EXAMPLES / "flights" / "refused"
COMPACTED_WITHIN: Final = 20.0
CAUGHT_UP_WITHIN: Final = 300.0
INTERRUPTED: Final = 130


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 1 if the audit missed something or reported something that is not there."""
    arguments = _arguments(argv)
    talk = Talk()
    listen()
    try:
        java = look_ahead(arguments.folder)
        fetch_jars(java, talk.say)  # also before any work: nothing else comes from the network
        talk.say(
            f"contractlog on the flights that left New York in 2013. Java {java.release}; folder {arguments.folder}"
        )
        with Stage(arguments.folder, talk) as stage:
            return Demo(stage, arguments.records).play()
    except KeyboardInterrupt:
        print("\ninterrupted; everything that was started is stopped", file=sys.stderr)
        return INTERRUPTED
    except ContractlogError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 3 if isinstance(error, Unreachable) else 2


def _arguments(argv: list[str] | None) -> Namespace:
    parser = ArgumentParser(description="The main job of contractlog, on real flights.")
    parser.add_argument(
        "--folder", type=_folder, default=_folder("demo"), help="where everything is kept (default: demo)"
    )
    parser.add_argument(
        "--records", type=_number, help="publish at most so many departures and observations (default: all)"
    )
    return parser.parse_args(argv)


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text} is no number of records: name 1 or more")
    return int(text)


def _folder(text: str) -> Path:
    return Path(text).resolve()


class Demo:
    """The seven steps of the demo."""

    def __init__(self, stage: Stage, records: int | None) -> None:
        self._stage, self._talk, self._records = stage, stage.talk, records
        self._audit = stage.folder / "audit"

    def play(self) -> int:
        """Run all steps, and print the conclusion."""
        self._start()
        self._pass_the_gate()
        planted = self._publish()
        self._say_what_was_planted(planted)
        found = self._look_for_violations(planted)
        edges = self._look_for_lineage()
        self._read_back()
        return self._conclude(found, edges)

    def _start(self) -> None:
        self._talk.step(1, "A registry on SQLite and a real Apache Kafka start")
        self._stage.start_registry()
        self._stage.start_broker()
        create_topics(self._stage.broker.bootstrap_servers)
        for line in self._stage.exports[:-1]:
            self._talk.typed(line)

    def _pass_the_gate(self) -> None:
        self._talk.step(2, "Schemas are checked, planned and applied, as CI does it; one change is refused")
        self._stage.run("contractlog", "check", SCHEMAS)
        self._stage.run("contractlog", "plan", SCHEMAS)
        self._stage.run("contractlog", "apply", SCHEMAS)
        self._stage.run("contractlog", "check", REFUSED, expected=[1])
        self._talk.tell("exit code 1: CI stops here")

    def _publish(self) -> list[Planted]:
        self._talk.step(3, "What happened in 2013 is published, each record with the time at which it happened")
        self._talk.tell("reading the flights, the weather, the airports and the aircraft")
        began = time.monotonic()
        with Registry(self._stage.registry_url) as registry:
            publication = Publication(self._stage.broker.bootstrap_servers, registry, self._talk, self._records)
            publication.tables()
            with self._service() as service:
                publication.weather()
                publication.departures()
                done = self._caught_up(service)
        for writer in publication.writers:
            self._talk.tell(f"{writer.topic}: {writer.acknowledged:,} records")
        self._talk.tell(
            f"flights.delayed: {done['written']:,} records, by a service that read {done['read']:,} departures, "
            f"skipped {done['unreadable']:,} it could not read, and found no place for {done['without_place']:,}"
        )
        total = sum(writer.acknowledged for writer in publication.writers) + done["written"]
        self._talk.tell(f"{total:,} records in {time.monotonic() - began:.0f} s")
        planted = [one for writer in publication.writers for one in writer.planted]
        return planted + [Planted(**one) for one in done["planted"]]

    def _service(self) -> Child:
        words = ["--bootstrap-servers", self._stage.broker.bootstrap_servers, "--registry", self._stage.registry_url]
        script = EXAMPLES / "flights" / "delayed.py"
        command: list[str | Path] = ["python", script, *words, "--damage"]
        self._talk.command(command)
        return Child(runnable(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _caught_up(self, service: Child) -> dict[str, Any]:
        """Let the service read to the end, and return its counts."""
        self._talk.tell("the service reads to the end")
        try:
            output, _ = service.process.communicate(timeout=CAUGHT_UP_WITHIN)
        except subprocess.TimeoutExpired:
            raise Unreachable("the service that derives flights.delayed did not catch up") from None
        if service.process.returncode:
            raise Unreachable("the service that derives flights.delayed failed; what it said stands above")
        done: dict[str, Any] = json.loads(output)
        return done

    def _say_what_was_planted(self, planted: list[Planted]) -> None:
        self._talk.step(4, "Some of the records were damaged on purpose; the audit is not told which")
        file = self._stage.folder / "planted.json"
        write_planted(planted, file)
        kinds = Counter(one.kind for one in planted)
        self._talk.tell(", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items())))
        self._talk.tell(f"{len(planted):,} records in all, written down in {self._shown(file)}")
        for topic in (AIRPORTS, AIRCRAFT):
            self._await_compaction(topic)

    def _await_compaction(self, topic: str) -> None:
        """Wait until the broker has dropped records that later ones replaced."""
        deadline = time.monotonic() + COMPACTED_WITHIN
        while True:
            there, range_ = _records(self._stage.broker.bootstrap_servers, topic)
            if there < range_:
                self._talk.tell(f"{topic} is compacted: {range_ - there:,} of {range_:,} offsets are gone")
                return
            if time.monotonic() > deadline:
                self._talk.tell(f"{topic} is not compacted yet; the audit takes it as it is")
                return
            time.sleep(0.5)

    def _look_for_violations(self, planted: list[Planted]) -> Marks:
        self._talk.step(5, "The audit reads the whole history, on Spark")
        began = time.monotonic()
        self._stage.run(
            "contractlog", "audit", "--out", self._audit, "--lineage", "--publish", expected=[0, 1], long=True
        )
        self._talk.tell(f"audited in {time.monotonic() - began:.0f} s; compared with what was planted:")
        marks = mark_violations(planted, violations(self._audit / "violations.parquet"))
        self._talk.tell(table(marks))
        self._talk.tell(marks.sentence())
        for word, places in (("missed", marks.missed), ("false", marks.false)):
            for place in places[:5]:
                self._talk.tell(f"{word}: {' '.join(map(str, place))}")
        return marks

    def _look_for_lineage(self) -> Marks:
        self._talk.step(6, "Where topics come from, found in their values (a first slice)")
        self._stage.run("contractlog", "lineage", "--state", self._audit / "state")
        report = json.loads((self._audit / "report.json").read_bytes())
        marks = mark_edges(expected_edges(), report["lineage"])
        self._talk.tell(f"edges between fields: {marks.sentence()}")
        for word, edges in (("missed", marks.missed), ("false", marks.false)):
            for topic, field, to_topic, to_field in edges:
                self._talk.tell(f"{word}: {topic} {field} -> {to_topic} {to_field}")
        return marks

    def _read_back(self) -> None:
        self._talk.step(7, "The result is in the registry, for everybody who asks")
        self._talk.command(["curl", f"{self._stage.registry_url}/contractlog/v1/conformance/{DEPARTED}"])
        with Registry(self._stage.registry_url) as registry:
            for entry in registry.conformance(DEPARTED):
                self._talk.tell(
                    f"{entry['topic']} {entry['part']}: {entry['verdict']}, {entry['conforming']:,} conforming and "
                    f"{entry['violating']:,} violating of {entry['records']:,} records"
                )

    def _conclude(self, found: Marks, edges: Marks) -> int:
        perfect = found.perfect and edges.perfect
        self._talk.say("")
        self._talk.say(f"violations: {found.sentence()}")
        self._talk.say(f"lineage: {edges.sentence()}")
        self._talk.say(f"all of it took {self._talk.passed:.0f} s; registry and broker are stopped")
        self._talk.say("")
        self._talk.say(f"Look at the report in a browser: {self._audit / 'report.html'}")
        self._talk.say("To try its commands, start registry and broker again on this folder:")
        for command in (self._stage.serve, self._stage.run_broker):
            self._talk.command(runnable(command))
        self._talk.say("and tell the shell in which you type the commands where they are:")
        for line in self._stage.exports:
            self._talk.typed(line)
        return 0 if perfect else 1

    def _shown(self, path: Path) -> Path:
        return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _records(bootstrap_servers: str, topic: str) -> tuple[int, int]:
    """Return the number of records of a topic with one partition, and the number of its offsets."""
    consumer = Consumer(quiet_config(bootstrap_servers, **{"group.id": "demo-counts"}))
    try:
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)
        consumer.assign([TopicPartition(topic, 0, low)])
        records, position = 0, low
        while position < high:
            with HELD:
                batch = [message for message in consumer.consume(1_000, 0.5) if message.error() is None]
            records += len(batch)
            position = max([position, *(int(message.offset() or 0) + 1 for message in batch)])
        return records, high - low
    finally:
        consumer.close()


if __name__ == "__main__":
    sys.exit(main())

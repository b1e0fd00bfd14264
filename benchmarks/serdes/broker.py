"""Records through a real broker, with contractlog's serializers and those of ``confluent_kafka``.

Prints the records produced and consumed per second of processor time.

    python benchmarks/serdes/broker.py [--records 20000] [--rounds 5] [--check] [--folder DIR]

Producer, consumer, records and topic settings are the same; only the serializers differ. The third row sends and
receives stored bytes, which is the cost without serializers. A real Apache Kafka is started in a new folder; its
processor time is not counted. ``--check`` exits with 1 if ours is slower.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "examples")]

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from local_kafka import Broker
from record_shapes import RECORD_SHAPES
from registry_server import run_registry
from serializer_pairs import Call, connect_clients

BATCH_SIZE: Final = 1_000
VARIANTS: Final = ("ours", "theirs", "bytes")


@dataclass(frozen=True, slots=True)
class Duration:
    """The time that some records took."""

    processor: float
    clock: float


def produce(servers: str, topic: str, values: list[Any], number: int, write: Call) -> Duration:
    """Send records and wait until all are acknowledged."""
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 20, "queue.buffering.max.messages": 1_000_000})
    processor_start, clock_start = time.process_time(), time.perf_counter()
    for index in range(number):
        producer.produce(topic, write(values[index % len(values)]))
        if not index % BATCH_SIZE:
            producer.poll(0)
    assert producer.flush(60) == 0
    return Duration(time.process_time() - processor_start, time.perf_counter() - clock_start)


def consume(servers: str, topic: str, number: int, read: Call) -> Duration:
    """Receive all records of a topic, and deserialize them."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "bench", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    processor_start, clock_start = time.process_time(), time.perf_counter()
    received_count = 0
    while received_count < number:
        for message in consumer.consume(min(BATCH_SIZE, number - received_count), 1.0):
            assert message.error() is None
            read(message.value())
            received_count += 1
    duration = Duration(time.process_time() - processor_start, time.perf_counter() - clock_start)
    consumer.close()
    return duration


def print_results(step: str, runs: dict[str, list[Duration]], number: int) -> float:
    """Print the results, and return how many times as many records ours makes as the reference."""
    for variant in VARIANTS:
        processor, clock = (
            statistics.median(getattr(run, name) for run in runs[variant]) for name in Duration.__slots__
        )
        print(f"{step:8} {variant:7} {number / processor:12,.0f} {number / clock:12,.0f}")
    pairs = zip(runs["ours"], runs["theirs"], strict=True)
    ratio = statistics.median(theirs.processor / ours.processor for ours, theirs in pairs)
    print(f"{step:8} ours / theirs, records per second of processor time: {ratio:.2f}")
    return ratio


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=20_000, help="of each maker in each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--folder", type=Path, help="where the broker keeps its records (a temporary one)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Broker(arguments.folder or folder) as broker, run_registry() as url:
        ratios = measure_variants(url, broker.bootstrap_servers, arguments.records, arguments.rounds)
    return 1 if arguments.check and min(ratios) < 1 else 0


def measure_variants(url: str, servers: str, number: int, rounds: int) -> list[float]:
    """Produce and consume in turns."""
    shape = RECORD_SHAPES["realistic"]
    produced: dict[str, list[Duration]] = {variant: [] for variant in VARIANTS}
    consumed: dict[str, list[Duration]] = {variant: [] for variant in VARIANTS}
    with connect_clients(url) as pair_factory:
        write_pair, read_pair = (
            pair_factory.create_pair("avro write", shape, BATCH_SIZE),
            pair_factory.create_pair("avro read", shape, BATCH_SIZE),
        )
        frames = read_pair.arguments
        print(f"realistic record, {sum(map(len, frames)) / len(frames):.0f} bytes; {number:,} records a round")
        print(f"{'':8} {'maker':7} {'per CPU s':>12} {'per second':>12}   medians of {rounds} rounds")
        writes: dict[str, Call] = {"ours": write_pair.ours, "theirs": write_pair.theirs, "bytes": return_unchanged}
        reads: dict[str, Call] = {"ours": read_pair.ours, "theirs": read_pair.theirs, "bytes": return_unchanged}
        admin = AdminClient({"bootstrap.servers": servers})
        for turn in range(rounds):
            for variant in VARIANTS if turn % 2 else reversed(VARIANTS):
                topic = f"{variant}-{turn}"
                for future in admin.create_topics([NewTopic(topic, 1, 1)]).values():
                    future.result()
                values = frames if variant == "bytes" else write_pair.arguments
                produced[variant].append(produce(servers, topic, values, number, writes[variant]))
                consumed[variant].append(consume(servers, topic, number, reads[variant]))
    return [print_results("produced", produced, number), print_results("consumed", consumed, number)]


def return_unchanged(value: Any) -> Any:
    """Return the argument, in place of a serializer."""
    return value


if __name__ == "__main__":
    sys.exit(main())

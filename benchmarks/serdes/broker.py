"""Records through a real broker, with our serializers and those of ``confluent_kafka``.

Measured are records produced and consumed per second of processor time.

    python benchmarks/serdes/broker.py [--records 20000] [--rounds 5] [--check] [--folder DIR]

Both sides use the same producer, consumer, records and topic settings, in turns; only the serializers differ. The third
row sends and receives ready-made bytes: the cost without serializers. A real Apache Kafka is started in a folder of its
own; its own processor time is not counted. ``--check`` exits with 1 if ours is slower.
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

from contenders import Call, connected
from local_kafka import Broker
from served import served
from shapes import SHAPES

BATCH: Final = 1_000
MAKERS: Final = ("ours", "theirs", "bytes")


@dataclass(frozen=True, slots=True)
class Took:
    """The time that some records took."""

    processor: float
    clock: float


def produce(servers: str, topic: str, values: list[Any], number: int, write: Call) -> Took:
    """Send records and wait until all are acknowledged."""
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 20, "queue.buffering.max.messages": 1_000_000})
    began, clock = time.process_time(), time.perf_counter()
    for place in range(number):
        producer.produce(topic, write(values[place % len(values)]))
        if not place % BATCH:
            producer.poll(0)
    assert producer.flush(60) == 0
    return Took(time.process_time() - began, time.perf_counter() - clock)


def consume(servers: str, topic: str, number: int, read: Call) -> Took:
    """Receive all records of a topic, and deserialize them."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "bench", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    began, clock = time.process_time(), time.perf_counter()
    seen = 0
    while seen < number:
        for message in consumer.consume(min(BATCH, number - seen), 1.0):
            assert message.error() is None
            read(message.value())
            seen += 1
    took = Took(time.process_time() - began, time.perf_counter() - clock)
    consumer.close()
    return took


def told(what: str, runs: dict[str, list[Took]], number: int) -> float:
    """Print the results, and return how many times as many records ours makes as the reference."""
    for maker in MAKERS:
        processor, clock = (statistics.median(getattr(run, name) for run in runs[maker]) for name in Took.__slots__)
        print(f"{what:8} {maker:7} {number / processor:12,.0f} {number / clock:12,.0f}")
    pairs = zip(runs["ours"], runs["theirs"], strict=True)
    ratio = statistics.median(theirs.processor / ours.processor for ours, theirs in pairs)
    print(f"{what:8} ours / theirs, records per second of processor time: {ratio:.2f}")
    return ratio


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=20_000, help="of each maker in each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--folder", type=Path, help="where the broker keeps its records (a temporary one)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Broker(arguments.folder or folder) as broker, served() as url:
        ratios = measured(url, broker.bootstrap_servers, arguments.records, arguments.rounds)
    return 1 if arguments.check and min(ratios) < 1 else 0


def measured(url: str, servers: str, number: int, rounds: int) -> list[float]:
    """Produce and consume in turns."""
    shape = SHAPES["realistic"]
    produced: dict[str, list[Took]] = {maker: [] for maker in MAKERS}
    consumed: dict[str, list[Took]] = {maker: [] for maker in MAKERS}
    with connected(url) as makers:
        pair, back = makers.pair("avro write", shape, BATCH), makers.pair("avro read", shape, BATCH)
        frames = back.arguments
        print(f"realistic record, {sum(map(len, frames)) / len(frames):.0f} bytes; {number:,} records a round")
        print(f"{'':8} {'maker':7} {'per CPU s':>12} {'per second':>12}   medians of {rounds} rounds")
        writes: dict[str, Call] = {"ours": pair.ours, "theirs": pair.theirs, "bytes": _same}
        reads: dict[str, Call] = {"ours": back.ours, "theirs": back.theirs, "bytes": _same}
        admin = AdminClient({"bootstrap.servers": servers})
        for turn in range(rounds):
            for maker in MAKERS if turn % 2 else reversed(MAKERS):
                topic = f"{maker}-{turn}"
                for done in admin.create_topics([NewTopic(topic, 1, 1)]).values():
                    done.result()
                values = frames if maker == "bytes" else pair.arguments
                produced[maker].append(produce(servers, topic, values, number, writes[maker]))
                consumed[maker].append(consume(servers, topic, number, reads[maker]))
    return [told("produced", produced, number), told("consumed", consumed, number)]


def _same(value: Any) -> Any:
    return value


if __name__ == "__main__":
    sys.exit(main())

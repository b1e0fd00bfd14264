"""Reading of topics for audits, beside a plain consumer loop that only counts their records.

Prints records per second, the time as a multiple of the loop's, and the peak of the process's memory, for a topic of
small records with and without compression, for many small topics, and for records of 900 KB that zstd compresses five
thousand times.

    python benchmarks/audit/topic_throughput.py [--records 1000000] [--topics 500] [--large 1200]

A real Apache Kafka is started in a new folder; each topic is read in a process of its own.

Measured on two busy cores with 500,000 records, 300 topics and 600 large records: 220,000 small records per second
(with zstd 230,000) and a peak of 230 MB; 540 MB of large records, 100 KB at the broker, with a peak of 400 MB. Before
fetches were limited, the peak was 950 MB, and 1,400 MB for 1,200 large records, at 180,000 small records per second.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

sys.path[:0] = [str(Path(__file__).parents[2] / "examples")]

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from contractlog.spark_validation.sources.kafka_reader import KafkaRangeReader
from contractlog.spark_validation.sources.records import OffsetRange

from local_kafka import Broker

SMALL: Final = 100  #: records of each of many topics
LARGE: Final = 900_000  #: bytes
LARGE_SETTINGS: Final = {"compression.type": "zstd", "batch.num.messages": 50, "message.max.bytes": 20_000_000}


def make_small(count: int) -> Iterator[bytes]:
    """Yield documents of about 100 bytes."""
    numbers = random.Random(1)
    for number in range(count):
        name = f"customer {numbers.randrange(10**6)}"
        yield json.dumps({"id": number, "name": name, "amount": numbers.random(), "note": "to the door"}).encode()


def make_large(count: int) -> Iterator[bytes]:
    """Yield documents of one repeated character."""
    for number in range(count):
        yield b'{"n":%d,"a":"' % number + bytes([97 + number % 26]) * LARGE + b'"}'


def fill(servers: str, topics: list[str], values: Iterable[bytes], **settings: Any) -> None:
    """Create topics, and send values to them in turn."""
    admin = AdminClient({"bootstrap.servers": servers})
    created = admin.create_topics([NewTopic(name, 1, 1) for name in topics])
    for future in created.values():
        future.result(120)
    producer = Producer(
        {"bootstrap.servers": servers, "queue.buffering.max.kbytes": 200_000, "linger.ms": 20, **settings}
    )
    for number, value in enumerate(values):
        while True:
            try:
                producer.produce(topics[number % len(topics)], value)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    assert producer.flush(300) == 0


def read_ranges(servers: str, ranges: list[OffsetRange]) -> int:
    """Read ranges as audits do; return the number of records."""
    with KafkaRangeReader(servers, ranges) as reader:
        return sum(batch.num_rows for offsets in ranges for batch in reader.read(offsets))


def count_records(servers: str, ranges: list[OffsetRange]) -> int:
    """Count the records of ranges with one consumer, as a plain loop."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "bench", "enable.auto.commit": False})
    consumer.assign([TopicPartition(offsets.topic, offsets.partition, offsets.start) for offsets in ranges])
    count = 0
    while count < sum(map(len, ranges)):
        count += sum(message.error() is None for message in consumer.consume(10_000, 0.2))
    consumer.close()
    return count


def measure(servers: str, how: str, ranges: list[OffsetRange]) -> tuple[float, int]:
    """Read ranges in another process; return the seconds, and the peak of its memory in MB."""
    work = json.dumps([servers, how, [[each.topic, each.partition, each.start, each.end] for each in ranges]])
    done = subprocess.run([sys.executable, __file__, "--child"], input=work, capture_output=True, text=True, check=True)
    seconds, peak = json.loads(done.stdout)
    return seconds, peak


def run_child() -> None:
    """Read what stdin names; print the seconds and the peak of the memory in MB."""
    servers, how, rows = json.load(sys.stdin)
    ranges = [OffsetRange(*row) for row in rows]
    start = time.perf_counter()
    records = (count_records if how == "loop" else read_ranges)(servers, ranges)
    seconds = time.perf_counter() - start
    assert records == sum(map(len, ranges)), records
    # not ru_maxrss, which begins with the memory of the parent
    status = Path("/proc/self/status").read_text()
    print(json.dumps([seconds, int(status.split("VmHWM:")[1].split()[0]) // 1024]))


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000, help="small records of a topic")
    parser.add_argument("--topics", type=int, default=500, help=f"topics of {SMALL} records")
    parser.add_argument("--large", type=int, default=1_200, help=f"records of {LARGE:,} bytes")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_child()
        return
    many = [f"many-{number}" for number in range(options.topics)]
    with tempfile.TemporaryDirectory() as folder, Broker(folder) as broker:
        servers = broker.bootstrap_servers
        fill(servers, ["plain"], make_small(options.records))
        fill(servers, ["zstd"], make_small(options.records), **{"compression.type": "zstd"})
        fill(servers, many, make_small(SMALL * options.topics))
        fill(servers, ["large"], make_large(options.large), **LARGE_SETTINGS)
        cases = {
            "small records": [OffsetRange("plain", 0, 0, options.records)],
            "small records, zstd": [OffsetRange("zstd", 0, 0, options.records)],
            "many small topics": [OffsetRange(name, 0, 0, SMALL) for name in many],
            "records of 900 KB, zstd": [OffsetRange("large", 0, 0, options.large)],
        }
        print(f"{'':26}{'records/s':>12}{'of the loop':>13}{'peak':>9}{'peak of the loop':>19}")
        for name, ranges in cases.items():
            loop, loop_peak = measure(servers, "loop", ranges)
            seconds, peak = measure(servers, "reader", ranges)
            speed = sum(map(len, ranges)) / seconds
            print(f"{name:26}{speed:12,.0f}{seconds / loop:12.1f}x{peak:6,} MB{loop_peak:16,} MB", flush=True)


if __name__ == "__main__":
    main()

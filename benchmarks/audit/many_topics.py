"""Audit of many small topics, beside a plain consumer loop that only counts their records.

Prints the seconds of each step, the requests to the registry, and the audit's time as a multiple of the loop's.

    python benchmarks/audit/many_topics.py [--topics 1000] [--records 100] [--partitions 1] [--plan-only] [--check]

A real Apache Kafka and a registry are started in new folders. Each topic has a subject with two versions. The start of
Spark is measured, and is not part of the audit. ``--plan-only`` stops when the ranges are planned, for many partitions
(``--topics 100 --partitions 100``). ``--check`` exits with 1 if the audit takes more than a minute.

Measured on two idle cores: 1,000 topics of 100 records in 8.0 s to the report, besides 7.2 s until Spark has started;
7 requests to the registry; all offsets planned in 0.2 s. The loop that only counts takes 0.45 s.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

sys.path[:0] = [str(Path(__file__).parents[1] / "serdes"), str(Path(__file__).parents[2] / "examples")]

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from contractlog.clients import Registry
from contractlog.clients.calls.call import Call
from contractlog.compatibility.errors import Unreachable
from contractlog.compatibility.schema import SchemaDraft
from contractlog.spark_validation.jobs.audit_job import AuditRequest, audit_to_folder
from contractlog.spark_validation.sources.source import KafkaSource
from contractlog.spark_validation.spark.session import open_session

from local_kafka import Broker
from registry_server import run_registry

LIMIT: Final = 60.0  #: seconds of the audit, beyond the start of Spark
BODY: Final = b"\x54\x0aplain"  #: 42 and a string of five characters
BATCH: Final = 1_000  #: partitions per request that creates topics


class CountingRegistry(Registry):
    """A client that counts its requests."""

    requests = 0

    def _send(self, call: Call[Any]) -> Any:
        self.requests += 1
        return super()._send(call)


@contextlib.contextmanager
def print_seconds(step: str) -> Iterator[list[float]]:
    """Print the seconds that a step takes; yield a list that receives them."""
    seconds: list[float] = []
    start = time.perf_counter()
    yield seconds
    seconds.append(time.perf_counter() - start)
    print(f"{step:42} {seconds[0]:8.2f} s", flush=True)


def fill_topics(servers: str, url: str, *, topics: int, partitions: int, records: int) -> list[str]:
    """Create topics and their subjects, and send records to each; return the names."""
    names = [f"shop-{number:05}" for number in range(topics)]
    admin = AdminClient({"bootstrap.servers": servers})
    size = max(BATCH // partitions, 1)
    for start in range(0, topics, size):
        created = admin.create_topics([NewTopic(name, partitions, 1) for name in names[start : start + size]])
        for future in created.values():
            future.result(120)
    if not records:
        return names
    producer = Producer({"bootstrap.servers": servers, "queue.buffering.max.messages": 1_000_000, "linger.ms": 50})
    with Registry(url) as registry:
        for name in names:
            fields = '{"name":"id","type":"long"},{"name":"note","type":"string"}'
            text = f'{{"type":"record","name":"{name.replace("-", "_")}","fields":[{fields}]}}'
            registry.register(f"{name}-value", SchemaDraft(text))
            more = text.replace("]}", ',{"name":"more","type":["null","long"],"default":null}]}')
            registry.register(f"{name}-value", SchemaDraft(more))
            schema_id = int(registry.lookup(f"{name}-value", SchemaDraft(text)).schema_id)
            for number in range(records):
                value = b"\0" + schema_id.to_bytes(4, "big") + BODY
                producer.produce(name, value=value, key=b"%d" % number, partition=number % partitions)
            producer.poll(0)
    assert producer.flush(300) == 0
    return names


def await_leaders(source: KafkaSource, partitions: int) -> None:
    """Wait until the broker leads all new partitions, which takes it some seconds for thousands."""
    while True:
        with contextlib.suppress(Unreachable):
            if len(source.plan(())) == partitions:
                return
        time.sleep(1)


def count_records(servers: str, names: list[str], partitions: int, records: int) -> int:
    """Count all records with one consumer, as a plain loop."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "bench", "enable.auto.commit": False})
    consumer.assign([TopicPartition(name, number, 0) for name in names for number in range(partitions)])
    count = 0
    while count < records:
        count += sum(message.error() is None for message in consumer.consume(10_000, 0.2))
    consumer.close()
    return count


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=1_000)
    parser.add_argument("--records", type=int, default=100, help="of each topic")
    parser.add_argument("--partitions", type=int, default=1, help="of each topic")
    parser.add_argument("--plan-only", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Broker(Path(folder, "kafka")) as broker, run_registry() as url:
        servers, records = broker.bootstrap_servers, 0 if arguments.plan_only else arguments.records
        with print_seconds("(topics are created and filled)"):
            names = fill_topics(servers, url, topics=arguments.topics, partitions=arguments.partitions, records=records)
        source = KafkaSource(servers)
        await_leaders(source, arguments.topics * arguments.partitions)
        with print_seconds("offsets of all partitions are planned"):
            ranges = source.plan(())
        print(f"{len(ranges):,} ranges")
        if arguments.plan_only:
            return 0
        with print_seconds("a plain loop counts the records") as loop:
            count_records(servers, names, arguments.partitions, arguments.topics * records)
        with print_seconds("(Spark starts)"), tempfile.TemporaryDirectory() as spare:
            session = open_session("local[2]", name="benchmark")
            session.__enter__().sparkContext.parallelize([spare], 2).map(len).collect()
        with CountingRegistry(url) as registry:
            with print_seconds("audit to its report") as audit:
                report = audit_to_folder(AuditRequest(registry, source), Path(folder, "audit"), print_line=print)
            print(f"{registry.requests:,} requests to the registry")
        session.__exit__(None, None, None)
        audited = sum(part["conforming"] for part in report["topics"])
        assert audited == arguments.topics * records, audited
    print(f"audit / plain loop: {audit[0] / loop[0]:.1f}")
    return 1 if arguments.check and audit[0] > LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())

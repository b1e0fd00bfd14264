from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from contractlog.compatibility.errors import UsageError

import local_kafka
from local_kafka import Broker
from support.deadlines import WAIT_SECONDS, eventually
from support.kafka import Kafka

pytestmark = pytest.mark.integration

MIDSUMMER_2013 = 1_372_636_800_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("broker")


def _count(bootstrap_servers: str, topic: str) -> int:
    consumer = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": "count"})
    try:
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=WAIT_SECONDS)
        consumer.assign([TopicPartition(topic, 0, low)])
        seen = 0
        deadline = time.monotonic() + WAIT_SECONDS
        while seen < high - low and time.monotonic() < deadline:
            seen += sum(message.error() is None for message in consumer.consume(high - low, 0.2))
        return seen
    finally:
        consumer.close()


def _there(pid: int) -> bool:
    return "kafka.Kafka" in local_kafka.read_command_line(pid)


def _pid(folder: Path) -> int:
    return int((folder / "broker.pid").read_text())


def test_records_and_ports_outlive_a_stop_and_a_kill(folder: Path) -> None:
    broker = Broker(folder, settings={"broker.session.timeout.ms": 1000}).start()
    try:
        servers = broker.bootstrap_servers
        topic = Kafka(servers).create_topic()
        Kafka(servers).produce(topic, [{"value": b"first"}])
        broker.stop()
        broker.start()
        Kafka(broker.bootstrap_servers).produce(topic, [{"value": b"second"}])
        broker.stop(kill=True)
        broker.start()
        assert broker.bootstrap_servers == servers
        assert _count(servers, topic) == 2
    finally:
        broker.stop()


def test_a_broker_is_alone_in_its_folder_survives_a_pause_and_leaves_no_process(folder: Path) -> None:
    with Broker(folder) as broker:
        pid = _pid(folder)
        assert _there(pid)
        with pytest.raises(UsageError, match=r"process \d+ is running a broker"):
            Broker(folder).start()
        kafka = Kafka(broker.bootstrap_servers)
        kafka.create_topic()
        os.kill(pid, signal.SIGSTOP)
        time.sleep(2)  # the pause itself: a busy machine takes the processor away for as long
        os.kill(pid, signal.SIGCONT)
        kafka.create_topic()
    assert not _there(pid)
    assert not (folder / "broker.pid").exists()


def test_records_of_long_ago_are_kept(kafka: Kafka) -> None:
    topic = kafka.create_topic()
    kafka.produce(topic, [{"value": b"old", "timestamp": MIDSUMMER_2013}])
    time.sleep(2.5)  # the broker looks for what may go every second
    assert _count(kafka.bootstrap_servers, topic) == 1


@pytest.fixture
def owner(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that runs a broker on the folder, as the shell does."""
    command = [sys.executable, local_kafka.__file__, "start", "--folder", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("127.0.0.1:")
        yield process
        process.kill()


def test_a_broker_ends_when_its_owner_is_killed(owner: subprocess.Popen[str], folder: Path) -> None:
    pid = _pid(folder)
    owner.kill()
    owner.wait()
    eventually(lambda: not _there(pid))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_ends_in_order_when_asked(
    owner: subprocess.Popen[str], folder: Path, number: signal.Signals
) -> None:
    pid = _pid(folder)
    owner.send_signal(number)
    assert owner.wait(WAIT_SECONDS) == 0
    assert not _there(pid)


def test_a_broker_that_was_left_behind_is_stopped_by_the_next_start(owner: subprocess.Popen[str], folder: Path) -> None:
    pid = _pid(folder)
    for watcher in _watchers_of(pid):
        os.kill(watcher, signal.SIGKILL)
    owner.kill()
    owner.wait()
    time.sleep(0.5)
    assert _there(pid)
    told: list[str] = []
    with Broker(folder, print_line=told.append):
        assert not _there(pid)
    assert any(f"process {pid}" in words for words in told)


def _watchers_of(pid: int) -> list[int]:
    """The shells that watch over this broker's owner."""
    numbers = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    lines = {number: local_kafka.read_command_line(number) for number in numbers}
    return [number for number, line in lines.items() if line.startswith("/bin/sh -c read _") and f" {pid}" in line]

"""``contractlog produce`` and ``consume`` against a real broker and a real registry."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contractlog.clients import Registry
from contractlog.compatibility.schema import SchemaDraft
from contractlog.serdes.wire import encode_frame

from support.command_line import run_verb
from support.deadlines import WAIT_SECONDS, eventually

if TYPE_CHECKING:
    from support.kafka import Kafka

pytestmark = pytest.mark.integration

ORDER = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [
            {"name": "id", "type": "int"},
            {"name": "note", "type": ["null", "string", "double"], "default": None},
            {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "raw", "type": "bytes", "default": ""},
            {"name": "ratio", "type": "double", "default": 0},
        ],
    }
)
ORDERS: list[dict[str, Any]] = [
    {"id": 1, "note": "é", "price": "1.50", "at": "2013-07-01T05:15:00+00:00", "raw": "\u00ff", "ratio": "NaN"},
    {"id": 2, "note": None, "price": "-0.01", "at": "2013-07-01T05:15:00.001000+00:00", "raw": "", "ratio": 0.5},
]


class CommandLine:
    """Runs verbs of ``contractlog`` against a broker and a registry."""

    def __init__(self, kafka: Kafka, registry_url: str) -> None:
        self.kafka = kafka
        self.environment = {
            "CONTRACTLOG_BOOTSTRAP_SERVERS": kafka.bootstrap_servers,
            "CONTRACTLOG_REGISTRY_URL": registry_url,
        }

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "contractlog.clients.cli.main", *arguments]
        return subprocess.Popen(
            command,
            env=os.environ | self.environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )

    def run(self, *arguments: str, given: str = "", code: int = 0) -> tuple[str, str]:
        done = run_verb(arguments, stdin=given, environment=self.environment)
        assert done.returncode == code, done.stderr
        return done.stdout, done.stderr

    def consumed(self, topic: str, *arguments: str, code: int = 0) -> list[Any]:
        return [json.loads(line) for line in self.run("consume", topic, *arguments, code=code)[0].splitlines()]


@pytest.fixture
def cli(kafka: Kafka, registry_url: str) -> CommandLine:
    return CommandLine(kafka, registry_url)


@pytest.fixture
def topic(cli: CommandLine, registry_url: str) -> str:
    """A topic of orders."""
    name = cli.kafka.create_topic()
    with Registry(registry_url) as registry:
        registry.register(f"{name}-value", SchemaDraft(ORDER))
    return name


def lines(values: list[Any]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def test_produced_records_are_consumed(cli: CommandLine, topic: str) -> None:
    out, said = cli.run("produce", topic, given=lines(ORDERS))
    assert (out, said) == (f"2 records written to {topic}\n", "")
    assert cli.consumed(topic) == ORDERS


def test_the_output_of_consume_can_be_produced(cli: CommandLine, topic: str, registry_url: str, tmp_path: Path) -> None:
    with Registry(registry_url) as registry:
        registry.register(f"{topic}-key", SchemaDraft('"int"'))
    given = [{"key": 7, "value": ORDERS[0], "timestamp": 1_372_655_700_000}, {"key": 8, "value": None, "timestamp": 5}]
    cli.run("produce", topic, "--envelope", given=lines(given))
    first = cli.consumed(topic, "--envelope")
    assert [{name: line[name] for name in ("key", "value", "timestamp")} for line in first] == given
    assert [(line["partition"], line["offset"]) for line in first] == [(0, 0), (0, 1)]
    assert first[0]["value_schema_id"] != first[0]["key_schema_id"]
    file = tmp_path / "orders.jsonl"
    file.write_text(lines(first))
    cli.run("produce", topic, str(file), "--envelope")
    again = cli.consumed(topic, "--envelope")[2:]
    assert [line | {"offset": line["offset"] - 2} for line in again] == first


def test_a_key_can_be_picked_from_the_value(cli: CommandLine, topic: str) -> None:
    cli.run("produce", topic, "--key-field", "id", given=lines(ORDERS))
    assert [line["key"] for line in cli.consumed(topic, "--envelope")] == ["1", "2"]


def test_json_topics_and_schema_files(cli: CommandLine, tmp_path: Path) -> None:
    topic = cli.kafka.create_topic(partitions=3)
    schema = tmp_path / "weather.json"
    schema.write_text('{"type": "object", "properties": {"wind": {"type": "number"}}}')
    values = [{"wind": number / 2} for number in range(20)]
    cli.run("produce", topic, "--schema", str(schema), given=lines(values))
    assert sorted(cli.consumed(topic), key=lambda value: value["wind"]) == values
    assert len(cli.consumed(topic, "--limit", "5")) == 5
    assert cli.run("produce", topic, "--format", "json", given=lines([{"wind": 1}]))[0].endswith("}\n")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"id": 3, "price"', "line 3 is not JSON"),
        ('{"id": 2147483648, "price": 1, "at": 0}', "line 3: INT_OUT_OF_RANGE: id"),
        ('{"id": 3, "pirce": 1, "at": 0}', "line 3: `pirce` is not a field of Order"),
        ('{"id": 3, "price": 1, "at": "yesterday"}', "line 3: SCHEMA_VIOLATION: at"),
    ],
)
def test_a_bad_line_ends_with_its_number_and_what_was_written(
    cli: CommandLine, topic: str, line: str, words: str
) -> None:
    _, said = cli.run("produce", topic, given=lines(ORDERS) + line + "\n" + lines(ORDERS), code=2)
    assert words in said
    assert "2 records had been acknowledged before" in said
    assert cli.consumed(topic) == ORDERS


def test_damage_is_told_with_its_place_and_bytes_and_does_not_stop(cli: CommandLine, topic: str) -> None:
    cli.run("produce", topic, given=lines(ORDERS[:1]))
    cli.kafka.produce(topic, [{"value": b"plain"}, {"value": b"\0\0\0\0\x63\x02"}, {"value": None, "key": b"k"}])
    cli.run("produce", topic, given=lines(ORDERS[1:]))
    out, said = cli.run("consume", topic, code=1)
    assert [json.loads(line) for line in out.splitlines()] == [ORDERS[0], None, ORDERS[1]]
    assert re.search(rf"{topic} partition 0 offset 1 value: NOT_FRAMED: .*; 5 bytes: 706c61696e\n", said)
    assert "offset 2 value: UNKNOWN_SCHEMA_ID (schema id 99)" in said
    assert "2 records of 5 could not be decoded" in said
    _, said = cli.run("consume", topic, "--format", "json", code=1)
    assert json.loads(said.splitlines()[0])["code"] == "NOT_FRAMED"


def test_a_damaged_key_is_told_where_keys_have_a_schema(cli: CommandLine, topic: str, registry_url: str) -> None:
    cli.kafka.produce(topic, [{"value": None, "key": b"plain"}])
    assert cli.consumed(topic) == [None]
    with Registry(registry_url) as registry:
        registry.register(f"{topic}-key", SchemaDraft('"int"'))
    out, said = cli.run("consume", topic, "--partition", "0", "--offset", "0", "--limit", "1", code=1)
    assert out == "null\n"
    assert "offset 0 key: NOT_FRAMED" in said


def test_one_record_can_be_looked_at(cli: CommandLine, topic: str) -> None:
    cli.run("produce", topic, given=lines(ORDERS))
    cli.kafka.produce(topic, [{"value": bytes(5) + b"\xff" * 5000}])
    assert cli.consumed(topic, "--partition", "0", "--offset", "1", "--limit", "1") == [ORDERS[1]]
    out, said = cli.run("consume", topic, "--partition", "0", "--offset", "2", "--limit", "1", code=1)
    assert out == ""
    assert "offset 2 value: UNKNOWN_SCHEMA_ID" in said
    assert len(said) < 1500
    out, said = cli.run("consume", topic, "--partition", "0", "--offset", "9")
    assert (out, said) == ("", "partition 0 ends at offset 3: there is no record at 9\n")
    _, said = cli.run("consume", topic, "--partition", "7", code=2)
    assert "no 7" in said


def test_reading_ends_at_markers_and_leaves_aborted_records_out(cli: CommandLine, topic: str) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": cli.kafka.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions()
    for commit in (True, False):
        producer.begin_transaction()
        producer.produce(topic, value=None, key=b"k")
        producer.flush()
        producer.commit_transaction() if commit else producer.abort_transaction()
    assert cli.consumed(topic) == [None]
    _, said = cli.run("consume", topic, "--partition", "0", "--offset", "1")
    assert said == f"topic `{topic}` contains no records in partition 0 from offset 1 on\n"


def test_missing_objects_are_named(cli: CommandLine, topic: str, tmp_path: Path) -> None:
    assert cli.run("consume", topic) == ("", f"topic `{topic}` contains no records\n")
    assert "has no topic `nowhere`" in cli.run("produce", "nowhere", code=2)[1]
    assert "has no topic `nowhere`" in cli.run("consume", "nowhere", code=2)[1]
    bare = cli.kafka.create_topic()
    said = cli.run("produce", bare, code=2)[1]
    assert (f"nothing is registered as `{bare}-value`" in said, said.count("\n")) == (True, 1)
    assert "cannot be read" in cli.run("produce", topic, "/no/such/file", code=2)[1]
    (tmp_path / "latin").write_bytes(b'{"id": "\xe9"}')
    assert "is no UTF-8" in cli.run("produce", topic, str(tmp_path / "latin"), code=2)[1]
    assert "--partition" in cli.run("consume", topic, "--offset", "1", code=2)[1]
    del cli.environment["CONTRACTLOG_BOOTSTRAP_SERVERS"]
    assert "--bootstrap-servers" in cli.run("consume", topic, code=2)[1]


@pytest.mark.parametrize("verb", ["produce", "consume"])
def test_a_broker_that_is_not_there_is_told_soon(cli: CommandLine, topic: str, verb: str) -> None:
    process = cli.start(verb, topic, "--bootstrap-servers", "127.0.0.1:9")
    _, said = process.communicate(timeout=WAIT_SECONDS)  # what the broker's library says itself, too
    assert process.returncode == 3, said
    assert "no broker responds" in said
    assert said.count("\n") == 1


def test_a_registry_that_is_not_there_is_told(cli: CommandLine, topic: str) -> None:
    cli.run("produce", topic, given=lines(ORDERS))
    cli.run("consume", topic, "--registry", "http://127.0.0.1:9", code=3)
    cli.run("produce", topic, "--registry", "http://127.0.0.1:9", given=lines(ORDERS), code=3)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupting_leaves_whole_acknowledged_records_and_says_how_many(
    cli: CommandLine, topic: str, number: int
) -> None:
    process = cli.start("produce", topic)
    assert process.stdin is not None
    for _ in range(20):
        process.stdin.write(lines(ORDERS))
    process.stdin.flush()
    eventually(lambda: len(cli.consumed(topic)) == 40)
    process.send_signal(number)
    process.wait(WAIT_SECONDS)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.returncode == 130
    assert process.stdout.read() == f"40 records written to {topic}\n"
    assert "interrupted" in process.stderr.read()
    assert cli.consumed(topic) == ORDERS * 20
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def test_a_flood_that_is_interrupted_leaves_as_many_as_it_says(cli: CommandLine, tmp_path: Path) -> None:
    topic = cli.kafka.create_topic(partitions=2)
    schema, file = tmp_path / "n.json", tmp_path / "flood.jsonl"
    schema.write_text('{"type": "object"}')
    file.write_text("".join(f'{{"n": {number}}}\n' for number in range(2_000_000)))
    process = cli.start("produce", topic, str(file), "--schema", str(schema))
    while not cli.consumed(topic, "--limit", "1"):
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 130
    said = int(out.split()[0].replace(",", ""))
    assert 0 < said < 2_000_000
    assert sorted(value["n"] for value in cli.consumed(topic)) == list(range(said))


def test_headers_go_in_and_out(cli: CommandLine, topic: str) -> None:
    given = {"key": "k", "value": ORDERS[0], "headers": [{"key": "trace", "value": "é"}, {"key": "raw", "hex": "ff00"}]}
    cli.run("produce", topic, "--envelope", "--header", "source=test", given=lines([given]))
    cli.run("produce", topic, "--header", "a=1", "--header", "a=2", given=lines(ORDERS[:1]))
    first, second = cli.consumed(topic, "--envelope")
    assert first["headers"] == [*given["headers"], {"key": "source", "value": "test"}]
    assert second["headers"] == [{"key": "a", "value": "1"}, {"key": "a", "value": "2"}]
    _, said = cli.run("produce", topic, "--header", "nothing", given=lines(ORDERS), code=2)
    assert "`nothing` does not read NAME=VALUE" in said


def test_the_output_of_consume_for_headers_can_be_produced(cli: CommandLine, topic: str, registry_url: str) -> None:
    from contractlog.serdes.avro import AvroSerializer
    from contractlog.serdes.context import SerializationContext
    from contractlog.serdes.schema_ids import header_schema_id_serializer

    schema = '"int"'
    other = cli.kafka.create_topic()
    context = SerializationContext(other, "value", [])
    with Registry(registry_url) as registry:
        body = AvroSerializer(registry, schema, schema_id_serializer=header_schema_id_serializer)(7, context)
    cli.kafka.produce(other, [{"key": b"k", "value": body, "headers": context.headers}])
    printed = cli.consumed(other, "--envelope")
    assert printed[0]["value"] == 7
    cli.run("produce", other, "--envelope", given=lines(printed))
    again = cli.consumed(other, "--envelope")[1]
    assert (again["value"], again["headers"]) == (7, [])
    assert again["value_schema_id"] == printed[0]["value_schema_id"]


def test_following_prints_what_is_written_later_until_an_interruption(cli: CommandLine, registry_url: str) -> None:
    topic = cli.kafka.create_topic(partitions=2)
    with Registry(registry_url) as registry:
        registry.register(f"{topic}-value", SchemaDraft('"int"'))
    cli.run("produce", topic, given="0\n")
    process = cli.start("consume", topic, "--follow")
    assert process.stdout is not None
    assert process.stdout.readline() == "0\n"
    for number in range(1, 6):
        cli.run("produce", topic, given=f"{number}\n")
        assert process.stdout.readline() == f"{number}\n"  # it is there at once, through a pipe too
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, out, said) == (0, "", "")


def test_an_interruption_before_the_end_of_older_records_ends_following_cleanly(
    cli: CommandLine, registry_url: str
) -> None:
    topic, records = cli.kafka.create_topic(), 60_000
    with Registry(registry_url) as registry:
        schema_id = int(registry.register(f"{topic}-value", SchemaDraft('"int"')).schema_id)
    cli.kafka.produce(topic, [{"value": encode_frame(schema_id, b"\x02")}] * records)
    process = cli.start("consume", topic, "--follow")
    assert process.stdout is not None
    assert process.stdout.readline() == "1\n"  # then the command waits, as nobody empties the pipe
    process.send_signal(signal.SIGINT)
    out = process.stdout.read()  # `communicate` would drop what the first line's read has buffered
    _, said = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, said) == (0, "")
    assert set(out.splitlines()) <= {"1"}
    assert out.count("\n") < records - 1


def test_following_ends_at_its_limit_and_says_what_could_not_be_read(cli: CommandLine, topic: str) -> None:
    process = cli.start("consume", topic, "--follow", "--limit", "2", "--partition", "0")
    cli.kafka.produce(topic, [{"value": b"plain"}])
    cli.run("produce", topic, given=lines(ORDERS))
    out, said = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, [json.loads(line) for line in out.splitlines()]) == (1, ORDERS[:1])
    assert "1 record of 2 could not be decoded" in said


def test_a_topic_goes_through_an_avro_file_into_another(
    cli: CommandLine, topic: str, registry_url: str, tmp_path: Path
) -> None:
    cli.run("produce", topic, given=lines(ORDERS))
    file = tmp_path / "orders.avro"
    command = [sys.executable, "-m", "contractlog.clients.cli.main", "consume", topic, "--format", "avro"]
    with file.open("wb") as out:
        subprocess.run(command, env=os.environ | cli.environment, stdout=out, check=True, timeout=WAIT_SECONDS)
    other = cli.kafka.create_topic()
    out_, said = cli.run("produce", other, str(file), "--key-field", "id")
    assert (out_, said) == (f"2 records written to {other}\n", "")
    assert cli.consumed(other) == ORDERS
    assert [line["key"] for line in cli.consumed(other, "--envelope")] == ["1", "2"]
    with Registry(registry_url) as registry:  # the file's own schema, as nothing was registered
        assert json.loads(registry.version(f"{other}-value", "latest").text)["name"] == "Order"
    (tmp_path / "no.avro").write_text("{}")
    assert "is not an Avro object container file" in cli.run("produce", other, str(tmp_path / "no.avro"), code=2)[1]
    assert "--envelope is for JSON lines" in cli.run("produce", other, str(file), "--envelope", code=2)[1]
    assert "--envelope is for JSON lines" in cli.run("consume", other, "--format", "avro", "--envelope", code=2)[1]


def test_a_schema_file_with_a_reference_and_a_strategy(cli: CommandLine, registry_url: str, tmp_path: Path) -> None:
    topic = cli.kafka.create_topic()
    order = '{"type": "record", "name": "acme.Cart", "fields": [{"name": "line", "type": "acme.Line"}]}'
    with Registry(registry_url) as registry:
        registry.register(
            "lines", SchemaDraft('{"type": "record", "name": "acme.Line", "fields": [{"name": "n", "type": "int"}]}')
        )
    (tmp_path / "cart.avsc").write_text(order)
    schema = ("--schema", str(tmp_path / "cart.avsc"), "--reference", "acme.Line=lines:latest")
    cli.run("produce", topic, *schema, "--strategy", "topic-record", given='{"line": {"n": 1}}\n')
    assert cli.consumed(topic) == [{"line": {"n": 1}}]
    assert cli.consumed(topic, "--strategy", "TopicRecordNameStrategy") == [{"line": {"n": 1}}]
    with Registry(registry_url) as registry:
        assert registry.versions(f"{topic}-acme.Cart") == [1]
    assert "--schema FILE" in cli.run("produce", topic, *schema[2:], given="{}\n", code=2)[1]
    assert "--schema FILE" in cli.run("produce", topic, "--strategy", "record", given="{}\n", code=2)[1]
    assert "is not a strategy" in cli.run("produce", topic, "--strategy", "x", code=2)[1]

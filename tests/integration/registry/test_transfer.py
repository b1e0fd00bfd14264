"""Transfer of whole registries through a Kafka topic, PostgreSQL and a running registry."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import ConfigResource

from contractlog.clients import Registry
from contractlog.clients.cli.broker import Brokers
from contractlog.clients.cli.main import main
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.transfer.database_access import open_for_export, open_for_import, read_database
from contractlog.registry.transfer.file_format import format_content_lines
from contractlog.registry.transfer.importer import follow, import_contents
from contractlog.registry.transfer.report import TransferReport
from contractlog.registry.transfer.schemas_topic import SchemasTopic
from contractlog.registry.transfer.topic_source import TopicSource

from support.kafka import Kafka
from support.registry import run_server, serve_in_thread, start_server, stop_server

pytestmark = pytest.mark.integration

USER = '{"type":"record","name":"User","fields":[{"name":"name","type":"string"}]}'
USERS = '{"type":"record","name":"Users","fields":[{"name":"all","type":{"type":"array","items":"User"}}]}'
PROTO = 'syntax = "proto3";\nmessage M {\n  string name = 1;\n}\n'


def record(key: dict[str, Any], value: dict[str, Any] | None, timestamp: int = 1_700_000_000_000) -> dict[str, Any]:
    compact = {"separators": (",", ":"), "ensure_ascii": False}
    raw = None if value is None else json.dumps(value, **compact).encode()
    return {"key": json.dumps(key, **compact).encode(), "value": raw, "timestamp": timestamp}


def schema(subject: str, version: int, schema_id: int, text: str, **members: Any) -> dict[str, Any]:
    value = {"subject": subject, "version": version, "id": schema_id, **members, "schema": text}
    key = {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}
    return record(key, {"deleted": False} | value, 1_700_000_000_000 + schema_id)


#: A topic as a node of 8.x writes it: every key type (11.1), references, a context, deletions of each kind (11.3).
LOG = [
    record({"keytype": "NOOP", "magic": 0}, None),
    record({"keytype": "CONFIG", "magic": 0}, {"compatibilityLevel": "FULL"}),
    record({"keytype": "MODE", "subject": "old", "magic": 0}, {"subject": "old", "mode": "READONLY"}),
    schema("user", 1, 1, USER, schemaType="AVRO"),
    schema("users", 1, 2, USERS, schemaType="AVRO", references=[{"name": "User", "subject": "user", "version": 1}]),
    schema("späße/x", 1, 3, '{"type":"object"}', schemaType="JSON", metadata={"properties": {"owner": "me"}}),
    schema("proto", 1, 4, PROTO, schemaType="PROTOBUF"),
    schema("old", 1, 5, '"int"', schemaType="AVRO"),
    schema("old", 2, 6, '"long"', schemaType="AVRO"),
    schema("old", 2, 6, '"long"', schemaType="AVRO", deleted=True),
    schema("gone", 1, 9, '"float"', schemaType="AVRO", deleted=True),
    record({"keytype": "SCHEMA", "subject": "gone", "version": 1, "magic": 1}, None),
    schema("all", 1, 7, '"bytes"', schemaType="AVRO"),
    record({"keytype": "DELETE_SUBJECT", "subject": "all", "magic": 0}, {"subject": "all", "version": 1}),
    record({"keytype": "CLEAR_SUBJECT", "subject": "none", "magic": 0}, {"subject": "none"}),
    record(
        {"keytype": "CONTEXT", "tenant": "default", "context": ".eu", "magic": 0},
        {"tenant": "default", "context": ".eu"},
    ),
    schema(":.eu:user", 1, 1, USER, schemaType="AVRO"),
    record({"keytype": "CONFIG", "subject": ":.eu:user", "magic": 0}, {"subject": ":.eu:user", "alias": "user"}),
]


def sqlite(folder: Path, name: str = "registry.db") -> str:
    return f"sqlite:///{folder / name}"


def lines_of(database_url: str) -> list[str]:
    with open_for_export(database_url) as snapshot:
        return list(format_content_lines(read_database(snapshot)))


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Run a verb, and return its exit code and what it prints as JSON."""

    def run(*argv: str) -> tuple[int, Any]:
        code = main([*argv, "--format", "json"])
        out = capsys.readouterr().out
        return code, json.loads(out) if out else None

    return run


@pytest.fixture
def topic(kafka: Kafka) -> str:
    name = kafka.create_topic(config={"cleanup.policy": "compact"})
    kafka.produce(name, LOG)
    return name


def from_topic(kafka: Kafka, topic: str) -> tuple[str, ...]:
    return ("--topic", topic, "--bootstrap-servers", kafka.bootstrap_servers)


def test_a_topic_of_the_reference_is_brought_in_and_answers_the_same(
    kafka: Kafka, topic: str, tmp_path: Path, said: Callable[..., Any]
) -> None:
    source, target = from_topic(kafka, topic), ("--database-url", sqlite(tmp_path))
    code, report = said("import", *source, *target)
    assert (code, report["conflicts"]) == (0, [])
    assert report["done"]["versions added"] == 8
    assert [(one["kind"], one["where"]) for one in report["oddities"]] == [("VERBATIM", "id 4 of context .")]
    state = lines_of(sqlite(tmp_path))
    code, report = said("import", *source, *target)
    assert (code, any(report["done"].values())) == (0, False)
    assert lines_of(sqlite(tmp_path)) == state
    code, verified = said("verify-import", *source, *target)
    assert (code, verified["differences"]) == (0, [])
    assert verified["compared"] == {
        "versions": 7,  # one subject has an alias: its paths lead to another one
        "lookups": 7,
        "ids": 8,
        "retired ids": 1,
        "settings": 2,
        "modes": 1,
    }


def test_a_difference_is_found(kafka: Kafka, topic: str, tmp_path: Path, said: Callable[..., Any]) -> None:
    source, target = from_topic(kafka, topic), ("--database-url", sqlite(tmp_path))
    said("import", *source, *target)
    kafka.produce(topic, [schema("new", 1, 50, '"double"'), schema("user", 1, 1, USER, deleted=True)])
    code, verified = said("verify-import", *source, *target)
    assert code == 1
    found = "\n".join(verified["differences"])
    assert "new/1: responds with 404" in found
    assert "id 50 of context .: responds with 40403" in found
    assert "user/1: deleted is False instead of True" in found


def test_a_registry_is_exported_to_a_topic_from_which_it_comes_back(
    kafka: Kafka, topic: str, tmp_path: Path, said: Callable[..., Any]
) -> None:
    first, second, back = sqlite(tmp_path, "1.db"), sqlite(tmp_path, "2.db"), f"{topic}-back"
    said("import", *from_topic(kafka, topic), "--database-url", first)
    code, report = said("export", *from_topic(kafka, back), "--database-url", first)
    assert code == 0
    assert [one["kind"] for one in report["oddities"]] == ["ID_MAY_RETURN"]  # id 9 was the highest, and is gone
    config = kafka.admin.describe_configs([ConfigResource("topic", back)])
    (described,) = (future.result() for future in config.values())
    assert described["cleanup.policy"].value == "compact"
    with SchemasTopic(Brokers(kafka.bootstrap_servers), back) as written:
        records = list(written.records())
    keys = [one.key for one in records]
    # 11.1 and 11.2, byte for byte: order of members, compact, raw UTF-8, schemaType written for AVRO too
    assert b'{"keytype":"CONTEXT","tenant":"default","context":".eu","magic":0}' in keys
    assert b'{"keytype":"CONFIG","magic":0}' in keys
    assert b'{"keytype":"MODE","subject":"old","magic":0}' in keys
    by_key = {one.key: one.value for one in records}
    assert by_key['{"keytype":"SCHEMA","subject":"späße/x","version":1,"magic":1}'.encode()] == (
        '{"subject":"späße/x","version":1,"id":3,"schemaType":"JSON","metadata":{"properties":{"owner":"me"}},'
        '"schema":"{\\"type\\":\\"object\\"}","deleted":false}'.encode()
    )
    assert by_key[b'{"keytype":"SCHEMA","subject":"old","version":2,"magic":1}'] == (
        b'{"subject":"old","version":2,"id":6,"schemaType":"AVRO","schema":"\\"long\\"","deleted":true}'
    )
    said("import", *from_topic(kafka, back), "--database-url", second)
    lost = ('"retired"', '"name": "."')  # deleted ids leave no record, nor does a counter
    assert [line for line in lines_of(second) if not any(one in line for one in lost)] == [
        line for line in lines_of(first) if not any(one in line for one in lost)
    ]
    code, _ = said("export", *from_topic(kafka, back), "--database-url", first)
    assert code == 2  # it holds records now


def test_an_id_with_another_content_here_is_refused_and_nothing_is_written(
    kafka: Kafka, topic: str, tmp_path: Path, said: Callable[..., Any]
) -> None:
    with serve_in_thread(sqlite(tmp_path)) as url, Registry(url) as registry:
        registry.register("mine", SchemaDraft('"boolean"'))
    state = lines_of(sqlite(tmp_path))
    code, report = said("import", *from_topic(kafka, topic), "--database-url", sqlite(tmp_path))
    assert code == 1
    assert report["conflicts"] == ["the id 1 of context . has different content here"]
    assert lines_of(sqlite(tmp_path)) == state


def test_following_a_topic_brings_over_what_is_written_deleted_and_set_meanwhile(
    kafka: Kafka, topic: str, tmp_path: Path
) -> None:
    report, stop_server, caught = TransferReport(), threading.Event(), threading.Event()
    with SchemasTopic(Brokers(kafka.bootstrap_servers), topic) as log, open_for_import(sqlite(tmp_path)) as store:
        source = TopicSource(log)
        before = source.read_contents(report)
        import_contents(store, before, report)
        thread = threading.Thread(
            target=follow,
            args=(store, before, lambda: source.poll(report), report, stop_server),
            kwargs={"every": 0.1, "caught_up": lambda _: caught.set()},
        )
        thread.start()
        kafka.produce(
            topic,
            [
                schema("new", 1, 50, '"double"'),
                record({"keytype": "SCHEMA", "subject": "old", "version": 2, "magic": 1}, None),
                record({"keytype": "DELETE_SUBJECT", "subject": "user", "magic": 0}, {"subject": "user", "version": 1}),
                record({"keytype": "MODE", "subject": "old", "magic": 0}, None),
                record({"keytype": "CONFIG", "magic": 0}, {"compatibilityLevel": "NONE"}),
            ],
        )
        assert caught.wait(60)
        kafka.produce(topic, [schema("last", 1, 51, '"null"')])
        stop_server.set()  # one more look is had
        thread.join(60)
        with SchemasTopic(Brokers(kafka.bootstrap_servers), topic) as again:
            whole = TopicSource(again).read_contents(TransferReport())
    assert report.conflicts == []
    with open_for_export(sqlite(tmp_path)) as snapshot:
        found = read_database(snapshot)
    assert {key: one.schema_id for key, one in found.versions.items()} == {
        key: one.schema_id for key, one in whole.versions.items()
    }
    deleted = {key for key, one in found.versions.items() if one.deleted_at is not None}
    assert deleted == {key for key, one in whole.versions.items() if one.deleted_at is not None}
    assert (found.settings, found.modes, found.contexts) == (whole.settings, whole.modes, whole.contexts)
    assert set(found.retired) == set(whole.retired)


def test_a_running_registry_is_brought_in_over_rest(
    kafka: Kafka, topic: str, tmp_path: Path, said: Callable[..., Any]
) -> None:
    first, second = sqlite(tmp_path, "1.db"), sqlite(tmp_path, "2.db")
    said("import", *from_topic(kafka, topic), "--database-url", first)
    with serve_in_thread(first) as url:
        code, report = said("import", url, "--database-url", second)
        assert (code, report["conflicts"]) == (0, [])
        code, verified = said("verify-import", url, "--database-url", second)
        assert (code, verified["differences"]) == (0, [])
        code, report = said("import", url, "--database-url", second)
        assert (code, any(report["done"].values())) == (0, False)
    with open_for_export(first) as one, open_for_export(second) as other:
        source, target = read_database(one), read_database(other)
    assert target.schemas.keys() == source.schemas.keys()
    assert {key: one.guid for key, one in target.schemas.items()} == {k: s.guid for k, s in source.schemas.items()}
    assert target.contexts == source.contexts
    pinned = {Subject(".eu", "user"): {"alias": "user", "compatibilityLevel": "BACKWARD"}}  # REST tells it so
    assert target.settings == source.settings | pinned
    assert target.modes == source.modes


def test_postgresql_holds_what_sqlite_held(
    kafka: Kafka, topic: str, tmp_path: Path, upgraded_postgres_url: str, said: Callable[..., Any]
) -> None:
    file = tmp_path / "registry.ndjson"
    said("import", *from_topic(kafka, topic), "--database-url", sqlite(tmp_path))
    assert main(["export", "--database-url", sqlite(tmp_path), "--out", str(file)]) == 0
    assert main(["import", str(file), "--database-url", upgraded_postgres_url]) == 0
    assert lines_of(upgraded_postgres_url) == lines_of(sqlite(tmp_path))
    assert main(["import", str(file), "--database-url", upgraded_postgres_url]) == 0
    assert lines_of(upgraded_postgres_url) == lines_of(sqlite(tmp_path))


@pytest.mark.parametrize("profile", ["7.6", "5.5"])
def test_a_registry_that_answers_as_older_releases_do_is_brought_in(
    kafka: Kafka, topic: str, tmp_path: Path, said: Callable[..., Any], profile: str
) -> None:
    first, second = sqlite(tmp_path, "1.db"), sqlite(tmp_path, "2.db")
    said("import", *from_topic(kafka, topic), "--database-url", first)
    with serve_in_thread(first, CONTRACTLOG_RESPONSE_PROFILE=profile) as url:
        code, report = said("import", url, "--database-url", second)
        assert (code, report["conflicts"]) == (0, [])
    with open_for_export(first) as one, open_for_export(second) as other:
        source, target = read_database(one), read_database(other)
    assert {key: one.text for key, one in target.schemas.items()} == {k: one.text for k, one in source.schemas.items()}
    plain = {key: one.guid for key, one in source.schemas.items() if one.metadata is None}  # 5.5 knew no metadata
    assert {key: target.schemas[key].guid for key in plain} == plain
    assert {key: (one.schema_id, one.deleted_at is None) for key, one in target.versions.items()} == {
        key: (one.schema_id, one.deleted_at is None) for key, one in source.versions.items()
    }


def test_the_command_follows_a_running_registry_until_it_is_told_to_stop(tmp_path: Path) -> None:
    target = sqlite(tmp_path, "2.db")
    with serve_in_thread(sqlite(tmp_path, "1.db")) as url, Registry(url) as registry:
        registry.register("first", SchemaDraft('"int"'))
        verb = ("import", url, "--database-url", target, "--follow", "--every", "0.2", "--format", "json")
        command = [sys.executable, "-m", "contractlog.clients.cli.main", *verb]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        assert "1 versions are here; following, until Ctrl-C" in process.stderr.readline()
        registry.register("second", SchemaDraft('"long"'))
        registry.delete_subject("first")
        process.send_signal(signal.SIGTERM)  # one more look is had
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(out)["conflicts"] == []
    with open_for_export(target) as snapshot:
        found = read_database(snapshot)
    assert {str(s): (one.schema_id, one.deleted_at is None) for (s, _), one in found.versions.items()} == {
        "first": (1, False),
        "second": (2, True),
    }


def test_a_counter_that_is_behind_is_told_at_the_start_and_raised_by_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, database = sqlite(tmp_path), tmp_path / "registry.db"
    with serve_in_thread(url) as address, Registry(address) as registry:
        registry.register("s", SchemaDraft('"int"'))
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE contexts SET next_schema_id = 1")
    connection.close()
    process, address = start_server(url)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("warning: the next id of context . is 1, and 1 is in use already: run")
    assert stop_server(process) == 0
    assert main(["db", "raise-ids", "--to", "41", "--database-url", url]) == 0
    assert capsys.readouterr().out == "42\n"
    assert main(["db", "raise-ids", "--to", "7", "--database-url", url]) == 0  # a counter never goes back
    assert capsys.readouterr().out == "42\n"
    with run_server(url) as address, Registry(address) as registry:  # which fails on any warning
        assert registry.register("s", SchemaDraft('"long"')).schema_id == 42
    assert main(["db", "raise-ids", "--to", "-1", "--database-url", url]) == 2
    assert main(["db", "raise-ids", "--to", "7", "--database-url", sqlite(tmp_path, "none.db")]) == 2

"""Which cluster a verb connects to, and the properties that are not accepted."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

import pytest

from contractlog.clients.cli.broker import Brokers, add_broker_options, find_brokers, read_text, require_brokers
from contractlog.compatibility.errors import UsageError


def options(*argv: str) -> Namespace:
    parser = ArgumentParser()
    add_broker_options(parser)
    return parser.parse_args(argv)


def test_properties_name_the_broker_unless_the_flag_does(tmp_path: Path) -> None:
    file = tmp_path / "kafka.properties"
    file.write_text("# one\n\nbootstrap.servers = a:1,b:2\n sasl.password=p=w# 1\nsecurity.protocol=SASL_SSL\n")
    named = ("--broker-config", str(file))
    properties = {"sasl.password": "p=w# 1", "security.protocol": "SASL_SSL"}
    found = require_brokers(options(*named), {"CONTRACTLOG_BOOTSTRAP_SERVERS": "c:3"})
    assert found == Brokers("a:1,b:2", properties)
    assert "p=w" not in repr(found)
    assert require_brokers(options(*named, "--bootstrap-servers", "d:4"), {}).servers == "d:4"
    assert require_brokers(options(), {"CONTRACTLOG_BROKER_CONFIG": str(file)}) == Brokers("a:1,b:2", properties)
    assert require_brokers(options(), {"CONTRACTLOG_BOOTSTRAP_SERVERS": "c:3"}) == Brokers("c:3")


def test_properties_that_cannot_be_read_are_told_by_line_without_what_it_says(tmp_path: Path) -> None:
    file = tmp_path / "kafka.properties"
    file.write_text("sasl.username=me\nhunter2\n")
    with pytest.raises(UsageError, match=r"line 2 of `.*` is not `name=value`") as refused:
        require_brokers(options("--broker-config", str(file)), {})
    assert "hunter2" not in str(refused.value)
    with pytest.raises(UsageError, match="name the broker: --bootstrap-servers"):
        require_brokers(options(), {})


@pytest.mark.parametrize(
    "name",
    [
        "group.id",
        "enable.auto.commit",
        "auto.offset.reset",
        "topic.auto.offset.reset",
        "topic.auto.commit.enable",
        "enable.partition.eof",
        "plugin.library.paths",
        "ssl.engine.location",
        "ssl.providers",
        "sasl.kerberos.kinit.cmd",
        "default.topic.config",
        "error_cb",
        "on_delivery",
    ],
)
def test_properties_that_reading_depends_on_are_refused_by_name_and_line(tmp_path: Path, name: str) -> None:
    file = tmp_path / "kafka.properties"
    file.write_text(f"bootstrap.servers=a:1\n{name}=hunter2\n")
    with pytest.raises(
        UsageError, match=f"line 2 of `.*` sets `{name}`, which is not accepted: .* Remove the line"
    ) as e:
        find_brokers(options("--broker-config", str(file)), {})
    assert "hunter2" not in str(e.value)


def test_both_names_of_the_servers_are_one_property(tmp_path: Path) -> None:
    file = tmp_path / "kafka.properties"
    file.write_text("metadata.broker.list=a:1\nclient.id=me\n")
    assert require_brokers(options("--broker-config", str(file)), {}) == Brokers("a:1", {"client.id": "me"})
    assert find_brokers(options(), {}) is None


def test_a_file_without_an_end_is_rejected() -> None:
    with pytest.raises(UsageError, match="`/dev/zero` is larger than 1,048,576 bytes"):
        read_text("/dev/zero", "--broker-config")

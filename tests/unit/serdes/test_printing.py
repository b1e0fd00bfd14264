from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from contractlog.compatibility.schema import SchemaDraft
from contractlog.serdes.printing import Printer

if TYPE_CHECKING:
    from confluent_kafka import Message

    from contractlog.clients import Registry


def _message(value: bytes) -> Message:
    fake: Any = SimpleNamespace(
        key=lambda: None,
        value=lambda: value,
        headers=lambda: None,
        partition=lambda: 0,
        offset=lambda: 3,
        timestamp=lambda: (0, 0),
    )
    return cast("Message", fake)


def _printed(printer: Printer, schema_id: int) -> None:
    printer.print(_message(struct.pack(">BI", 0, schema_id) + b"\x02"))


def test_an_id_of_another_subject_is_the_first_thing_said(
    registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bytes that would decode make no difference: the audit says so, and both have to agree."""
    registry.register("orders-value", SchemaDraft('"int"'))
    foreign = registry.register("aircraft-value", SchemaDraft('"long"')).schema_id
    registry.delete_subject("aircraft-value")
    printer = Printer(registry, "orders", envelope=False, as_json=False)
    _printed(printer, foreign)
    out, said = capsys.readouterr()
    assert out == ""
    assert f"WRONG_SUBJECT (schema id {foreign}): the id belongs to `aircraft-value`" in said
    assert printer.damaged == 1


def test_an_id_of_a_deleted_version_of_the_subject_is_its_own(
    registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    own = registry.register("orders-value", SchemaDraft('"int"')).schema_id
    registry.delete_subject("orders-value")
    _printed(Printer(registry, "orders", envelope=False, as_json=False), own)
    assert capsys.readouterr().out == "1\n"


def test_a_topic_without_a_subject_takes_any_id(registry: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    any_id = registry.register("aircraft-value", SchemaDraft('"long"')).schema_id
    _printed(Printer(registry, "orders", envelope=False, as_json=False), any_id)
    assert capsys.readouterr().out == "1\n"

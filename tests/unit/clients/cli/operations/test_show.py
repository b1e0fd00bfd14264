"""The verb ``show``."""

from __future__ import annotations

import json

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.compatibility.data_contract import Metadata, Rule, RuleSet
from contractlog.compatibility.schema import SchemaDraft, SchemaType

from support.operations import LINE, NOTE, Run, order


@pytest.mark.parametrize("name", ["orders-value", "orders-value:2", "orders-value:latest"])
def test_a_schema_is_printed_formatted_and_its_facts_elsewhere(orders: Registry, run: Run, name: str) -> None:
    ran = run("show", name)
    assert ran.code == exit_codes.CLEAN
    assert json.loads(ran.out) == json.loads(order(NOTE).text)
    assert ran.out.startswith('{\n  "type": "record",\n')
    assert ran.err.startswith("version 2 of `orders-value`, id 2, AVRO, guid ")


def test_a_raw_text_is_printed_byte_for_byte(registry: Registry, run: Run) -> None:
    text = '{"title":"線 \u202e ##[error]"}'
    registry.register("s", SchemaDraft(text, SchemaType.JSON))
    assert run("show", "s", "--raw").out == text
    out = run("show", "s").out
    assert out.isascii() or "\u202e" not in out
    assert json.loads(out) == json.loads(text)


def test_facts_name_references_metadata_and_rules(orders: Registry, run: Run) -> None:
    metadata = Metadata(properties={"owner": "sales\n::error::", "key": "hidden"}, sensitive=("key",))
    rule = Rule("r", kind="CONDITION", mode="WRITE", type="CEL", expr="true")
    orders.register("lines-value", SchemaDraft(LINE.text, LINE.type, LINE.references, metadata, RuleSet((), (rule,))))
    lines = run("show", "lines-value").err.splitlines()
    assert lines[1:] == [
        "    depends on `Order`: version 1 of `orders-value`",
        "    key: (sensitive)",
        r"    owner: sales\n::error::",
        "    has rules: `--format json` shows them",
    ]


def test_json_has_the_whole_body(orders: Registry, run: Run) -> None:
    body = run("show", "lines-value:1", "--format", "json").body
    assert body["format"] == "contractlog.show/1"
    assert (body["schema"], body["state"]) == (LINE.text, "live")
    assert body["references"] == [{"name": "Order", "subject": "orders-value", "version": 1}]
    assert body["versions"] == [{"subject": "lines-value", "version": 1}]


def test_an_id_is_shown_with_every_version_that_has_it(orders: Registry, run: Run, run_plain: Run) -> None:
    orders.register("other-value", order())
    for each in (run, run_plain):
        ran = each("show", "--id", "1")
        assert json.loads(ran.out) == json.loads(order().text)
        assert "version 1 of `orders-value`, id 1" in ran.err
        assert "also version 1 of `other-value`" in ran.err
    assert run("show", "--id", "1", "--context", "eu", "--format", "json").body["versions"] == [
        {"subject": ":.eu:orders-value", "version": 1}
    ]
    assert run("show", "--id", "99").code == exit_codes.USAGE


def test_a_soft_deleted_version_is_shown_by_its_number(orders: Registry, run: Run) -> None:
    orders.delete_subject("lines-value")
    ran = run("show", "lines-value:1")
    assert (ran.code, "soft-deleted" in ran.err) == (exit_codes.CLEAN, True)
    ran = run("show", "lines-value")
    assert (ran.code, ran.out) == (exit_codes.USAGE, "")
    assert "its only version is soft-deleted" in ran.err


def test_a_subject_that_ends_like_a_version_is_shown_with_one(registry: Registry, run: Run) -> None:
    registry.register(":.eu:3", order())
    registry.register("a:7", order())
    assert run("show", ":.eu:3").code == exit_codes.CLEAN
    assert run("show", "a:7:latest").code == exit_codes.CLEAN
    assert run("show", "a:7").code == exit_codes.USAGE


@pytest.mark.parametrize(
    "arguments",
    [[], ["orders-value", "--id", "1"], ["--id", "x"], ["--id", "4294967296"], ["orders-value", "--context", "eu"]],
)
def test_wrong_arguments_are_usage(run: Run, arguments: list[str]) -> None:
    ran = run("show", *arguments)
    assert (ran.code, ran.out) == (exit_codes.USAGE, "")


def test_what_may_not_be_read_is_exit_code_4(run_as_reader: Run) -> None:
    assert run_as_reader("show", "orders-value").code == exit_codes.CLEAN
    assert run_as_reader("show", "lines-value").code == exit_codes.REFUSED

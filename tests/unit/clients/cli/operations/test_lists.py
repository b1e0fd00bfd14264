"""The verbs ``subjects``, ``versions`` and ``contexts``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main

from support.operations import NOTE, Ran, Run, order, runner


def names(ran: Ran) -> list[str]:
    assert ran.code == exit_codes.CLEAN
    return [each["subject"] for each in ran.body["subjects"]]


@pytest.mark.parametrize(
    ("arguments", "listed"),
    [
        ([], [":.eu:orders-value", "lines-value", "orders-value"]),
        (["orders"], ["orders-value"]),
        (["--context", "eu"], [":.eu:orders-value"]),
        (["ord", "--context", ".eu"], [":.eu:orders-value"]),
        (["--context", "."], ["lines-value", "orders-value"]),
        ([":*:orders"], [":.eu:orders-value", "orders-value"]),
        (["nothing"], []),
    ],
)
def test_subjects_are_listed_by_prefix_and_context(
    orders: Registry, run_anywhere: Run, arguments: list[str], listed: list[str]
) -> None:
    assert names(run_anywhere("subjects", *arguments, "--format", "json")) == listed
    assert names(run_anywhere("subjects", *arguments, "--long", "--format", "json")) == listed


def test_text_has_one_name_per_line_and_words_elsewhere(orders: Registry, run: Run) -> None:
    ran = run("subjects", "--context", ".")
    assert ran.out == "lines-value\norders-value\n"
    assert ran.err == "2 subjects; look into one: contractlog show lines-value\n"


def test_deleted_subjects_are_listed_with_their_state(orders: Registry, run: Run) -> None:
    orders.delete_subject("lines-value")
    assert names(run("subjects", "--context", ".", "--format", "json")) == ["orders-value"]
    ran = run("subjects", "--context", ".", "--deleted")
    assert ran.out.splitlines() == ["SUBJECT       STATE", "lines-value   deleted", "orders-value  live"]


def test_a_long_list_has_the_latest_version(orders: Registry, run: Run) -> None:
    header, row = run("subjects", "orders", "--long").out.splitlines()
    assert header.split() == ["SUBJECT", "LATEST", "ID", "TYPE", "REGISTERED"]
    assert row.split()[:4] == ["orders-value", "2", "2", "AVRO"]


def test_more_subjects_than_the_limit_are_said_to_exist(orders: Registry, run: Run) -> None:
    assert run("subjects", "--limit", "1", "--format", "json").body["truncated"] is True
    assert run("subjects", "--limit", "3", "--format", "json").body["truncated"] is False
    ran = run("subjects", "--limit", "1")
    assert len(ran.out.splitlines()) == 1
    assert "there are more" in ran.err
    assert run("subjects", "--limit", "0").code == exit_codes.USAGE


def test_names_from_outside_stay_on_their_line(registry: Registry, run: Run) -> None:
    for name in ("a\u2028::error::b", "::error::c", "d\u202ee"):
        registry.register(name, order())
    for arguments in ([], ["--long"], ["--deleted"], ["--format", "json"]):
        out = run("subjects", *arguments).out
        assert out.isascii()
        assert not [line for line in out.splitlines() if line.lstrip().startswith("::")]
    assert run("subjects", "--format", "plain").out.splitlines() == [r"\x3a:error::c"]


def test_an_empty_registry_says_so(run: Run) -> None:
    ran = run("subjects")
    assert (ran.code, ran.out, ran.err) == (exit_codes.CLEAN, "", "the registry has no subjects\n")


def test_a_list_that_is_not_permitted_says_what_is(run_as_reader: Run) -> None:
    ran = run_as_reader("subjects")
    assert (ran.code, ran.out) == (exit_codes.REFUSED, "")
    assert "pass a PREFIX that you may read" in ran.err
    assert "user `reader` has no permission to read all subjects: ask an operator of the registry" in ran.err
    assert run_as_reader("subjects", "orders-").out == "orders-value\n"


@pytest.mark.parametrize("context", ["", ":.eu:", "a:b"])
def test_what_is_no_context_is_usage(run: Run, context: str) -> None:
    assert run("subjects", "--context", context).code == exit_codes.USAGE
    assert run("subjects", ":.eu:orders", "--context", "eu").code == exit_codes.USAGE


def test_versions_are_listed_with_id_guid_state_and_time(orders: Registry, run: Run, run_plain: Run) -> None:
    orders.delete_version("orders-value", 2)
    (live,) = run("versions", "orders-value", "--format", "json").body["versions"]
    assert (live["version"], live["schema_id"], live["state"]) == (1, 1, "live")
    for each in (run, run_plain):
        first, second = each("versions", "orders-value", "--deleted", "--format", "json").body["versions"]
        assert (first, second["version"], second["state"]) == (live, 2, "deleted")
        header, *rows = each("versions", "orders-value", "--deleted").out.splitlines()
        assert header.split() == ["VERSION", "ID", "GUID", "TYPE", "STATE", "REGISTERED"]
        assert rows[1].split() == ["2", "2", second["guid"], "AVRO", "deleted", second["registered_at"]]


@pytest.mark.parametrize(
    "arguments", [["versions"], ["show"], ["delete"], ["delete", "--permanent"], ["undelete"], ["pull", "--out", "d"]]
)
def test_a_misspelled_subject_names_the_nearest(
    orders: Registry, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    verb, *options = arguments
    ran = run(verb, "orders-valeu", *options)
    assert (ran.code, ran.out) == (exit_codes.USAGE, "")
    assert ran.err == "contractlog: Subject 'orders-valeu' not found.\ndid you mean `orders-value`?\n"


def test_a_missing_version_has_the_command_that_lists_the_others(orders: Registry, run: Run) -> None:
    ran = run("show", "orders-value:9")
    assert ran.err == "contractlog: Version 9 not found.\nto list its versions: contractlog versions orders-value\n"


def test_the_newest_versions_are_listed_and_the_others_counted(registry: Registry, run: Run) -> None:
    registry.set_level("NONE", "s")
    for number in range(5):
        registry.register("s", order(NOTE.replace("note", f"note{number}")))
    body = run("versions", "s", "--limit", "2", "--format", "json").body
    assert ([each["version"] for each in body["versions"]], body["omitted"]) == ([4, 5], 3)
    assert "3 older versions not listed: pass --limit 5" in run("versions", "s", "--limit", "2").err


def test_soft_deleted_versions_are_pointed_to(orders: Registry, run: Run) -> None:
    orders.delete_subject("lines-value")
    ran = run("versions", "lines-value")
    assert ran.code == exit_codes.USAGE
    assert "its only version is soft-deleted; list them: contractlog versions --deleted lines-value" in ran.err
    way_out = "to list subjects: contractlog subjects"
    assert run("versions", "nothing").err == f"contractlog: Subject 'nothing' not found.\n{way_out}\n"


def test_contexts_are_listed(orders: Registry, run: Run) -> None:
    assert run("contexts").out == ".\n.eu\n"
    assert run("contexts", "--format", "json").body == {
        "format": "contractlog.contexts/1",
        "contexts": [".", ".eu"],
        "truncated": False,
    }
    assert run("contexts", "--limit", "1", "--format", "json").body["truncated"] is True


def test_a_server_of_an_old_release_lists_what_it_can(
    app: Any, orders: Registry, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Release 5.5 has neither contexts nor ``/schemas`` lists, ignores prefixes and pages, and sends no times."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] in {"/contexts", "/schemas"}:
            await send({"type": "http.response.start", "status": 404, "headers": [(b"content-type", b"text/html")]})
            await send({"type": "http.response.body", "body": b"<html>HTTP ERROR 404</html>"})
        else:
            await app({**scope, "query_string": b""}, receive, send)

    run = runner(answer, monkeypatch, capsys)
    ran = run("subjects", "orders", "--long")
    assert ran.out == "orders-value\n"
    assert "cannot list schemas" in ran.err
    ran = run("contexts")
    assert (ran.code, ran.out) == (exit_codes.CLEAN, "")
    assert "this registry has no contexts" in ran.err


def test_an_unreachable_registry_is_exit_code_3(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in (["subjects"], ["versions", "s"], ["show", "s"], ["whoami"], ["contexts"], ["mode", "get"]):
        assert main([*verb, "--registry", "http://127.0.0.1:1", "--timeout", "1"]) == exit_codes.UNREACHABLE
        printed = capsys.readouterr()
        assert (printed.out, "cannot be reached" in printed.err) == ("", True)


def test_a_server_that_is_no_registry_is_said_to_be_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 404, "headers": [(b"content-type", b"text/html")]})
        await send({"type": "http.response.body", "body": b"<html>no such page</html>"})

    run = runner(answer, monkeypatch, capsys)
    for verb in (["contexts"], ["subjects"], ["subjects", "--long"], ["mode", "get"], ["whoami"], ["show", "s"]):
        ran = run(*verb)
        assert (ran.code, ran.out) == (exit_codes.UNREACHABLE, ""), verb
        assert "does not respond as a registry does" in ran.err

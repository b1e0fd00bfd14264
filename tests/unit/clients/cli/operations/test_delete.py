"""The verbs ``delete`` and ``undelete``."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.operations import delete
from contractlog.compatibility.errors import ContractlogError, Unreachable
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import Reference, SchemaDraft

from support.operations import LINE, NOTE, Run, order


class Terminal(io.StringIO):
    """Standard input that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_referenced_version_is_not_deleted_and_its_referrer_is_shown(orders: Registry, run_anywhere: Run) -> None:
    run = run_anywhere
    for name in ("orders-value:1", "orders-value"):
        ran = run("delete", name, "--yes")
        assert (ran.code, ran.out) == (exit_codes.FINDINGS, "")
        assert "version 1 of `orders-value` is referenced by version 1 of `lines-value`" in ran.err
        assert (
            "One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=orders-value,version=1}."
            in (ran.err)
        )
    ran = run("delete", "orders-value:1", "--dry-run", "--format", "json")
    assert ran.code == exit_codes.FINDINGS
    assert ran.body["referenced_by"] == [{"version": 1, "by": "version 1 of `lines-value`"}]
    assert ran.body["versions"] == []
    assert orders.versions("orders-value") == [1, 2]


@pytest.mark.parametrize("name", ["lines-value", "short"])
def test_references_among_the_versions_of_a_subject_do_not_keep_it(orders: Registry, run: Run, name: str) -> None:
    orders.set_level(Level.NONE, "lines-value")
    orders.set_config({"alias": "lines-value"}, "short")
    nested = '{"type":"record","name":"Page","fields":[{"name":"line","type":"Line"}]}'
    references = (*LINE.references, Reference("Line", "lines-value", 1))
    orders.register("lines-value", SchemaDraft(nested, references=references))
    assert run("delete", f"{name}:1", "--yes").code == exit_codes.FINDINGS
    assert run("delete", name, "--yes").code == exit_codes.CLEAN
    assert orders.subjects() == [":.eu:orders-value", "orders-value"]


def test_soft_and_hard_deletion(orders: Registry, run: Run) -> None:
    ran = run("delete", "orders-value:2", "--permanent", "--yes")
    assert ran.code == exit_codes.USAGE
    assert "first: contractlog delete orders-value:2" in ran.err
    ran = run("delete", "orders-value:2", "--yes")
    assert (ran.code, ran.out) == (exit_codes.CLEAN, "soft-deleted version 2 of `orders-value`\n")
    assert "restore it: contractlog undelete orders-value:2" in ran.err
    ran = run("delete", "orders-value:2", "--yes")
    assert ran.code == exit_codes.USAGE
    assert "to hard-delete it: contractlog delete --permanent orders-value:2" in ran.err
    ran = run("delete", "orders-value:2", "--permanent", "--yes", "--format", "json")
    assert (ran.body["versions"], ran.body["permanent"]) == ([2], True)
    assert orders.versions("orders-value", deleted=True) == [1]


def test_a_subject_is_deleted_whole_first_softly(orders: Registry, run: Run) -> None:
    assert "first: contractlog delete lines-value" in run("delete", "lines-value", "--permanent", "--yes").err
    assert run("delete", "lines-value", "--yes").out == "soft-deleted `lines-value` (1 version)\n"
    assert run("delete", "lines-value", "--yes").code == exit_codes.USAGE
    assert run("delete", "orders-value", "--permanent", "--yes").code == exit_codes.USAGE  # live versions
    assert run("delete", "lines-value", "--permanent", "--yes").code == exit_codes.CLEAN
    assert orders.subjects(deleted=True) == [":.eu:orders-value", "orders-value"]


def test_a_hard_deletion_is_refused_for_soft_deleted_referrers_too(orders: Registry, run: Run) -> None:
    orders.delete_subject("lines-value")
    assert run("delete", "orders-value", "--yes").code == exit_codes.CLEAN
    ran = run("delete", "orders-value", "--permanent", "--yes")
    assert ran.code == exit_codes.FINDINGS
    assert "is referenced by version 1 of `lines-value`" in ran.err


def test_a_dry_run_deletes_nothing(orders: Registry, run: Run) -> None:
    ran = run("delete", "orders-value:latest", "--dry-run")
    assert (ran.code, ran.out) == (exit_codes.CLEAN, "would soft-delete version 2 of `orders-value`\n")
    assert orders.versions("orders-value") == [1, 2]


def test_without_a_terminal_yes_is_needed(orders: Registry, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    ran = run("delete", "orders-value:2")
    assert (ran.code, ran.out) == (exit_codes.USAGE, "")
    assert "pass --yes" in ran.err
    assert orders.versions("orders-value") == [1, 2]


@pytest.mark.parametrize(("reply", "left"), [("y\n", [1]), ("YES\n", [1]), ("n\n", [1, 2]), ("", [1, 2])])
def test_on_a_terminal_confirmation_is_asked_for(
    orders: Registry, run: Run, monkeypatch: pytest.MonkeyPatch, reply: str, left: list[int]
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(reply))
    ran = run("delete", "orders-value:2")
    assert "soft-delete version 2 of `orders-value`? [y/N]" in ran.err
    assert ran.code == (exit_codes.CLEAN if left == [1] else exit_codes.FINDINGS)
    assert orders.versions("orders-value") == left


def test_clients_that_fetched_it_lately_are_shown(app: Any, orders: Registry, run: Run, run_plain: Run) -> None:
    with Registry(app=app, headers={"X-Contractlog-Client": "billing"}) as billing:
        billing.schema_by_id(2)
    ran = run("delete", "orders-value:2", "--dry-run", "--format", "json")
    assert [(each["client"], each["count"]) for each in ran.body["fetched_by"]] == [("billing", 1)]
    assert "`billing` fetched it 1 time in 30 days, last on " in ran.err
    assert run("delete", "lines-value", "--dry-run", "--format", "json").body["fetched_by"] == []
    ran = run_plain("delete", "orders-value:2", "--dry-run", "--format", "json")
    assert ran.body["fetched_by"] is None
    assert "whether clients still fetch it is not known" in ran.err


def test_a_plain_name_deletes_nothing_of_another_context(registry: Registry, run: Run) -> None:
    registry.register(":.eu:only", order())
    for name in ("only", "only:1"):
        assert run("delete", name, "--yes").code == exit_codes.USAGE
        assert run("undelete", name).code == exit_codes.USAGE
    assert registry.versions(":.eu:only") == [1]


def test_an_alias_says_what_it_stands_for(orders: Registry, run: Run) -> None:
    orders.set_config({"alias": "orders-value"}, "short")
    assert "`short` is an alias of `orders-value`" in run("delete", "short:2", "--yes").err
    assert run("undelete", "short:2").code == exit_codes.CLEAN
    assert orders.versions("orders-value") == [1, 2]


def test_versions_are_restored_under_their_ids_and_numbers(orders: Registry, run_anywhere: Run) -> None:
    run = run_anywhere
    orders.set_level(Level.NONE, "orders-value")
    before = [orders.version("orders-value", number) for number in (1, 2)]
    orders.delete_subject("lines-value")
    orders.delete_subject("orders-value")
    ran = run("undelete", "orders-value:2", "--format", "json")
    assert ran.body == {
        "format": "contractlog.undelete/1",
        "subject": "orders-value",
        "versions": [{"version": 2, "schema_id": 2}],
        "dry_run": False,
    }
    assert orders.versions("orders-value") == [2]
    ran = run("undelete", "orders-value")
    assert (ran.code, ran.out) == (exit_codes.CLEAN, "version 1 of `orders-value` restored, id 1\n")
    assert run("undelete", "lines-value").code == exit_codes.CLEAN  # after what it depends on
    after = [orders.version("orders-value", number) for number in (1, 2)]
    assert [(each.schema_id, each.guid, each.text) for each in after] == [
        (each.schema_id, each.guid, each.text) for each in before
    ]
    assert orders.mode("orders-value") is Mode.READWRITE
    assert orders.level("orders-value", inherited=False) is Level.NONE


def test_what_is_not_deleted_needs_no_restoring(orders: Registry, run: Run) -> None:
    ran = run("undelete", "orders-value")
    assert (ran.code, ran.out) == (exit_codes.CLEAN, "")
    assert "nothing to restore" in ran.err
    assert run("undelete", "orders-value:9").code == exit_codes.USAGE
    assert run("undelete", "orders-value:latest").code == exit_codes.USAGE
    orders.delete_version("orders-value", 2)
    assert run("undelete", "orders-value", "--dry-run").out == "version 2 of `orders-value` would be restored, id 2\n"
    assert orders.versions("orders-value") == [1]


@pytest.mark.parametrize("own", [None, Mode.READWRITE])
def test_the_mode_is_as_before_even_after_a_failure(
    orders: Registry, run: Run, monkeypatch: pytest.MonkeyPatch, own: Mode | None
) -> None:
    if own is not None:
        orders.set_mode(own, "orders-value")
    orders.delete_version("orders-value", 2)

    def fail(*_: object, **__: object) -> None:
        raise Unreachable("the registry went away")

    monkeypatch.setattr(Registry, "register", fail)
    assert run("undelete", "orders-value").code == exit_codes.UNREACHABLE
    assert orders.mode("orders-value") is Mode.READWRITE
    try:
        left: Mode | None = orders.mode("orders-value", inherited=False)
    except ContractlogError:
        left = None
    assert left is own


def test_a_mode_that_cannot_be_reset_is_named(orders: Registry, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    orders.delete_version("orders-value", 2)

    def fail(*_: object, **__: object) -> None:
        raise Unreachable("the registry went away")

    monkeypatch.setattr(Registry, "delete_mode", fail)
    ran = run("undelete", "orders-value")
    assert ran.code == exit_codes.UNREACHABLE
    assert "still in mode IMPORT; reset it: contractlog mode unset orders-value" in ran.err


def test_modes_that_forbid_restoring_are_respected(orders: Registry, run: Run) -> None:
    orders.delete_version("orders-value", 2)
    orders.set_mode(Mode.READONLY, "orders-value")
    ran = run("undelete", "orders-value")
    assert (ran.code, "in mode READONLY" in ran.err) == (exit_codes.REFUSED, True)
    assert run("delete", "orders-value:1", "--yes").code != exit_codes.CLEAN
    orders.set_mode(Mode.IMPORT, "orders-value", force=True)
    ran = run("undelete", "orders-value")
    assert (ran.code, "stays in it" in ran.err) == (exit_codes.CLEAN, True)
    assert orders.mode("orders-value") is Mode.IMPORT


def test_a_user_without_permission_is_told(run_as_reader: Run) -> None:
    ran = run_as_reader("delete", "orders-value", "--yes")
    assert (ran.code, ran.out) == (exit_codes.REFUSED, "")
    assert "whether clients still fetch it is not known" in ran.err
    assert run_as_reader("undelete", "lines-value").code == exit_codes.REFUSED


def test_restoring_needs_permission_on_the_whole_context(run_as_reader: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_USER", "writer")
    assert run_as_reader("delete", "orders-value", "--yes").code == exit_codes.CLEAN
    ran = run_as_reader("undelete", "orders-value")
    assert (ran.code, ran.out) == (exit_codes.REFUSED, "")
    assert "needs permission to write all of its context" in ran.err
    assert "contractlog show --raw orders-value:N" in ran.err
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_USER", "ci")
    assert run_as_reader("undelete", "orders-value").code == exit_codes.CLEAN


def test_long_lists_of_referrers_are_cut(registry: Registry, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delete, "_MAX_LISTED", 2)
    registry.register("orders-value", order(NOTE))
    for number in range(4):
        registry.register(f"lines-{number}", LINE)
    ran = run("delete", "orders-value:1", "--yes")
    assert "… and by 2 more versions" in ran.err
    monkeypatch.setattr(delete, "_MAX_REFERRERS", 3)
    assert "… and by at least 1 more version" in run("delete", "orders-value:1", "--yes").err

"""Every verb against a server like release 5.5 of the reference: it does what it can, and says what it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.transport import ASGIApp
from contractlog.compatibility.mode import Mode

from support.operations import LINE, NOTE, Run, order


@pytest.fixture
def old_orders(old: ASGIApp) -> Registry:
    registry = Registry(app=old)
    registry.register("orders-value", order())
    registry.register("orders-value", order(NOTE))
    registry.register("lines-value", LINE)
    return registry


def test_lists_say_what_is_not_known(old_orders: Registry, run_old: Run) -> None:
    assert run_old("subjects", "--long").out == "lines-value\norders-value\n"
    ran = run_old("versions", "orders-value")
    assert [line.split() for line in ran.out.splitlines()[1:]] == [
        ["1", "1", "-", "AVRO", "live", "-"],
        ["2", "2", "-", "AVRO", "live", "-"],
    ]
    assert "does not tell when a version was registered" in ran.err
    ran = run_old("contexts")
    assert (ran.code, ran.out) == (exit_codes.CLEAN, "")
    assert "has no contexts" in ran.err


def test_schemas_are_shown_by_version_and_id(old_orders: Registry, run_old: Run) -> None:
    assert run_old("show", "orders-value").err == "version 2 of `orders-value`, id 2, AVRO\n"
    assert run_old("show", "--id", "3").code == exit_codes.CLEAN


def test_soft_deleted_versions_are_told_apart(old_orders: Registry, run_old: Run) -> None:
    old_orders.delete_version("orders-value", 2)
    versions = run_old("versions", "orders-value", "--deleted", "--format", "json").body["versions"]
    assert [each["state"] for each in versions] == ["live", "deleted"]
    assert run_old("show", "orders-value:2", "--format", "json").body["state"] == "deleted"
    assert run_old("show", "orders-value:1", "--format", "json").body["state"] == "live"
    assert run_old("delete", "orders-value:2", "--yes").code == exit_codes.USAGE
    assert run_old("delete", "orders-value:2", "--permanent", "--yes").code == exit_codes.CLEAN


def test_settings_are_shown_and_set(old_orders: Registry, run_old: Run) -> None:
    assert run_old("config", "set", "orders-value", "--level", "FULL").code == exit_codes.CLEAN
    assert run_old("config", "get", "orders-value").out.splitlines()[1].split()[:2] == ["level", "FULL"]
    ran = run_old("config", "unset", "orders-value")
    assert (ran.code, ran.err) == (exit_codes.USAGE, "contractlog: this registry cannot unset a config\n")
    assert run_old("mode", "set", "orders-value", "READONLY").code == exit_codes.CLEAN
    assert run_old("mode", "get", "orders-value").out.splitlines()[1].split() == ["READONLY", "subject"]
    assert run_old("mode", "unset", "orders-value").code == exit_codes.USAGE


def test_a_version_is_deleted_and_restored(old_orders: Registry, run_old: Run) -> None:
    ran = run_old("delete", "orders-value:1", "--yes")
    assert ran.code == exit_codes.FINDINGS
    assert "is referenced by version 1 of `lines-value`" in ran.err
    assert run_old("delete", "orders-value:2", "--yes").code == exit_codes.CLEAN
    ran = run_old("undelete", "orders-value:2")
    assert (ran.code, ran.out) == (exit_codes.CLEAN, "version 2 of `orders-value` restored, id 2\n")
    assert old_orders.mode("orders-value") is Mode.READWRITE


def test_a_file_is_checked(old_orders: Registry, run_old: Run, tmp_path: Path) -> None:
    file = tmp_path / "order.avsc"
    file.write_text(order('{"name":"total","type":"double"}').text)
    assert run_old("compat", "orders-value", str(file)).code == exit_codes.FINDINGS
    assert run_old("compat", "orders-value", str(file), "--version", "1").code == exit_codes.FINDINGS


def test_who_is_not_known(old_orders: Registry, run_old: Run) -> None:
    ran = run_old("whoami", "orders-value")
    assert ran.code == exit_codes.CLEAN
    assert "tells neither the user nor the permissions" in ran.err

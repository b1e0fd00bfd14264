"""The verb ``whoami``."""

from __future__ import annotations

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes

from support.operations import Run


def test_an_anonymous_caller_is_told(orders: Registry, run: Run) -> None:
    body = run("whoami", "orders-value", "--format", "json").body
    assert (body["format"], body["user"], body["credentials"]) == ("contractlog.whoami/1", "anonymous", "none")
    assert body["permissions"] == [{"subject": "orders-value", "read": True, "write": True}]


def test_a_user_is_shown_with_permissions_and_without_secrets(run_as_reader: Run) -> None:
    ran = run_as_reader("whoami", "orders-value", "lines-value")
    assert ran.code == exit_codes.CLEAN
    assert "secret" not in ran.out + ran.err
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["user", "reader"] in lines
    assert ["credentials", "password", "of", "user", "`reader`"] in lines
    assert ["reads", "every", "subject", "no"] in lines
    assert ["orders-value", "yes", "no"] in lines
    assert ["lines-value", "no", "no"] in lines


def test_a_server_without_permissions_says_so(orders: Registry, run_plain: Run) -> None:
    ran = run_plain("whoami", "orders-value")
    assert ran.code == exit_codes.CLEAN
    assert ["orders-value", "-", "-"] in [line.split() for line in ran.out.splitlines()]
    assert "tells neither the user nor the permissions" in ran.err
    assert run_plain("whoami", "--format", "json").body["user"] is None


def test_wrong_credentials_are_exit_code_4(run_as_reader: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_PASSWORD", "wrong")
    ran = run_as_reader("whoami")
    assert (ran.code, ran.out) == (exit_codes.REFUSED, "")


@pytest.mark.parametrize(
    ("variable", "kind"),
    [("CONTRACTLOG_REGISTRY_TOKEN", "bearer token"), ("CONTRACTLOG_REGISTRY_CERTIFICATE", "client certificate")],
)
def test_other_credentials_are_named_by_their_kind(
    orders: Registry, run: Run, monkeypatch: pytest.MonkeyPatch, variable: str, kind: str
) -> None:
    monkeypatch.setenv(variable, "/nowhere/x")
    ran = run("whoami", "--registry", "http://registry")
    if ran.code == exit_codes.CLEAN:
        assert kind in ran.out
    assert "/nowhere/x" not in ran.out


def test_a_user_in_the_url_is_named(orders: Registry, run: Run) -> None:
    ran = run("whoami", "--registry", "http://me:secret@registry", "--format", "json")
    assert ran.body["credentials"] == "password of user `me`"
    assert "secret" not in ran.out


def test_more_subjects_than_a_hundred_are_usage(run: Run) -> None:
    assert run("whoami", *(f"s{number}" for number in range(101))).code == exit_codes.USAGE

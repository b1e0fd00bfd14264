"""Tests of the registry that credentials are sent to, as a table: command, variables, environments of the manifest."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli import options as cli_options
from contractlog.clients.cli.main import main
from contractlog.compatibility.errors import UsageError

DEV, PROD, THIEF, MAIN, LOCAL = "http://dev", "http://prod", "http://thief", "http://main", "http://127.0.0.1:8081"
ENVIRONMENTS = {"dev": DEV, "prod": PROD}
CI = {"USER": "ci"}
SENT_TO_PROD = {PROD: "ci"}

Requests = dict[str, str | None]


@pytest.fixture
def sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Requests:
    """Return the user that each URL gets, in a folder with a manifest; every command ends when it has connected."""
    users: Requests = {}

    def record(url: str, **settings: Any) -> Registry:
        users[url] = settings["security"].user
        if len(users) == 1 and "PROMOTES" in os.environ:
            return Registry("http://unused")
        raise UsageError("connected")

    for name in [name for name in os.environ if "REGISTRY" in name]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(cli_options, "Registry", record)
    monkeypatch.chdir(tmp_path)
    write_manifest(ENVIRONMENTS)
    Path("a-value.avsc").write_text('"string"')
    return users


def write_manifest(environments: dict[str, str]) -> None:
    tables = (f'[environments.{name}]\nregistry = "{url}"\n' for name, url in environments.items())
    Path("contractlog.toml").write_text("".join(tables))


def write_plan(environment: str | None, registry: str, manifest: str = "contractlog.toml") -> None:
    arguments = {"files": ["."], "subject": None, "normalize": False, "environment": environment, "references": []}
    arguments["manifest"] = manifest
    body = {
        "format": "contractlog.saved-plan/1",
        "registry": registry,
        "folder": ".",
        "arguments": arguments,
        "steps": [],
        "subjects": {},
    }
    Path("plan.json").write_text(json.dumps(body))


def set_variables(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(f"CONTRACTLOG_REGISTRY_{name}", value)


@pytest.mark.parametrize(
    ("arguments", "variables", "expected"),
    [
        (["--environment", "prod"], CI, SENT_TO_PROD),
        (["--environment", "prod"], {**CI, "URL_PROD": MAIN}, {MAIN: "ci"}),
        (["--environment", "prod"], {**CI, "URL": PROD + "/"}, SENT_TO_PROD),
        (["--environment", "prod"], {**CI, "URL": MAIN}, {}),
        (["--environment", "prod"], {**CI, "URL_DEV": MAIN}, {}),
        (["--environment", "prod"], {**CI, "URL": MAIN, "USER_PROD": "release"}, {PROD: "release"}),
        (["--environment", "prod"], {"URL": MAIN, "PASSWORD_DEV": "x"}, {PROD: None}),
        (["--environment", "prod"], {"URL": MAIN, "CA": "ca.pem"}, {PROD: None}),
        (["--environment", "prod"], {"URL": MAIN, "TOKEN": "x"}, {}),
        (["--environment", "prod"], {"URL": MAIN, "CERTIFICATE": "x"}, {}),
        (["--environment", "prod", "--registry", MAIN], {**CI, "URL_DEV": DEV}, {MAIN: "ci"}),
        ([], {**CI, "URL": MAIN, "URL_DEV": DEV}, {MAIN: "ci"}),
        (["--registry", PROD], {**CI, "URL": MAIN}, SENT_TO_PROD),
    ],
)
@pytest.mark.parametrize("command", [["check", "."], ["subjects"], ["whoami"], ["pull", "--all", "--out", "."]])
def test_credentials_are_sent_to_the_registry_that_the_user_has_named(
    *,
    sent: Requests,
    monkeypatch: pytest.MonkeyPatch,
    command: list[str],
    arguments: list[str],
    variables: dict[str, str],
    expected: Requests,
) -> None:
    set_variables(monkeypatch, variables)
    assert main([*command, *arguments]) == exit_codes.USAGE
    assert sent == expected


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        (CI, {THIEF: None}),
        ({"USER_DEFAULT": "ci"}, {THIEF: None}),
        ({**CI, "URL_PROD": PROD}, {THIEF: None}),
        ({**CI, "URL": MAIN}, {MAIN: "ci"}),
        ({**CI, "URL_DEFAULT": MAIN}, {MAIN: "ci"}),
        ({**CI, "URL_PROD": THIEF}, {THIEF: "ci"}),
    ],
)
def test_completion_sends_no_credentials_to_the_registry_of_a_manifest(
    sent: Requests, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: Requests
) -> None:
    write_manifest({"default": THIEF})
    set_variables(monkeypatch, variables)
    main(["subjects", "--format", "plain", "--", "orders"])
    assert sent == expected


@pytest.mark.parametrize(
    ("variables", "expected"),
    [(CI, {THIEF: "ci"}), ({**CI, "URL_PROD": PROD}, {}), ({"URL_PROD": PROD, "USER_PROD": "ci"}, {THIEF: None})],
)
def test_the_environment_default_gets_no_credentials_if_a_variable_names_another_registry(
    sent: Requests, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: Requests
) -> None:
    write_manifest({"default": THIEF})
    set_variables(monkeypatch, variables)
    assert main(["check", "."]) == exit_codes.USAGE
    assert sent == expected


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        (CI, {DEV: "ci", PROD: "ci"}),
        ({**CI, "URL_PROD": MAIN, "URL_DEV": LOCAL}, {LOCAL: "ci", MAIN: "ci"}),
        ({**CI, "URL_PROD": MAIN}, {}),
        ({**CI, "URL": DEV, "USER_PROD": "release"}, {DEV: "ci", PROD: "release"}),
        ({"URL_PROD": MAIN, "USER_PROD": "release"}, {DEV: None, MAIN: "release"}),
        ({"URL_PROD": MAIN, "USER_PROD": "release", "USER_DEV": "ana"}, {DEV: "ana", MAIN: "release"}),
    ],
)
def test_a_promotion_sends_credentials_of_an_environment_to_it_only(
    sent: Requests, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: Requests
) -> None:
    monkeypatch.setenv("PROMOTES", "1")
    set_variables(monkeypatch, variables)
    assert main(["promote", "dev", "prod"]) == exit_codes.USAGE
    assert sent == expected


@pytest.mark.parametrize(
    ("environment", "registry", "variables", "expected"),
    [
        # nothing names a registry: that of the plan's environment in the manifest, else only without credentials
        ("prod", PROD, CI, SENT_TO_PROD),
        ("prod", THIEF, CI, {}),
        ("prod", THIEF, {}, {}),
        ("dev", DEV, {"USER_DEV": "ana"}, {DEV: "ana"}),
        (None, THIEF, CI, {}),
        (None, THIEF, {"TOKEN": "x"}, {}),
        (None, THIEF, {}, {THIEF: None}),
        # CONTRACTLOG_REGISTRY_URL
        (None, MAIN, {**CI, "URL": MAIN}, {MAIN: "ci"}),
        (None, THIEF, {**CI, "URL": MAIN}, {}),
        (None, THIEF, {"URL": MAIN}, {}),
        ("prod", MAIN, {**CI, "URL": MAIN}, {MAIN: "ci"}),
        ("prod", PROD, {**CI, "URL": MAIN}, {}),
        ("nosuch", THIEF, {**CI, "URL": MAIN}, {}),
        # a variable of an environment
        ("prod", MAIN, {**CI, "URL_PROD": MAIN}, {MAIN: "ci"}),
        ("prod", MAIN, {**CI, "URL_PROD": MAIN, "URL": DEV}, {MAIN: "ci"}),
        ("prod", PROD, {**CI, "URL_PROD": MAIN}, {}),
        ("dev", DEV, {**CI, "URL_PROD": MAIN}, {}),
        ("dev", DEV, {"USER_DEV": "ana", "URL_PROD": MAIN}, {}),
        ("dev", MAIN, {**CI, "URL_PROD": MAIN}, {}),
        (None, THIEF, {**CI, "URL_PROD": MAIN}, {}),
        (None, THIEF, {"URL_PROD": MAIN}, {}),
        ("nosuch", THIEF, {**CI, "URL_PROD": MAIN}, {}),
    ],
)
def test_a_saved_plan_does_not_decide_where_credentials_are_sent(
    *,
    sent: Requests,
    monkeypatch: pytest.MonkeyPatch,
    environment: str | None,
    registry: str,
    variables: dict[str, str],
    expected: Requests,
) -> None:
    write_plan(environment, registry)
    set_variables(monkeypatch, variables)
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.USAGE
    assert sent == expected


@pytest.mark.parametrize("manifest", ["../outside/x.toml", "inside/x.toml", "inside/../../outside/x.toml"])
@pytest.mark.parametrize("environment", ["prod", None])
def test_a_saved_plan_does_not_decide_by_its_manifest_either(
    sent: Requests, monkeypatch: pytest.MonkeyPatch, environment: str | None, manifest: str
) -> None:
    for folder in (Path("inside"), Path("../outside")):
        folder.mkdir(exist_ok=True)
        folder.joinpath("x.toml").write_text(
            "".join(f'[environments.{name}]\nregistry = "{THIEF}"\n' for name in ("default", "prod"))
        )
    write_plan(environment, THIEF, manifest)
    set_variables(monkeypatch, CI)
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.USAGE
    assert sent == {}


def test_a_plan_is_applied_to_the_registry_that_is_named(sent: Requests, monkeypatch: pytest.MonkeyPatch) -> None:
    set_variables(monkeypatch, {**CI, "URL_PROD": MAIN})
    for environment in (None, "dev", "prod"):
        write_plan(environment, DEV)
        main(["apply", "--plan", "plan.json", "--registry", DEV])
        assert sent == {DEV: "ci"}
        assert main(["apply", "--plan", "plan.json", "--registry", PROD]) == exit_codes.USAGE
        assert sent == {DEV: "ci"}


@pytest.mark.parametrize(("named", "expected"), [({}, {LOCAL: "ci"}), ({"default": DEV}, {}), ({"dev": DEV}, {})])
def test_a_plan_for_the_local_registry_needs_no_variable(
    sent: Requests, monkeypatch: pytest.MonkeyPatch, named: dict[str, str], expected: Requests
) -> None:
    write_manifest(named)
    write_plan(None, LOCAL)
    set_variables(monkeypatch, CI)
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.USAGE
    assert sent == expected


def test_the_message_names_the_variable_to_set(
    sent: Requests, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_variables(monkeypatch, {**CI, "URL_DEV": "http://me:secret@main"})
    assert main(["check", ".", "--environment", "prod"]) == exit_codes.USAGE
    error = capsys.readouterr().err
    assert (
        "only the manifest names the registry http://prod, and CONTRACTLOG_REGISTRY_URL_DEV names another one" in error
    )
    assert "set CONTRACTLOG_REGISTRY_URL_PROD" in error
    write_plan(None, THIEF)
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.USAGE
    error += capsys.readouterr().err
    assert "http://thief, which is not that of CONTRACTLOG_REGISTRY_URL_DEV: if it is meant, set CONTRACTLOG" in error
    assert "secret" not in error

"""``--environment`` and ``--manifest`` of the daily commands: registry, context and credentials."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any, Final

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli import options as cli_options
from contractlog.clients.cli.main import main
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.testing import Registries

from support.operations import NOTE, Run, order, runner

MANIFEST: Final = """
[environments.eu]
registry = "http://eu"
context = ".eu"
[environments.plain]
registry = "http://plain"
"""
EU: Final = ("--environment", "eu")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "contractlog.toml").write_text(MANIFEST)
    (tmp_path / "order.avsc").write_text(order().text)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        (("subjects",), ":.eu:orders-value"),
        (("versions", "orders-value"), "1"),
        (("show", "orders-value:1"), '"Order"'),
        (("compat", "orders-value", "order.avsc"), "`:.eu:orders-value`"),
        (("delete", "orders-value:1", "--dry-run"), "version 1 of `:.eu:orders-value`"),
        (("whoami", "orders-value"), ":.eu:orders-value"),
        (("contexts",), ".eu"),
        (("config", "get", "orders-value"), "FULL"),
        (("config", "get"), "FULL"),
        (("mode", "get", "orders-value"), "READWRITE"),
    ],
)
def test_names_are_those_of_the_context(
    orders: Registry, run: Run, folder: Path, command: tuple[str, ...], printed: str
) -> None:
    orders.set_level(Level.FULL, ":.eu:")
    ran = run(*command, *EU)
    assert ran.code == exit_codes.CLEAN, ran.err
    assert printed in ran.out
    assert "orders-value" not in ran.out.replace(":.eu:orders-value", "")


def test_completion_gets_the_names_that_commands_qualify(orders: Registry, run: Run, folder: Path) -> None:
    plain = ("subjects", *EU, "--format", "plain", "--")
    assert run(*plain, "ord").out == run(*plain, "").out == "orders-value\n"
    assert run(*plain, ":.eu:ord").out == ":.eu:orders-value\n"


def test_changes_go_to_the_context(orders: Registry, run: Run, folder: Path) -> None:
    assert run("config", "set", "--level", "NONE", *EU).code == exit_codes.CLEAN
    assert (orders.level(":.eu:orders-value"), orders.level("orders-value")) == (Level.NONE, Level.BACKWARD)
    assert run("mode", "set", "orders-value", "READONLY", *EU).code == exit_codes.CLEAN
    assert (orders.mode(":.eu:orders-value"), orders.mode("orders-value")) == (Mode.READONLY, Mode.READWRITE)
    assert run("mode", "unset", "orders-value", *EU).code == exit_codes.CLEAN
    assert run("delete", "orders-value", "--yes", *EU).code == exit_codes.CLEAN
    assert orders.subjects() == ["lines-value", "orders-value"]
    assert run("undelete", "orders-value", *EU).code == exit_codes.CLEAN
    assert ":.eu:orders-value" in orders.subjects()


def test_a_qualified_name_and_an_own_context_come_first(orders: Registry, run: Run, folder: Path) -> None:
    assert run("versions", ":.:orders-value", *EU, "--format", "json").body["subject"] == ":.:orders-value"
    assert ":.eu" not in run("subjects", "--context", ".", *EU).out
    schema_id = orders.version(":.eu:orders-value", 1).schema_id
    assert "`:.eu:orders-value`" in run("show", "--id", str(schema_id), *EU).err


def test_the_registry_and_the_credentials_are_those_of_the_environment(
    orders: Registry, folder: Path, monkeypatch: pytest.MonkeyPatch, app: Any
) -> None:
    used = []

    def connect(url: str, **settings: Any) -> Registry:
        used.append((url, settings["security"].user))
        return Registry(app=app, **settings | {"security": None})

    monkeypatch.setattr(cli_options, "Registry", connect)
    variables = {"USER": "ci", "PASSWORD": "a", "USER_EU": "release", "PASSWORD_EU": "b"}
    for name, value in variables.items():
        monkeypatch.setenv(f"CONTRACTLOG_REGISTRY_{name}", value)
    main(["subjects", *EU])
    main(["subjects", "--environment", "plain"])
    main(["subjects", *EU, "--registry", "http://other"])
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL", "http://variable")
    main(["subjects"])
    assert used == [
        ("http://eu", "release"),
        ("http://plain", "ci"),
        ("http://other", "release"),
        ("http://variable", "ci"),
    ]
    monkeypatch.delenv("CONTRACTLOG_REGISTRY_URL")
    (folder / "contractlog.toml").write_text(MANIFEST.replace("environments.eu", "environments.default"))
    main(["subjects"])
    assert used[-1] == ("http://eu", "ci")


def test_whoami_shows_the_user_of_the_environment(
    orders: Registry, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_USER_EU", "release")
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_PASSWORD_EU", "b")
    assert "password of user `release`" in run("whoami", *EU).out


def test_a_manifest_that_is_not_needed_is_not_read(orders: Registry, run: Run, folder: Path) -> None:
    (folder / "contractlog.toml").write_text("a =\n")
    assert run("subjects", "--registry", "http://a").code == exit_codes.CLEAN
    ran = run("subjects", *EU)
    assert (ran.code, "contractlog.toml:1:" in ran.err) == (exit_codes.USAGE, True)


@pytest.mark.parametrize(
    "command",
    [
        ("subjects",),
        ("versions", "orders-value"),
        ("show", "orders-value:1"),
        ("compat", "orders-value", "order.avsc"),
        ("delete", "orders-value:1", "--yes"),
        ("undelete", "orders-value"),
        ("whoami",),
        ("contexts",),
        ("config", "get"),
        ("config", "set", "--level", "NONE"),
        ("mode", "get", "orders-value"),
        ("diff", "orders-value:1", "order.avsc"),
        ("check", "order.avsc", "--subject", "orders-value"),
        ("plan", "order.avsc", "--subject", "orders-value"),
        ("apply", "order.avsc", "--subject", "orders-value"),
        ("register", "order.avsc", "--subject", "orders-value"),
        ("pull", "--all", "--out", "pulled"),
    ],
)
def test_a_forgotten_environment_is_an_error_that_names_them(
    orders: Registry, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    for variable in ("CONTRACTLOG_REGISTRY_URL", "SCHEMA_REGISTRY_URL"):
        monkeypatch.delenv(variable, raising=False)
    before = orders.versions("orders-value")
    ran = run(*command)
    assert ran.code == exit_codes.USAGE
    advice = "pass --environment NAME, or name the registry with --registry or CONTRACTLOG_REGISTRY_URL"
    assert f"the manifest has the environments `eu`, `plain`, and none is chosen: {advice}" in ran.err
    assert orders.versions("orders-value") == before
    assert "none is chosen" not in run(*command, "--registry", "http://a").err
    monkeypatch.setenv("SCHEMA_REGISTRY_URL", "http://a")
    assert "none is chosen" not in run(*command).err


def test_a_command_that_needs_no_registry_needs_no_environment(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CONTRACTLOG_REGISTRY_URL", raising=False)
    assert run("lint", "order.avsc").code == exit_codes.CLEAN
    assert run("diff", "order.avsc", "order.avsc").code == exit_codes.CLEAN
    for name, schema in (("later", order(NOTE)), ("earlier", order())):
        (folder / name).mkdir()
        (folder / name / "orders-value.avsc").write_text(schema.text)
    assert run("check", "later", "--against", "earlier").code == exit_codes.CLEAN


def test_suggested_commands_name_the_registry_without_credentials(orders: Registry, run: Run, folder: Path) -> None:
    assert "contractlog undelete --environment=eu :.eu:orders-value" in run("delete", "orders-value", "--yes", *EU).err
    (folder / "contractlog.toml").rename(folder / "other.toml")
    ran = run("versions", "orders-value", "--deleted", *EU, "--manifest", "other.toml")
    assert "contractlog show --environment=eu --manifest=other.toml :.eu:orders-value:1" in ran.err
    ran = run("versions", "orders-value", "--registry", "http://me:secret@a")
    assert "contractlog show --registry=http://a orders-value:2" in ran.err
    assert "secret" not in ran.err


@pytest.fixture
def schemas(folder: Path) -> Path:
    """A folder with a manifest of its own, whose file is applied to the environment ``eu``."""
    (folder / "contractlog.toml").unlink()
    schemas = folder / "schemas"
    schemas.mkdir()
    (schemas / "contractlog.toml").write_text(f'{MANIFEST}[[subjects]]\nname = "gone-*"\nlevel = "BACKWARD"\n')
    (schemas / "orders-value.avsc").write_text(order().text)
    return schemas


def test_the_commands_against_drift_go_to_the_registry_of_the_plan(
    registries: Registries, schemas: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run the printed commands as they are, until nothing has drifted."""
    app = registries.make({})
    run = runner(app, monkeypatch, capsys)
    arguments = ("plan", "schemas", "--exit-code", *EU)
    assert run("apply", "schemas", *EU).code == exit_codes.CLEAN
    with Registry(app=app) as registry:
        registry.register("orders-value", order())
        registry.register(":.eu:orders-value", order(NOTE))
        registry.register(":.eu:gone-value", SchemaDraft('"int"'))
        out = run(*arguments).out
        deletion = "contractlog delete --environment=eu --manifest=schemas/contractlog.toml :.eu:orders-value:2"
        pull = "contractlog pull --environment=eu --manifest=schemas/contractlog.toml --out=schemas :.eu:gone-value"
        assert deletion in out
        assert pull in out
        for command in (f"{deletion} --yes", pull):
            ran = run(*shlex.split(command)[1:])
            assert ran.code == exit_codes.CLEAN, ran.err
        assert run(*arguments).code == exit_codes.CLEAN
        assert registry.versions("orders-value") == [1]
    app.state.close()

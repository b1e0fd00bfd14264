"""The verbs ``config`` and ``mode``."""

from __future__ import annotations

from typing import Any

import pytest

from contractlog.clients import Config, Registry
from contractlog.clients.cli import exit_codes
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.errors import LevelNotConfigured, ModeNotConfigured
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode

from support.operations import Run

DEFAULT = "the server's default"
GLOBAL_OR_DEFAULT = f"global or {DEFAULT}"  #: of a registry that does not show where a setting comes from


def rows(run: Run, *arguments: str) -> dict[str, tuple[str, ...]]:
    """Return the table that a verb prints, by its first column."""
    ran = run(*arguments)
    assert ran.code == exit_codes.CLEAN, ran.err
    header, *lines = ran.out.splitlines()
    starts = [header.index(word) for word in header.split()]
    cells = [[line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)] for line in lines]
    return {first: tuple(rest) for first, *rest in cells}


def test_a_subject_without_config_shows_what_is_in_force(orders: Registry, run: Run) -> None:
    assert rows(run, "config", "get", "orders-value") == {
        "level": ("BACKWARD", DEFAULT),
        "policy": ("-", "-"),
        "normalize": ("-", "-"),
        "alias": ("-", "-"),
        "group": ("-", "-"),
    }


@pytest.mark.parametrize("is_own", [True, False])
def test_each_setting_says_where_it_comes_from(orders: Registry, run: Run, run_plain: Run, *, is_own: bool) -> None:
    run = run if is_own else run_plain
    orders.set_config(Config(level=Level.FULL, normalize=True, group="major"), ":.eu:")
    orders.set_config(Config(policy=Policy.LENIENT), ":.__GLOBAL:")
    orders.set_config(Config(level=Level.NONE, own_policy=Policy.EXACT), ":.eu:orders-value")
    orders.set_config(Config(default_metadata=Metadata(properties={"owner": "x"})), ":.eu:orders-value")
    assert rows(run, "config", "get", ":.eu:orders-value") == {
        "level": ("NONE", "subject"),
        "policy": ("EXACT", "subject"),
        "normalize": ("true", "context .eu"),
        "alias": ("-", "-"),
        "group": ("major", "context .eu"),
        "defaultMetadata": ('{"properties": {"owner": "x"}}', "subject"),
    }
    assert rows(run, "config", "get", ":.eu:")["level"] == ("FULL", "context .eu")
    body = run("config", "get", "orders-value", "--format", "json").body
    assert body == {
        "format": "contractlog.config/1",
        "subject": "orders-value",
        "config": {"compatibility": "BACKWARD", "compatibilityPolicy": "LENIENT"},
        "sources": {
            "compatibility": DEFAULT if is_own else GLOBAL_OR_DEFAULT,
            "compatibilityPolicy": "every context",
        },
    }


def test_an_inherited_level_and_mode_have_the_scope_that_they_are_set_for(registry: Registry, run: Run) -> None:
    registry.set_config(Config(normalize=True), "s")
    registry.set_config(Config(normalize=True), ":.eu:s")
    assert rows(run, "config", "get", "s")["level"] == ("BACKWARD", DEFAULT)
    assert rows(run, "config", "get")["level"] == ("BACKWARD", DEFAULT)
    assert rows(run, "config", "get", ":.eu:s")["level"] == ("BACKWARD", DEFAULT)
    registry.set_level(Level.BACKWARD)
    registry.set_mode(Mode.READWRITE)
    assert rows(run, "config", "get", "s")["level"] == ("BACKWARD", "global")
    assert rows(run, "config", "get")["level"] == ("BACKWARD", "global")
    assert rows(run, "config", "get", ":.:")["level"] == ("BACKWARD", "global")
    assert rows(run, "config", "get", ":.eu:s")["level"] == ("BACKWARD", DEFAULT)
    assert rows(run, "mode", "get", "s") == {"READWRITE": ("global",)}
    assert rows(run, "mode", "get", ":.eu:s") == {"READWRITE": (DEFAULT,)}
    registry.set_level(Level.BACKWARD, ":.eu:")
    assert rows(run, "config", "get", ":.eu:s")["level"] == ("BACKWARD", "context .eu")
    assert rows(run, "config", "get", ":.eu:s")["normalize"] == ("true", "subject")


def test_a_level_that_another_registry_may_have_added_has_both_origins(registry: Registry, run_plain: Run) -> None:
    run = run_plain
    assert rows(run, "config", "get", "t")["level"] == ("BACKWARD", GLOBAL_OR_DEFAULT)
    registry.set_config(Config(normalize=True), "s")
    assert rows(run, "config", "get", "s")["level"] == ("BACKWARD", f"subject, else {GLOBAL_OR_DEFAULT}")
    registry.set_config(Config(normalize=True), ":.eu:s")
    registry.set_config(Config(level=Level.FULL), ":.eu:")
    assert rows(run, "config", "get", ":.eu:s")["level"] == ("FULL", "subject, else context .eu")
    registry.set_config(Config(level=Level.FORWARD), "s")
    assert rows(run, "config", "get", "s")["level"] == ("FORWARD", "subject")


def test_settings_are_set_and_unset(registry: Registry, run: Run) -> None:
    ran = run(
        *("config", "set", "s", "--level", "full", "--normalize", "true", "--alias", "t", "--group", "major"),
        *("--policy", "exact", "--validate-fields", "true", "--strict-json-schemas", "false"),
    )
    assert ran.code == exit_codes.CLEAN
    assert ran.out.startswith("`s`: set ")
    assert registry.config("s", inherited=False) == Config(
        level=Level.FULL,
        normalize=True,
        alias="t",
        group="major",
        own_policy=Policy.EXACT,
        validate_fields=True,
        strict_json_schemas=False,
    )
    ran = run("config", "unset", "s", "--setting", "alias", "--setting", "policy", "--format", "json")
    assert ran.body["changed"] == {"alias": None, "policy": None}
    assert registry.config("s", inherited=False).alias is None
    assert registry.config("s", inherited=False).own_policy is None
    assert run("config", "unset", "s").out == "`s`: unset the whole config\n"
    with pytest.raises(LevelNotConfigured):
        registry.config("s", inherited=False)
    ran = run("config", "unset", "s")
    assert (ran.code, ran.out) == (exit_codes.CLEAN, "")
    assert "no config of its own" in ran.err


def test_the_global_config_and_that_of_a_context_are_set(registry: Registry, run: Run) -> None:
    assert run("config", "set", "--level", "FULL").out == "global: set level FULL\n"
    assert run("config", "set", ":.eu:", "--policy", "LENIENT", "--format", "json").body == {
        "format": "contractlog.config/1",
        "subject": ":.eu:",
        "action": "set",
        "changed": {"compatibilityPolicy": "LENIENT"},
    }
    assert registry.level() is Level.FULL
    assert registry.policy(":.eu:s") is Policy.LENIENT


@pytest.mark.parametrize(
    "arguments",
    [
        ["config"],
        ["config", "set", "s"],
        ["config", "set", "s", "--level", "SIDEWAYS"],
        ["config", "set", "s", "--normalize", "yes"],
        ["config", "set", "s", "--alias", ""],
        ["config", "set", "s", "--policy", "RELAXED"],
        ["config", "set", "", "--level", "FULL"],
        ["config", "unset", "s", "--setting", "levl"],
        ["mode", "set", "s", "READ"],
        ["mode", "set"],
    ],
)
def test_wrong_arguments_are_usage(run: Run, arguments: list[str]) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.out) == (exit_codes.USAGE, "")


def test_modes_are_shown_set_and_unset(orders: Registry, run: Run, run_plain: Run) -> None:
    assert run("mode", "get", "orders-value").out.splitlines() == ["MODE       FROM", f"READWRITE  {DEFAULT}"]
    assert rows(run_plain, "mode", "get", "orders-value") == {"READWRITE": (GLOBAL_OR_DEFAULT,)}
    assert run("mode", "set", ":.eu:", "readonly").out == "`:.eu:`: set mode READONLY\n"
    assert rows(run_plain, "mode", "get", ":.eu:orders-value") == {"READONLY": ("context .eu",)}
    assert orders.mode(":.eu:orders-value") is Mode.READONLY
    assert run("mode", "unset", ":.eu:", "--format", "json").body["changed"] == {"mode": None}
    with pytest.raises(ModeNotConfigured):
        orders.mode(":.eu:", inherited=False)
    assert "no mode of its own" in run("mode", "unset", ":.eu:").err
    assert run("mode", "set", "READONLY", "--format", "json").body["subject"] is None
    assert orders.mode() is Mode.READONLY
    assert run("mode", "get", "lines-value", "--format", "json").body == {
        "format": "contractlog.mode/1",
        "subject": "lines-value",
        "mode": "READONLY",
        "source": "global",
    }


def test_import_over_live_versions_is_refused_unless_forced(orders: Registry, run: Run) -> None:
    ran = run("mode", "set", "orders-value", "IMPORT")
    assert (ran.code, "existing subjects" in ran.err) == (exit_codes.REFUSED, True)
    assert run("mode", "set", "orders-value", "IMPORT", "--force").code == exit_codes.CLEAN
    assert orders.mode("orders-value") is Mode.IMPORT


def test_settings_of_a_read_only_subject_are_refused(orders: Registry, run: Run) -> None:
    orders.set_mode(Mode.READONLY, "orders-value")
    assert run("config", "set", "orders-value", "--level", "NONE").code == exit_codes.REFUSED


def test_a_user_without_permission_reads_what_they_may(run_as_reader: Run) -> None:
    ran = run_as_reader("config", "get", "orders-value")
    assert (ran.code, "level" in ran.out) == (exit_codes.CLEAN, True)
    for arguments in (["config", "set", "orders-value", "--level", "NONE"], ["config", "unset", "orders-value"]):
        assert run_as_reader(*arguments).code == exit_codes.REFUSED
    assert run_as_reader("mode", "set", "orders-value", "READONLY").code == exit_codes.REFUSED
    ran = run_as_reader("config", "get", "lines-value")
    assert ran.code == exit_codes.REFUSED
    assert "user `reader` has no permission to read `lines-value`" in ran.err
    assert "user `reader` has no permission to write all subjects" in run_as_reader("mode", "set", "READONLY").err


def test_names_from_outside_stay_on_their_line(registry: Registry, run: Run) -> None:
    registry.set_config(Config(alias="::error::x\u2028y"), "s")
    ran: Any = run("config", "get", "s")
    assert r"\x3a:error::x\u2028y" in ran.out

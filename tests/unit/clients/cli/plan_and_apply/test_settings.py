"""Settings of subjects that the manifest has: planned, applied, and used by `check`."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.testing import Registries

from support.limited_servers import ignore_member
from support.operations import runner

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "n", "type": "long"}]}
TEXT = {"type": "record", "name": "Order", "fields": [{"name": "n", "type": "string"}]}
ALL_SETTINGS = """
[[subjects]]
name = "orders-*"
level = "FULL"
mode = "READWRITE"
normalize = true
policy = "LENIENT"
compatibility_group = "major"
validate_fields = true
owner = "team-orders"

[subjects.default_metadata.properties]
domain = "sales"

[subjects.override_metadata.properties]
major = "1"

[[subjects.override_rule_set.domainRules]]
name = "positive"
kind = "CONDITION"
type = "CEL"
mode = "WRITE"
expr = "message.n > 0"
"""

B = {"name": "b", "type": "long"}
ENVIRONMENTS = """
[environments.dev]
registry = "http://127.0.0.1:8081"

[environments.prod]
registry = "http://127.0.0.1:8081"
context = ".prod"
level = "FULL"

[[subjects]]
name = "fixed-*"
level = "FORWARD"
"""


@pytest.fixture
def folder(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in ("plan_and_apply.runner", "check.runner"):
        monkeypatch.setattr(f"contractlog.clients.cli.{module}.connect", lambda _: nullcontext(registry))
    monkeypatch.chdir(tmp_path)
    write(tmp_path, ORDER)
    return tmp_path


def write(folder: Path, schema: Any, manifest: str | None = None) -> None:
    (folder / "orders-value.avsc").write_text(json.dumps(schema))
    if manifest is not None:
        (folder / "contractlog.toml").write_text(f'[[subjects]]\nname = "orders-*"\n{manifest}\n')


@pytest.mark.parametrize("registered", [False, True])
def test_every_setting_is_applied_once(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str], *, registered: bool
) -> None:
    if registered:
        registry.register("orders-value", SchemaDraft(json.dumps(ORDER)))
    (folder / "contractlog.toml").write_text(ALL_SETTINGS)
    assert main(["plan", ".", "--out", "plan.json"]) == exit_codes.CLEAN
    output = capsys.readouterr().out
    for line in ("normalize of `orders-value`: not set -> true", "policy of `orders-value`: STRICT -> LENIENT"):
        assert line in output
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.CLEAN
    config = registry.config("orders-value")
    assert (config.normalize, config.policy, config.group, config.validate_fields) == (
        True,
        Policy.LENIENT,
        "major",
        True,
    )
    assert config.override_metadata == Metadata(properties={"major": "1", "owner": "team-orders"})
    assert config.default_metadata == Metadata(properties={"domain": "sales"})
    assert config.override_rule_set is not None
    assert [rule.name for rule in config.override_rule_set.domain_rules] == ["positive"]
    assert main(["plan", ".", "--exit-code"]) == exit_codes.CLEAN
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.CLEAN
    assert registry.versions("orders-value") == [1]


def test_apply_lists_the_settings_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, ORDER, 'level = "FULL"\nnormalize = true')
    assert main(["apply", ".", "--format", "json"]) == exit_codes.CLEAN
    body = json.loads(capsys.readouterr().out)
    assert body["levels"] == [{"subject": "orders-value", "level": "FULL"}]
    assert [(each["setting"], each["to"]) for each in body["settings"]] == [("normalize", True)]
    assert [each["outcome"] for each in body["files"]] == ["registered"]


def test_an_owner_leaves_other_metadata(registry: Registry, folder: Path) -> None:
    registry.set_config({"overrideMetadata": {"properties": {"cost": "7"}}}, "orders-value")
    write(folder, ORDER, 'owner = "team-orders"')
    assert main(["apply", "."]) == exit_codes.CLEAN
    expected = Metadata(properties={"cost": "7", "owner": "team-orders"})
    assert registry.config("orders-value", inherited=False).override_metadata == expected
    assert registry.version("orders-value", 1).metadata == expected
    assert main(["plan", ".", "--exit-code"]) == exit_codes.CLEAN


def test_a_mode_of_the_manifest_decides_about_new_versions(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.set_mode(Mode.READONLY, "orders-value")
    write(folder, ORDER, 'mode = "READONLY"')
    assert main(["check", "."]) == exit_codes.REFUSED
    write(folder, ORDER, 'mode = "READWRITE"')
    assert main(["check", "."]) == exit_codes.CLEAN
    assert main(["apply", "."]) == exit_codes.CLEAN
    assert "mode of `orders-value`: READONLY -> READWRITE" in capsys.readouterr().out
    assert registry.versions("orders-value") == [1]
    write(folder, ORDER, 'mode = "READONLY"')
    assert main(["apply", "."]) == exit_codes.CLEAN
    assert registry.mode("orders-value") is Mode.READONLY


def test_only_versions_of_the_planned_group_are_compared(registry: Registry, folder: Path) -> None:
    registry.register("orders-value", SchemaDraft(json.dumps(ORDER), metadata=Metadata(properties={"major": "1"})))
    write(folder, TEXT, 'compatibility_group = "major"')
    assert main(["check", "."]) == exit_codes.FINDINGS
    write(folder, TEXT, 'compatibility_group = "major"\noverride_metadata.properties.major = "2"')
    for verb in ("check", "plan", "apply"):
        assert main([verb, "."]) == exit_codes.CLEAN
    assert registry.versions("orders-value") == [1, 2]


def test_a_group_in_force_is_judged_with_the_planned_value(registry: Registry, folder: Path) -> None:
    registry.register("orders-value", SchemaDraft(json.dumps(ORDER), metadata=Metadata(properties={"major": "1"})))
    registry.set_config({"compatibilityGroup": "major"}, "orders-value")
    write(folder, TEXT, 'compatibility_group = "major"\noverride_metadata.properties.major = "2"')
    for verb in ("check", "apply"):
        assert main([verb, "."]) == exit_codes.CLEAN
    assert registry.versions("orders-value") == [1, 2]


def test_a_policy_of_the_manifest_is_judged(registry: Registry, folder: Path) -> None:
    (folder / "orders-value.avsc").unlink()
    path = folder / "legs-value.schema.json"
    registry.set_config({"compatibilityPolicy": "LENIENT"}, "legs-value")
    (folder / "contractlog.toml").write_text('[[subjects]]\nname = "legs-*"\npolicy = "STRICT"\n')
    path.write_text('{"type": "object", "properties": {"a": {"type": "string"}}}')
    assert main(["plan", ".", "--out", "plan.json"]) == exit_codes.CLEAN
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.CLEAN
    assert registry.policy("legs-value") is Policy.STRICT


@pytest.mark.parametrize(
    ("settings", "reason"),
    [('mode = "IMPORT"', "allowed: READWRITE, READONLY"), ("normalize = 1", "normalized"), ('owner = ""', "Owner")],
)
def test_a_wrong_setting_is_refused_with_its_position(
    folder: Path, capsys: pytest.CaptureFixture[str], settings: str, reason: str
) -> None:
    write(folder, ORDER, settings)
    assert main(["plan", "."]) == exit_codes.USAGE
    error = capsys.readouterr().err
    assert "contractlog.toml:3:1" in error
    assert reason in error


def test_a_setting_that_the_registry_accepts_and_ignores_is_named_and_the_rest_is_applied(
    registries: Registries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    app = registries.make({})
    run = runner(ignore_member(app, "normalize"), monkeypatch, capsys)
    monkeypatch.chdir(tmp_path)
    write(tmp_path, ORDER, 'level = "FULL"\nnormalize = true')
    ran = run("apply")
    assert (ran.code, "1 version registered, 1 level set" in ran.err) == (exit_codes.FINDINGS, True)
    assert "✗ normalize of `orders-value`: not set, because the registry ignores it" in ran.out
    assert "1 setting could not be set: remove from the manifest what this registry does not have" in ran.err
    write(tmp_path, ORDER, 'level = "FULL"')
    assert run("plan", "--exit-code").err == "nothing to change\n"
    app.state.close()


def test_the_level_of_an_environment_is_that_of_subjects_without_a_level_of_their_own(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    added = {**ORDER, "fields": [*ORDER["fields"], {"name": "a", "type": "long", "default": 0}]}
    for subject in ("orders-value", "fixed-value", "other-value"):
        registry.register(f":.prod:{subject}", SchemaDraft(json.dumps(added)))
    for name in ("orders-value", "fixed-value"):
        (folder / f"{name}.avsc").write_text(json.dumps(ORDER | {"fields": [*added["fields"], {**B, "default": 0}]}))
    (folder / "contractlog.toml").write_text(ENVIRONMENTS)
    assert main(["plan", ".", "--environment", "prod", "--prune", "--out", "plan.json"]) == exit_codes.CLEAN
    output = capsys.readouterr().out
    assert "level of `:.prod:orders-value`: BACKWARD -> FULL" in output
    assert "level of `:.prod:fixed-value`: BACKWARD -> FORWARD" in output
    assert "other-value" not in output
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.CLEAN
    assert registry.level(":.prod:orders-value", inherited=False) is Level.FULL
    assert registry.level(":.prod:fixed-value", inherited=False) is Level.FORWARD
    assert registry.level(":.prod:other-value") is registry.level() is Level.BACKWARD
    assert main(["plan", ".", "--environment", "prod", "--exit-code"]) == exit_codes.CLEAN


def test_check_judges_by_the_level_of_the_environment(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.register("orders-value", SchemaDraft(json.dumps(ORDER)))
    write(folder, {**ORDER, "fields": []})  # BACKWARD admits it, FULL does not
    (folder / "contractlog.toml").write_text(ENVIRONMENTS.replace('context = ".prod"\n', ""))
    for arguments in ([], ["--environment", "dev"]):
        assert main(["check", ".", *arguments]) == exit_codes.CLEAN
    for verb in ("check", "plan", "apply"):
        assert main([verb, ".", "--environment", "prod"]) == exit_codes.FINDINGS
    assert "at level FULL" in capsys.readouterr().out
    assert registry.versions("orders-value") == [1]


def test_a_wrong_level_of_an_environment_is_refused_with_its_position(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "contractlog.toml").write_text(ENVIRONMENTS.replace('"FULL"', '"full"'))
    assert main(["plan", "."]) == exit_codes.USAGE
    error = capsys.readouterr().err
    assert "contractlog.toml:8:1" in error
    assert "`full` is not allowed; did you mean `FULL`? Allowed: BACKWARD, " in error

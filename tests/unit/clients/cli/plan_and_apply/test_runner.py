"""Plans of changes, and their application."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.clients.cli.plan_and_apply import planner, saved_plan, steps
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import Reference, SchemaDraft

MONEY = {"type": "record", "name": "Money", "fields": [{"name": "amount", "type": "long"}]}
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "total", "type": "Money"}]}
CURRENCY = {"name": "currency", "type": "string"}
MANIFEST = """
[[subjects]]
name = "orders-*"
level = "FULL"
"""


@pytest.fixture
def folder(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in ("plan_and_apply.runner", "register.runner"):
        monkeypatch.setattr(f"contractlog.clients.cli.{module}.connect", lambda _: nullcontext(registry))
    monkeypatch.chdir(tmp_path)
    put(tmp_path, **{"orders-value": ORDER, "Money": MONEY})
    (tmp_path / "contractlog.toml").write_text(MANIFEST)
    return tmp_path


def put(folder: Path, **schemas: Any) -> None:
    for name, schema in schemas.items():
        (folder / f"{name}.avsc").write_text(json.dumps(schema))


def planned(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    main(["plan", *arguments, "--format", "json"])
    body: dict[str, Any] = json.loads(capsys.readouterr().out)
    return body


def test_a_plan_shows_levels_and_versions_and_writes_nothing(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "."]) == exit_codes.CLEAN
    output = capsys.readouterr()
    assert "level of `orders-value`: BACKWARD -> FULL" in output.out
    assert "Money.avsc: would be a new version of `Money`" in output.out
    assert "2 versions would be registered, 1 level would be set" in output.err
    assert registry.subjects() == []


def test_after_apply_there_is_nothing_to_change(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", ".", "--exit-code"]) == exit_codes.FINDINGS
    assert main(["apply", "."]) == exit_codes.CLEAN
    assert (registry.level("orders-value"), registry.level("Money")) == (Level.FULL, Level.BACKWARD)
    assert registry.subjects() == ["Money", "orders-value"]
    capsys.readouterr()
    assert main(["plan", ".", "--exit-code"]) == exit_codes.CLEAN
    assert "nothing to change" in capsys.readouterr().err
    assert main(["apply", "."]) == exit_codes.CLEAN
    assert registry.versions("orders-value") == [1]


def test_nothing_is_applied_if_a_file_is_incompatible_at_the_level_to_be(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["apply", "."])
    (folder / "contractlog.toml").write_text('[[subjects]]\nname = "Money"\nlevel = "FULL_TRANSITIVE"\n')
    put(folder, Money={**MONEY, "fields": []}, **{"new-value": "int"})
    for verb in ("plan", "apply"):
        assert main([verb, "."]) == exit_codes.FINDINGS
        assert "at level FULL_TRANSITIVE" in capsys.readouterr().out
    assert registry.level("Money") is Level.BACKWARD
    assert "new-value" not in registry.subjects()


@pytest.mark.parametrize("verb", ["plan", "apply", "register"])
def test_a_finding_in_a_shared_type_is_printed_once(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    put(folder, **{"carts-value": {**ORDER, "name": "Cart"}})
    main(["register", "."])
    registry.set_level(Level.NONE, "Money")
    (folder / "contractlog.toml").unlink()
    put(folder, Money={**MONEY, "fields": [CURRENCY]})
    capsys.readouterr()
    assert main([verb, "."]) == exit_codes.FINDINGS
    output = capsys.readouterr().out
    assert output.count("AVRO_FIELD_DEFAULT_MISSING") == 1
    assert "    referenced by carts-value.avsc, orders-value.avsc  at " in output
    assert output.count("1 finding in types that it refers to: see the end") == 2


def test_a_file_that_depends_on_a_refused_one_waits_for_it(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "1").mkdir()
    (folder / "2").mkdir()
    put(folder / "1", **{"clicks-value": MONEY})
    main(["register", "."])
    put(folder, Money={**MONEY, "fields": [CURRENCY]})
    put(folder / "1", **{"clicks-value": {**MONEY, "fields": [CURRENCY]}})
    put(folder / "2", **{"clicks-value": {**MONEY, "fields": []}})
    capsys.readouterr()
    assert main(["plan", "."]) == exit_codes.FINDINGS
    output = capsys.readouterr()
    waits = "waits for `Money.avsc`, which cannot be registered"
    assert f"orders-value.avsc: a new version of `orders-value` {waits}" in output.out
    waits = "waits for the earlier version in `1/clicks-value.avsc`, which cannot be registered"
    assert f"2/clicks-value.avsc: a new version of `clicks-value` {waits}" in output.out
    assert "2 files cannot be registered, and 2 others would wait for them: fix the findings" in output.err
    assert main(["register", ".", "--keep-going"]) == exit_codes.FINDINGS
    refused = "not registered as a version of `orders-value`, because it needs `Money.avsc`, which is not registered"
    assert f"orders-value.avsc: {refused}" in capsys.readouterr().out


def test_a_saved_plan_is_applied_as_it_was_shown(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", ".", "--out", "plan.json"]) == exit_codes.CLEAN
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.CLEAN
    assert registry.level("orders-value") is Level.FULL
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.CLEAN
    assert registry.versions("orders-value") == [1]


@pytest.mark.parametrize("mover", ["file", "registry", "level"])
def test_a_saved_plan_is_refused_if_files_or_registry_moved(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str], mover: str
) -> None:
    main(["plan", ".", "--out", "plan.json"])
    if mover == "file":
        put(folder, Money={**MONEY, "doc": "of somebody else"})
    elif mover == "registry":
        registry.register("Money", SchemaDraft(json.dumps({**MONEY, "doc": "first"})))
    else:
        registry.set_level(Level.NONE, "orders-value")
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.FINDINGS
    error = capsys.readouterr().err
    assert "nothing was applied: the registry or the files have changed" in error
    assert {
        "file": "`Money.avsc` was edited since the plan, which registers it as a version of `Money`",
        "registry": "`Money` had no version and has version 1",
        "level": "the level of `orders-value` was BACKWARD and is NONE",
    }[mover] in error
    assert "orders-value" not in registry.subjects()


def test_a_plan_names_the_file_that_was_removed_or_added_since(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(folder, **{"other-value": "int"})
    main(["plan", ".", "--out", "plan.json"])
    (folder / "other-value.avsc").rename(folder / "another-value.avsc")
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.FINDINGS
    assert "`other-value.avsc` was removed or renamed since the plan, which registers it" in capsys.readouterr().err
    (folder / "another-value.avsc").unlink()
    main(["plan", ".", "--out", "plan.json"])
    put(folder, **{"other-value": "int"})
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.FINDINGS
    assert "`other-value.avsc` was edited or added since the plan: it would be a version" in capsys.readouterr().err


def test_a_plan_that_was_applied_in_part_is_completed(registry: Registry, folder: Path) -> None:
    put(folder, **{"other-value": "int"})
    main(["plan", ".", "--out", "plan.json"])
    registry.set_level(Level.FULL, "orders-value")
    registry.register("Money", SchemaDraft(json.dumps(MONEY)))
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.CLEAN
    assert registry.subjects() == ["Money", "orders-value", "other-value"]


def test_a_plan_is_for_one_registry(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL", "http://me:secret@one:8081")
    main(["plan", ".", "--out", "plan.json"])
    assert "secret" not in (folder / "plan.json").read_text()
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL", "http://two:8081")
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.USAGE
    assert "the plan is for the registry http://one:8081, not for http://two:8081" in capsys.readouterr().err
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL", "http://other:password@one:8081")
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.CLEAN


@pytest.mark.parametrize(
    ("url", "planned"),
    [
        ("http://me:p@ss@one:8081", "http://one:8081"),
        ("http://one:8081,http://me:secret@two:8081", "http://one:8081,http://two:8081"),
    ],
)
def test_a_plan_names_the_registry_without_credentials(
    registry: Registry, folder: Path, monkeypatch: pytest.MonkeyPatch, url: str, planned: str
) -> None:
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL", url)
    main(["plan", ".", "--out", "plan.json"])
    assert json.loads((folder / "plan.json").read_text())["registry"] == planned


@pytest.mark.parametrize("variable", ["CONTRACTLOG_REGISTRY_URL_PROD", None])
def test_a_plan_for_an_environment_goes_to_its_registry(
    registry: Registry, folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str | None
) -> None:
    (folder / "contractlog.toml").write_text('[environments.prod]\nregistry = "http://prod:8081"\ncontext = ".prod"\n')
    if variable is not None:
        monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL", "http://dev:8081")
        monkeypatch.setenv(variable, "http://prod:8081")
    assert main(["plan", ".", "--environment", "prod", "--out", "plan.json"]) == exit_codes.CLEAN
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.CLEAN
    assert registry.subjects() == [":.prod:Money", ":.prod:orders-value"]


@pytest.mark.parametrize(
    "variable", ["CONTRACTLOG_REGISTRY_URL", "SCHEMA_REGISTRY_URL", "CONTRACTLOG_REGISTRY_URL_PROD"]
)
def test_neither_registry_nor_environment_of_a_plan_overrides_a_variable(
    registry: Registry,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
) -> None:
    (folder / "contractlog.toml").write_text('[environments.prod]\nregistry = "http://thief:8081"\n')
    assert main(["plan", ".", "--environment", "prod", "--out", "plan.json"]) == exit_codes.CLEAN
    monkeypatch.setenv(variable, "http://prod:8081")
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.USAGE
    error = capsys.readouterr().err
    assert "the plan is for the registry http://thief:8081, not for http://prod:8081: " in error
    assert ("set CONTRACTLOG_REGISTRY_URL_PROD to it" in error) == (not variable.endswith("_PROD"))
    assert registry.subjects() == []


def test_the_work_of_a_saved_plan_does_not_grow_with_steps_times_files(
    registry: Registry, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = []
    monkeypatch.setattr(planner, "compute_digest", lambda file: digests.append(file) or steps.compute_digest(file))
    main(["plan", ".", "--out", "plan.json"])
    main(["apply", "."])
    body = json.loads((folder / "plan.json").read_text())
    body["steps"] *= 50
    (folder / "plan.json").write_text(json.dumps(body))
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.CLEAN
    assert len(digests) == 2


def test_a_plan_with_too_many_steps_is_rejected(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["plan", ".", "--out", "plan.json"])
    monkeypatch.setattr(saved_plan, "_MAX_STEPS", 2)
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.USAGE
    assert "`plan.json` has 3 steps, more than 2: plan fewer folders at a time" in capsys.readouterr().err
    assert registry.subjects() == []


@pytest.mark.parametrize("value", ["\0s", "\ud800", 5, [1], {}, "s=s:" + "9" * 5_000])
@pytest.mark.parametrize("argument", ["files", "references", "manifest", "subject"])
def test_a_damaged_plan_is_a_usage_error(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str], argument: str, value: object
) -> None:
    main(["plan", ".", "--out", "plan.json"])
    body = json.loads((folder / "plan.json").read_text())
    body["arguments"][argument] = [value] if argument in {"files", "references"} else value
    (folder / "plan.json").write_text(json.dumps(body))
    assert main(["apply", "--plan", "plan.json"]) in {exit_codes.USAGE, exit_codes.FINDINGS}
    assert "internal error" not in capsys.readouterr().err
    assert registry.subjects() == []


def test_a_refused_apply_prints_one_json_document(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["apply", "."])
    capsys.readouterr()
    put(folder, Money={**MONEY, "fields": [CURRENCY]})
    assert main(["apply", ".", "--format", "json"]) == exit_codes.FINDINGS
    body = json.loads(capsys.readouterr().out)
    assert body["refused"][0]["subject"] == "Money"


@pytest.mark.parametrize("command", ["plan", "apply", "register"])
def test_unreadable_files_are_in_json(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    (folder / "bad-value.avsc").write_text("{")
    (folder / "user-value.avsc").write_text('["no.Such"]')
    assert main([command, ".", "--format", "json"]) == exit_codes.USAGE
    output = capsys.readouterr()
    unreadable = json.loads(output.out)["unreadable"]
    assert [each["file"] for each in unreadable] == ["bad-value.avsc", "user-value.avsc"]
    assert "user-value.avsc:1:2:" in unreadable[1]["reason"]
    assert "2 files cannot be read as schemas" in output.err
    assert registry.subjects() == []


def test_check_judges_by_the_level_that_the_manifest_sets(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contractlog.clients.cli.check.runner.connect", lambda _: nullcontext(registry))
    main(["register", "."])
    put(folder, **{"orders-value": {**ORDER, "fields": []}})
    assert main(["check", "."]) == exit_codes.FINDINGS
    assert "at level FULL" in capsys.readouterr().out


def test_drift_is_a_version_that_the_files_do_not_have(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["apply", "."])
    capsys.readouterr()
    registry.register(
        "Money", SchemaDraft(json.dumps({**MONEY, "fields": [*MONEY["fields"], {**CURRENCY, "default": ""}]}))
    )
    assert planned(capsys, ".") == {
        "format": "contractlog.plan/1",
        "steps": [],
        "impact": [],
        "findings": [],
        "refused": [],
        "drift": [{"subject": "Money", "file": 1, "latest": 2}],
        "unreadable": [],
        "manifest_warnings": [],
        "refused_changes": [],
        "folder_warnings": [],
        "without_file": [],
    }
    assert main(["plan", ".", "--exit-code"]) == exit_codes.FINDINGS
    output = capsys.readouterr()
    assert "drift: `Money`: version 2 of the registry is not in the files, which have version 1" in output.out
    advice = "Pull the version: `contractlog pull --out=. Money`. Or delete it: `contractlog delete Money:2`. "
    assert f"{advice}(The files may be from an older commit.)" in output.out
    for verb in ("plan", "apply"):
        assert main([verb, "."]) == exit_codes.CLEAN
        assert "nothing to change; the registry has drifted from the files" in capsys.readouterr().err


def test_drift_names_a_schema_before_those_that_it_references(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The deletions that it suggests are possible in this order."""
    main(["apply", "."])
    capsys.readouterr()
    newer = {**MONEY, "fields": [*MONEY["fields"], {**CURRENCY, "default": ""}]}
    registry.register("Money", SchemaDraft(json.dumps(newer)))
    order = SchemaDraft(json.dumps(ORDER), references=(Reference("Money", "Money", 2),))
    registry.register("orders-value", order)
    drift = [(each["subject"], each["latest"]) for each in planned(capsys, ".")["drift"]]
    assert drift == [("orders-value", 2), ("Money", 2)]
    for subject, version in drift:
        registry.delete_version(subject, version)
    assert planned(capsys, ".")["drift"] == []


def test_a_summary_counts_only_what_changes(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["apply", "."])
    assert capsys.readouterr().err == "2 versions registered, 1 level set\n"
    put(folder, **{"a-value": "int"})
    main(["plan", "."])
    assert capsys.readouterr().err == "1 version would be registered\n"
    (folder / "contractlog.toml").write_text('[[subjects]]\nname = "Money"\nnormalize = true\nlevel = "NONE"\n')
    main(["apply", "."])
    assert capsys.readouterr().err == "1 version registered, 1 level and 1 other setting set\n"
    main(["apply", "."])
    assert capsys.readouterr().err == "nothing to change\n"


def test_an_interrupted_apply_is_completed_by_the_next(registry: Registry, folder: Path) -> None:
    registry.set_level(Level.FULL, "orders-value")
    registry.register("Money", SchemaDraft(json.dumps(MONEY)))
    assert main(["apply", "."]) == exit_codes.CLEAN
    assert [each.version for each in registry.version("orders-value", 1).references] == [1]
    assert registry.versions("Money") == [1]


def test_a_file_that_uses_registered_and_new_types_is_applied_at_once(registry: Registry, folder: Path) -> None:
    main(["apply", "."])
    (folder / "Money.avsc").write_text(json.dumps(MONEY, indent=2))  # the registry has the text in one line
    put(folder, Discount={"type": "record", "name": "Discount", "fields": []})
    discount = {"name": "discount", "type": ["null", "Discount"], "default": None}
    put(folder, **{"orders-value": {**ORDER, "fields": [*ORDER["fields"], discount]}})
    assert main(["apply", "."]) == exit_codes.CLEAN
    references = registry.version("orders-value", 2).references
    assert [(each.name, each.version) for each in references] == [("Money", 1), ("Discount", 1)]


def test_a_type_of_the_registry_and_of_a_file_is_one_type_however_it_is_formatted(
    registry: Registry, folder: Path
) -> None:
    main(["apply", "."])
    line = {"type": "record", "name": "Line", "fields": [{"name": "price", "type": "Money"}]}
    registry.register("Line", SchemaDraft(json.dumps(line), references=(Reference("Money", "Money", 1),)))
    (folder / "Money.avsc").write_text(json.dumps(MONEY, indent=2))
    put(folder, **{"bills-value": {**ORDER, "fields": [{"name": each, "type": each} for each in ("Line", "Money")]}})
    (folder / "contractlog.toml").write_text('[[files]]\npath = "bills-*"\n[files.references]\nLine = "Line:1"\n')
    assert main(["apply", "."]) == exit_codes.CLEAN
    assert registry.versions("bills-value") == [1]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "7",
        "[" * 100_000,
        '{"format": "contractlog.saved-plan/1"}',
        '{"format": "x", "arguments": {}, "steps": []}',
    ],
)
def test_what_is_no_plan_is_refused(folder: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    (folder / "plan.json").write_text(text)
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.USAGE
    assert "is not a plan that" in capsys.readouterr().err


def test_a_plan_takes_no_other_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", ".", "--out", "plan.json"])
    assert main(["apply", ".", "--plan", "plan.json"]) == exit_codes.USAGE
    assert "a plan has its own files" in capsys.readouterr().err


def test_a_plan_that_cannot_be_applied_is_not_written(registry: Registry, folder: Path) -> None:
    main(["apply", "."])
    put(folder, Money={**MONEY, "fields": [CURRENCY]})
    (folder / "plan.json").write_text("an earlier plan")
    assert main(["plan", ".", "--out", "plan.json"]) == exit_codes.FINDINGS
    assert not (folder / "plan.json").exists()

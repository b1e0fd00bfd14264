"""Waivers: versions that the level rejects and that somebody accepts until a day."""

from __future__ import annotations

import json
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.clients.retry_and_failover import Retries
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.testing import Registries

FIELD = {"name": "amount", "type": "long"}
OLD = {"type": "record", "name": "Money", "fields": [FIELD]}
NEW = {"type": "record", "name": "Money", "fields": [{"name": "amount", "type": "string"}]}
SUBJECTS = '[[subjects]]\nname = "Money"\nlevel = "BACKWARD"\n'
WAIVER = """
[[waivers]]
subject = "Money"
check = "AVRO_TYPE_CHANGED"
path = "/fields/0/type"
reason = "amounts become decimal texts; no consumer reads them yet"
by = "ana@example.com"
until = {until}
"""


@pytest.fixture
def folder(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in ("register.runner", "plan_and_apply.runner", "check.runner"):
        monkeypatch.setattr(f"contractlog.clients.cli.{module}.connect", lambda _: nullcontext(registry))
    monkeypatch.chdir(tmp_path)
    registry.register("Money", SchemaDraft(json.dumps(OLD)))
    write(tmp_path)
    return tmp_path


def write(folder: Path, manifest: str = SUBJECTS + WAIVER) -> None:
    (folder / "Money.avsc").write_text(json.dumps(NEW))
    (folder / "contractlog.toml").write_text(manifest.replace("{until}", "2999-01-01"))


def planned(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    main(["plan", ".", "--format", "json"])
    steps: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["steps"]
    return steps


def test_check_passes_and_names_the_waiver(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "."]) == exit_codes.CLEAN
    output = capsys.readouterr()
    assert (
        "Money.avsc: incompatible with version 1 of `Money` at level BACKWARD, and waived by the manifest" in output.out
    )
    assert "is waived by ana@example.com until 2999-01-01: amounts become decimal texts" in output.out
    assert "1 file can be registered: contractlog apply . --use-waivers" in output.err
    assert main(["check", ".", "--format", "json"]) == exit_codes.CLEAN
    assert json.loads(capsys.readouterr().out)["files"][0]["outcome"] == "waived"


def test_a_plan_shows_three_steps(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "."]) == exit_codes.CLEAN
    before, registration, waiver, after = capsys.readouterr().out.splitlines()
    assert "level of `Money`: BACKWARD -> NONE, by a waiver" in before
    assert "Money.avsc: would be a new version of `Money`" in registration
    assert "waived by ana@example.com" in waiver
    assert "level of `Money`: NONE -> BACKWARD, by a waiver" in after


def test_the_three_steps_are_in_json_and_markdown(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["plan", ".", "--format", "json", "--report", "markdown=plan.md", "--out", "plan.json"])
    before, registration, after = json.loads(capsys.readouterr().out)["steps"]
    level = {"action": "set level", "subject": "Money", "by_waiver": True}
    assert before == level | {"from": "BACKWARD", "to": "NONE"}
    assert (registration["action"], registration["file"]) == ("register by waiver", "Money.avsc")
    assert after == level | {"from": "NONE", "to": "BACKWARD"}
    rows = [line for line in (folder / "plan.md").read_text().splitlines() if line.startswith("| Money |")]
    steps = [row.replace("`", "").split("|")[2].strip() for row in rows]
    assert steps == ["set level BACKWARD -> NONE", "register Money.avsc", "set level NONE -> BACKWARD"]
    assert main(["apply", "--plan", "plan.json", "--use-waivers"]) == exit_codes.CLEAN
    assert (registry.versions("Money"), registry.level("Money")) == ([1, 2], Level.BACKWARD)


def test_apply_needs_use_waivers_and_restores_the_level(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["apply", "."]) == exit_codes.USAGE
    assert "needs --use-waivers" in capsys.readouterr().err
    assert registry.versions("Money") == [1]
    assert main(["apply", ".", "--use-waivers"]) == exit_codes.CLEAN
    assert (registry.versions("Money"), registry.level("Money")) == ([1, 2], Level.BACKWARD)
    assert main(["plan", ".", "--exit-code"]) == exit_codes.CLEAN


def test_register_does_not_use_waivers(registry: Registry, folder: Path) -> None:
    assert main(["register", "."]) == exit_codes.FINDINGS
    assert registry.versions("Money") == [1]


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (SUBJECTS + WAIVER.replace("{until}", "2020-01-31"), "by ana@example.com ended on 2020-01-31"),
        (SUBJECTS + WAIVER.replace("/fields/0/type", "/fields/1/type"), "AVRO_TYPE_CHANGED"),
        (SUBJECTS + WAIVER.replace('"Money"', '"Other"'), "AVRO_TYPE_CHANGED"),
    ],
)
def test_a_waiver_that_ended_or_is_for_something_else_changes_nothing(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str], manifest: str, words: str
) -> None:
    write(folder, manifest)
    for command in (["check", "."], ["apply", ".", "--use-waivers"]):
        assert main(command) == exit_codes.FINDINGS
        assert words in capsys.readouterr().out
    assert registry.versions("Money") == [1]


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (WAIVER, "contractlog.toml:2: the waiver for `Money` needs a level to return to"),
        (SUBJECTS + WAIVER.replace("CHANGED", "CHANGE"), "did you mean `AVRO_TYPE_CHANGED`?"),
        (SUBJECTS + WAIVER.replace("{until}", '"2026-02-30"'), "`2026-02-30` is not a day of the calendar"),
        (SUBJECTS + WAIVER.replace('by = "ana@example.com"\n', ""), "the key `by` is missing. Who accepts it"),
    ],
)
def test_a_waiver_that_cannot_be_used_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], manifest: str, words: str
) -> None:
    write(folder, manifest)
    assert main(["plan", "."]) == exit_codes.USAGE
    assert words in capsys.readouterr().err


def test_the_level_is_restored_after_an_error(
    registries: Registries, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = registries.make({})

    async def fail_to_register(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and (scope["method"], scope["path"]) == ("POST", "/subjects/Money/versions"):
            await send({"type": "http.response.start", "status": 500, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await app(scope, receive, send)

    with closing(app.state), Registry(app=fail_to_register, retries=Retries(attempts=1)) as failing:
        Registry(app=app).register("Money", SchemaDraft(json.dumps(OLD)))
        monkeypatch.setattr("contractlog.clients.cli.plan_and_apply.runner.connect", lambda _: nullcontext(failing))
        assert main(["apply", ".", "--use-waivers"]) == exit_codes.UNREACHABLE
        assert (failing.versions("Money"), failing.level("Money")) == ([1], Level.BACKWARD)
        assert failing.config("Money", inherited=False).level is Level.BACKWARD


@pytest.mark.parametrize("registered", [False, True], ids=["before the version", "after the version"])
@pytest.mark.parametrize("saved", [False, True], ids=["without a saved plan", "with a saved plan"])
def test_an_apply_that_was_killed_is_completed_by_the_next(
    registry: Registry, folder: Path, *, registered: bool, saved: bool
) -> None:
    assert main(["plan", ".", "--out", "plan.json"]) == exit_codes.CLEAN
    registry.set_level(Level.NONE, "Money")  # as left behind by the process that was killed
    if registered:
        registry.register("Money", SchemaDraft(json.dumps(NEW)))
    assert main(["apply", *(["--plan", "plan.json"] if saved else ["."]), "--use-waivers"]) == exit_codes.CLEAN
    assert (registry.versions("Money"), registry.level("Money")) == ([1, 2], Level.BACKWARD)


USER = {"type": "record", "name": "Order", "fields": [{"name": "total", "type": "Money"}]}


@pytest.fixture
def users(registry: Registry, folder: Path) -> Path:
    """The folder with a schema that uses the shared type; both are registered before the type changes."""
    (folder / "Money.avsc").write_text(json.dumps(OLD))
    (folder / "orders-value.avsc").write_text(json.dumps(USER))
    (folder / "contractlog.toml").write_text("")
    assert main(["apply", "."]) == exit_codes.CLEAN
    return folder


def test_a_waiver_of_a_shared_type_covers_the_finding_in_its_users(
    registry: Registry, users: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(users, SUBJECTS.replace('"Money"', '"*"') + WAIVER)
    assert main(["check", "."]) == exit_codes.CLEAN
    output = capsys.readouterr()
    assert "orders-value.avsc: incompatible with version 1" in output.out
    assert "Money#/fields/0/type  AVRO_TYPE_CHANGED" in output.out
    assert "2 files can be registered: contractlog apply . --use-waivers" in output.err
    assert main(["apply", ".", "--use-waivers"]) == exit_codes.CLEAN
    assert (registry.versions("orders-value"), registry.level("orders-value")) == ([1, 2], Level.BACKWARD)


def test_a_user_that_needs_a_waiver_needs_a_level_too(
    registry: Registry, users: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(users, SUBJECTS + WAIVER)
    assert main(["check", "."]) == exit_codes.USAGE
    assert "contractlog.toml:5: the waiver for `orders-value` needs a level to return to" in capsys.readouterr().err
    assert main(["apply", ".", "--use-waivers"]) == exit_codes.USAGE
    assert registry.versions("Money") == [1]


def test_a_waiver_for_any_subject_needs_no_level_of_unrelated_ones(folder: Path) -> None:
    (folder / "unrelated-value.avsc").write_text('"string"')
    write(folder, SUBJECTS + WAIVER.replace('subject = "Money"', 'subject = "*"'))
    for verb in ("check", "plan"):
        assert main([verb, "."]) == exit_codes.CLEAN
    assert main(["apply", ".", "--use-waivers"]) == exit_codes.CLEAN


def test_the_path_may_name_a_referenced_document(users: Path) -> None:
    manifest = SUBJECTS.replace('"Money"', '"*"') + WAIVER
    user = WAIVER.replace('subject = "Money"', 'subject = "orders-value"')
    write(users, manifest + user.replace('"/fields', '"types/Money.avsc#/fields'))
    assert main(["check", "."]) == exit_codes.CLEAN

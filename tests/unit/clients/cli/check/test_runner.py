"""Output of ``contractlog check`` for several files."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients.cli import exit_codes
from contractlog.registry.testing import Registries

from support.operations import runner

#: what the files of a command have in common: the permission for their context, and the topics that own subjects
PER_COMMAND = ("/contractlog/v1/permissions/:.:", "/associations/resources/-/-")
MONEY = {"type": "record", "name": "Money", "fields": [{"name": "amount", "type": "long"}]}


def test_a_finding_in_a_referenced_type_is_printed_once_for_all_files_that_refer_to_it(
    registries: Registries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    app = registries.make({})
    run = runner(app, monkeypatch, capsys)
    monkeypatch.chdir(tmp_path)

    def put(name: str, schema: dict[str, Any]) -> None:
        (tmp_path / f"{name}.avsc").write_text(json.dumps(schema))

    def user(*fields: Any) -> dict[str, Any]:
        return {"type": "record", "name": "Order", "fields": [{"name": "total", "type": "Money"}, *fields]}

    put("Money", MONEY)
    for name in ("a-value", "b-value", "c-value"):
        put(name, user())
    run("register", ".")
    put("c-value", user({"name": "note", "type": "string", "default": ""}))
    run("register", ".")
    put("Money", {**MONEY, "fields": [*MONEY["fields"], {"name": "currency", "type": "string"}]})

    ran = run("check", ".")
    assert ran.code == exit_codes.FINDINGS
    assert ran.out.count("Money#/fields/1") == 1
    assert "referenced by a-value.avsc, b-value.avsc, c-value.avsc  at Money#/fields/1" in ran.out
    assert "the new schema cannot read what earlier versions wrote: " in ran.out
    assert ran.out.count("1 finding in types that it refers to: see the end") == 3

    files = run("check", ".", "--format", "json").body["files"]
    assert [len(each["findings"]) for each in files] == [1, 1, 1, 1]
    app.state.close()


def test_a_check_of_many_files_sends_few_requests(
    registries: Registries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    app = registries.make({})
    targets: list[str] = []

    async def count_requests(scope: Any, receive: Any, send: Any) -> None:
        targets.append(f"{scope['method']} {scope['path']}")
        await app(scope, receive, send)

    run = runner(count_requests, monkeypatch, capsys)
    monkeypatch.chdir(tmp_path)
    for number in range(10):
        (tmp_path / f"Type{number}.avsc").write_text(json.dumps({**MONEY, "name": f"Type{number}"}))
    for number in range(30):
        fields = [{"name": f"f{each}", "type": f"Type{(number + each) % 10}"} for each in range(4)]
        (tmp_path / f"t{number}-value.avsc").write_text(
            json.dumps({"type": "record", "name": f"R{number}", "fields": fields})
        )
    assert run("register", ".").code == exit_codes.CLEAN
    assert [targets.count(f"GET {path}") for path in PER_COMMAND] == [1, 1]
    targets.clear()
    assert run("check", ".").code == exit_codes.CLEAN
    assert set(targets) == {"POST /contractlog/v1/lookup"}
    assert len(targets) <= 2
    app.state.close()


@pytest.mark.parametrize("manifest", ["", '[[subjects]]\nname = "*"\nlevel = "FULL"\n'])
@pytest.mark.parametrize(
    "arguments",
    [
        ["--fail-on", "note", "."],
        ["--fail-on=warning", "."],
        [".", "--fail", "warning"],
        ["--registry", "http://ana:secret@registry.example.com", "."],
        [".", "--reg=http://ana:secret@registry.example.com"],
        ["--report", "junit=report.xml", "--rep=junit=report.xml", "."],
        ["--normalize", "--timeout", "9", "--color", "never", "--format", "text", "-v", "."],
        ["--fail-on", "warning", "--", "--odd-value.avsc"],
    ],
)
def test_the_suggested_command_registers_the_files_in_the_same_registry(  # noqa: PLR0917 - fixtures
    registries: Registries,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    manifest: str,
) -> None:
    app = registries.make({})
    run = runner(app, monkeypatch, capsys)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "--odd-value.avsc").write_text('"long"')
    (tmp_path / "contractlog.toml").write_text(manifest)
    ran = run("check", *arguments)
    assert ran.code == exit_codes.CLEAN
    command = ran.err.rstrip().rpartition("1 file can be registered: ")[2]
    assert "secret" not in command
    assert ("--registry=http://registry.example.com" in command) is any("example.com" in each for each in arguments)
    assert run(*shlex.split(command)[1:]).code == exit_codes.CLEAN
    assert run("check", *arguments).err.endswith("nothing to register: every file is registered already\n")
    app.state.close()


def test_a_level_that_an_interrupted_waiver_lowered_is_a_note(
    registries: Registries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    app = registries.make({})
    run = runner(app, monkeypatch, capsys)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-value.avsc").write_text('"int"')
    (tmp_path / "contractlog.toml").write_text(
        '[[subjects]]\nname = "a-value"\nlevel = "FULL"\n[[waivers]]\nsubject = "a-value"\n'
        'check = "AVRO_TYPE_CHANGED"\nreason = "r"\nby = "me"\nuntil = 2999-01-01\n'
    )
    run("apply", ".")
    assert "accepts any schema" not in run("check", ".").err
    run("config", "set", "a-value", "--level", "NONE")
    ran = run("check", ".")
    assert "note: `a-value` accepts any schema: it has level NONE, perhaps because `--use-waivers` was" in ran.err
    app.state.close()

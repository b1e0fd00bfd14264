"""Versions that somebody registered without the folder, which an edit of the file would replace."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.lock_file import LOCK
from contractlog.registry.testing import Registries

from support.ci_formats import read_workflow_command
from support.operations import NOTE, Ran, Run, order, runner

CHECK = "LATEST_VERSION_UNKNOWN"
DISCOUNT = '{"name":"discount","type":"double","default":0.0}'
FILE = "schemas/orders-value.avsc"


class Folder:
    """A pulled folder in a git repository, and its registry."""

    def __init__(self, path: Path, registry: Registry, run: Run) -> None:
        self.path = path
        self.registry = registry
        self.run = run

    def write(self, *fields: str) -> None:
        (self.path / FILE).write_text(order(*fields).text)

    def git(self, *arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(self.path), *identity, *arguments], check=True, capture_output=True)

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", "change")

    def check(self, *arguments: str) -> Ran:
        return self.run("check", "schemas", *arguments)


@pytest.fixture
def folder(
    registries: Registries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Folder]:
    """One version, pulled with its lock and committed."""
    app = registries.make({})
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GIT_DIR", raising=False)
    with Registry(app=app) as registry:
        registry.register("orders-value", order())
        folder = Folder(tmp_path, registry, runner(app, monkeypatch, capsys))
        assert folder.run("pull", "--all", "--out", "schemas").code == exit_codes.CLEAN
        (tmp_path / "schemas/contractlog.toml").unlink()
        folder.git("init", "-q")
        folder.commit()
        yield folder
    app.state.close()


def test_an_edit_that_would_revert_a_version_of_others_is_a_warning_with_what_it_changes(folder: Folder) -> None:
    folder.registry.register("orders-value", order(DISCOUNT))
    assert "drift: `orders-value`: version 2 of the registry" in folder.run("plan", "schemas").out
    folder.write(NOTE)
    ran = folder.check()
    assert ran.code == exit_codes.CLEAN
    assert f"{FILE}:1:1  at /  {CHECK} (warning)" in ran.out
    assert (
        "version 2, the latest of `orders-value`, was registered elsewhere: contractlog.lock has version 1" in ran.out
    )
    assert "field `discount` removed" in ran.out
    assert "field `note` added" in ran.out
    assert "contractlog pull --force --out=schemas orders-value; or keep the edit, which replaces it" in ran.out
    assert folder.check("--fail-on", "warning").code == exit_codes.FINDINGS


def test_the_way_out_takes_the_version_over(folder: Folder) -> None:
    folder.registry.register("orders-value", order(DISCOUNT))
    folder.write(NOTE)
    assert folder.run("pull", "--out=schemas", "orders-value", "--force").code == exit_codes.CLEAN
    assert "discount" in (folder.path / FILE).read_text()
    folder.write(DISCOUNT, NOTE)
    assert CHECK not in folder.check().out
    folder.write(NOTE)
    assert CHECK not in folder.check().out, "an edit that removes the field, which its author knows"


def test_every_output_of_check_and_plan_has_the_warning(folder: Folder) -> None:
    folder.registry.register("orders-value", order(DISCOUNT))
    folder.write(NOTE)
    planned = folder.run("plan", "schemas")
    assert CHECK in planned.out
    assert "1 version would be registered" in planned.err
    for verb in ("check", "plan"):
        body = folder.run(verb, "schemas", "--format", "json").body
        findings = body["findings"] if verb == "plan" else body["files"][0]["findings"]
        assert [(each["check"], each["severity"]) for each in findings] == [(CHECK, "warning")]
        commands = map(read_workflow_command, folder.run(verb, "schemas", "--format", "github").out.split("\n"))
        (command,) = filter(None, commands)
        assert (command.name, command.file, command.line) == ("warning", FILE, 1)


def test_a_version_that_the_lock_has_is_known(folder: Folder) -> None:
    folder.registry.register("orders-value", order(DISCOUNT))
    assert folder.run("pull", "--all", "--out", "schemas").code == exit_codes.CLEAN
    folder.write(NOTE)
    assert CHECK not in folder.check().out


def test_a_version_that_ci_applied_from_a_commit_is_known_although_the_lock_lacks_it(folder: Folder) -> None:
    folder.write(DISCOUNT)
    folder.commit()
    assert folder.run("apply", "schemas").code == exit_codes.CLEAN
    assert folder.registry.versions("orders-value") == [1, 2]
    folder.write(DISCOUNT, NOTE)
    assert CHECK not in folder.check().out
    folder.commit()
    assert CHECK not in folder.check().out
    folder.git("mv", FILE, "schemas/renamed.avsc")
    (folder.path / "schemas/contractlog.toml").write_text(
        '[[files]]\npath = "renamed.avsc"\nsubject = "orders-value"\n'
    )
    folder.commit()
    assert CHECK not in folder.check().out, "git follows renamed files"


def test_the_formatting_of_an_earlier_text_does_not_matter(folder: Folder) -> None:
    (folder.path / FILE).write_text(json.dumps(json.loads(order(DISCOUNT).text), indent=7))
    folder.commit()
    folder.registry.register("orders-value", order(DISCOUNT))
    folder.write(DISCOUNT, NOTE)
    assert CHECK not in folder.check().out


def test_without_a_lock_or_with_that_of_another_registry_nothing_is_said(folder: Folder) -> None:
    folder.registry.register("orders-value", order(DISCOUNT))
    folder.write(NOTE)
    lock = folder.path / "schemas" / LOCK
    body = json.loads(lock.read_text())
    other = {**body, "schemas": [{**each, "guid": "0" * 8 + each["guid"][8:]} for each in body["schemas"]]}
    for content in (json.dumps(other), json.dumps({**body, "context": ".prod"}), None):
        if content is None:
            lock.unlink()
        else:
            lock.write_text(content)
        assert CHECK not in folder.check().out


def test_a_folder_outside_of_git_has_the_lock_alone(folder: Folder) -> None:
    (folder.path / ".git").rename(folder.path / "git")
    folder.registry.register("orders-value", order(DISCOUNT))
    folder.write(NOTE)
    assert CHECK in folder.check().out


def test_files_without_edits_and_the_version_itself_have_no_warning(folder: Folder) -> None:
    folder.registry.register("orders-value", order(DISCOUNT))
    assert CHECK not in folder.check().out, "drift, which `plan` shows"
    folder.write(DISCOUNT)
    assert CHECK not in folder.check().out, "the version, taken over"


@pytest.mark.parametrize(("severity", "code"), [("off", exit_codes.CLEAN), ("error", exit_codes.FINDINGS)])
def test_the_manifest_decides_how_severe_it_is(folder: Folder, severity: str, code: int) -> None:
    folder.registry.register("orders-value", order(DISCOUNT))
    folder.write(NOTE)
    (folder.path / "schemas/contractlog.toml").write_text(
        f'[[checks]]\ncheck = "{CHECK}"\nseverity = "{severity}"\nreason = "tested"\n'
    )
    ran = folder.check()
    assert (ran.code, CHECK in ran.out) == (code, severity == "error")

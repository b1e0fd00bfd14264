"""Numbers of files and subjects in messages."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.file_counts import count_files, count_part
from contractlog.clients.cli.main import main
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.compatibility.schema import SchemaDraft

MANIFEST = '[[files]]\npath = "orders.avsc"\nsubjects = ["a-value", "b-value", "c-value"]\n'
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}


def file(path: str, subject: str) -> SchemaFile:
    return SchemaFile(Path(path), subject, SchemaDraft('"int"'))


SHARED = [file("a", "x"), file("a", "y"), file("b", "z")]


def test_subjects_are_counted_if_a_file_has_several() -> None:
    assert count_files([file("1/x", "x"), file("2/x", "x")]) == "2 files"
    assert count_files(SHARED[2:]) == "1 file"
    assert count_files(SHARED) == "2 files (3 subjects)"
    assert count_part(SHARED[:1], SHARED) == "1 of 2 files (1 of 3 subjects)"
    assert count_part(SHARED[:1], SHARED[1:], 2) == "3 of 4 files"


@pytest.fixture
def folder(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in ("register.runner", "plan_and_apply.runner", "check.runner"):
        monkeypatch.setattr(f"contractlog.clients.cli.{module}.connect", lambda _: nullcontext(registry))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "contractlog.toml").write_text(MANIFEST)
    (tmp_path / "orders.avsc").write_text(json.dumps(ORDER))
    (tmp_path / "clicks-value.avsc").write_text('"int"')
    return tmp_path


def test_every_command_counts_files_and_subjects(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: str, code: int = exit_codes.CLEAN) -> str:
        assert main(arguments) == code
        printed = capsys.readouterr()
        return printed.out.splitlines()[0] + "\n" + printed.err

    assert "2 files (4 subjects) can be registered: contractlog register ." in run("check", ".")
    markdown = run("check", ".", "--format", "markdown")
    assert "### contractlog check: 2 files (4 subjects) can be registered\n" in markdown
    registry.register("b-value", SchemaDraft(json.dumps({**ORDER, "fields": []})))
    assert "1 of 2 files (1 of 4 subjects) cannot be registered: fix" in run("check", ".", code=exit_codes.FINDINGS)
    markdown = run("check", ".", "--format", "markdown", code=exit_codes.FINDINGS)
    assert "1 of 2 files (1 of 4 subjects) cannot be registered (1 incompatible)\n" in markdown
    assert "1 file cannot be registered: fix the findings above" in run("plan", ".", code=exit_codes.FINDINGS)
    registry.delete_subject("b-value")
    assert "2 files (4 subjects) would be registered" in run("register", ".", "--dry-run")
    assert "4 versions registered" in run("apply", ".")
    assert "nothing to register, 2 files (4 subjects) registered already" in run("check", ".", "--format", "markdown")

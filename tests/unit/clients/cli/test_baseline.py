"""Files of another revision or folder in the place of a registry."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main

MONEY = {"type": "record", "name": "Money", "fields": [{"name": "amount", "type": "long"}]}
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "total", "type": "Money"}]}


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


def put(folder: Path, **schemas: Any) -> None:
    folder.mkdir(exist_ok=True)
    for name, schema in schemas.items():
        (folder / f"{name}.avsc").write_text(json.dumps(schema))


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git repository with two schemas in a folder, and no registry."""
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL", "http://127.0.0.1:9")
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "in", **{"orders-value": ORDER, "Money": MONEY})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def checked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, str]]:
    code = main(["check", *arguments, "--format", "json"])
    return code, {file["subject"]: file["outcome"] for file in json.loads(capsys.readouterr().out)["files"]}


@pytest.mark.parametrize("folder", ["in", ".", "in/../in"])
def test_files_of_a_revision_are_unchanged(repository: Path, capsys: pytest.CaptureFixture[str], folder: str) -> None:
    unchanged = {"Money": "unchanged", "orders-value": "unchanged"}
    assert checked(capsys, folder, "--against", "git:HEAD") == (exit_codes.CLEAN, unchanged)


def test_a_change_of_a_shared_type_is_judged_in_all_its_users(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = {"name": "currency", "type": "string"}
    put(repository / "in", Money={**MONEY, "fields": [*MONEY["fields"], more]}, **{"b-value": "int"})
    broken = {"Money": "incompatible", "orders-value": "incompatible", "b-value": "compatible"}
    assert checked(capsys, "in", "--against", "git:HEAD") == (exit_codes.FINDINGS, broken)
    fine = dict.fromkeys(broken, "compatible")
    assert checked(capsys, "in", "--against", "git:HEAD", "--level", "FORWARD") == (exit_codes.CLEAN, fine)
    main(["check", "in", "--against", "git:HEAD"])
    assert "incompatible with git:HEAD:in/Money.avsc of `Money` at level BACKWARD" in capsys.readouterr().out


def test_another_folder_takes_the_place_of_a_revision(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(repository / "new", **{"orders-value": ORDER, "Money": {**MONEY, "fields": []}})
    assert checked(capsys, "new", "--against", "in")[1] == {"Money": "compatible", "orders-value": "compatible"}


def test_removed_subjects_are_mentioned(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "in" / "orders-value.avsc").unlink()
    assert main(["check", "in", "--against", "git:HEAD"]) == exit_codes.CLEAN
    assert "in git:HEAD, but no longer in the folder: orders-value" in capsys.readouterr().err


def test_a_folder_that_the_revision_lacks_is_all_new(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(repository / "new", **{"b-value": "int"})
    assert checked(capsys, "new", "--against", "git:HEAD") == (exit_codes.CLEAN, {"b-value": "compatible"})


def test_the_manifest_names_the_subjects_of_both_sides(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "in" / "contractlog.toml").write_text('[[files]]\npath = "Money.avsc"\nsubjects = ["money"]\n')
    unchanged = {"money": "unchanged", "orders-value": "unchanged"}
    assert checked(capsys, "in", "--against", "git:HEAD") == (exit_codes.CLEAN, unchanged)


def test_links_of_a_revision_are_not_followed(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "in" / "link-value.avsc").symlink_to("/etc/passwd")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "second")
    (repository / "in" / "link-value.avsc").unlink()
    assert checked(capsys, "in", "--against", "git:HEAD")[0] == exit_codes.CLEAN


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["in", "--against", "git:nosuch"], "git has no revision `nosuch`"),
        (["in", "--against", "git:--all"], "git has no revision `--all`"),
        (["in", "--against", "git:"], "git has no revision"),
        (["in", "--against", "nosuch"], "`nosuch` does not exist"),
        (["/", "--against", "git:HEAD"], "git cannot read what to compare with"),
        (["in", "--level", "FULL"], "--level needs --against"),
    ],
)
def test_what_cannot_be_compared_with_is_said(
    repository: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    (repository / ".contractlogignore").write_text("")
    if arguments[0] == "/":
        arguments = [str(repository.parent / "outside"), *arguments[1:]]
        put(repository.parent / "outside", **{"a-value": "int"})
    assert main(["check", *arguments]) == exit_codes.USAGE
    assert said in capsys.readouterr().err

"""Files of another revision or folder in the place of a registry."""

from __future__ import annotations

import json
import subprocess
from contextlib import nullcontext
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.clients.lock_file import LOCK
from contractlog.compatibility.schema import Reference, SchemaDraft

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
    main(["check", folder, "--against", "git:HEAD", "--format", "json"])
    files = json.loads(capsys.readouterr().out)["files"]
    assert {(file["version"], file["schema_id"]) for file in files} == {(None, None)}, "a revision has no ids"
    main(["check", folder, "--against", "git:HEAD"])
    assert capsys.readouterr().err == "no file differs from git:HEAD\n"


def test_errors_name_the_file_of_the_revision(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(repository / "in", Money={**MONEY, "fields": 7})
    git(repository, "commit", "-qam", "wrong")
    put(repository / "in", Money=MONEY)
    assert main(["check", "in", "--against", "git:HEAD"]) == exit_codes.USAGE
    assert 'contractlog: git:HEAD:in/Money.avsc:1:1: a record needs "fields", a list' in capsys.readouterr().err


@pytest.mark.parametrize("against", ["git:HEAD", "copy/in"])
@pytest.mark.parametrize("checked_path", ["in", "in/my.avsc"])
def test_the_rules_of_a_manifest_above_the_folder_hold_for_both_sides(
    repository: Path, capsys: pytest.CaptureFixture[str], against: str, checked_path: str
) -> None:
    put(repository / "in", my=MONEY)
    (repository / "in" / "Money.avsc").unlink()
    (repository / "in" / "orders-value.avsc").unlink()
    (repository / "contractlog.toml").write_text('[[files]]\npath = "in/my.avsc"\nsubjects = ["my-value"]\n')
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "second")
    copytree(repository / "in", repository / "copy" / "in")
    against += "/my.avsc" if against.startswith("copy") and checked_path != "in" else ""
    assert checked(capsys, checked_path, "--against", against) == (exit_codes.CLEAN, {"my-value": "unchanged"})


@pytest.mark.parametrize("checked_path", ["in", "in/left-value.avsc"])
def test_an_ignore_file_above_the_folder_is_that_of_the_revision(
    repository: Path, capsys: pytest.CaptureFixture[str], checked_path: str
) -> None:
    put(repository / "in", **{"left-value": "int"})
    (repository / ".contractlogignore").write_text("left-value.avsc\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "second")
    assert main(["check", checked_path, "--against", "git:HEAD"]) == exit_codes.CLEAN
    assert "git:HEAD" in (message := capsys.readouterr().err)
    assert "no longer in the folder" not in message


def test_a_reference_that_is_not_registered_is_named_with_the_way_out(
    repository: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("check.against_option", "check.runner"):
        monkeypatch.setattr(f"contractlog.clients.cli.{module}.connect", lambda _: nullcontext(registry))
    (repository / "contractlog.toml").write_text(
        '[[files]]\npath = "in/orders-value.avsc"\n[files.references]\nMoney = "money:1"\n'
    )
    for arguments, name in (((), "in"), (("--against", "git:HEAD"), "git:HEAD:in")):
        assert main(["check", "in", *arguments]) == exit_codes.USAGE
        message = f"{name}/orders-value.avsc: a schema that it refers to is not registered: Subject 'money' not found. "
        assert f"{message}Correct --reference, or `references`" in capsys.readouterr().err


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
    assert "incompatible with git:HEAD:in/Money.avsc at level BACKWARD of `Money`" in capsys.readouterr().out


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


def test_a_bare_repository_in_the_folder_gives_git_no_commands(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = repository / "in"
    for name, text in {
        "HEAD": "ref: refs/heads/main",
        "refs/heads/main": 40 * "1",
        "objects/keep": "",
        "config": f"[core]\nrepositoryformatversion = 1\nbare = false\nworktree = .\n[extensions]\npartialClone = x\n"
        f'[remote "x"]\nurl = .\npromisor = true\nuploadpack = "touch {repository}/executed; false"\n',
    }.items():
        path = hostile / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    unchanged = {"Money": "unchanged", "orders-value": "unchanged"}
    assert checked(capsys, "in", "--against", "git:HEAD") == (exit_codes.CLEAN, unchanged)
    assert main(["check", "in", "--against", "git:HEAD"]) == exit_codes.CLEAN
    assert main(["diff", "git:HEAD:./in", "in"]) == exit_codes.CLEAN
    assert not (repository / "executed").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["in", "--against", "git:nosuch"], "git has no revision `nosuch`"),
        (["in", "--against", "git:--all"], "git has no revision `--all`"),
        (["in", "--against", "git:"], "`git:` names no revision: write git:main"),
        (["in", "--against", "nosuch"], "there is no folder `nosuch`; a git revision is written git:nosuch"),
        (["in", "--against", "gti:main"], "there is no folder `gti:main`; a git revision is written git:main"),
        (["in", "--against", "../nosuch"], "there is no folder `../nosuch`\n"),
        (["/", "--against", "git:HEAD"], "is in no git repository"),
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


@pytest.fixture
def pulled(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that was pulled from a registry, with a type that has no file; the registry is newer by one version."""
    for module in ("pull.runner", "check.runner", "check.against_option"):
        monkeypatch.setattr(f"contractlog.clients.cli.{module}.connect", lambda _: nullcontext(registry))
    monkeypatch.chdir(tmp_path)
    registry.register("Money", SchemaDraft(json.dumps({**MONEY, "fields": []})))
    registry.register("Money", SchemaDraft(json.dumps({**MONEY, "fields": [{**MONEY["fields"][0], "default": 0}]})))
    registry.register("orders-value", SchemaDraft(json.dumps(ORDER), references=(Reference("Money", "Money", 2),)))
    assert main(["pull", "orders-value", "--out", "in"]) == exit_codes.CLEAN
    registry.set_level("NONE", "orders-value")
    registry.register("orders-value", SchemaDraft('"int"'))
    return tmp_path / "in"


def test_files_are_compared_with_the_locked_versions(
    pulled: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert checked(capsys, "in", "--against", "lock") == (exit_codes.CLEAN, {"orders-value": "unchanged"})
    more = {"name": "n", "type": "string"}
    put(pulled, **{"orders-value": {**ORDER, "fields": [*ORDER["fields"], more]}})
    broken = (exit_codes.FINDINGS, {"orders-value": "incompatible"})
    assert checked(capsys, "in", "--against", "lock") == broken
    assert checked(capsys, "in/orders-value.avsc", "--against", "lock") == broken
    main(["check", "in", "--against", "lock"])
    output = capsys.readouterr()
    assert "in/orders-value.avsc: incompatible with version 1 of `orders-value` at level BACKWARD" in output.out
    assert output.err == "1 changed file, 1 incompatible with the lock\n"
    put(pulled, **{"other-value": "int"})
    main(["check", "in/other-value.avsc", "--against", "lock"])
    assert "no longer in the folder" not in capsys.readouterr().err
    (pulled / "other-value.avsc").unlink()
    put(pulled, **{"orders-value": {**ORDER, "fields": [*ORDER["fields"], {**more, "default": ""}]}})
    assert checked(capsys, "in", "--against", "lock") == (exit_codes.CLEAN, {"orders-value": "compatible"})

    offline = Registry("http://127.0.0.1:9", timeout=0.5)
    monkeypatch.setattr("contractlog.clients.cli.check.against_option.connect", lambda _: nullcontext(offline))
    assert main(["check", "in", "--against", "lock"]) == exit_codes.USAGE
    assert "its earlier text is in the registry only" in capsys.readouterr().err


def test_a_locked_version_is_known_by_its_guid_if_its_file_had_a_formatting_of_its_own(
    pulled: Path, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.delete_version("orders-value", 2)
    put(pulled, **{"orders-value": ORDER})
    assert main(["pull", "orders-value", "--out", "in"]) == exit_codes.CLEAN
    assert json.loads((pulled / "orders-value.avsc").read_text()) == ORDER
    capsys.readouterr()
    assert checked(capsys, "in", "--against", "lock") == (exit_codes.CLEAN, {"orders-value": "unchanged"})
    put(pulled, **{"orders-value": {**ORDER, "doc": "edited"}})
    assert checked(capsys, "in", "--against", "lock") == (exit_codes.CLEAN, {"orders-value": "compatible"})


def test_a_registry_with_other_versions_is_not_taken_for_the_locked_one(
    pulled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(pulled, **{"orders-value": {**ORDER, "doc": "edited"}})
    lock = pulled / LOCK
    locked = json.loads(lock.read_text())
    next(each for each in locked["schemas"] if each["subject"] == "orders-value")["version"] = 2
    lock.write_text(json.dumps(locked))
    assert main(["check", "in", "--against", "lock"]) == exit_codes.USAGE
    assert "does not have version 2 of `orders-value` as `in/contractlog.lock` names it" in capsys.readouterr().err


def test_a_lock_that_is_missing_or_damaged_is_named_with_a_way_out(
    pulled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in ("<<<<<<< ours\n{", "{}"):
        (pulled / LOCK).write_text(text)
        assert main(["check", "in", "--against", "lock"]) == exit_codes.USAGE
        error = capsys.readouterr().err
        assert "in/contractlog.lock" in error
        assert "restore it, or remove it and run `contractlog pull" in error
    (pulled / LOCK).unlink()
    assert (
        main(["check", "in/orders-value.avsc", "--reference", "Money=Money:2", "--against", "lock"]) == exit_codes.USAGE
    )
    assert "`in/contractlog.lock` does not exist, nor does a lock in a folder above or below" in capsys.readouterr().err


def test_the_lock_below_the_folder_of_the_manifest_is_found(
    pulled: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (pulled / "contractlog.toml").replace("contractlog.toml")
    capsys.readouterr()
    assert checked(capsys, "--against", "lock") == (exit_codes.CLEAN, {"orders-value": "unchanged"})
    (pulled / LOCK).unlink()
    assert main(["check", "--against", "lock"]) == exit_codes.USAGE
    assert "`contractlog.lock` does not exist, nor does a lock in a folder above or below" in capsys.readouterr().err


def test_the_level_of_the_option_goes_before_that_of_the_manifest(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "contractlog.toml").write_text('[[subjects]]\nname = "Money"\nlevel = "BACKWARD"\n')
    put(repository / "in", Money={**MONEY, "fields": []})
    for level, outcome in (("FULL", "incompatible"), ("BACKWARD", "compatible"), ("NONE", "compatible")):
        assert checked(capsys, "in", "--against", "git:HEAD", "--level", level)[1]["Money"] == outcome


@pytest.mark.parametrize(
    ("arguments", "released"),
    [(("in",), "released/in"), (("in",), "released/other"), (("in/a.avsc",), "released/in"), ((), "released/in")],
)
def test_the_paths_of_a_manifest_are_those_of_the_corresponding_folder(
    repository: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], released: str
) -> None:
    rule = '[[files]]\npath = "in/a.avsc"\nsubjects = ["named-value"]\n'
    (repository / "contractlog.toml").write_text(rule)
    (repository / ".contractlogignore").write_text("released\n")
    for name in ("orders-value", "Money"):
        (repository / "in" / f"{name}.avsc").unlink()
    put(repository / "in", a="int")
    (repository / released).parent.mkdir()
    copytree(repository / "in", repository / released)
    expected = (exit_codes.CLEAN, {"named-value": "unchanged"})
    assert checked(capsys, *arguments, "--against", released) == expected

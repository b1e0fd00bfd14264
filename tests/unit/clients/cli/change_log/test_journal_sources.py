"""Files as sources of `journal verify`."""

from __future__ import annotations

from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.testing import Registries

from support.operations import Run, runner


@pytest.fixture
def run(registries: Registries, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run verbs against a registry with three entries."""
    app = registries.make({})
    with Registry(app=app) as registry:
        for number in range(3):
            registry.register(f"s{number}", SchemaDraft('"long"'))
    return runner(app, monkeypatch, capsys)


@pytest.fixture
def export(run: Run, tmp_path: Path) -> Path:
    path = tmp_path / "changes.ndjson"
    assert run("journal", "export", "--out", str(path)).code == exit_codes.CLEAN
    return path


@pytest.mark.parametrize("content", [b"hello\n", b'{"schema": "long"}\n', b"\xff\xfe\x00", b"\n\n"])
def test_a_file_that_is_no_export_is_a_usage_error(run: Run, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "other"
    file.write_bytes(content)
    ran = run("journal", "verify", str(file))
    assert ran.code == exit_codes.USAGE
    assert f"`{file}` is not an export of a change log" in ran.err


def test_an_export_with_a_changed_byte_is_a_finding(run: Run, export: Path) -> None:
    assert run("journal", "verify", str(export)).code == exit_codes.CLEAN
    export.write_bytes(export.read_bytes().replace(b"s0", b"s\xff"))
    ran = run("journal", "verify", str(export))
    assert ran.code == exit_codes.FINDINGS
    assert "entry 1 cannot be read" in ran.out


def test_a_partial_export_needs_its_beginning(run: Run, export: Path) -> None:
    export.write_text("".join(export.read_text().splitlines(keepends=True)[1:]))
    ran = run("journal", "verify", str(export))
    assert ran.code == exit_codes.FINDINGS
    assert "entry 1 is missing" in ran.out
    assert "pass the same --since N" in ran.err
    assert run("journal", "verify", str(export), "--since", "1").code == exit_codes.CLEAN

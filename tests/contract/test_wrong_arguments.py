"""Mistakes of new users lead to helpful messages and the documented exit code."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from contractlog.clients.cli.main import main
from contractlog.registry.database import upgrade

CASES: list[tuple[Sequence[str], int, str]] = [
    (("serve", "--port", "99999"), 2, "--port cannot be 99999: it takes a number from 0 to 65535"),
    (("serve", "--host", "300.1.1.1"), 2, "cannot listen on 300.1.1.1 … ; use another --host"),
    (("serve", "--host", "192.0.2.1"), 2, "cannot listen on 192.0.2.1:8081 … ; use another --host"),
    (("serve", "--port", "-1"), 2, "--port cannot be -1: it takes a number from 0 to 65535"),
    (("serve", "--workers", "0"), 2, "--workers cannot be 0: it takes a number from 1"),
    (("serve", "--anonymous-reads"), 2, "--anonymous-reads has no effect without --users FILE"),
    (("serve", "--users", "none.toml"), 2, "`none.toml` cannot be read: No such file or directory; `contractlog users"),
    (("serve", "--tls-certificate", "none.pem"), 2, "TLS cannot be set up with none.pem: No such file or directory"),
    (
        ("serve", "--database-url", "sqlite:///text"),
        3,
        "the database sqlite:///text cannot be used: file is not",
    ),
    (("db", "downgrade", "nope", "--database-url", "sqlite:///r.db"), 2, "'nope'; `contractlog db current` shows"),
    (
        ("db", "raise-ids", "--to", "5", "--database-url", "sqlite:///none.db"),
        2,
        "sqlite:///none.db contains no registry",
    ),
    (("db", "raise-ids", "--to", "5", "--context", ".x", "--database-url", "sqlite:///r.db"), 2, "pass --create"),
    (("users", "list", "--file", "none.toml"), 2, "`none.toml` cannot be read: No such file"),
    (("users", "list", "--file", "binary"), 2, "`binary` cannot be read: it is not UTF-8 text"),
    (("users", "add", "a", "--generate", "--file", "binary"), 2, "`binary` cannot be read: it is not UTF-8 text"),
    (("users", "add", "a", "--generate", "--file", "."), 2, "file `.` cannot be written: it is not a regular file"),
    (("users", "add", "a", "--generate", "--file", "no/u.toml"), 2, "`no/u.toml` cannot be written: No such file"),
    (
        ("users", "add", "a", "--read", "a*b", "--no-password", "--file", "u.toml"),
        2,
        "user `a`: read: `a*b` has a",
    ),
    (("diff", ":1", "none.avsc"), 2, "`:1` is neither a file nor SUBJECT:VERSION, with a number or `latest`"),
    (("diff", "none.avsc", "more.avsc"), 2, "`none.avsc` cannot be read: No such file"),
    (
        ("diff", "pone-value", "text"),
        2,
        "`pone-value` is neither a file nor SUBJECT:VERSION; for the registered schema write `pone-value:latest`",
    ),
    (("export", "--database-url", "sqlite:///none.db"), 2, "sqlite:///none.db contains no registry"),
    (("export", "--database-url", "sqlite:///r.db", "--out", "."), 2, "`.` is a folder; --out takes a file"),
    (
        ("export", "--database-url", "sqlite:///r.db", "--out", "x", "--topic", "t"),
        2,
        "pass --out or --topic",
    ),
    (
        ("export", "--database-url", "sqlite:///r.db", "--source-user", "me"),
        2,
        "--source-user needs a live registry",
    ),
    (("export", "--registry", "http://127.0.0.1:1", "--timeout", "2"), 3, "the source at http://127.0.0.1:1 cannot be"),
    (("import",), 2, "name one source: a file"),
    (("import", "text", "--topic", "t"), 2, "name one source: a file"),
    (("import", "--topic", "t"), 2, "name the broker: --bootstrap-servers HOST:PORT"),
    (("import", "none.ndjson"), 2, "`none.ndjson` cannot be read: No such file or directory"),
    (("import", "localhost:8081"), 2, "the URL of a live registry begins with http://"),
    (
        ("import", "htp://me:s3cret@host/x"),
        2,
        "`…@host/x` cannot be read: No such file or directory; the URL of a live",
    ),
    (("export", "--database-url", "sqlite://me:s3cret@host/x"), 2, "a database URL of SQLite has a file and no host"),
    (
        ("export", "--database-url", f"postgresql://me:s3cret@{'a' * 64}.example/x"),
        2,
        "the host name in the database URL is not valid",
    ),
    (("import", "text"), 2, "this is not a file of `contractlog export`: its first line is not JSON"),
    (("import", "other.json"), 2, "the first line does not have `contractlog.export/1`"),
    (("import", "binary"), 2, "`binary` is not UTF-8 text, so it is not a file of `contractlog export`"),
    (
        ("import", "r.db"),
        2,
        "it is a database: run contractlog export --database-url=sqlite:///r.db --out",
    ),
    (("import", "cut.ndjson"), 2, "the file ends early, after 2 lines"),
    (("import", "text", "--follow"), 2, "--follow needs a live registry or a topic"),
    (("import", "http://127.0.0.1:1", "--follow", "--dry-run"), 2, "--follow writes, --dry-run does not"),
    (("import", "text", "--source-ca", "ca.pem"), 2, "--source-ca needs a live registry as the source"),
    (
        ("import", "https://127.0.0.1:1", "--source-ca", "no.pem"),
        2,
        "the certificates cannot be used (no.pem): No",
    ),
    (("import", "http://127.0.0.1:1", "--timeout", "2"), 3, "the source at http://127.0.0.1:1 cannot be reached"),
    (("verify-import", "empty.ndjson", "--registry", "http://127.0.0.1:1", "--timeout", "2"), 3, "cannot be reached"),
    (("verify-import", "empty.ndjson", "--database-url", "sqlite:///none.db"), 2, "none.db contains no registry"),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of files that the requests name."""
    folder = tmp_path_factory.mktemp("files")
    header, end = '{"format": "contractlog.export/1"}\n', '{"kind": "end", "lines": 2}\n'
    (folder / "text").write_text("id,schema\n1,x\n" * 200)
    (folder / "binary").write_bytes(bytes(range(256)) * 20)
    (folder / "other.json").write_text('{"schema": "int"}\n')
    (folder / "cut.ndjson").write_text(header + '{"kind": "context", "name": ".", "next_id": 2}\n')
    (folder / "empty.ndjson").write_text(header + end)
    schema = '{{"kind": "schema", "context": ".", "id": 1, "type": "AVRO", "schema": "\\"{}\\"", "created": 1}}\n'
    twice = schema.format("int") + schema.format("long")
    (folder / "twice.ndjson").write_text(header + twice + end.replace("2", "4"))
    upgrade(f"sqlite:///{folder / 'r.db'}")
    with sqlite3.connect(folder / "r.db") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return folder


@pytest.fixture(autouse=True)
def _folder(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("CONTRACTLOG_", "SCHEMA_REGISTRY"))]:
        monkeypatch.delenv(name)
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", None)


@pytest.mark.parametrize(("argv", "code", "told"), CASES, ids=[" ".join(one[0]) for one in CASES])
def test_impossible_requests_have_a_helpful_message(
    argv: Sequence[str], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = set(Path().iterdir())
    assert main(list(argv)) == code
    out, err = capsys.readouterr()
    for part in told.split(" … "):
        assert part in err
    assert err.startswith("contractlog: ")
    assert out == ""
    assert not re.search(r"Errno|Traceback|Error\(|internal error|s3cret", err)
    assert {path for path in Path().iterdir() if not path.name.endswith(("-wal", "-shm", "text-lock"))} <= before


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("CONTRACTLOG_PORT", "99999", "CONTRACTLOG_PORT cannot be 99999: it takes a number from 0 to 65535"),
        ("CONTRACTLOG_PORT", "abc", "CONTRACTLOG_PORT cannot be `abc`: it takes a whole number"),
        ("CONTRACTLOG_WORKERS", "-3", "CONTRACTLOG_WORKERS cannot be -3: it takes a number from 1"),
        ("CONTRACTLOG_READ_THREADS", "0", "CONTRACTLOG_READ_THREADS cannot be 0: it takes a number from 1"),
        ("CONTRACTLOG_BODY_SECONDS", "-1", "CONTRACTLOG_BODY_SECONDS cannot be -1.0: it takes a number from 0.1"),
        ("CONTRACTLOG_DRAIN_SECONDS", "nan", "CONTRACTLOG_DRAIN_SECONDS cannot be nan: it takes a number from 0"),
    ],
)
def test_a_variable_that_cannot_be_meant_is_told(
    variable: str, value: str, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable, value)
    assert main(["serve"]) == 2
    assert told in capsys.readouterr().err


def test_an_import_that_contradicts_itself_makes_no_database(capsys: pytest.CaptureFixture[str]) -> None:
    before = set(Path().iterdir())
    assert main(["import", "twice.ndjson", "--database-url", "sqlite:///new.db"]) == 1
    assert "line 3: the id 1 of context . has another content in an earlier line" in capsys.readouterr().out
    assert set(Path().iterdir()) == before

"""`contractlog import --registry` into a running registry, on every database."""

from __future__ import annotations

from pathlib import Path

import pytest

from contractlog.clients import Registry, Security
from contractlog.clients.cli.main import main
from contractlog.compatibility.schema import Reference, SchemaDraft
from contractlog.registry.transfer.database_access import open_for_export, read_database
from contractlog.registry.transfer.file_format import format_content_lines

from support.registry import run_server, serve_in_thread

pytestmark = pytest.mark.integration

USER = '{"type":"record","name":"User","fields":[{"name":"name","type":"string"}]}'
USERS = '{"type":"record","name":"Users","fields":[{"name":"all","type":{"type":"array","items":"User"}}]}'
PROTO = (
    '{"kind": "schema", "context": ".", "id": 40, "type": "PROTOBUF", "schema": "message M {}", "created": 5}',
    '{"kind": "version", "subject": "proto", "version": 1, "id": 40, "created": 5}',
)


def state(database_url: str) -> list[str]:
    with open_for_export(database_url) as snapshot:
        return list(format_content_lines(read_database(snapshot)))


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """A file with references, soft-deleted and retired ids, a context, settings, and a schema that nobody knows."""
    database_url = f"sqlite:///{tmp_path / 'old.db'}"
    with serve_in_thread(database_url) as url, Registry(url) as registry:
        registry.register("user", SchemaDraft(USER))
        registry.register("users", SchemaDraft(USERS, references=(Reference("User", "user", 1),)))
        registry.register(":.eu:user", SchemaDraft(USER))
        for text in ('"int"', '"long"'):
            registry.register("gone", SchemaDraft(text))
        registry.delete_subject("gone")
        registry.delete_subject("gone", permanent=True)
        registry.register("old", SchemaDraft('"float"'))
        registry.delete_subject("old")
    file = tmp_path / "registry.ndjson"
    assert main(["export", "--database-url", database_url, "--out", str(file)]) == 0
    lines = file.read_text().splitlines()
    lines = [lines[0], *PROTO, *lines[1:-1], f'{{"kind": "end", "lines": {len(lines) + len(PROTO)}}}']
    file.write_text("\n".join(lines) + "\n")
    return file


def brought(argv: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main(argv)
    out, err = capsys.readouterr()
    return code, out + err


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_it_is_as_an_import_into_the_database_and_answers_the_same(
    export: Path, tmp_path: Path, kind: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = f"sqlite:///{tmp_path / 'plain.db'}"
    assert main(["import", str(export), "--database-url", plain]) == 0
    if kind == "postgresql":
        database_url: str = request.getfixturevalue("upgraded_postgres_url")
    else:
        database_url = f"sqlite:///{tmp_path / 'running.db'}"
    with serve_in_thread(database_url) as url:
        verb = ["import", str(export), "--registry", url]
        before = state(database_url)
        assert main([*verb, "--dry-run"]) == 0
        assert state(database_url) == before
        assert brought(verb, capsys)[0] == 0
        assert state(database_url) == state(plain)
        code, told = brought(verb, capsys)
        assert (code, "changed: nothing" in told) == (0, True)
        assert main(["verify-import", str(export), "--registry", url]) == 0
        with Registry(url) as registry:
            assert registry.register("more", SchemaDraft('"double"')).schema_id == 41
            assert main(["import", str(tmp_path / "registry.ndjson"), "--registry", url]) == 0


def test_a_file_in_use_is_told_with_the_way_in(
    export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database_url = f"sqlite:///{tmp_path / 'running.db'}"
    with run_server(database_url) as url:
        code, told = brought(["import", str(export), "--database-url", database_url], capsys)
        assert code == 2
        assert (
            "running.db is in use, perhaps by `contractlog serve`: import into the running registry by --registry"
            in told
        )
        code, told = brought(["import", url, "--registry", url, "--follow"], capsys)
        assert (code, "--follow writes to a database" in told) == (2, True)
        code, told = brought(["import", str(export), "--registry", f"{url}/nowhere"], capsys)
        assert (code, "is not a contractlog registry" in told) == (2, True)
        with Registry(url) as registry:
            registry.register("s", SchemaDraft('"bytes"'))
        code, told = brought(["import", str(export), "--registry", url], capsys)
        assert (code, "nothing was written" in told) == (1, True)
        assert len(state(database_url)) == 3  # a context, a schema, its version
    code, told = brought(["import", str(export), "--registry", url], capsys)
    assert (code, "no registry" in told or "refused" in told) == (3, True)


def test_callers_who_may_write_everything_may_import_and_are_recorded(
    export: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    users, passwords = tmp_path / "users.toml", {}
    for name, pattern in (("ann", "*"), ("bob", "orders-*")):
        add = ["users", "add", name, "--write", pattern, "--read", "*", "--generate", "--file", str(users)]
        assert main(add) == 0
        passwords[name] = capsys.readouterr().out.strip()
    database_url = f"sqlite:///{tmp_path / 'running.db'}"
    with serve_in_thread(database_url, CONTRACTLOG_USERS_FILE=str(users)) as url:
        verb = ["import", str(export), "--registry", url]
        for name, code in (("bob", 4), ("ann", 0)):
            monkeypatch.setenv("CONTRACTLOG_REGISTRY_USER", name)
            monkeypatch.setenv("CONTRACTLOG_REGISTRY_PASSWORD", passwords[name])
            assert brought(verb, capsys)[0] == code
        with Registry(url, security=Security(user="ann", password=passwords["ann"])) as registry:
            actors = {change["actor"] for change in registry.changes()["changes"]}
    assert actors == {"ann"}

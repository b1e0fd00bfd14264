"""An import begins a segment of the change log that names the head of the source's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.registry.settings import Settings
from contractlog.registry.storage import change_log
from contractlog.registry.storage.store import Store
from contractlog.registry.transfer.file_format import FORMAT, read_lines
from contractlog.registry.transfer.importer import import_contents
from contractlog.registry.transfer.report import TransferReport

from support.command_line import run_verb
from support.registry import create_sqlite, in_process, serve_in_thread


def test_an_import_begins_with_the_head_of_the_source_and_a_repeated_one_has_no_entry(
    store: Store, tmp_path: Path
) -> None:
    url = create_sqlite(tmp_path / "source.db")
    with in_process(Settings(database_url=url)) as http:
        assert http.post("/subjects/s/versions", json={"schema": '"string"'}).status_code == 200
        page = http.get("/contractlog/v1/changes").json()
    exported = run_verb(["export", "--database-url", url], environment={}).stdout
    assert json.loads(exported.splitlines()[0])["journal_hash"] == page["head_hash"]
    for _ in range(2):
        contents = read_lines(iter(exported.splitlines()), TransferReport())
        import_contents(store, contents, TransferReport())
    with store.open_snapshot() as snapshot:
        first, *others = change_log.each_change(snapshot, 0)
    assert (first.action, first.target) == ("import.started", "*")
    assert first.facts == {"source": {"sequence": 1, "hash": page["head_hash"]}}
    assert [change.action for change in others] == ["version.registered"]


@pytest.mark.parametrize(
    "head", [{"journal_hash": "af" * 32}, {"journal": "1", "journal_hash": "af" * 32}, {"journal_hash": 1}]
)
def test_a_header_with_an_invalid_head_is_rejected(head: dict[str, object]) -> None:
    lines = [json.dumps({"format": FORMAT, **head}), '{"kind": "end", "lines": 2}']
    with pytest.raises(UsageError, match="journal"):
        read_lines(iter(lines), TransferReport())


def test_a_live_contractlog_registry_is_a_source_with_a_head(tmp_path: Path) -> None:
    source, target = (create_sqlite(tmp_path / f"{name}.db") for name in ("source", "target"))
    with in_process(Settings(database_url=source)) as http:
        http.post("/subjects/s/versions", json={"schema": '"string"'})
        head = http.get("/contractlog/v1/changes").json()["head_hash"]
    with serve_in_thread(source) as url:
        assert run_verb(["import", url, "--database-url", target], environment={}).returncode == 0
    with in_process(Settings(database_url=target)) as http:
        first = http.get("/contractlog/v1/changes").json()["changes"][0]
    assert (first["action"], first["details"]) == ("import.started", {"source": {"sequence": 1, "hash": head}})

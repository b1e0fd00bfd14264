"""The journal contains the name of the caller who made a change."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import select

from contractlog.registry.access.current_caller import current_actor
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.settings import Settings
from contractlog.registry.storage import tables

from support.registry import in_process

STRING = {"schema": '{"type":"string"}'}
CI = ("ci", "pw")
OWNED = {"resourceName": "t", "resourceNamespace": "c", "resourceId": "r", "associations": [{"schema": STRING}]}


def test_the_journal_names_the_actor(tmp_path: Path) -> None:
    path = tmp_path / "users.toml"
    path.write_text(format_entry("ci", HashedPassword.of("pw", n=2, r=1, p=1), [], ["*"]))
    with in_process(Settings(database_url="sqlite://", users_file=str(path))) as http:
        http.post("/subjects/orders-value/versions", json=STRING, auth=CI)
        http.put("/config/orders-value", json={"compatibility": "NONE"}, auth=CI)
        http.post("/associations", json=OWNED, auth=CI)
        http.delete("/associations/resources/r?cascadeLifecycle=true", auth=CI)
        http.delete("/subjects/orders-value", auth=CI)
        store = http.app.state.services.store  # type: ignore[attr-defined]
        with store.open_snapshot() as snapshot:
            c = tables.changes.c
            rows = [tuple(row) for row in snapshot.connection.execute(select(c.action, c.actor).order_by(c.sequence))]
    assert [row for row in rows if row[1] != "ci"] == []
    assert len(rows) == 8
    assert current_actor.get() == "anonymous"

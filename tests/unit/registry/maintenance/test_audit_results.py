"""``contractlog db prune`` removes old audit results, as the setting or the option says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import select, update

from contractlog.clients.cli.main import main
from contractlog.registry.database import open_store
from contractlog.registry.features.conformance.queries import AuditFigures, record_result
from contractlog.registry.settings import Settings
from contractlog.registry.storage import tables

from support.registry import create_sqlite

DAY = 86_400_000
C = tables.conformance.c


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A database with results that are 500, 400, …, 0 days old, and some hours."""
    url = create_sqlite(tmp_path / "r.db")
    store = open_store(Settings(database_url=url))
    for age in range(500, -1, -100):
        figures = AuditFigures("passing", age, 0, None)
        store.transact(
            lambda change, age=age, figures=figures: [
                record_result(change, "t", "value", ranges=str(age), entry=str(age), figures=figures),
                change.connection.execute(
                    update(tables.conformance)
                    .where(C.entry == str(age))
                    .values(recorded_at=change.now - age * DAY - DAY // 4)
                ),
            ]
        ).result(30)
    store.close()
    return url


def _stored(url: str) -> list[int]:
    store = open_store(Settings(database_url=url))
    with store.open_snapshot() as snapshot:
        entries = snapshot.connection.execute(select(C.entry).order_by(C.sequence)).scalars().all()
    store.close()
    return [int(entry) for entry in entries]


def test_the_setting_and_the_option_say_how_old_results_may_be(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["db", "prune", "--database-url", url]) == 0
    assert capsys.readouterr().err == ("removed 2 audit results older than 400 days; merged the hourly counts of 3\n")
    assert _stored(url) == [300, 200, 100, 0]
    monkeypatch.setenv("CONTRACTLOG_RESULTS_DAYS", "250")
    assert main(["db", "prune", "--database-url", url, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"format": "contractlog.db/1", "removed": 1, "merged": 0}
    assert main(["db", "prune", "--database-url", url, "--results-days", "0"]) == 0
    assert capsys.readouterr().err == "removed no audit result; merged the hourly counts of 0\n"
    assert _stored(url) == [200, 100, 0]
    assert main(["db", "prune", "--database-url", url, "--results-days", "1"]) == 0
    assert _stored(url) == [0]


def test_wrong_calls_say_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = create_sqlite(tmp_path / "r.db")
    assert main(["db", "prune", "--database-url", url, "--results-days", "-1"]) == 2
    assert "--results-days cannot be -1" in capsys.readouterr().err
    assert main(["db", "prune", "--database-url", f"sqlite:///{tmp_path / 'other.db'}"]) == 2
    assert "contains no registry" in capsys.readouterr().err

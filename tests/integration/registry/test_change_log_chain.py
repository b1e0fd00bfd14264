"""The hash chain of the change log on each database, with several nodes, and after upgrades."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import httpx2
import pytest
from sqlalchemy import Connection, delete, insert, select, update

from contractlog.contracts.change_log.chain_verification import ChainReport, ProblemKind, RecordedHead, verify_chain
from contractlog.contracts.change_log.recorded_change import ChangeLogHead, RecordedChange
from contractlog.registry.database import downgrade, open_store, upgrade
from contractlog.registry.settings import Settings
from contractlog.registry.storage import change_log, tables
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store

from support.change_chains import MUTATIONS
from support.command_line import run_verb
from support.registry import create_sqlite, in_process, serve_in_thread

C = tables.changes.c
ENTRIES = 12


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database with the newest tables."""
    if request.param == "postgresql":
        upgraded: str = request.getfixturevalue("upgraded_postgres_url")
        return upgraded
    return create_sqlite(tmp_path / "registry.db")


def write(store: Store, count: int = ENTRIES, start: int = 0) -> None:
    """Write entries in batches of different sizes."""
    texts = ("plain", "größer", "\u2028", 'a"b\\c', "")
    futures = [
        store.transact(
            lambda transaction, number=number: transaction.record_change(
                "test.written",
                f"target {number} {texts[number % 5]}",
                after=None if number % 2 else "af" * 32,
                details={"number": number, "text": texts[number % 5]} if number % 3 else {},
            ),
            actor=f"writer {number % 2}",
        )
        for number in range(start, start + count)
    ]
    for future in futures:
        future.result(60)


def verify(connection: Connection, **options: RecordedHead) -> ChainReport:
    snapshot = Snapshot(connection)
    end = ChangeLogHead(change_log.read_counter(snapshot), None)
    return verify_chain(change_log.each_change(snapshot, 0), end=end, **options)


def read(store: Store) -> list[RecordedChange]:
    with store.open_snapshot() as snapshot:
        return list(change_log.each_change(snapshot, 0))


def test_any_single_mutation_of_the_table_is_found(store: Store) -> None:
    write(store)
    intact = read(store)
    random = Random(7)  # noqa: S311 - repeatable
    with store._engines.writer.connect() as connection:
        for round_ in range(60):
            mutated = list(intact)
            MUTATIONS[round_ % len(MUTATIONS)](random, mutated)
            rows = {change.sequence: change for change in mutated}  # its key admits no row twice
            mutated = [rows[sequence] for sequence in sorted(rows)]
            if mutated == intact:
                continue
            with connection.begin() as transaction:
                connection.execute(delete(tables.changes))
                names = [column.name for column in tables.changes.columns]
                connection.execute(
                    insert(tables.changes), [{name: getattr(change, name) for name in names} for change in mutated]
                )
                assert verify(connection).problem is not None, (round_, mutated)
                transaction.rollback()
        with connection.begin() as transaction:
            assert verify(connection).problem is None
            connection.execute(delete(tables.changes).where(C.sequence > 9))
            cut = verify(connection).problem
            transaction.rollback()
        assert cut is not None
        assert (cut.kind, cut.sequence) == (ProblemKind.MISSING, 10)


def test_a_rewritten_table_is_found_by_a_recorded_head(store: Store) -> None:
    write(store)
    with store.open_snapshot() as snapshot:
        recorded = RecordedHead.parse(str(change_log.read_head(snapshot)))
    with store._engines.writer.connect() as connection, connection.begin() as transaction:
        connection.execute(update(tables.changes).where(C.sequence == 3).values(actor="nobody"))
        connection.execute(update(tables.changes).where(C.sequence >= 3).values(hash=None, previous_hash=None))
        change_log.chain_entries(connection)
        assert verify(connection).problem is None
        problem = verify(connection, head=recorded).problem
        transaction.rollback()
    assert problem is not None
    assert (problem.kind, problem.sequence) == (ProblemKind.REWRITTEN, ENTRIES)


def test_entries_of_an_earlier_release_are_chained_by_the_next_write(store: Store) -> None:
    write(store)
    intact = read(store)
    with store._engines.writer.begin() as connection:  # as code writes that does not have the columns
        connection.execute(update(tables.changes).where(C.sequence > 5).values(hash=None, previous_hash=None))
        problem = verify(connection).problem
    assert problem is not None
    assert (problem.kind, problem.sequence) == (ProblemKind.UNCHAINED, 6)
    write(store, 2, ENTRIES)
    assert read(store)[:ENTRIES] == intact
    with store.open_snapshot() as snapshot:
        assert verify(snapshot.connection).problem is None


def test_an_upgrade_chains_existing_entries_in_batches(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_log, "_CHAINED_TOGETHER", 5)
    store = open_store(Settings(database_url=url))
    write(store)
    intact = read(store)
    store.close()
    downgrade(url, "0008")
    upgrade(url)
    store = open_store(Settings(database_url=url))
    assert read(store) == intact
    write(store, 3, ENTRIES)
    with store.open_snapshot() as snapshot:
        assert verify(snapshot.connection).head.sequence == ENTRIES + 3
        assert verify(snapshot.connection).problem is None
    store.close()


@pytest.mark.integration
def test_writers_on_two_nodes_keep_the_chain(upgraded_postgres_url: str) -> None:
    with (
        in_process(Settings(database_url=upgraded_postgres_url)) as one,
        in_process(Settings(database_url=upgraded_postgres_url)) as two,
        ThreadPoolExecutor(8) as pool,
    ):

        def register(number: int) -> int:
            node = (one, two)[number % 2]
            return node.post(f"/subjects/s{number % 7}/versions", json={"schema": json.dumps("string")}).status_code

        def configure(number: int) -> int:
            node = (one, two)[number % 2]
            return node.put(f"/config/s{number}", json={"compatibility": "FULL"}).status_code

        assert {*pool.map(register, range(28)), *pool.map(configure, range(12))} == {200}
    done = run_verb(["journal", "verify", "--database-url", upgraded_postgres_url, "--format", "json"], environment={})
    assert done.returncode == 0, done
    assert json.loads(done.stdout)["verified_to"] == 7 + 12


def test_journal_verifies_registries_databases_and_exports(url: str, tmp_path: Path) -> None:
    with serve_in_thread(url) as registry:
        sources = (["--registry", registry], ["--database-url", url])
        for number in range(4):
            body = {"schema": json.dumps("string")}
            assert httpx2.post(f"{registry}/subjects/s{number}/versions", json=body).status_code == 200
        heads = {run_verb(["journal", "head", *source], environment={}).stdout for source in sources}
        assert len(heads) == 1
        head = heads.pop().strip()
        assert head.startswith("4:")
        exports = [run_verb(["journal", "export", *source], environment={}).stdout for source in sources]
        assert exports[0] == exports[1]
        for source in sources:
            assert run_verb(["journal", "verify", *source, "--head", head], environment={}).returncode == 0
            wrong = run_verb(["journal", "verify", *source, "--head", "4:" + "0" * 64], environment={})
            assert (wrong.returncode, wrong.stdout.split(" is ")[0]) == (1, "entry 4")
    lines = exports[0].splitlines()
    whole, cut, part = (tmp_path / name for name in ("whole", "cut", "part"))
    whole.write_text(exports[0])
    cut.write_text("\n".join(lines[:3]))
    part.write_text("\n".join(lines[2:]))
    verdicts = [
        run_verb(["journal", "verify", *arguments], environment={}).returncode
        for arguments in (
            [str(whole)],
            [str(whole), "--head", head],
            [str(cut)],
            [str(cut), "--head", head],
            [str(part)],
            [str(part), "--since", "2", "--head", head],
        )
    ]
    assert verdicts == [0, 0, 0, 1, 1, 0]
    changed = run_verb(
        ["journal", "verify", "-", "--format", "json"],
        environment={},
        stdin=exports[0].replace('"target":"s2/1"', '"target":"s9/1"'),
    )
    assert changed.returncode == 1
    assert json.loads(changed.stdout)["problem"]["sequence"] == 3


def test_journal_names_the_first_missing_row(url: str) -> None:
    store = open_store(Settings(database_url=url))
    write(store)
    with store._engines.writer.begin() as connection:
        connection.execute(delete(tables.changes).where(C.sequence == 7))
        assert len(connection.execute(select(C.sequence)).all()) == ENTRIES - 1
    store.close()
    done = run_verb(["journal", "verify", "--database-url", url], environment={})
    assert (done.returncode, done.stdout) == (1, "entry 7 is missing\n")

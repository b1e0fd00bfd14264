"""Very large ids require a permission; new ids skip used ones after a correction."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contractlog.clients.cli.main import main
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.identifiers import MAX_ID
from contractlog.registry.database import open_store
from contractlog.registry.maintenance.context_deletion import forget_context
from contractlog.registry.maintenance.id_counter_correction import counter_warnings, lower_ids, raise_ids
from contractlog.registry.settings import Settings
from contractlog.registry.storage import id_counters
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.transaction import Transaction
from contractlog.registry.transfer.database_access import read_database
from contractlog.registry.transfer.file_format import format_content_lines, format_lines, read_lines
from contractlog.registry.transfer.importer import import_contents, plan_import
from contractlog.registry.transfer.report import TransferReport

from support.export_lines import EVERY_KIND, Line, create_export
from support.registry import create_sqlite, in_process

if TYPE_CHECKING:
    import httpx2

MOST = 1_000_000
_POSTGRESQL = pytest.param("upgraded_postgres_url", marks=pytest.mark.integration, id="postgresql")


@pytest.fixture(params=["sqlite", _POSTGRESQL])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database that can be opened again."""
    if request.param == "sqlite":
        return create_sqlite(tmp_path / "r.db")
    url: str = request.getfixturevalue(request.param)
    return url


@contextmanager
def opened(url: str) -> Iterator[Store]:
    store = open_store(Settings(database_url=url))
    try:
        yield store
    finally:
        store.close()


def schema(schema_id: int, context: str = ".") -> list[Line]:
    text = json.dumps({"type": "fixed", "name": "F", "size": schema_id % 1_000_000 + 1})
    name = f"s{schema_id}" if context == "." else f":{context}:s{schema_id}"
    return [
        {"kind": "schema", "context": context, "id": schema_id, "type": "AVRO", "schema": text, "created": 1},
        {"kind": "version", "subject": name, "version": 1, "id": schema_id, "created": 1},
    ]


def retired(schema_id: int) -> list[Line]:
    return [{"kind": "retired", "context": ".", "id": schema_id}]


def counter(following: int) -> list[Line]:
    return [{"kind": "context", "name": ".", "next_id": following}]


def imported(store: Store, *lines: Line, allow_id_gap: bool = False) -> list[str]:
    report = TransferReport()
    import_contents(store, read_lines(create_export(*lines), report), report, allow_id_gap=allow_id_gap)
    return report.conflicts


def following(store: Store, context: str = ".") -> int:
    with store.open_snapshot() as snapshot:
        return snapshot.max_id(context) + 1


@pytest.mark.parametrize(
    ("lines", "refused"),
    [
        ([*schema(MOST)], None),
        ([*schema(MOST + 1)], f"line 2: the id {MOST + 1} of context . is more than 1,000,000 above 0"),
        ([*schema(MOST), *schema(2 * MOST), *schema(3 * MOST)], None),
        ([*schema(MOST), *retired(2 * MOST), *schema(3 * MOST)], None),
        ([*schema(5), *schema(MOST + 6)], f"line 4: the id {MOST + 6} of context . is more than 1,000,000 above 5"),
        ([*schema(5), *retired(MAX_ID)], f"line 4: the id {MAX_ID} of context . is more than"),
        (counter(MOST + 1), None),
        (counter(MOST + 2), f"line 2: the next id {MOST + 2} of context . is more than 1,000,000 above 0"),
        (counter(MAX_ID + 1), f"line 2: the next id {MAX_ID + 1} of context . is more than 1,000,000 above 0"),
    ],
)
def test_an_import_refuses_ids_far_above_all_others_by_their_line(
    registry_store: Store, lines: list[Line], refused: str | None
) -> None:
    conflicts = imported(registry_store, *lines)
    if refused is None:
        assert conflicts == []
    else:
        (conflict,) = conflicts
        assert conflict.startswith(refused)
        assert "--allow-id-gap" in conflict
        assert "CONTRACTLOG_ALLOW_ID_GAP=true" in conflict
        report = TransferReport()
        with registry_store.open_snapshot() as snapshot:
            plan_import(snapshot, read_lines(create_export(*lines), report), report)
        assert report.conflicts == conflicts
        assert imported(registry_store, *lines, allow_id_gap=True) == []
        assert imported(registry_store, *lines) == []  # again: nothing is new


@pytest.fixture
def registry_store() -> Iterator[Store]:
    with opened("sqlite://") as store:
        yield store


def register(http: httpx2.Client, number: int, **members: Any) -> httpx2.Response:
    text = json.dumps({"type": "fixed", "name": "G", "size": number})
    subject = "imported" if "id" in members else f"new-{number}"
    return http.post(f"/subjects/{subject}/versions", json={"schema": text} | members)


def test_a_registration_refuses_an_id_far_above_all_others_unless_the_server_allows_it() -> None:
    for allowed in (False, True):
        with in_process(Settings(database_url="sqlite://", allow_id_gap=allowed)) as http:
            http.put("/mode/imported", json={"mode": "IMPORT"})
            assert register(http, 1, id=MOST).json()["id"] == MOST
            answer = register(http, 2, id=2 * MOST + 1)
            assert answer.status_code == (200 if allowed else 422)
            if not allowed:
                assert answer.json()["error_code"] == 42205
                assert f"more than 1,000,000 above {MOST}, the highest id" in answer.json()["message"]
                assert register(http, 3).json()["id"] == MOST + 1


def test_a_running_registry_imports_gaps_where_its_setting_says_so() -> None:
    content = "\n".join(create_export(*schema(MOST + 1)))
    for allowed in (False, True):
        with in_process(Settings(database_url="sqlite://", allow_id_gap=allowed)) as http:
            answer = http.post("/contractlog/v1/import", content=content)
            assert answer.status_code == (200 if allowed else 409)


def test_new_ids_skip_every_id_that_was_given(url: str) -> None:
    with opened(url) as store:
        lines = [line for one in (1, 2, 5, 7) for line in schema(one)] + retired(6)
        assert imported(store, *lines) == []
        run = [line for one in range(10, 2_510) for line in retired(one)]  # longer than what is read at once
        assert imported(store, *run) == []
        store.transact(lambda transaction: lower(transaction, 3)).result()
    with in_process(Settings(database_url=url)) as http:
        given = [register(http, number).json()["id"] for number in range(2, 9)]
    assert given == [3, 4, 8, 9, 2_510, 2_511, 2_512]


def lower(transaction: Transaction, following: int) -> None:
    id_counters.lower_counter(transaction, ".", following)


def test_a_context_whose_last_id_was_named_takes_new_schemas_again(url: str) -> None:
    with in_process(Settings(database_url=url, allow_id_gap=True)) as http:
        assert register(http, 2).json()["id"] == 1
        http.put("/mode/imported", json={"mode": "IMPORT"})
        for number, named in ((3, 1_500_000_000), (4, MAX_ID)):
            assert register(http, number, id=named).json()["id"] == named
        refused = register(http, 5).json()
        assert refused["error_code"] == 42205
        assert "contractlog db lower-ids ." in refused["message"]
    assert lower_ids(url, ".") == (MAX_ID + 1, 1_500_000_001)
    assert lower_ids(url, ".") == (1_500_000_001, 2)
    with pytest.raises(UsageError, match="no isolated id"):
        lower_ids(url, ".")
    with opened(url) as store:
        assert list(counter_warnings(store)) == []
    with in_process(Settings(database_url=url)) as http:
        assert register(http, 5).json()["id"] == 2
        assert http.get(f"/schemas/ids/{MAX_ID}").status_code == 200
        http.put("/mode/imported", json={"mode": "IMPORT"})
        assert register(http, 6, id=1_600_000_000).json()["error_code"] == 42205  # nor may it be raised so far again
        http.delete("/subjects/imported")
        http.delete("/subjects/imported?permanent=true")
        assert register(http, 7).json()["id"] == 3


def test_a_counter_that_was_raised_too_far_is_lowered(url: str) -> None:
    with opened(url) as store:
        assert imported(store, *schema(8)) == []
    assert raise_ids(url, ".", 2_000_000_000) == 2_000_000_001
    assert lower_ids(url, ".") == (2_000_000_001, 9)
    with pytest.raises(UsageError, match=r"no context `\.none`, there are: `\.`"):
        lower_ids(url, ".none")


def test_an_export_of_a_lowered_context_is_imported_as_it_is(url: str) -> None:
    with opened(url) as store:
        assert imported(store, *schema(1), *schema(MAX_ID), allow_id_gap=True) == []
    lower_ids(url, ".")
    with opened(url) as store, opened("sqlite://") as other:
        with store.open_snapshot() as snapshot:
            state = read_database(snapshot)
        lines = list(format_lines(state, {}))
        report = TransferReport()
        import_contents(other, read_lines(lines, report), report, allow_id_gap=True)
        assert report.conflicts == []
        assert following(other) == 2
        with other.open_snapshot() as snapshot:
            assert list(format_content_lines(read_database(snapshot))) == list(format_content_lines(state))


def test_a_context_without_live_versions_is_forgotten_by_its_name_given_twice(url: str) -> None:
    with opened(url) as store:
        assert imported(store, *EVERY_KIND, *schema(4)) == []
        assert imported(store, *schema(9, ".eu")) == []
    with pytest.raises(UsageError, match=r"--confirm has to repeat the context `\.eu`, and is `\.us`"):
        forget_context(url, ".eu", ".us")
    with pytest.raises(UsageError, match=r"context \.eu has live versions, in 2 subjects such as `:\.eu:s9`"):
        forget_context(url, ".eu", ".eu")
    with in_process(Settings(database_url=url)) as http:
        http.put("/mode/:.eu:orders", json={"mode": "READWRITE"})
        for one in http.get("/associations/resources/-/-").json():
            http.delete(f"/associations/resources/{one['resourceId']}?cascadeLifecycle=false")
        for name in (":.eu:orders", ":.eu:s9", ":.eu:target"):
            http.delete(f"/subjects/{name}")
    assert forget_context(url, ".eu", ".eu") == 4
    with opened(url) as store:
        with store.open_snapshot() as snapshot:
            state = read_database(snapshot)
        assert {key[0] for key in state.schemas} == {"."}
        assert (state.retired, state.contexts[".eu"]) == ({}, 1)
        assert not [scope for scope in (*state.settings, *state.modes) if scope.context == ".eu"]
        other = [line | {"schema": '"bytes"'} for line in schema(9, ".eu")[:1]] + schema(9, ".eu")[1:]
        assert imported(store, *other) == []  # another content under an id that was given
    with in_process(Settings(database_url=url)) as http:
        assert http.post("/subjects/:.eu:new/versions", json={"schema": '"long"'}).json()["id"] == 10
        changes = http.get("/contractlog/v1/changes?limit=1000").json()["changes"]
    assert "context.forgotten" in {change["action"] for change in changes}


def test_the_default_context_is_forgotten_and_goes_on_from_1(url: str) -> None:
    with in_process(Settings(database_url=url)) as http:
        assert register(http, 1).json()["id"] == 1
        http.delete("/subjects/new-1")
        http.delete("/subjects/new-1?permanent=true")
    assert forget_context(url, ".", ".") == 1
    with in_process(Settings(database_url=url)) as http:
        assert register(http, 2).json()["id"] == 1
        reference = [{"name": "F", "subject": ":.:new-2", "version": 1}]
        text = '{"type":"record","name":"R","fields":[{"name":"a","type":"G"}]}'
        answer = http.post("/subjects/:.eu:r/versions", json={"schema": text, "references": reference})
        assert answer.status_code == 200, answer.text
        http.delete("/subjects/:.eu:r")
        http.delete("/subjects/new-2")
    with pytest.raises(UsageError, match=r"the schema with id 1 of context \.eu references a version of context \.:"):
        forget_context(url, ".", ".")


def test_a_repeated_migration_is_told_its_ways_out(registry_store: Store) -> None:
    first, second = schema(5), schema(5)
    second[0] = second[0] | {"schema": '"bytes"'}
    assert imported(registry_store, *first) == []
    gone = read_lines(create_export(), TransferReport())
    gone.deletions.versions = {(version.subject, version.version, 5) for version in versions(registry_store)}
    import_contents(registry_store, gone, TransferReport())
    (conflict,) = imported(registry_store, *second)
    assert conflict.startswith("line 2: the id 5 of context . was hard-deleted here and had different content")
    assert "another context; or" in conflict
    assert "contractlog db forget-context . --confirm ." in conflict
    assert imported(registry_store, *first) == []  # its former content comes back


def versions(store: Store) -> list[Any]:
    with store.open_snapshot() as snapshot:
        return list(read_database(snapshot).versions.values())


def test_the_verbs_tell_what_they_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database, file = f"sqlite:///{tmp_path / 'r.db'}", tmp_path / "r.ndjson"
    file.write_text("\n".join(create_export(*schema(3), *schema(MAX_ID))) + "\n")
    assert main(["import", str(file), "--database-url", database, "--dry-run"]) == 1
    assert main(["import", str(file), "--database-url", database]) == 1
    assert "--allow-id-gap" in capsys.readouterr().out
    assert main(["import", str(file), "--registry", "http://localhost:1", "--allow-id-gap"]) == 2
    assert "CONTRACTLOG_ALLOW_ID_GAP=true" in capsys.readouterr().err
    assert main(["import", str(file), "--database-url", database, "--allow-id-gap"]) == 0
    capsys.readouterr()
    assert main(["db", "lower-ids", ".", "--database-url", database]) == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("4\n", "the next id of context . is 4, it was 2147483648\n")
    assert main(["db", "forget-context", ".", "--confirm", ".", "--database-url", database]) == 2
    assert "has live versions" in capsys.readouterr().err
    assert main(["db", "forget-context", ".", "--database-url", database]) == 2


@pytest.mark.integration
def test_a_node_that_serves_judges_by_the_new_content_of_a_forgotten_id(upgraded_postgres_url: str) -> None:
    text = '{"type":"record","name":"R","fields":[{"name":"a","type":"%s"%s}]}'
    with in_process(Settings(database_url=upgraded_postgres_url)) as http:

        def registered(kind: str, default: str = "") -> int:
            answer = http.post("/subjects/:.eu:s/versions", json={"schema": text % (kind, default)})
            return int(answer.json().get("id", answer.json().get("error_code")))

        assert (registered("int"), registered("long")) == (1, 2)
        http.delete("/subjects/:.eu:s")
        assert forget_context(upgraded_postgres_url, ".eu", ".eu") == 2
        assert http.get("/contexts").json() == ["."]
        assert registered("string") == 1
        assert registered("long") == 40901  # it was compatible with the content that the id 1 had before

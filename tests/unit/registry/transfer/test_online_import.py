"""An import into a running registry has the same effect as into its database, or none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings

from contractlog.registry.settings import Settings
from contractlog.registry.storage.store import Store
from contractlog.registry.transfer.database_access import read_database
from contractlog.registry.transfer.file_format import format_content_lines, format_lines
from contractlog.registry.transfer.importer import import_contents
from contractlog.registry.transfer.registry_contents import RegistryContents
from contractlog.registry.transfer.report import TransferReport

from support.registry import in_process
from support.snapshots import snapshots

PATH = "/contractlog/v1/import"


@pytest.fixture
def small() -> Iterator[httpx2.Client]:
    """A registry that takes exports of 2,000 bytes."""
    with in_process(Settings(database_url="sqlite://", max_body_bytes=100, max_import_bytes=2_000)) as client:
        yield client


def sent(client: httpx2.Client, imported: RegistryContents, query: str = "") -> httpx2.Response:
    return client.post(PATH + query, content="".join(f"{line}\n" for line in format_lines(imported, {})).encode())


def store_of(client: httpx2.Client) -> Store:
    found: Store = client.app.state.services.store  # type: ignore[attr-defined]
    return found


def state(store: Store) -> list[str]:
    with store.open_snapshot() as snapshot:
        return list(format_content_lines(read_database(snapshot)))


@settings(max_examples=8, deadline=None)
@given(imported=snapshots())
def test_it_is_the_same_as_importing_into_its_database(imported: RegistryContents) -> None:
    with in_process(Settings(database_url="sqlite://")) as one, in_process(Settings(database_url="sqlite://")) as other:
        before = state(store_of(one))
        assert sent(one, imported, "?dryRun=true").status_code == 200
        assert state(store_of(one)) == before
        answer, report = sent(one, imported), TransferReport()
        import_contents(store_of(other), imported, report)
        assert (answer.status_code, answer.json()["conflicts"]) == (200, [])
        assert answer.json()["done"] == dict(report.done)
        assert _timeless(state(store_of(one))) == _timeless(state(store_of(other)))
        assert not any(sent(one, imported).json()["done"].values())


def _timeless(lines: list[str]) -> list[dict[str, Any]]:
    """What has no time in the source has that of the import."""
    return [{name: value for name, value in json.loads(line).items() if name not in TIMES} for line in lines]


TIMES = {"created", "updated", "at"}


def test_a_context_that_was_deleted_is_listed_again_with_what_comes_into_it(http: httpx2.Client) -> None:
    def emptied() -> list[str]:
        http.delete("/subjects/:.eu:s")
        http.delete("/subjects/:.eu:s?permanent=true")
        found: list[str] = http.get("/contexts").json()
        return found

    http.post("/subjects/:.eu:s/versions", json={"schema": '"int"'})
    assert emptied() == [".", ".eu"]
    assert http.delete("/contexts/.eu").status_code == 204
    assert http.get("/contexts").json() == ["."]
    lines = [
        {"format": "contractlog.export/1"},
        {"kind": "schema", "context": ".eu", "id": 7, "type": "AVRO", "schema": '"long"'},
        {"kind": "version", "subject": ":.eu:s", "version": 2, "id": 7},
        {"kind": "end", "lines": 4},
    ]
    answer = http.post(PATH, content="".join(json.dumps(line) + "\n" for line in lines).encode())
    assert answer.json()["conflicts"] == []
    assert emptied() == [".", ".eu"]


def test_cached_responses_are_renewed_after_an_import(http: httpx2.Client) -> None:
    http.post("/subjects/s/versions", json={"schema": '"int"'})
    assert http.get("/subjects/s/versions/latest").json()["version"] == 1
    assert http.get("/schemas/ids/1?subject=s").status_code == 200
    more = [
        {"format": "contractlog.export/1"},
        {"kind": "schema", "context": ".", "id": 7, "type": "AVRO", "schema": '"long"'},
        {"kind": "version", "subject": "s", "version": 2, "id": 7},
        {"kind": "settings", "scope": "t", "config": {"alias": "s"}},
        {"kind": "end", "lines": 5},
    ]
    assert http.post(PATH, content="\n".join(map(json.dumps, more))).status_code == 200
    assert http.get("/subjects/s/versions/latest").json()["id"] == 7
    assert http.get("/subjects/t/versions/latest").json()["id"] == 7
    assert http.post("/subjects/s/versions?normalize=true", json={"schema": '"long"'}).json()["id"] == 7
    lines = http.get("/contractlog/v1/changes").json()["changes"]
    assert {line["actor"] for line in lines} == {"anonymous"}
    assert [line["details"].get("bypass") for line in lines if line["target"] != "s/1"] == ["IMPORT", "IMPORT"]


@pytest.mark.parametrize("query", ["dryRun=perhaps", "dryRun=1", "dryrun=true", "modes=no", "modes=0"])
def test_unreadable_requests_import_nothing(http: httpx2.Client, query: str) -> None:
    before = state(store_of(http))
    answer = sent(http, RegistryContents(contexts={".dry": 5}), f"?{query}")
    assert (answer.status_code, answer.json()["error_code"]) == (422, 42281)
    assert state(store_of(http)) == before


@pytest.mark.parametrize("query", ["?dryRun=true", ""])
def test_contradictory_guids_are_conflicts_and_nothing_is_written(http: httpx2.Client, query: str) -> None:
    guid = http.post("/subjects/s/versions", json={"schema": '"int"'}).json()["guid"]
    other, before = guid[:-1] + ("1" if guid[-1] == "0" else "0"), state(store_of(http))
    lines = [
        {"format": "contractlog.export/1"},
        {"kind": "schema", "context": ".", "id": 1, "type": "AVRO", "schema": '"int"', "guid": other},
        {"kind": "schema", "context": ".", "id": 2, "type": "AVRO", "schema": '"long"', "guid": guid},
        {"kind": "version", "subject": "t", "version": 1, "id": 2},
        {"kind": "end", "lines": 5},
    ]
    answer = http.post(PATH + query, content="\n".join(map(json.dumps, lines)))
    assert answer.status_code == (200 if query else 409)
    assert answer.json()["conflicts"] == [
        f"line 2: the id 1 of context . has the guid {other} in the source and {guid} here",
        f"line 3: the id 2 of context . has the guid {guid}, which the id 1 of context . has with different content",
    ]
    assert state(store_of(http)) == before


def test_a_guid_covers_no_other_content(http: httpx2.Client) -> None:
    """A file that was edited by hand: its guids are those of what was there."""
    guid = http.post("/subjects/s/versions", json={"schema": '"int"'}).json()["guid"]
    lines = [
        {"format": "contractlog.export/1"},
        {"kind": "schema", "context": ".", "id": 1, "type": "AVRO", "schema": '"long"', "guid": guid},
        {"kind": "version", "subject": "s", "version": 1, "id": 1},
        {"kind": "end", "lines": 4},
    ]
    answer = http.post(PATH, content="\n".join(map(json.dumps, lines)))
    assert (answer.status_code, answer.json()["error_code"]) == (409, 40981)
    assert answer.json()["conflicts"] == ["the id 1 of context . has different content here"]
    assert answer.json()["done"] == {}
    lines[1]["guid"] = "zork"
    answer = http.post(PATH, content="\n".join(map(json.dumps, lines)))
    assert (answer.status_code, answer.json()["error_code"]) == (400, 400)
    assert "line 2" in answer.json()["message"]


def test_a_contradiction_is_409_and_nothing_is_written(http: httpx2.Client) -> None:
    http.post("/subjects/s/versions", json={"schema": '"int"'})
    before = state(store_of(http))
    more = [
        {"format": "contractlog.export/1"},
        {"kind": "context", "name": ".eu", "next_id": 9},
        {"kind": "schema", "context": ".", "id": 1, "type": "AVRO", "schema": '"long"'},
        {"kind": "version", "subject": "t", "version": 1, "id": 1},
        {"kind": "end", "lines": 5},
    ]
    for query, status in (("?dryRun=true", 200), ("", 409)):
        answer = http.post(PATH + query, content="\n".join(map(json.dumps, more)))
        assert answer.status_code == status
        assert answer.json()["conflicts"] == ["the id 1 of context . has different content here"]
        assert answer.json().get("error_code") == (40981 if status == 409 else None)
        assert state(store_of(http)) == before


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "the file is empty"),
        (b"PK\x03\x04\xff\xfe", "not UTF-8 text"),
        (b'{"schema": 1}\n', "the first line does not have `contractlog.export/1`"),
        (b"id,schema\n1,x\n", "not a file of `contractlog export`"),
        (
            b'{"format":"contractlog.export/1"}\n{"kind":"schema","id":1}\n',
            "line 2 of the file cannot be read: it has",
        ),
        (b'{"format":"contractlog.export/1"}\n{"kind":"sch\n', "line 2 of the file cannot be read: it is not JSON ("),
        (b'{"format":"contractlog.export/1"}\n{"kind":"settings","config":[],"scope":"s"}\n', "of another kind"),
        (b'{"format":"contractlog.export/1"}\n', "the file ends early, after 1 lines"),
    ],
)
def test_invalid_exports_are_rejected_with_400_and_a_line(http: httpx2.Client, content: bytes, told: str) -> None:
    answer = http.post(PATH, content=content)
    assert (answer.status_code, answer.json()["error_code"]) == (400, 400)
    assert told in answer.json()["message"]
    assert "Error(" not in answer.json()["message"]


def test_an_export_has_a_limit_of_its_own(small: httpx2.Client) -> None:
    many = RegistryContents(contexts={f".c{number}": 5 for number in range(200)})
    assert sent(small, RegistryContents(contexts={f".c{number}": 5 for number in range(20)})).status_code == 200
    assert (sent(small, many).status_code, sent(small, many).json()["error_code"]) == (413, 413)
    assert small.post("/subjects/s/versions", content=b" " * 101).status_code == 413

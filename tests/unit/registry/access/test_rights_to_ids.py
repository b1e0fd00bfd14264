"""Permissions on some subjects of a context do not permit access to ids, which all share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.settings import Settings

from support.registry import in_process

if TYPE_CHECKING:
    import httpx2

WRITES = {
    "admin": ["*"],
    "mine": ["mine-*", ":.eu:mine-*", ":.own:*"],
    "default": [":.:*"],
    "europe": [":.eu:*"],
    "everywhere": [":*:*"],
}
STRING = '{"type":"string"}'


@pytest.fixture
def http(tmp_path: Path) -> Iterator[httpx2.Client]:
    file = tmp_path / "users.toml"
    users = (format_entry(name, HashedPassword.of("p", n=2, r=1, p=1), [], write) for name, write in WRITES.items())
    file.write_text("\n".join(users))
    with in_process(Settings(database_url="sqlite://", users_file=str(file))) as client:
        yield client


def put_mode(http: httpx2.Client, user: str, scope: str, mode: str = "IMPORT") -> tuple[int, Any]:
    answer = http.put(f"/mode/{scope}", json={"mode": mode}, auth=(user, "p"))
    return answer.status_code, answer.json().get("message")


def register(http: httpx2.Client, user: str, subject: str, **members: Any) -> tuple[int, Any]:
    answer = http.post(f"/subjects/{subject}/versions", json={"schema": STRING} | members, auth=(user, "p"))
    return answer.status_code, answer.json().get("message")


def denied(context: str) -> tuple[int, str]:
    return 403, f"User is denied operation Write on Subject: :{context}:*"


@pytest.mark.parametrize(
    ("scope", "context", "allowed"),
    [("mine-a", ".", "default"), (":.eu:mine-a", ".eu", "europe"), (":.own:b", ".own", "mine")],
)
def test_mode_import_needs_write_on_all_of_the_context(
    http: httpx2.Client, scope: str, context: str, allowed: str
) -> None:
    if allowed != "mine":
        assert put_mode(http, "mine", scope) == denied(context)
        assert put_mode(http, "mine", scope, "READONLY")[0] == 200
    for user in (allowed, "everywhere", "admin"):
        assert put_mode(http, user, scope)[0] == 200


def test_naming_an_id_needs_write_on_all_of_the_context(http: httpx2.Client) -> None:
    for scope in ("mine-a", ":.eu:mine-a", ":.own:a"):
        assert put_mode(http, "admin", scope)[0] == 200
    assert register(http, "mine", "mine-a", id=7) == denied(".")
    assert register(http, "mine", ":.eu:mine-a", id=7) == denied(".eu")
    assert register(http, "mine", ":.own:a", id=7)[0] == 200
    assert register(http, "default", "mine-a", id=7)[0] == 200
    assert register(http, "mine", "mine-a", id=7) == denied(".")  # whatever is there
    assert register(http, "mine", "mine-b")[0] == 200
    assert register(http, "mine", "mine-b", id=8) == denied(".")  # whatever the mode


def test_the_context_is_that_of_the_subject_that_a_name_means(http: httpx2.Client) -> None:
    assert http.put("/config/:.own:a", json={"alias": ":.eu:mine-a"}, auth=("mine", "p")).status_code == 200
    assert put_mode(http, "admin", ":.eu:mine-a")[0] == 200
    assert register(http, "mine", ":.own:a", id=7) == denied(".eu")


def test_a_schema_of_an_association_names_no_id_without_it(http: httpx2.Client) -> None:
    assert put_mode(http, "admin", ":.eu:mine-value")[0] == 200
    body = {
        "resourceName": "mine",
        "resourceNamespace": "eu",
        "resourceId": "r1",
        "associations": [{"associationType": "value", "schema": {"schema": STRING, "id": 7}}],
    }
    answer = http.post("/associations", json=body, auth=("mine", "p"))
    assert (answer.status_code, answer.json()["message"]) == denied(".eu")


def test_a_first_reference_needs_read_on_its_subject(http: httpx2.Client) -> None:
    a = '{"type":"record","name":"A","fields":[]}'
    b = '{"type":"record","name":"B","fields":[{"name":"a","type":"A"}]}'
    for subject in ("theirs", ":.eu:theirs"):
        assert register(http, "admin", subject, schema=a)[0] == 200
    for name, denied_to in (("theirs", "theirs"), (":.eu:theirs", ":.eu:theirs"), ("not-there", "not-there")):
        members = {"schema": b, "references": [{"name": "A", "subject": name, "version": 1}]}
        refused = (403, f"User is denied operation Read on Subject: {denied_to}")
        assert register(http, "mine", "mine-b", **members) == refused
        for path in ("/subjects/mine-b", "/compatibility/subjects/mine-b/versions"):
            answer = http.post(path, json=members, auth=("mine", "p"))
            assert (answer.status_code, answer.json().get("message")) == refused
    assert http.delete("/subjects/theirs", auth=("admin", "p")).status_code == 200  # nobody keeps it


def test_references_that_a_subject_has_already_are_permitted(http: httpx2.Client) -> None:
    assert register(http, "admin", "theirs", schema='{"type":"record","name":"A","fields":[]}')[0] == 200
    members = {
        "schema": '{"type":"record","name":"B","fields":[{"name":"a","type":"A"}]}',
        "references": [{"name": "A", "subject": "theirs", "version": 1}],
    }
    assert register(http, "admin", "mine-b", **members)[0] == 200
    assert register(http, "mine", "mine-b", **members)[0] == 200
    assert http.post("/subjects/mine-b", json=members, auth=("mine", "p")).status_code == 200
    assert register(http, "mine", "mine-b", **members, metadata={"properties": {"owner": "me"}})[0] == 200
    assert register(http, "mine", "mine-c", **members)[0] == 403


def test_an_import_needs_everything(http: httpx2.Client) -> None:
    for user in WRITES:
        answer = http.post("/contractlog/v1/import", content=b"", auth=(user, "p"))
        assert answer.status_code == (400 if user in {"admin", "everywhere"} else 403)


@pytest.mark.parametrize(("subject", "query"), [("theirs", ""), (":.eu:theirs", "?subject=:.eu:")])
def test_a_response_by_id_names_no_subject_that_its_caller_may_not_read(
    http: httpx2.Client, subject: str, query: str
) -> None:
    def read(user: str) -> dict[str, Any]:
        answer = http.get(f"/schemas/ids/1{query}", auth=(user, "p"))
        assert answer.status_code == 200
        return dict(answer.json())

    assert register(http, "admin", subject)[0] == 200
    for _from in ("the database", "memory"):
        known = read("admin")
        assert (known.pop("subject"), known.pop("version")) == (subject, 1)
        assert read("mine") == known
    http.app.state.services.cache.forget_all()  # type: ignore[attr-defined]
    assert read("mine") == known
    assert register(http, "admin", "mine-a", schema='{"type":"int"}')[0] == 200
    assert http.get("/schemas/ids/2", auth=("mine", "p")).json().get("subject", "mine-a") == "mine-a"

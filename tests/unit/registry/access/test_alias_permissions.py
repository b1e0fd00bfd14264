"""Requests by an alias need the permission for its target, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.settings import Settings

from support.registry import in_process

if TYPE_CHECKING:
    import httpx2

USERS = {
    "admin": ([], ["*"]),
    "mine": ([], ["mine-*"]),
    "auditor": (["payroll-value", ":.eu:payroll"], ["mine-*"]),
}
STRING, INTEGER = '"string"', '"int"'
READS: dict[str, tuple[str, str, Any]] = {
    "versions": ("GET", "/subjects/{}/versions", None),
    "latest": ("GET", "/subjects/{}/versions/latest", None),
    "number": ("GET", "/subjects/{}/versions/1", None),
    "deleted": ("GET", "/subjects/{}/versions/1?deleted=true", None),
    "text": ("GET", "/subjects/{}/versions/1/schema", None),
    "references": ("GET", "/subjects/{}/versions/1/referencedby", None),
    "metadata": ("GET", "/subjects/{}/metadata?key=a&value=b", None),
    "lookup": ("POST", "/subjects/{}", {"schema": STRING}),
    "check": ("POST", "/compatibility/subjects/{}/versions", {"schema": STRING}),
    "check of latest": ("POST", "/compatibility/subjects/{}/versions/latest", {"schema": STRING}),
}
WRITES: dict[str, tuple[str, str, Any]] = {
    "register": ("POST", "/subjects/{}/versions", {"schema": INTEGER}),
    "register again": ("POST", "/subjects/{}/versions", {"schema": STRING}),
    "tags": ("POST", "/subjects/{}/versions/1/tags", {"tagsToAdd": []}),
    "delete": ("DELETE", "/subjects/{}", None),
    "delete a version": ("DELETE", "/subjects/{}/versions/1", None),
    "delete for good": ("DELETE", "/subjects/{}?permanent=true", None),
}
ALIASES = {"mine-view": "payroll-value", "mine-eu": ":.eu:payroll"}


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A registry with two aliases, whose responses the administrator has read before; no test may change it."""
    file = tmp_path_factory.mktemp("aliases") / "users.toml"
    password = HashedPassword.of("p", n=2, r=1, p=1)
    file.write_text("\n".join(format_entry(name, password, *rights) for name, rights in USERS.items()))
    with in_process(Settings(database_url="sqlite://", users_file=str(file))) as client:
        for alias, target in ALIASES.items():
            send(client, "admin", ("POST", "/subjects/{}/versions", {"schema": STRING}), target)
            assert client.put(f"/config/{alias}", json={"alias": target}, auth=("admin", "p")).status_code == 200
            for request in READS.values():
                send(client, "admin", request, alias)
        yield client


def send(http: httpx2.Client, user: str, request: tuple[str, str, Any], subject: str) -> tuple[int, str]:
    method, path, body = request
    response = http.request(method, path.format(subject), json=body, auth=(user, "p"))
    return response.status_code, response.text


@pytest.mark.parametrize("alias", ALIASES)
@pytest.mark.parametrize("request_name", [*READS, *WRITES])
def test_an_alias_gives_no_permission_for_its_target(http: httpx2.Client, alias: str, request_name: str) -> None:
    operation = "Read" if request_name in READS else "Write"
    status, text = send(http, "mine", (READS | WRITES)[request_name], alias)
    assert (status, f"User is denied operation {operation} on Subject: {ALIASES[alias]}" in text) == (403, True)
    assert send(http, "admin", READS["versions"], ALIASES[alias]) == (200, "[1]")


@pytest.mark.parametrize("alias", ALIASES)
@pytest.mark.parametrize("request_name", [name for name in READS if name != "metadata"])
def test_who_may_read_the_target_reads_by_its_alias(http: httpx2.Client, alias: str, request_name: str) -> None:
    assert send(http, "auditor", READS[request_name], alias)[0] == 200


@pytest.mark.parametrize("request_name", [*WRITES])
def test_who_may_only_read_the_target_does_not_change_it(http: httpx2.Client, request_name: str) -> None:
    assert send(http, "auditor", WRITES[request_name], "mine-view")[0] == 403


def test_an_id_by_an_unreadable_alias_has_no_subject(http: httpx2.Client) -> None:
    for user, subject in {"admin": "payroll-value", "auditor": "payroll-value", "mine": None}.items():
        response = http.get("/schemas/ids/1?subject=mine-view", auth=(user, "p"))
        assert (response.status_code, response.json().get("subject")) == (200, subject)


@pytest.mark.parametrize("member", ["alias", "aliasForDeks"])
def test_giving_an_alias_needs_the_permission_to_write_its_target(http: httpx2.Client, member: str) -> None:
    for user, target, status in (
        ("mine", "payroll-value", 403),
        ("auditor", ":.eu:payroll", 403),
        ("mine", "mine-b", 200),
    ):
        response = http.put("/config/mine-c", json={member: target}, auth=(user, "p"))
        assert response.status_code == status, response.text

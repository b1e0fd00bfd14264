"""The shortcut for cached reads has the same bytes, permission checks and counts as the route."""

from __future__ import annotations

import re
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

READER, WRITER, IDLE = ("reader", "r"), ("writer", "w"), ("idle", "i")
FORMS = ["?subject=s", "?fetchMaxId=false&subject=", "?subject=%3A.%3As", "", "?subject=other", "?fetchMaxId=true"]


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[httpx2.Client]:
    """A registry that holds id 1, and knows one who reads, one who writes, and one who may do neither."""
    path = tmp_path / "users.toml"
    rights: list[tuple[tuple[str, str], list[str], list[str]]] = [
        (READER, ["*"], []),
        (WRITER, [], ["s"]),
        (IDLE, [], []),
    ]
    users = [format_entry(who[0], HashedPassword.of(who[1], n=2, r=1, p=1), read, write) for who, read, write in rights]
    path.write_text("\n".join(users))
    with in_process(Settings(database_url="sqlite://", users_file=str(path))) as client:
        client.post("/subjects/s/versions", json={"schema": '"int"'}, auth=WRITER).raise_for_status()
        yield client


def told(answer: httpx2.Response) -> tuple[int, dict[str, str], bytes]:
    headers = dict(answer.headers)
    assert re.fullmatch(r"[0-9a-f-]{36}", headers.pop("x-request-id"))
    return answer.status_code, headers, answer.content


def counted(client: httpx2.Client) -> tuple[dict[Any, int], list[str]]:
    """How often who fetched which id, and what was answered under the template."""
    services = client.app.state.services  # type: ignore[attr-defined]
    lines = client.get("/metrics", auth=READER).text.splitlines()
    of_ids = [one for one in lines if '"/schemas/ids/{schema_id}"' in one and "seconds" not in one]
    hits = [one for one in lines if one.startswith("contractlog_cache_hits")]
    return services.fetch_counter.pending(), of_ids + hits


@pytest.mark.parametrize("form", FORMS)
def test_both_ways_answer_alike(http: httpx2.Client, form: str) -> None:
    http.post("/subjects/s/versions", json={"schema": '"int"'}).raise_for_status()
    # With a slash behind it, a request is none that is answered at once.
    answers = [told(http.get(f"/schemas/ids/1{slash}{form}")) for slash in ("/", "", "/", "")]
    assert answers[0][0] == 200
    assert answers == answers[:1] * 4


def test_both_ways_are_counted_alike(http: httpx2.Client) -> None:
    http.post("/subjects/s/versions", json={"schema": '"int"'}).raise_for_status()
    http.get("/schemas/ids/1/")
    growth = []
    for path in ("/schemas/ids/1/", "/schemas/ids/1"):
        (before, lines), _ = counted(http), http.get(path)
        after, more = counted(http)
        numbers = [[float(one.rpartition(" ")[2]) for one in each] for each in (lines, more)]
        growth.append(
            (sum(after.values()) - sum(before.values()), [b - a for a, b in zip(*numbers, strict=True)], len(more))
        )
    assert growth[0] == growth[1]
    assert growth[0][0] == 1
    assert growth[0][1].count(1.0) >= 2


def test_an_id_of_the_caller_s_own_comes_back(http: httpx2.Client) -> None:
    http.post("/subjects/s/versions", json={"schema": '"int"'}).raise_for_status()
    http.get("/schemas/ids/1")
    assert http.get("/schemas/ids/1", headers={"x-request-id": "mine"}).headers["x-request-id"] == "mine"


def test_callers_are_told_apart_in_both_ways(secured: httpx2.Client) -> None:
    for _ in range(2):  # the second time nothing has to be checked
        for auth, status in ((READER, 200), (IDLE, 403), (("reader", "wrong"), 401), (None, 401)):
            one, other = (told(secured.get(f"/schemas/ids/1{slash}", auth=auth)) for slash in ("", "/"))
            assert one == other
            assert one[0] == status
    (client,) = {one.client for one in counted(secured)[0]}
    assert client.startswith("reader (")


def test_the_shortcut_rejects_removed_users(secured: httpx2.Client, tmp_path: Path) -> None:
    assert secured.get("/schemas/ids/1", auth=READER).status_code == 200
    (tmp_path / "users.toml").write_text(format_entry("other", HashedPassword.of("o", n=2, r=1, p=1), ["*"], []))
    access = secured.app.middleware_stack  # type: ignore[attr-defined]
    while not hasattr(access, "_authenticator"):
        access = access._app
    users = access._authenticator._file
    users._clock = lambda: users._checked_at + 2
    assert secured.get("/schemas/ids/1", auth=READER).status_code == 401


def test_the_last_answer_of_a_connection_says_so_at_once_too(http: httpx2.Client) -> None:
    http.post("/subjects/s/versions", json={"schema": '"int"'}).raise_for_status()
    http.get("/schemas/ids/1")
    http.app.state.drain()  # type: ignore[attr-defined]
    assert http.get("/schemas/ids/1").headers["connection"] == "close"


def test_invalidated_responses_are_not_returned_by_the_shortcut(http: httpx2.Client) -> None:
    http.post("/subjects/s/versions", json={"schema": '"int"'}).raise_for_status()
    http.get("/schemas/ids/1")
    http.delete("/subjects/s").raise_for_status()
    http.delete("/subjects/s?permanent=true").raise_for_status()
    assert http.get("/schemas/ids/1").json()["error_code"] == 40403

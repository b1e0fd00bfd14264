"""The credential of ``/metrics`` permits nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.http.metrics_token import create_middleware
from contractlog.registry.settings import Settings

from support.registry import in_process

if TYPE_CHECKING:
    import httpx2

TOKEN = "scrape-me-Ünïcode"  # noqa: S105
RIGHT = {"Authorization": f"Bearer {TOKEN}".encode()}
WRONG = [
    {},
    {"Authorization": b"Bearer"},
    {"Authorization": b"Bearer "},
    {"Authorization": b"Bearer scrape-me"},
    {"Authorization": f"Basic {TOKEN}".encode()},
    {"Authorization": f"Bearer {TOKEN}x".encode()},
]
Headers = dict[str, bytes]


def status(client: httpx2.Client, path: str, headers: Headers) -> int:
    answer = client.get(path, headers=[(name.encode(), value) for name, value in headers.items()])
    if answer.status_code == 401:
        assert answer.json() == {"error_code": 401, "message": "Unauthorized"}
        assert answer.headers["www-authenticate"]
    return answer.status_code


@pytest.mark.parametrize("token", [" ", "scrape-me\n", " scrape-me", "scrape\tme", "scrape\x7fme"])
def test_a_token_that_no_request_can_carry_is_refused_at_the_start(token: str) -> None:
    with pytest.raises(UsageError, match="CONTRACTLOG_METRICS_TOKEN"):
        create_middleware(Settings(metrics_token=token))


@pytest.mark.parametrize("headers", WRONG)
def test_without_users_the_token_is_required_for_metrics_alone(headers: Headers) -> None:
    with in_process(Settings(database_url="sqlite://", metrics_token=TOKEN)) as client:
        for path in ("/metrics", "/metrics/", "/contexts/.eu/metrics"):
            assert status(client, path, headers) == 401
            assert status(client, path, RIGHT) == 200
        assert status(client, "/subjects", headers) == status(client, "/healthz/live", headers) == 200


@pytest.mark.parametrize("headers", WRONG)
def test_with_users_the_token_stands_beside_them_and_opens_nothing_else(tmp_path: Path, headers: Headers) -> None:
    users = tmp_path / "users.toml"
    users.write_text(format_entry("reader", HashedPassword.of("r", n=2, r=1, p=1), ["*"], []))
    with in_process(Settings(database_url="sqlite://", metrics_token=TOKEN, users_file=str(users))) as client:
        assert status(client, "/metrics", headers) == 401
        assert status(client, "/metrics", RIGHT) == 200
        assert client.get("/metrics", auth=("reader", "r")).status_code == 200
        for path in ("/subjects", "/schemas/ids/1", "/contractlog/v1/docs", "/"):
            assert status(client, path, RIGHT) == 401
        assert client.delete("/subjects/metrics", headers={"Authorization": RIGHT["Authorization"]}).status_code == 401


def test_without_a_token_nothing_changes(http: httpx2.Client) -> None:
    for headers in (*WRONG, RIGHT):
        assert status(http, "/metrics", headers) == 200

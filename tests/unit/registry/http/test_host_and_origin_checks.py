"""Accepted hosts, and origins that may write, in process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.registry.app import create_app
from contractlog.registry.http.allowed_hosts import AllowedHosts
from contractlog.registry.settings import Settings

from support.registry import in_process

if TYPE_CHECKING:
    import httpx2

LOCAL = "http://127.0.0.1:8081"
BODY = b'{"schema": "\\"int\\""}'
JSON = {"Content-Type": "application/json"}
PATH = "/subjects/s/versions"
EXPORT = "/contractlog/v1/import"


@pytest.fixture
def proxied() -> Iterator[httpx2.Client]:
    """A registry that is reached through a proxy as https://registry.example."""
    settings = Settings(
        database_url="sqlite://", allowed_hosts="registry.example, [::1]", allowed_origins="https://registry.example"
    )
    with in_process(settings) as client:
        yield client


def code(answer: httpx2.Response) -> int:
    if answer.is_success:
        return answer.status_code
    body = answer.json()
    assert list(body) == ["error_code", "message"]
    assert answer.status_code == int(str(body["error_code"])[:3])
    assert answer.headers["x-request-id"]
    found: int = body["error_code"]
    return found


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", 200),
        ("LocalHost:8081", 200),
        ("localhost.:1", 200),
        ("127.0.0.1", 200),
        ("[::1]:8081", 200),
        ("attacker.example", 40381),
        ("attacker.example:8081", 40381),
        ("localhost.attacker.example", 40381),
        ("127.0.0.1.nip.example", 40381),
        ("0.0.0.0:8081", 40381),
        ("10.0.0.7", 40381),
        ("", 40381),
        ("localhost:8081:1", 400),
        ("user@localhost", 400),
        ("local host", 400),
        ("localhost/", 400),
        ("[::1", 400),
    ],
)
def test_a_loopback_address_serves_its_own_names(http: httpx2.Client, host: str, expected: int) -> None:
    http.post(PATH, content=BODY)
    for path in ("/subjects", "/schemas/ids/1", "/schemas/ids/1", "/healthz/live", "/metrics", "/nothing"):
        found = code(http.get(f"{LOCAL}{path}", headers={"Host": host}))
        assert found == (404 if path == "/nothing" and expected == 200 else expected)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_other_addresses_serve_every_name_until_some_are_allowed(host: str) -> None:
    with in_process(Settings(database_url="sqlite://", host=host)) as client:
        for name in ("registry.example", "localhost", "10.0.0.7:8081"):
            assert code(client.get(f"{LOCAL}/subjects", headers={"Host": name})) == 200


def test_the_address_that_is_listened_on_is_served() -> None:
    with in_process(Settings(database_url="sqlite://", host="127.0.0.2")) as client:
        assert code(client.get("http://127.0.0.2/subjects")) == 200
        assert code(client.get("http://127.0.0.2/subjects", headers={"Host": "127.0.0.3"})) == 40381


def test_allowed_hosts_replace_the_default(proxied: httpx2.Client) -> None:
    for name, expected in (("registry.example:443", 200), ("[::1]", 200), ("localhost", 40381), ("127.0.0.1", 40381)):
        for url in (LOCAL, "http://10.0.0.7"):
            assert code(proxied.get(f"{url}/subjects", headers={"Host": name})) == expected
    refused = proxied.get(f"{LOCAL}/subjects", headers={"Host": "other.example"}).json()["message"]
    assert "CONTRACTLOG_ALLOWED_HOSTS" in refused
    assert "`other.example`" in refused


def test_a_star_allows_every_host() -> None:
    with in_process(Settings(database_url="sqlite://", allowed_hosts="*")) as client:
        assert code(client.get(f"{LOCAL}/subjects", headers={"Host": "any.example"})) == 200


def test_a_read_from_memory_asks_for_the_host_too(proxied: httpx2.Client) -> None:
    allowed = {"Host": "registry.example"}
    proxied.post(PATH, content=BODY, headers=allowed).raise_for_status()
    asked = ("registry.example", "attacker.example", "registry.example", "REGISTRY.example:1", "attacker.example")
    found = [code(proxied.get("/schemas/ids/1", headers={"Host": name})) for name in asked]
    assert found == [200, 40381, 200, 200, 40381]
    two = [("Host", "registry.example"), ("Host", "registry.example")]
    assert answered(proxied, "GET", "/schemas/ids/1", two) == 400


def test_hosts_that_were_checked_take_bounded_memory() -> None:
    hosts = AllowedHosts("*")
    for number in range(5_000):
        hosts.require({"headers": [(b"host", b"h%d" % number)], "http_version": "1.1"})
    assert len(hosts._allowed) <= 1_000


def answered(
    client: httpx2.Client, method: str, path: str, headers: list[tuple[str, str]], version: str = "1.1"
) -> int:
    """Call the application with exactly these headers; returns the status."""
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "http_version": version,
        "scheme": "http",
        "server": ("127.0.0.1", 8081),
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers],
    }
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(client.app(scope, receive, send))  # type: ignore[attr-defined]
    status: int = sent[0]["status"]
    return status


@pytest.mark.parametrize(
    ("version", "hosts", "expected"),
    [("1.1", 0, 400), ("1.0", 0, 200), ("1.1", 1, 200), ("1.0", 1, 200), ("1.1", 2, 400), ("1.0", 2, 400)],
)
def test_the_number_of_host_headers(http: httpx2.Client, version: str, hosts: int, expected: int) -> None:
    for path in ("/subjects", "/healthz/live"):
        assert answered(http, "GET", path, [("Host", "localhost")] * hosts, version) == expected


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": ""},
        {"Sec-Fetch-Site": "Same-Origin"},
        {"Sec-Fetch-Site": "cross-site", "Origin": LOCAL},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://attacker.example"},
        {"Origin": "http://127.0.0.1"},
        {"Origin": "http://127.0.0.1:8082"},
        {"Origin": "https://127.0.0.1:8081"},
        {"Origin": "http://127.0.0.1:8081.attacker.example"},
        {"Origin": f"{LOCAL}/"},
        {"Origin": f"{LOCAL} http://attacker.example"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "http://attacker.example"},
    ],
)
def test_nothing_is_changed_for_a_foreign_page(http: httpx2.Client, method: str, headers: dict[str, str]) -> None:
    for path in (PATH, "/config", "/mode/s", "/subjects/s", EXPORT, "/associations", "/contractlog/v1/check"):
        answer = http.request(method, f"{LOCAL}{path}", content=BODY, headers=JSON | headers)
        assert code(answer) == 40380
    assert http.get("/subjects").json() == []
    message = answer.json()["message"]
    assert "CONTRACTLOG_ALLOWED_ORIGINS" in message


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": LOCAL},
        {"Origin": "HTTP://127.0.0.1:8081"},
        {"Sec-Fetch-Site": "same-origin", "Origin": LOCAL},
        {},
    ],
)
def test_the_registrys_own_pages_and_other_programs_may_write(http: httpx2.Client, headers: dict[str, str]) -> None:
    assert code(http.post(f"{LOCAL}{PATH}", content=BODY, headers=JSON | headers)) == 200
    assert code(http.delete(f"{LOCAL}/subjects/s", headers=headers)) == 200


def test_the_default_port_is_the_same_origin(http: httpx2.Client) -> None:
    for url, origin in (
        ("http://localhost", "http://localhost:80"),
        ("http://localhost:80", "http://localhost"),
        ("https://localhost", "https://localhost:443"),
    ):
        assert code(http.post(f"{url}{PATH}", content=BODY, headers=JSON | {"Origin": origin})) == 200


def test_two_origins_must_both_be_allowed(http: httpx2.Client) -> None:
    two = [("Host", "127.0.0.1:8081"), ("Origin", LOCAL), ("Origin", "http://attacker.example")]
    assert answered(http, "DELETE", "/subjects/s", two) == 403
    assert answered(http, "DELETE", "/subjects/s", two[:2]) == 404


def test_origins_behind_a_proxy(proxied: httpx2.Client) -> None:
    for origin, expected in (
        ("https://registry.example", 200),
        ("https://registry.example:443", 200),
        ("http://registry.example", 200),  # the request's own
        ("https://registry.example:8443", 40380),
        ("https://other.example", 40380),
        ("null", 40380),
    ):
        for extra in ({}, {"Sec-Fetch-Site": "same-origin"}):
            headers = JSON | extra | {"Host": "registry.example", "Origin": origin}
            assert code(proxied.post(PATH, content=BODY, headers=headers)) == expected
    headers = JSON | {"Sec-Fetch-Site": "cross-site", "Host": "registry.example", "Origin": "https://registry.example"}
    assert code(proxied.post(PATH, content=BODY, headers=headers)) == 40380


@pytest.mark.parametrize("header", [{"Sec-Fetch-Site": "same-origin"}, {"Origin": LOCAL}])
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("application/json", 200),
        ("application/vnd.schemaregistry.v1+json; charset=utf-8", 200),
        (None, 415),
        ("text/plain", 415),
        ("application/octet-stream", 415),
        ("application/x-www-form-urlencoded", 415),
    ],
)
def test_a_body_from_a_browser_is_declared_as_json(
    http: httpx2.Client, header: dict[str, str], kind: str | None, expected: int
) -> None:
    declared = {} if kind is None else {"Content-Type": kind}
    assert code(http.post(f"{LOCAL}{PATH}", content=BODY, headers=header | declared)) == expected
    found = code(http.post(f"{LOCAL}{EXPORT}?dryRun=true", content=b"{}", headers=header | declared))
    assert found == (415 if expected == 415 else 400)  # the line is no line of an export


def test_programs_may_leave_the_content_type_out(http: httpx2.Client) -> None:
    assert code(http.post(f"{LOCAL}{PATH}", content=BODY)) == 200
    answer = http.post(f"{LOCAL}{EXPORT}?dryRun=true", content=b"{}", headers={"Content-Type": "text/plain"})
    assert code(answer) == 400


def test_a_browser_may_read_from_anywhere_as_far_as_its_own_rules_allow(http: httpx2.Client) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Origin": "http://attacker.example"}
    answer = http.get(f"{LOCAL}/subjects", headers=headers)
    assert code(answer) == 200
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert code(http.options(f"{LOCAL}/subjects", headers=headers)) == 405


def test_refusals_come_before_a_password_is_asked_for_and_are_counted(tmp_path: Path) -> None:
    users = tmp_path / "users.toml"
    users.write_text("")
    with in_process(Settings(database_url="sqlite://", users_file=str(users))) as client:
        assert code(client.get(f"{LOCAL}/subjects", headers={"Host": "attacker.example"})) == 40381
        assert code(client.delete(f"{LOCAL}/subjects/s", headers={"Origin": "null"})) == 40380
        errors = client.app.state.services.telemetry.meters  # type: ignore[attr-defined]
        counted = {one.labels[0] for one in errors.series() if one.metric.name.endswith("errors_total")}
        assert {"40380", "40381"} <= counted


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("allowed_hosts", "https://registry.example"),
        ("allowed_hosts", "registry.example:8081"),
        ("allowed_hosts", "*.example"),
        ("allowed_hosts", "a b"),
        ("allowed_hosts", "[::x]"),
        ("allowed_origins", "null"),
        ("allowed_origins", "*"),
        ("allowed_origins", "https://*.example"),
        ("allowed_origins", "registry.example"),
        ("allowed_origins", "https://registry.example/"),
        ("allowed_origins", "https://"),
    ],
)
def test_settings_that_cannot_be_meant_stop_the_start(member: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"CONTRACTLOG_{member.upper()} cannot have"):
        create_app(Settings(database_url="sqlite://", **{member: value}))  # type: ignore[arg-type]

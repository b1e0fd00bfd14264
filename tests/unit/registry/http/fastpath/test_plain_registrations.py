"""Registrations by the shortcut have the same response as by the documented route."""

from __future__ import annotations

import json

import httpx2
import pytest
from starlette.routing import Match

from contractlog.registry.app import create_app
from contractlog.registry.http.fastpath.plain_registrations import PlainRegistrations
from contractlog.registry.settings import Settings

from support.registry import in_process

FIRST = {"schema": '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'}
BREAKING = {"schema": '{"type":"record","name":"R","fields":[{"name":"b","type":"int"}]}'}
BODIES: tuple[bytes, ...] = (
    json.dumps(FIRST).encode(),
    json.dumps(FIRST).encode(),
    json.dumps(BREAKING).encode(),
    json.dumps({"schema": '{ "type" : "string" }', "version": 7}).encode(),
    json.dumps({"schemaType": "PROTOBUF", "schema": "syntax"}).encode(),
    json.dumps({"schema": "{"}).encode(),
    b"{",
    b"",
    b"[]",
    b'{"schema":"' + b"x" * 3_000 + b'"}',
)
SUBJECTS = ("s", "a%2Fb", "%3A.eu%3As", "%3A*%3A", "s%00", "%FF", "__EMPTY")


SETTINGS = Settings(database_url="sqlite://", max_body_bytes=2_000, old_conflict_code=True)
FORMS = (
    ("", "?force=false"),
    ("?normalize=true", "?normalize=true&force="),
    ("?normalize=False", "?normalize=False&unknown=1"),
    ("?normalize=", "?normalize=&force=false"),
)


@pytest.mark.parametrize(("plain", "documented"), FORMS)
def test_every_registration_is_answered_as_by_the_documented_route(plain: str, documented: str) -> None:
    """Two registries are asked the same, one in the plain form and one in a form that only the route knows."""
    with in_process(SETTINGS) as one, in_process(SETTINGS) as other:
        for subject in SUBJECTS:
            for body in BODIES:
                path = f"/subjects/{subject}/versions"
                found, expected = (
                    client.post(path + query, content=body, headers={"content-type": "application/json"})
                    for client, query in ((one, plain), (other, documented))
                )
                assert (found.status_code, found.content) == (expected.status_code, expected.content), (subject, body)
                assert set(found.headers) == set(expected.headers)
        assert _counted(one) == _counted(other)


def _counted(client: httpx2.Client) -> list[str]:
    return [line for line in client.get("/metrics").text.splitlines() if "requests_total" in line and "POST" in line]


@pytest.mark.parametrize(
    ("method", "path", "query", "taken"),
    [
        ("POST", "/subjects/s/versions", b"", True),
        ("POST", "/subjects/s/versions", b"normalize=TRUE", True),
        ("GET", "/subjects/s/versions", b"", False),
        ("POST", "/subjects/s", b"", False),
        ("POST", "/subjects/s/versions/1/tags", b"", False),
        ("POST", "/subjects/s/versions", b"normalize=1", False),
        ("POST", "/subjects/s/versions", b"format=resolved", False),
        ("POST", "/subjects/s/versions", b"normalize=true&force=true", False),
    ],
)
def test_other_forms_of_requests_are_left_to_the_route(method: str, path: str, query: bytes, *, taken: bool) -> None:
    app = create_app(SETTINGS)
    try:
        services = app.state.services
        route = PlainRegistrations(services.registration, services.versions, services.profile)
        scope = {"type": "http", "method": method, "path": path, "query_string": query}
        assert (route.matches(scope)[0] is Match.FULL) == taken
    finally:
        app.state.close()

"""A response depends on one subject only if nothing else can change it."""

from __future__ import annotations

import json

import pytest

from contractlog.registry.http.fastpath.request_paths import find_subject_name, is_repeatable

BODY = json.dumps({"schema": '{"type": "string"}'}).encode()
REFERRING = json.dumps({"schema": '"R"', "references": [{"name": "R", "subject": "b", "version": 1}]}).encode()


@pytest.mark.parametrize(
    ("method", "path", "query", "body", "name"),
    [
        ("GET", "/subjects/a/versions/latest", b"", b"", "a"),
        ("GET", "/subjects/a/versions/1", b"deleted=true", b"", "a"),
        ("GET", "/subjects/a/versions/1", b"format=resolved", b"", None),
        ("GET", "/subjects/a/versions/1/referencedby", b"", b"", None),
        ("GET", "/subjects/%3A.eu%3Aa/versions", b"", b"", "a"),
        ("GET", "/config/a", b"defaultToGlobal=true", b"", "a"),
        ("GET", "/config/:.eu:", b"", b"", None),
        ("GET", "/mode", b"", b"", None),
        ("GET", "/subjects", b"", b"", None),
        ("POST", "/subjects/a", b"", BODY, "a"),
        ("POST", "/subjects/a/versions", b"normalize=true", BODY, "a"),
        ("POST", "/subjects/a/versions", b"", REFERRING, None),
        ("POST", "/subjects/a/versions", b"", REFERRING.replace(b"references", b"\\u0072eferences"), None),
        ("POST", "/subjects/a/versions", b"", REFERRING.decode().encode("utf-16"), None),
        ("POST", "/subjects/a/versions", b"", b'{"schema": "{}", "id": 7}', None),
        ("POST", "/compatibility/subjects/a/versions/latest", b"", BODY, "a"),
    ],
)
def test_a_response_depends_on_one_subject_only_if_nothing_else_can_change_it(
    method: str, path: str, query: bytes, body: bytes, name: str | None
) -> None:
    assert is_repeatable(method, path)
    assert find_subject_name(method, path, query, body) == name


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "/subjects/a"),
        ("PUT", "/config/a"),
        ("GET", "/schemas/ids/1"),
        ("GET", "/healthz/ready"),
        ("GET", "/contractlog/v1/changes"),
        ("POST", "/contractlog/v1/import"),
        ("POST", "/associations:batchMutate"),
    ],
)
def test_other_requests_are_never_answered_from_memory(method: str, path: str) -> None:
    assert not is_repeatable(method, path)

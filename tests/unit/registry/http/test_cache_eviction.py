"""The change log evicts cached ids whose responses may have changed, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from contractlog.registry.services import Services
from contractlog.registry.settings import Settings

from support.export_lines import create_content, create_export
from support.registry import in_process

KEY = (".", 1)
PATH = "/schemas/ids/1"


@pytest.fixture
def node() -> Iterator[httpx2.Client]:
    """Start a node that follows its change log when a test calls ``follow``."""
    with in_process(Settings(database_url="sqlite://")) as http:
        services_of(http).cache._clock = lambda: 0.0  # nothing expires
        follow(http)
        yield http


def services_of(node: Any) -> Services:
    services: Services = node.app.state.services
    return services


def follow(node: httpx2.Client) -> None:
    services_of(node).follower._poll()


def register(node: httpx2.Client, subject: str = "a") -> None:
    answer = node.post(f"/subjects/{subject}/versions", json={"schema": '"string"'})
    assert answer.json()["id"] == 1


def cached(node: httpx2.Client) -> bytes | None:
    return services_of(node).cache.get(KEY)


def cache_as_before(node: httpx2.Client, body: bytes) -> None:
    """Cache a response as on another node, where the commit of this one has evicted nothing."""
    cache = services_of(node).cache
    cache.put(KEY, body, start=cache.start_read())


def test_a_registration_does_not_evict_a_new_id(node: httpx2.Client) -> None:
    register(node)
    content = node.get(PATH).content
    follow(node)
    assert cached(node) == content


@pytest.mark.parametrize("change", ["soft delete", "hard delete", "registration of a deleted schema", "import"])
def test_changes_of_what_an_id_shows_evict_it(node: httpx2.Client, change: str) -> None:
    register(node)
    if change == "hard delete":
        node.delete("/subjects/a")
    follow(node)
    content = node.get(PATH).content
    if change == "soft delete":
        node.delete("/subjects/a")
    elif change == "hard delete":
        assert node.delete("/subjects/a", params={"permanent": True}).status_code == 200
    elif change == "import":
        import_version(node)
    else:
        node.delete("/subjects/a")
        follow(node)
        content = node.get(PATH).content
        register(node, "b")
    cache_as_before(node, content)
    follow(node)
    assert cached(node) is None


def import_version(node: httpx2.Client) -> None:
    """Import the schema as a version of another subject, too."""
    schema = {"kind": "schema", "context": ".", "id": 1, "type": "AVRO", "schema": '"string"'}
    version = {"kind": "version", "subject": "b", "version": 1, "id": 1}
    answer = node.post(
        "/contractlog/v1/import",
        content=create_content(create_export(schema, version)),
        headers={"Content-Type": "application/x-ndjson"},
    )
    assert answer.status_code == 200, answer.text

"""franz-go's registry client, which reads immediately after writing and always sends its parameters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from contractlog.clients import Registry
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.json_schema import JSONDeserializer

from support.registry import serve_in_thread
from support.request_recorder import record_requests
from support.third_party_clients import Program

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SENT: Final = (
    r"POST /subjects/t-value/versions",
    r"GET /schemas/ids/1/versions",
    r"GET /subjects/t-value/versions/1",
    r"GET /subjects/other-value/versions/1",
    r"POST /compatibility/subjects/t-value/versions/latest",
    r"POST /compatibility/subjects/t-value/versions",
    r"GET /subjects",
    r"GET /subjects/t-value/versions",
    r"GET /subjects/t-value/versions\?deleted=true&normalize=true&verbose=true",
    r"POST /subjects/t-value\?deleted=true&normalize=true&verbose=true",
    r"GET /schemas/types",
    r"GET /schemas/guids/[0-9a-f-]{36}",
    r"GET /schemas/guids/[0-9a-f-]{36}/ids",
    r"GET /config/t-value",
    r"PUT /mode/t-value",
    r"DELETE /subjects/t-value",
    r"DELETE /subjects/t-value\?permanent=true",
)


def test_franz_go_makes_its_whole_round(golang: Program, tmp_path: Path) -> None:
    with serve_in_thread(f"sqlite:///{tmp_path / 'registry.db'}") as url, record_requests(url) as seen:
        framed = bytes.fromhex(golang(seen.url)["framed"])
        with Registry(url) as registry:
            context = SerializationContext("json", MessageField.VALUE)
            assert JSONDeserializer(None, schema_registry_client=registry)(framed, context) == {"id": 7}
    assert seen.missing(SENT) == [], seen.lines()
    for request in seen.requests:
        assert request.headers["user-agent"] == "franz-go"
        assert request.headers["accept"] == "application/vnd.schemaregistry.v1+json"
        assert request.headers["content-type"] == "application/vnd.schemaregistry.v1+json"
    first = json.loads(next(one.body for one in seen.requests if one.method == "POST"))
    assert list(first) == ["schema"]
    lines = seen.lines()
    shared = lines.index("POST /subjects/other-value/versions")
    assert lines[shared + 1] == "GET /schemas/ids/1/versions"
    assert {"GET /subjects/t-value/versions/1", "GET /subjects/other-value/versions/1"} <= set(
        lines[shared + 2 : shared + 4]
    )

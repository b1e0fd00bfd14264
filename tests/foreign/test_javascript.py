"""The npm clients of Confluent and KafkaJS: their frames and requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import pytest

from contractlog.clients import Registry
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.avro import AvroDeserializer

from support.registry import serve_in_thread
from support.request_recorder import RecordedRequests, record_requests
from support.third_party_clients import Program

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

CONFLUENT: Final = (
    r"POST /subjects/t-value/versions\?normalize=false",
    r"POST /subjects/t-value\?normalize=false&deleted=(false|true)",
    r"POST /compatibility/subjects/t-value/versions/latest",
    r"GET /associations/resources/-/t\?resourceType=topic&associationType=value",
    r"GET /schemas/ids/1\?subject=t-value",
    r"GET /schemas/guids/[0-9a-f-]{36}",
    r"GET /subjects",
    r"GET /subjects/t-value/versions",
    r"GET /subjects/t-value/versions/latest",
    r"GET /config/t-value",
    r"PUT /config/t-value",
    r"DELETE /subjects/t-value\?permanent=false",
    r"DELETE /subjects/t-value\?permanent=true",
)
KAFKAJS: Final = (
    r"GET /config/t-value",
    r"POST /subjects/t-value/versions",
    r"PUT /config/t-value",
    r"GET /schemas/ids/1",
    r"GET /subjects/t-value/versions/latest",
    r"GET /subjects/t-value/versions/1",
    r"POST /subjects/t-value",
)


@contextmanager
def front(folder: Path, **environment: str) -> Iterator[RecordedRequests]:
    """A service of its own, and a listener in front of it."""
    with serve_in_thread(f"sqlite:///{folder / 'registry.db'}", **environment) as url, record_requests(url) as seen:
        yield seen


@pytest.mark.parametrize("profile", ["8", pytest.param("7.6", marks=pytest.mark.slow)])
def test_confluent_s_client_makes_its_whole_round(javascript: Program, tmp_path: Path, profile: str) -> None:
    with front(tmp_path, CONTRACTLOG_RESPONSE_PROFILE=profile) as seen:
        frames = javascript("confluent.js", seen.url, *(["older"] if profile != "8" else []))
    assert {name: frames[name] for name in ("old", "noted", "empty")} == {
        "old": "00000000010e",
        "noted": "00000000020e020278",
        "empty": "00000000021000",
    }
    assert [one for one in seen.missing(CONFLUENT) if profile == "8" or "guids" not in one] == [], seen.lines()
    for request in seen.requests:
        assert request.headers["accept"] == "application/json, text/plain, */*"
        assert request.headers["content-type"] == "application/vnd.schemaregistry.v1+json"
        assert request.headers["confluent-client-version"].startswith("javascript/")
    first = json.loads(next(one.body for one in seen.requests if one.method == "POST"))
    assert list(first) == ["schemaType", "schema"]


@pytest.mark.parametrize(
    ("profile", "members"),
    [
        ("8", {"id", "version", "guid", "schemaType", "schema"}),
        pytest.param("7.6", {"id", "version", "schema"}, marks=pytest.mark.slow),
        pytest.param("5.5", {"id"}, marks=pytest.mark.slow),
    ],
)
def test_kafkajs_makes_its_whole_round_and_hands_the_answer_out_as_it_came(
    javascript: Program, tmp_path: Path, profile: str, members: set[str]
) -> None:
    with ExitStack() as stack:
        seen = stack.enter_context(front(tmp_path, CONTRACTLOG_RESPONSE_PROFILE=profile))
        found = javascript("kafkajs.js", seen.url)
        registry = stack.enter_context(Registry(seen.url))
        assert AvroDeserializer(registry)(
            bytes.fromhex(found["old"]), SerializationContext("t", MessageField.VALUE)
        ) == {"id": 7}
    assert (found["old"], found["noted"]) == ("00000000010e", "00000000020e020278")
    assert bytes.fromhex(found["json"])[5:] == b'{"id":7}'
    assert set(found["registered"]) == members
    assert found["registered"]["id"] == 1
    assert seen.missing(KAFKAJS) == [], seen.lines()
    theirs = [one for one in seen.requests if "kafkajs" in one.headers.get("user-agent", "")]
    assert len(theirs) > 25
    assert all("accept" not in one.headers for one in theirs)
    first = json.loads(next(one.body for one in theirs if one.method == "POST"))
    assert "schemaType" not in first
    assert theirs[0].line == "GET /config/t-value"

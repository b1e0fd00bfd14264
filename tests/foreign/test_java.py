"""Confluent's Java client 7.5 from Flink's jar, and Flink's frames."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from contractlog.clients import Registry
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.avro import AvroDeserializer

from support.registry import serve_in_thread
from support.request_recorder import record_requests
from support.third_party_clients import Program

pytestmark = pytest.mark.e2e

SENT: Final = (
    r"POST /subjects/t-value/versions\?normalize=false",
    r"POST /subjects/t-value/versions\?normalize=true",
    r"GET /schemas/ids/1\?fetchMaxId=false&subject=",
    r"GET /schemas/ids/2\?fetchMaxId=false&subject=t-value",
    r"POST /subjects/t-value\?normalize=false&deleted=false",
    r"POST /subjects/t-value\?normalize=false&deleted=true",
    r"GET /subjects/t-value/versions/latest",
    r"GET /subjects/t-value/versions\?deleted=false&deletedOnly=false",
    r"POST /compatibility/subjects/t-value/versions/latest\?normalize=false&verbose=false",
    r"POST /compatibility/subjects/t-value/versions/latest\?normalize=false&verbose=true",
    r"GET /subjects",
    r"GET /mode",
    r"GET /config/t-value\?defaultToGlobal=false",
    r"PUT /config/t-value",
    r"DELETE /subjects/t-value\?permanent=false",
    r"DELETE /subjects/t-value\?permanent=true",
)


@pytest.mark.parametrize("profile", ["8", pytest.param("7.6", marks=pytest.mark.slow)])
def test_confluent_s_client_and_flink_make_their_whole_round(
    java_client: Program, tmp_path: Path, profile: str
) -> None:
    database = f"sqlite:///{tmp_path / 'registry.db'}"
    with serve_in_thread(database, CONTRACTLOG_RESPONSE_PROFILE=profile) as url, record_requests(url) as seen:
        written = bytes.fromhex(java_client(seen.url)["written"])
        with Registry(url) as registry:
            context = SerializationContext("flink", MessageField.VALUE)
            assert AvroDeserializer(registry)(written, context) == {"id": 7}
    assert written == bytes.fromhex("00000000010e")
    assert seen.missing(SENT) == [], seen.lines()
    for request in seen.requests:
        assert request.headers["accept"] == "text/html, image/gif, image/jpeg, */*; q=0.2"
        assert request.headers["content-type"] == "application/vnd.schemaregistry.v1+json"
    first = json.loads(next(one.body for one in seen.requests if one.method == "POST"))
    assert list(first) == ["schema"]

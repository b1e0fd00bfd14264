"""Boundary values of numbers: the imported id 0, the largest ids, and invalid numbers."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.clients import Registry
from contractlog.compatibility.identifiers import MAX_ID, MAX_VERSION
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.settings import Settings
from contractlog.registry.testing import Registries
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer
from contractlog.serdes.context import MessageField, SerializationContext
from contractlog.serdes.wire import decode_frame

from support.registry import in_process

STRING, LONG = '"string"', '"long"'


def register(http: httpx2.Client, subject: str, schema: str, **members: Any) -> httpx2.Response:
    return http.post(f"/subjects/{subject}/versions", json={"schema": schema, **members})


@pytest.fixture
def zero(http: httpx2.Client) -> httpx2.Client:
    """A registry whose first schema came with the id 0, and was registered once more since."""
    assert http.put("/mode", json={"mode": "IMPORT"}).status_code == 200
    assert register(http, "s", STRING, id=0, version=1).json()["id"] == 0
    assert http.put("/mode", json={"mode": "READWRITE"}).status_code == 200
    assert register(http, "t", STRING).json()["id"] == 0
    return http


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/schemas/ids/0/schema", STRING.encode()),
        ("/schemas/ids/0/subjects", b'["s","t"]'),
        ("/schemas/ids/0/versions", b'[{"subject":"s","version":1},{"subject":"t","version":1}]'),
        ("/subjects/t/versions/1/referencedby", b"[]"),
    ],
)
def test_the_id_0_is_read_like_any_other(zero: httpx2.Client, path: str, answer: bytes) -> None:
    found = zero.get(path)
    assert (found.status_code, found.content) == (200, answer)


def test_the_id_0_is_answered_from_memory_with_the_same_bytes(zero: httpx2.Client) -> None:
    first = zero.get("/schemas/ids/0")
    assert (first.status_code, first.json()["subject"]) == (200, "s")
    assert zero.get("/schemas/ids/0").content == first.content
    assert "contractlog_cache_hits_total 1\n" in zero.get("/metrics").text
    assert register(zero, "u", LONG).json()["id"] == 1


def test_records_under_the_id_0_are_written_and_read(registries: Registries) -> None:
    app = registries.make({})
    here = SerializationContext("t", MessageField.VALUE)
    with Registry(app=app) as registry:
        registry.set_mode("IMPORT")
        registry.register("t-value", SchemaDraft(STRING), schema_id=0, version=1)
        registry.set_mode("READWRITE")
        assert registry.schema_by_id(0).text == STRING
        assert registry.schema_by_id(0) is registry.schema_by_id(0)
        record = AvroSerializer(registry, STRING)("text", here)
        assert record is not None
        assert decode_frame(record)[0] == 0
        assert AvroDeserializer(registry)(record, here) == "text"
    app.state.close()


@pytest.mark.parametrize(
    "text", ["7_0", "1.0", "1e0", "%201", "1%20", "٣", "1_", "0x1", "%D9%A3", "9" * 5_000, "%2B", ""]
)
@pytest.mark.parametrize(
    "path", ["/schemas/ids/{}/schema", "/schemas/ids/{}", "/subjects?limit={}", "/subjects?offset={}"]
)
def test_paths_with_invalid_numbers_are_not_found(http: httpx2.Client, path: str, text: str) -> None:
    if not text and "?" in path:
        assert http.get(path.format(text)).status_code == 200  # an empty parameter is none
        return
    found = http.get(path.format(text))
    assert (found.status_code, found.json()["error_code"]) == (404, 404), found.text


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**31 - 1), st.sampled_from(["", "%2B", "0", "000"]), st.data())
def test_an_id_is_the_same_in_any_spelling(http: httpx2.Client, number: int, before: str, data: st.DataObject) -> None:
    digits = [data.draw(st.sampled_from([digit, f"%3{digit}"])) for digit in str(number)]
    found = http.get("/schemas/ids/" + before + "".join(digits)).json()
    assert found == {"error_code": 40403, "message": f"Schema {number} not found"}


@pytest.mark.parametrize("wait", ["1_0", " 1", "nan", "inf", "1e999", "-1", "%2B1"])
def test_a_wait_is_a_number_of_seconds(http: httpx2.Client, wait: str) -> None:
    assert http.get(f"/contractlog/v1/changes?wait={wait}").json()["error_code"] == 42281


def test_after_the_last_id_and_the_last_version_registering_is_refused() -> None:
    with in_process(Settings(database_url="sqlite://", allow_id_gap=True)) as http:
        http.put("/mode", json={"mode": "IMPORT"})
        assert register(http, "s", STRING, id=MAX_ID, version=MAX_VERSION).status_code == 200
        http.put("/mode", json={"mode": "READWRITE"})
        for subject in ("s", "t"):
            assert register(http, subject, '["null","string"]').json()["error_code"] == 42205
        assert register(http, "s", STRING).json()["version"] == MAX_VERSION
        assert register(http, "t", STRING).json()["id"] == MAX_ID
        assert http.get(f"/schemas/ids/{MAX_ID}?fetchMaxId=true").json()["maxId"] == MAX_ID
        assert register(http, ":.eu:t", LONG).json()["id"] == 1

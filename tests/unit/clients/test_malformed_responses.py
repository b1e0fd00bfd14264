"""A call returns a result or raises a documented error, whatever the server responds."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.clients.calls import Call
from contractlog.clients.calls.associations import associations_of_subject
from contractlog.clients.calls.config_and_mode import config
from contractlog.clients.calls.extensions import changes, permissions, search
from contractlog.clients.calls.schemas import by_guid, by_id, versions_of_id
from contractlog.clients.calls.subjects import latest_with_metadata, lookup, register, version, versions
from contractlog.clients.confluent import confluent_calls
from contractlog.clients.confluent.data_classes import AssociationCreateOrUpdateRequest, Schema
from contractlog.clients.response import Response, parse_response
from contractlog.clients.retry_and_failover import Retries, send_with_retries
from contractlog.clients.transport import MAX_VALUES, UNCHECKED_BYTES, BoundedBody
from contractlog.compatibility.errors import RegistryError, UnreadableResponse
from contractlog.compatibility.schema import RegisteredSchema

from support.api_calls import DRAFT, EXAMPLES

THEIRS: list[Call[Any]] = [
    confluent_calls.register_schema("s", Schema(DRAFT.text), normalize_schemas=False),
    confluent_calls.lookup_schema("s", Schema(DRAFT.text), normalize_schemas=False, fmt=None, deleted=False),
    confluent_calls.get_schema(1, None, None, None),
    confluent_calls.get_schema_by_guid("g", None),
    confluent_calls.get_schema_versions(1),
    confluent_calls.get_version("s", 1, deleted=False, fmt=None),
    confluent_calls.get_latest_with_metadata("s", {}, deleted=False, fmt=None),
    confluent_calls.test_compatibility("s", Schema(DRAFT.text), 1),
    confluent_calls.get_config("s"),
    confluent_calls.get_mode("s"),
    confluent_calls.get_associations_by_resource_name("t", "-"),
    confluent_calls.create_association(AssociationCreateOrUpdateRequest()),
]
CALLS = [call for made in EXAMPLES.values() for call in made] + THEIRS

#: The words of the API: what is read is looked for under these.
WORDS = [
    *("subject", "version", "id", "guid", "schema", "schemaType", "references", "metadata", "ruleSet", "ts", "deleted"),
    *("name", "tags", "properties", "sensitive", "domainRules", "migrationRules", "enableAt", "kind", "mode", "params"),
    *("compatibilityLevel", "compatibility", "compatibilityPolicy", "contractlogPolicy", "defaultMetadata"),
    *("overrideRuleSet", "is_compatible", "messages", "associations", "results", "result", "error", "error_code"),
    *("message", "scope", "clusters", "attributes", "context", "frozen", "lifecycle", "resourceName", "fetches"),
]
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.sampled_from(["", "AVRO", "JSON", "latest", "FULL", "READWRITE", "EXACT", "STRONG", "1", "\x00", ":.c:s", ":."]),
    st.text(max_size=5),
)
bodies = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=6),
    max_leaves=12,
)
raw = st.one_of(
    bodies.map(lambda body: json.dumps(body).encode()),
    st.binary(max_size=20),
    st.sampled_from([b"", b"1e999", b"-1e999", b"[1e999]", b"[" * 5_000, b"<html>", b"{}", b"[]", b'{"id": 1e999}']),
)
statuses = st.one_of(
    st.sampled_from([200, 201, 204, 207, 301, 400, 401, 404, 409, 422, 500, 503]), st.integers(100, 599)
)
headers = st.dictionaries(st.sampled_from(["location", "retry-after", "content-type"]), st.text(max_size=8), max_size=2)


def ended(call: Call[Any], answer: Response) -> Any:
    """Carry a call through with one answer; return its result or its error."""
    talk = send_with_retries(call, ("http://registry",), Retries(attempts=1))
    next(talk)
    try:
        talk.send(answer)
    except StopIteration as done:
        return done.value
    except RegistryError as error:
        return error
    raise AssertionError("one attempt is all there is")


@settings(max_examples=200)
@given(st.sampled_from(CALLS), st.builds(Response, statuses, raw, headers))
def test_a_call_ends_in_a_result_or_an_error_with_a_name(call: Call[Any], answer: Response) -> None:
    result = ended(call, answer)
    if isinstance(result, RegistryError):
        assert str(result)
        assert len(str(result)) < 2_000
        assert result.error_code
    else:
        assert 200 <= answer.status < 300


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.method} {call.route}"[:50])
def test_a_page_of_a_proxy_is_never_a_result(call: Call[Any]) -> None:
    result = ended(call, Response(200, b"<html>Sign in</html>"))
    if call.text:
        assert result == "<html>Sign in</html>"  # a text is a text
    else:
        assert isinstance(result, UnreadableResponse)
        assert "Sign in" in str(result)


@given(st.integers(400, 599), st.integers(-(2**31), 2**31), st.text(min_size=1, max_size=20))
def test_a_code_is_believed_where_it_fits_the_status(status: int, code: int, message: str) -> None:
    body = json.dumps({"error_code": code, "message": message}).encode()
    error = ended(EXAMPLES["subjects"][0], Response(status, body))
    assert isinstance(error, RegistryError)
    if str(code).startswith(str(status)):
        assert error.error_code == code
        assert error.message == message
    else:
        assert error.error_code == status


@pytest.mark.parametrize(
    "body", [b"[]", b"{}", b'{"user":null,"read":true,"write":true}', b'{"user":"a","read":[],"write":true}']
)
def test_permissions_are_a_name_and_two_booleans(body: bytes) -> None:
    with pytest.raises(UnreadableResponse):
        parse_response(permissions("s"), Response(200, body))


@pytest.mark.parametrize("call", [changes(), search(field="f")])
@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"changes":{},"hits":{}}', b'{"changes":5,"hits":"x"}'])
def test_a_page_has_a_list(call: Call[Any], body: bytes) -> None:
    with pytest.raises(UnreadableResponse):
        parse_response(call, Response(200, body))


VERSION = {"subject": "s", "version": 1, "id": 1, "schema": DRAFT.text}


@pytest.mark.parametrize("member", ["version", "id", "schema"])
@pytest.mark.parametrize("call", [version("s", "latest"), latest_with_metadata("s", {})])
def test_a_version_has_its_number_its_id_and_its_text(call: Call[Any], member: str) -> None:
    for value in (None, 0, [], True, {}):
        with pytest.raises(UnreadableResponse):
            parse_response(call, Response(200, json.dumps({**VERSION, member: value}).encode()))
    body = {name: value for name, value in VERSION.items() if name != member}
    with pytest.raises(UnreadableResponse):
        parse_response(call, Response(200, json.dumps(body).encode()))


@pytest.mark.parametrize(
    "members",
    [
        {"subject": ["s"]},
        {"guid": 5},
        {"schemaType": []},
        {"ts": "now"},
        {"references": [{"name": ["n"], "subject": "s", "version": 1}]},
        {"references": [{"name": "n", "subject": {}, "version": 1}]},
        {"references": [{"name": "n", "subject": "s", "version": "x"}]},
        {"references": {"name": "n"}},
        {"metadata": {"tags": {"a": "b"}}},
        {"metadata": {"properties": {"a": ["b"]}}},
        {"metadata": {"sensitive": "a"}},
        {"ruleSet": {"domainRules": [{"name": 5}]}},
        {"ruleSet": {"domainRules": [{"name": "a", "tags": [[]]}]}},
        {"ruleSet": {"enableAt": 5}},
    ],
)
@pytest.mark.parametrize(
    "call", [version("s", 1), lookup("s", DRAFT), register("s", DRAFT), by_id(1), by_guid("g")], ids=lambda c: c.route
)
def test_a_member_of_a_schema_has_its_type(call: Call[Any], members: dict[str, Any]) -> None:
    assert isinstance(parse_response(call, Response(200, json.dumps(VERSION).encode())), RegisteredSchema)
    with pytest.raises(UnreadableResponse):
        parse_response(call, Response(200, json.dumps({**VERSION, **members}).encode()))


@pytest.mark.parametrize(
    "body",
    [
        {"alias": ["a"]},
        {"normalize": "yes"},
        {"defaultMetadata": {"properties": []}},
        {"defaultRuleSet": {"x": 1}, "compatibilityGroup": 1},
    ],
)
def test_a_member_of_a_config_has_its_type(body: dict[str, Any]) -> None:
    with pytest.raises(UnreadableResponse):
        parse_response(config("s"), Response(200, json.dumps(body).encode()))


@pytest.mark.parametrize(
    ("call", "body"),
    [
        (versions("s"), "12"),
        (versions("s"), ["1"]),
        (versions_of_id(1), [{"subject": ["s"], "version": 1}]),
        (associations_of_subject("s"), [{"subject": ["s"]}]),
        (associations_of_subject("s"), [{"subject": "s", "resourceName": ["t"]}]),
    ],
)
def test_lists_have_items_of_their_type(call: Call[Any], body: Any) -> None:
    with pytest.raises(UnreadableResponse):
        parse_response(call, Response(200, json.dumps(body).encode()))


def receive(content: bytes) -> Response:
    body = BoundedBody(httpx2.Response(200))
    assert body.add(content)
    return body.response()


def test_a_large_response_of_small_values_is_not_parsed() -> None:
    """Each empty list takes sixty bytes of memory; the size of a response is limited, too."""
    content = b"[" + b"[]," * (MAX_VALUES // 2)
    with pytest.raises(UnreadableResponse, match="has more than 16,000,000 JSON values"):
        parse_response(versions("s"), receive(content))
    text = b'["' + b'[],\\"' * (UNCHECKED_BYTES // 5) + b'"]'
    assert receive(text) == Response(200, text)


def test_a_long_message_is_cut_off() -> None:
    body = json.dumps({"error_code": 42201, "message": "x" * 1_000_000}).encode()
    with pytest.raises(RegistryError) as error:
        parse_response(versions("s"), Response(422, body))
    assert str(error.value) == "x" * 100_000 + "…"

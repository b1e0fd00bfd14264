"""No request is answered with a 500, on any database."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import httpx2
import pytest

from contractlog.registry.settings import Settings

from support.registry import in_process

NAMES = [
    "s",
    "a%2Fb",
    "%00",
    "%0A",
    "%ff",
    "%ed%a0%80",
    "%F0%9F%98%80",
    "..",
    "%2e%2e",
    "%2F",
    "-1",
    "0",
    "1",
    "latest",
    "LATEST",
    "99999999999999999999",
    "9223372036854775808",
    "18446744073709551615",
    "1e3",
    "\u0661",
    "%D9%A1",
    ":.eu:s",
    ":.a%00:s",
    ":*:",
    ":.__GLOBAL:",
    ":.:s",
    ":::",
    "__EMPTY",
    "%25%73",
    "'%3B--",
    "%7B%7D",
    "x" * 3_000,
    "%E6%97%A5" * 900,
    "null",
    "true",
    "00000000-0000-0000-0000-000000000000",
    ":." + "c" * 300 + ":s",
]
PATHS = [
    "/{}",
    "/subjects",
    "/subjects/{}",
    "/subjects/{}/versions",
    "/subjects/{}/versions/{}",
    "/subjects/{}/versions/{}/schema",
    "/subjects/{}/versions/{}/referencedby",
    "/schemas/ids/{}",
    "/schemas/ids/{}/schema",
    "/schemas/ids/{}/subjects",
    "/schemas/ids/{}/versions",
    "/schemas/guids/{}",
    "/schemas/guids/{}/ids",
    "/compatibility/subjects/{}/versions",
    "/compatibility/subjects/{}/versions/{}",
    "/config/{}",
    "/mode/{}",
    "/config",
    "/contexts",
    "/contexts/{}/subjects",
    "/contexts/{}/subjects/{}/versions",
    "/contexts/{}/schemas/ids/{}",
    "/contexts/{}/config",
    "/associations/resources/{}/{}",
    "/contractlog/v1/conformance/{}",
]
QUERIES = [
    "",
    "deleted=true",
    "permanent=true",
    "subject={}",
    "subjectPrefix={}",
    "offset={}&limit={}",
    "normalize=True&verbose=true",
    "defaultToGlobal=true",
    "contextPrefix={}",
    "part={}",
    "fetchMaxId=true",
    "referenceFormat=qualified",
    "deletedAsNegative=1",
    "&&==;",
]
TEXTS = [
    '"string"',
    '"\\u0000"',
    "\0",
    "",
    " ",
    "{}",
    "[]",
    "null",
    "1",
    '{"type":"record","name":"A","fields":[]}',
    "[" * 500,
    '{"type":"record","name":"A","fields":[{"name":"a","type":"A"}]}',
    '{"type":"fixed","name":"f","size":99999999999999999999}',
    '{"type":"record","name":"A","fields":[{"name":"x","type":"long","default":"\\u0000","doc":"\\u0000"}]}',
    '{"$ref":"http://x/"}',
    '{"$ref":"file:///etc/passwd"}',
    '{"type":"object","patternProperties":{"(a+)+$":{}}}',
    '{"type":"enum","name":"e","symbols":[]}',
    "NaN",
    '{"type":"bytes","logicalType":"decimal","precision":1e400}',
    '{"a":1,"a":2}',
    "\ufeff{}",
    '"' + "x" * 20_000 + '"',
]
ODD = [None, "", "x", 0, -1, 2**31, 2**63, 2**64 - 1, 2**70, 1.5, [], {}, [None], {"a": "\0"}, True, "\0", "ä" * 300]


@pytest.fixture(params=["memory", pytest.param("postgresql", marks=pytest.mark.integration)])
def http(request: pytest.FixtureRequest) -> Iterator[httpx2.Client]:
    url = "sqlite://"
    if request.param == "postgresql":
        url = request.getfixturevalue("upgraded_postgres_url")
    with in_process(Settings(database_url=url)) as client:
        yield client


def test_no_request_is_answered_with_a_500(http: httpx2.Client) -> None:
    dice = random.Random(20_130_701)  # noqa: S311 - a test, repeatable
    seen = set()
    for _ in range(1_500):
        path = "".join(
            dice.choice(NAMES) if part == "{}" else part
            for part in dice.choice(PATHS).replace("{}", "\n{}\n").split("\n")
        )
        query = dice.choice(QUERIES).replace("{}", dice.choice(NAMES))
        method = dice.choice(["GET", "POST", "PUT", "DELETE", "POST", "HEAD", "OPTIONS", "PATCH"])
        content = _body(dice)
        answer = http.request(method, f"{path}?{query}", content=content)
        told = (method, path[:200], query[:200], content[:300], answer.text[:300])
        assert answer.status_code < 500, told
        seen.add(answer.status_code)
        if answer.status_code >= 400 and method != "HEAD":
            assert set(answer.json()) == {"error_code", "message"}, told
    assert seen >= {200, 400, 404, 405, 422}


@pytest.mark.parametrize("number", [0, -2, 2**31, 2**63 - 1, 2**63, 2**64 - 1])
@pytest.mark.parametrize("path", ["/subjects/s/versions", "/subjects/s", "/compatibility/subjects/s/versions"])
def test_a_reference_to_a_number_that_no_version_has_leads_nowhere(http: httpx2.Client, path: str, number: int) -> None:
    assert http.post("/subjects/s/versions", json={"schema": '"int"'}).status_code == 200
    references = [{"name": "n", "subject": "s", "version": number}]
    answer = http.post(path, json={"schema": '"int"', "references": references})
    assert (answer.status_code, answer.json()["error_code"]) == (422, 42201)
    assert f'No schema reference found for subject "s" and version {number}' in answer.json()["message"]


@pytest.mark.parametrize("number", [2**31, 2**63, 2**64 - 1, -(2**63) - 1, 10**30])
def test_a_huge_number_in_a_path_or_query_is_answered_like_any_other(http: httpx2.Client, number: int) -> None:
    assert http.post("/subjects/s/versions", json={"schema": '"int"'}).status_code == 200
    for path, expected in {
        f"/schemas/ids/{number}": 404,
        f"/schemas/ids/{number}/schema": 404,
        f"/schemas/ids/{number}/subjects": 404,
        f"/schemas/ids/{number}/versions": 404,
        f"/subjects/s/versions/{number}": 42202,
        f"/subjects/s/versions/{number}/schema": 42202,
        f"/subjects/s/versions/{number}/referencedby": 42202,
    }.items():
        assert http.get(path).json()["error_code"] == expected, path
    assert http.get(f"/subjects?offset={number}").json() == (["s"] if number < 0 else [])
    assert http.get(f"/subjects?limit={number}").json() == ["s"]
    assert http.delete(f"/subjects/s/versions/{number}").json()["error_code"] == 42202


def _body(dice: random.Random) -> bytes:
    kind = dice.random()
    if kind < 0.1:
        return dice.choice([b"", b"{", b"\xff\xfe", b"[]", b'"x"', b"null", b"[" * 5_000, b'{"schema":' * 5_000])
    body = {"schema": dice.choice(TEXTS)}
    if kind > 0.5:
        for member in dice.sample(
            [
                "schemaType",
                "references",
                "metadata",
                "ruleSet",
                "version",
                "id",
                "compatibility",
                "mode",
                "normalize",
                "compatibilityGroup",
                "schema",
                "topic",
                "part",
            ],
            3,
        ):
            body[member] = dice.choice(ODD)
        if dice.random() < 0.3:
            body["references"] = [
                {
                    "name": dice.choice(["A", "\0", ""]),
                    "subject": dice.choice(["s", "\0", ":.\0:s"]),
                    "version": dice.choice([1, -1, 0, 2**31, 2**40, 2**63, 2**64 - 1]),
                }
            ]
        if dice.random() < 0.3:
            body["metadata"] = {"properties": {"a\0": "b\0"}, "tags": {"\0": ["\0"]}}
        if dice.random() < 0.2:
            body["schemaType"] = "JSON"
    return json.dumps(body).encode()

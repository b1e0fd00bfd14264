"""Responses to unusual values of parameters are documented."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

import httpx2
import pytest

from contractlog.registry.settings import Settings

from support.openapi_checks import DOCUMENT, check_response
from support.registry import in_process

STRANGE: Final = ("\0", "x\0y", ":.a\0:s", "é" * 2_000, "-5", "9" * 20, "1.5", "%zz")
USUAL: Final = {"version": "1", "schema_id": "1"}
PLACES: Final = [
    (method.upper(), path, one["name"])
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
    for one in operation.get("parameters", ())
]


@pytest.fixture(scope="module")
def filled() -> Iterator[httpx2.Client]:
    with in_process(Settings(database_url="sqlite://")) as client:
        client.post("/subjects/s/versions", json={"schema": '"int"'}).raise_for_status()
        yield client


@pytest.mark.parametrize(("method", "path", "name"), PLACES)
def test_the_answer_to_a_strange_value_is_told(filled: httpx2.Client, method: str, path: str, name: str) -> None:
    operation = DOCUMENT["paths"][path][method.lower()]
    body = {"json": {"schema": '"int"'}} if "requestBody" in operation else {}
    for strange in STRANGE:
        url, asked = path, {"wait": "0"} if path == "/contractlog/v1/changes" else {}
        for one in operation["parameters"]:
            value = strange if one["name"] == name else USUAL.get(one["name"], "s")
            if one["in"] == "path":
                url = url.replace(f"{{{one['name']}}}", quote(value, safe=""))
            elif one["name"] == name or one.get("required"):
                asked[one["name"]] = value
        check_response(method, path, filled.request(method, url, params=asked, **body))

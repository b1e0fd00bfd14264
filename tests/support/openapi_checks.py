"""Validation of responses against ``openapi.yaml``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator

from contractlog.registry.http.openapi_file import build_document

if TYPE_CHECKING:
    import httpx2

__all__ = ["DOCUMENT", "OPERATIONS", "check_response"]

DOCUMENT: Final = build_document()
OPERATIONS: Final = [(method.upper(), path) for path, operations in DOCUMENT["paths"].items() for method in operations]


def check_response(method: str, path: str, response: httpx2.Response) -> None:
    """Check status, media type, body and error code of a response against its operation."""
    description = (
        f"{response.request.method} {response.request.url} returned {response.status_code}: {response.text[:500]}"
    )
    assert response.status_code < 500, description
    documented = DOCUMENT["paths"][path][method.lower()]["responses"].get(str(response.status_code))
    assert documented is not None, f"an undocumented status: {description}"
    contents = documented.get("content") or {}
    if not contents or not response.content:
        return
    media_type = response.headers["content-type"].partition(";")[0]
    assert media_type in contents, description
    if not media_type.endswith("json"):
        return
    body = response.json()
    problems = list(_validator(method, path, response.status_code, media_type).iter_errors(body))
    assert not problems, f"{problems[0].message}: {description}"
    if response.status_code >= 400:
        assert body["error_code"] in _list_error_codes(documented), f"an undocumented error code: {description}"


@cache
def _validator(method: str, path: str, status: int, kind: str) -> Draft202012Validator:
    contents = DOCUMENT["paths"][path][method.lower()]["responses"][str(status)]["content"]
    schema = contents[kind].get("schema") or {}
    return Draft202012Validator(schema | {"components": DOCUMENT["components"]})


def _list_error_codes(documented: Mapping[str, Any]) -> set[int]:
    return {int(code) for code in re.findall(r"(?<!\d)(\d{3,5}): ", documented["description"])}

"""What ``openapi.yaml`` says about an answer, and whether the answer is so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator

from contractlog.registry.http.openapi_file import build_document

if TYPE_CHECKING:
    import httpx2

__all__ = ["DOCUMENT", "OPERATIONS", "judge"]

DOCUMENT: Final = build_document()
OPERATIONS: Final = [(method.upper(), path) for path, operations in DOCUMENT["paths"].items() for method in operations]


def judge(method: str, path: str, answer: httpx2.Response) -> None:
    """Hold an answer against what the document says about its operation: status, media type, body, and error code."""
    what = f"{answer.request.method} {answer.request.url} answered {answer.status_code}: {answer.text[:500]}"
    assert answer.status_code < 500, what
    told = DOCUMENT["paths"][path][method.lower()]["responses"].get(str(answer.status_code))
    assert told is not None, f"a status that the document does not tell: {what}"
    contents = told.get("content") or {}
    if not contents or not answer.content:
        return
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in contents, what
    if not kind.endswith("json"):
        return
    found = answer.json()
    problems = list(_validator(method, path, answer.status_code, kind).iter_errors(found))
    assert not problems, f"{problems[0].message}: {what}"
    if answer.status_code >= 400:
        assert found["error_code"] in _codes(told), f"a code that the document does not tell: {what}"


@cache
def _validator(method: str, path: str, status: int, kind: str) -> Draft202012Validator:
    contents = DOCUMENT["paths"][path][method.lower()]["responses"][str(status)]["content"]
    schema = contents[kind].get("schema") or {}
    return Draft202012Validator(schema | {"components": DOCUMENT["components"]})


def _codes(told: Mapping[str, Any]) -> set[int]:
    return {int(code) for code in re.findall(r"(?<!\d)(\d{3,5}): ", told["description"])}

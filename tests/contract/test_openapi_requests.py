"""Responses to requests generated from ``openapi.yaml``: no 5xx, and as documented."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode

from contractlog.registry.settings import Settings

from support.openapi_checks import DOCUMENT, OPERATIONS, check_response
from support.registry import in_process

SCHEMA: Final = schemathesis.openapi.from_dict(DOCUMENT)
RECORD: Final = json.dumps({"type": "record", "name": "R", "fields": [{"name": "x", "type": "long"}]})


@pytest.fixture(scope="module")
def filled() -> Iterator[httpx2.Client]:
    """A registry that holds something: most made requests find nothing."""
    with in_process(Settings(database_url="sqlite://")) as client:
        client.put("/config", json={"compatibility": "NONE"})
        for subject in ("0", "s", ":.eu:s"):
            for schema in ('"string"', RECORD):
                client.post(f"/subjects/{subject}/versions", json={"schema": schema})
        yield client


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_answers_are_as_the_document_says(filled: httpx2.Client, method: str, path: str) -> None:
    ask(filled, method, path, GenerationMode.POSITIVE, examples=2)


@pytest.mark.slow
@pytest.mark.parametrize("mode", GenerationMode)
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_many_answers_are_as_the_document_says(
    filled: httpx2.Client, method: str, path: str, mode: GenerationMode
) -> None:
    ask(filled, method, path, mode, examples=30)


def ask(client: httpx2.Client, method: str, path: str, mode: GenerationMode, *, examples: int) -> None:
    """Send made requests to one operation, and judge each answer."""
    operation = SCHEMA[path][method]

    def judged(case: schemathesis.Case) -> None:
        sent = case.as_transport_kwargs(base_url="http://registry")
        sent.pop("cookies", None)
        body = {name: sent.pop(name) for name in ("json", "data") if name in sent}
        content = json.dumps(body["json"]).encode() if "json" in body else body.get("data")
        answer = client.request(
            sent["method"],
            sent["url"],
            params=_texts(sent["params"] or {}),
            headers=_sendable(sent["headers"]),
            content=content,
        )
        check_response(method, path, answer)

    limits = settings(
        max_examples=examples, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    if mode is GenerationMode.POSITIVE or operation.body or operation.query:
        limits(given(case=operation.as_strategy(generation_mode=mode))(judged))()


def _texts(params: dict[str, Any]) -> list[tuple[str, str]]:
    pairs = [(name, one) for name, value in params.items() for one in (value if isinstance(value, list) else [value])]
    return [(name, one if isinstance(one, str) else json.dumps(one)) for name, one in pairs]


def _sendable(headers: dict[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in headers.items() if str(value).isascii() and str(value).isprintable()}

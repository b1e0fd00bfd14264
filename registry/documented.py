"""OpenAPI descriptions of routes, in addition to what FastAPI derives from signatures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec
from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute

from contractlog.compatibility.errors import (
    MethodNotAllowed,
    NotFound,
    RegistryError,
    ServerError,
    UnsupportedMediaType,
)
from contractlog.registry.bodies import answers, associations, extended, levels, many, own, requests
from contractlog.registry.content import json_content
from contractlog.registry.parameters import describe
from contractlog.registry.problems import MEDIA_TYPE

__all__ = ["ANYTHING", "complete", "documented", "listed", "operation_id", "ref"]

_BODIES: Final = [
    getattr(module, name)
    for module in (requests, answers, associations, extended, levels, own, many)
    for name in module.__all__
    if name.endswith(("Body", "Request"))
]


#: The response is the text of a schema, which is JSON of any kind.
ANYTHING: Final[dict[str, Any]] = {"description": "Any JSON: the text of the schema itself."}


def documented(
    answer: dict[str, Any] | type,
    *errors: type[RegistryError],
    body: type | None = None,
    status: int = 200,
) -> dict[str, Any]:
    """Return the arguments of a route's decorator: its response, its errors, and its request body."""
    schema = answer if isinstance(answer, dict) else ref(answer)
    responses: dict[int | str, Any] = {status: {"description": "Success", "content": {MEDIA_TYPE: {"schema": schema}}}}
    told = errors if body is None else (*errors, UnsupportedMediaType)
    for http_status, codes in sorted(_by_status(told).items()):
        responses[http_status] = {
            "description": "; ".join(codes),
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ErrorBody"}}},
        }
    extra: dict[str, Any] = {}
    if body is not None:
        content = {kind: {"schema": ref(body)} for kind in (MEDIA_TYPE, "application/json")}
        extra["dependencies"] = [Depends(json_content)]
        extra["openapi_extra"] = {"requestBody": {"required": True, "content": content}}
    return {"responses": responses, "status_code": status, **extra}


def operation_id(route: APIRoute) -> str:
    """Name an operation by method and path, such as ``get_subjects_subject_versions``."""
    return "_".join([*sorted(route.methods or ()), *re.findall(r"\w+", route.path)]).lower()


def ref(kind: type) -> dict[str, Any]:
    """Return a reference to a body by its name; ``object`` is any JSON object."""
    if kind is object:
        return {"type": "object"}
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def listed(kind: type | str) -> dict[str, Any]:
    """Describe a list."""
    return {"type": "array", "items": {"type": kind} if isinstance(kind, str) else ref(kind)}


def _by_status(errors: Iterable[type[RegistryError]]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    told: set[type[RegistryError]] = {*errors, NotFound, MethodNotAllowed, ServerError}
    for error in sorted(told, key=lambda one: one.code):
        summary = (error.__doc__ or "").strip().splitlines()[0].rstrip(".")
        found.setdefault(int(str(error.code)[:3]), []).append(f"{error.code}: {summary}")
    return found


def complete(app: FastAPI) -> None:
    """Make the app's OpenAPI document describe our bodies, without FastAPI's own validation errors."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = made()
            _, components = msgspec.json.schema_components(_BODIES, ref_template="#/components/schemas/{name}")
            document["components"] = {"schemas": dict(sorted(components.items()))}
            for path in document["paths"].values():
                for operation in path.values():
                    _drop_validation_errors(operation["responses"])
                    _drop_guessed_types(operation["responses"])
            describe(document)
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _drop_guessed_types(responses: dict[str, Any]) -> None:
    """Remove the type ``string`` that FastAPI assumes for responses which we describe ourselves."""
    schemas = (content["schema"] for response in responses.values() for content in response.get("content", {}).values())
    for schema in schemas:
        if "$ref" in schema or schema.get("description") == ANYTHING["description"]:
            schema.pop("type", None)


def _drop_validation_errors(responses: dict[str, Any]) -> None:
    for status, response in list(responses.items()):
        if "HTTPValidationError" in str(response):
            del responses[status]

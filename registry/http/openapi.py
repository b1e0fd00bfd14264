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
from contractlog.registry.features import bodies as features_bodies
from contractlog.registry.features.associations import bodies as associations_bodies
from contractlog.registry.features.batch import bodies as batch_bodies
from contractlog.registry.features.config import bodies as config_bodies
from contractlog.registry.features.schemas import bodies as schemas_bodies
from contractlog.registry.http import request_bodies, response_bodies
from contractlog.registry.http.content_types import require_json_content
from contractlog.registry.http.errors import MEDIA_TYPE
from contractlog.registry.http.openapi_descriptions import describe_parameters

__all__ = ["ANY_JSON", "body_reference", "customize_openapi", "describe_route", "list_schema", "operation_id"]

_BODIES: Final = [
    getattr(module, name)
    for module in (
        request_bodies,
        response_bodies,
        associations_bodies,
        schemas_bodies,
        config_bodies,
        features_bodies,
        batch_bodies,
    )
    for name in module.__all__
    if name.endswith(("Body", "Request"))
]


#: The response is the text of a schema, which is JSON of any kind.
ANY_JSON: Final[dict[str, Any]] = {"description": "Any JSON: the text of the schema itself."}


def describe_route(
    answer: dict[str, Any] | type,
    *errors: type[RegistryError],
    body: type | None = None,
    status: int = 200,
) -> dict[str, Any]:
    """Return the arguments of a route's decorator: its response, its errors, and its request body."""
    schema = answer if isinstance(answer, dict) else body_reference(answer)
    responses: dict[int | str, Any] = {status: {"description": "Success", "content": {MEDIA_TYPE: {"schema": schema}}}}
    all_errors = errors if body is None else (*errors, UnsupportedMediaType)
    for http_status, codes in sorted(_group_by_status(all_errors).items()):
        responses[http_status] = {
            "description": "; ".join(codes),
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ErrorBody"}}},
        }
    extra: dict[str, Any] = {}
    if body is not None:
        content = {kind: {"schema": body_reference(body)} for kind in (MEDIA_TYPE, "application/json")}
        extra["dependencies"] = [Depends(require_json_content)]
        extra["openapi_extra"] = {"requestBody": {"required": True, "content": content}}
    return {"responses": responses, "status_code": status, **extra}


def operation_id(route: APIRoute) -> str:
    """Name an operation by method and path, such as ``get_subjects_subject_versions``."""
    return "_".join([*sorted(route.methods or ()), *re.findall(r"\w+", route.path)]).lower()


def body_reference(kind: type) -> dict[str, Any]:
    """Return a reference to a body by its name; ``object`` is any JSON object."""
    if kind is object:
        return {"type": "object"}
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def list_schema(kind: type | str) -> dict[str, Any]:
    """Describe a list."""
    return {"type": "array", "items": {"type": kind} if isinstance(kind, str) else body_reference(kind)}


def _group_by_status(errors: Iterable[type[RegistryError]]) -> dict[int, list[str]]:
    codes: dict[int, list[str]] = {}
    all_errors: set[type[RegistryError]] = {*errors, NotFound, MethodNotAllowed, ServerError}
    for error in sorted(all_errors, key=lambda error_class: error_class.code):
        summary = (error.__doc__ or "").strip().splitlines()[0].rstrip(".")
        codes.setdefault(int(str(error.code)[:3]), []).append(f"{error.code}: {summary}")
    return codes


def customize_openapi(app: FastAPI) -> None:
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
            describe_parameters(document)
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _drop_guessed_types(responses: dict[str, Any]) -> None:
    """Remove the type ``string`` that FastAPI assumes for responses which we describe ourselves."""
    schemas = (content["schema"] for response in responses.values() for content in response.get("content", {}).values())
    for schema in schemas:
        if "$ref" in schema or schema.get("description") == ANY_JSON["description"]:
            schema.pop("type", None)


def _drop_validation_errors(responses: dict[str, Any]) -> None:
    for status, response in list(responses.items()):
        if "HTTPValidationError" in str(response):
            del responses[status]

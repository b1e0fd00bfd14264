"""OpenAPI document: responses and errors of routes, groups of operations, descriptions of parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
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
from contractlog.registry.features import extension_bodies as features_bodies
from contractlog.registry.features.associations import bodies as associations_bodies
from contractlog.registry.features.batch import bodies as batch_bodies
from contractlog.registry.features.change_requests import bodies as change_requests_bodies
from contractlog.registry.features.config_and_mode import bodies as config_bodies
from contractlog.registry.features.contracts import bodies as contracts_bodies
from contractlog.registry.features.dek_registry import bodies as dek_registry_bodies
from contractlog.registry.features.lineage import bodies as lineage_bodies
from contractlog.registry.features.schemas import bodies as schemas_bodies
from contractlog.registry.features.subject_usage import bodies as usage_bodies
from contractlog.registry.http import request_bodies, response_bodies
from contractlog.registry.http.api_response import MEDIA_TYPE
from contractlog.registry.http.request_bodies import require_json_content

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
        usage_bodies,
        lineage_bodies,
        dek_registry_bodies,
        change_requests_bodies,
        contracts_bodies,
    )
    for name in module.__all__
    if name.endswith(("Body", "Request"))
]

#: The groups in the order in which documents list them.
GROUPS: Final[Mapping[str, str]] = {
    "subjects": "Subjects and their versions: register, look up, read, delete.",
    "schemas": "Schemas by id or guid, and lists of schemas.",
    "compatibility": "Compatibility checks without registration.",
    "config": "Compatibility level and other settings of the registry, a context or a subject.",
    "mode": "Modes, which control writes: READWRITE, READONLY, IMPORT, FORWARD.",
    "contexts": "Contexts: namespaces of subjects and ids.",
    "associations": "Associations of topics with the subjects of their keys and values.",
    "service": "Version, cluster ids and other metadata of the service.",
    "conformance": "Audit results by topic.",
    "contracts": "Data contracts of topics, in the Open Data Contract Standard.",
    "lineage": "Lineage of topics: declared in OpenLineage events, traced, or found in values.",
    "encryption keys": "Key encryption keys (KEKs), and the data encryption keys (DEKs) that they wrap.",
    "changes": "The change log, with long polling.",
    "change requests": "Change requests for protected subjects, and waivers.",
    "search": "Search for fields, types, tags and properties.",
    "diff": "Differences between two schemas.",
    "graph": "Dependencies between schemas.",
    "permissions": "Permissions of the caller.",
    "batches": "Lookups and checks of many schemas in one request.",
    "fetches": "Clients that fetch schemas, with counts by day.",
    "usage": "Usage of subjects: the clients that fetch their versions, and the records that carry them.",
    "import": "Import of a whole registry.",
    "health": "Health and metrics.",
}
_METHODS: Final = ("get", "post", "put", "delete")

_DELETED: Final = "`true` includes soft-deleted versions."
_DESCRIPTIONS: Final[Mapping[str, str]] = {
    "aliases": "`true` also searches the subjects whose aliases match `subjectPrefix`, and lists the aliases.",
    "associationType": "Only associations of this type: `key` or `value`. May be repeated.",
    "cascadeLifecycle": "`true` also deletes the subjects that belong to the resource (lifecycle `STRONG`).",
    "context": "The context: `.eu`, `:.eu:` or `eu`; empty is the default context.",
    "contextPrefix": "Only contexts whose names begin with this text.",
    "defaultToGlobal": "`true` returns the effective value: from the subject, its context, all contexts "
    "(`:.__GLOBAL:`) or the server's default. Otherwise, only the value that is set at this scope is returned.",
    "deleted": _DELETED,
    "deletedAsNegative": "`true` includes soft-deleted versions, as negative numbers.",
    "deletedOnly": "`true` lists soft-deleted versions only; it takes precedence over `deleted`.",
    "dryRun": "`true` checks the request and writes nothing.",
    "fetchMaxId": "`true` adds `maxId`, the highest id of the context.",
    "findTags": "Adds the parts of the schema that have this tag; `*` is any tag. May be repeated.",
    "force": "`true` registers the schema even if it is incompatible.",
    "format": "The format of the schema text: `resolved` replaces references in Avro schemas by the referenced types. "
    "With empty and unknown values, the text is returned as stored.",
    "guid": "A guid, as a UUID or as 32 hexadecimal digits.",
    "includeSchemas": "`true` adds the latest schema of each subject.",
    "kek": "The name of a KEK.",
    "key": "The name of a metadata property. May be repeated; each needs a `value` at the same position.",
    "latestOnly": "`true` lists only the latest version of each subject.",
    "lifecycle": "Only associations with this lifecycle: `STRONG` or `WEAK`.",
    "limit": "Maximum number of items; negative numbers and 0 mean no limit.",
    "name": "The name of the resource (for Kafka, the topic); `-` is any.",
    "namespace": "The namespace of the resource (for Kafka, the id of the cluster); `-` is any.",
    "normalize": "`true` uses the normalized text, so that schemas that differ only in notation are one version.",
    "offset": "The number of items to skip.",
    "permanent": "`true` hard-deletes what was soft-deleted before; the ids are never assigned again.",
    "request": "The number of a change request.",
    "recursive": "`true` also deletes the modes of all subjects in the context.",
    "referenceFormat": "`qualified` writes the subjects of references with their contexts.",
    "resource": "The id of the resource.",
    "resourceType": "The type of the resource; `topic` if empty.",
    "ruleType": "Only schemas with a rule of this type, such as `CEL`.",
    "schema_id": "The id of a schema, as contained in records.",
    "subject": "The name of a subject; `:.eu:name` is a subject of the context `.eu`.",
    "subjectPrefix": "Only subjects whose names begin with this text; `:.eu:` is a context, `:*:` are all contexts.",
    "topic": "The name of a topic.",
    "value": "The value of the property in `key` at the same position.",
    "verbose": "`true` adds `messages`, the reasons why the schema is incompatible; empty if it is compatible.",
    "version": "The number of a version; `latest` and `-1` are the latest version that is not deleted.",
}
_SCOPE: Final = "The name of a subject; `:.eu:` is the context `.eu`, `:.__GLOBAL:` are all contexts."
_MODE_FORCE: Final = "`true` allows the mode IMPORT even if there are versions that are not deleted."
_SPELLING: Final = "Accepted and ignored, because the notation does not affect the comparison."

#: Parameters whose meaning differs on some paths: path, name -> description.
_SPECIAL: Final[Mapping[tuple[str, str], str]] = {
    ("/mode", "force"): _MODE_FORCE,
    ("/mode/{subject}", "force"): _MODE_FORCE,
    ("/mode/{subject}", "subject"): _SCOPE,
    ("/config/{subject}", "subject"): _SCOPE,
    ("/compatibility/subjects/{subject}/versions", "normalize"): _SPELLING,
    ("/compatibility/subjects/{subject}/versions/{version}", "normalize"): _SPELLING,
    (
        "/schemas",
        "subjectPrefix",
    ): "Only subjects whose names begin with this text; empty is the default context, `:*:` are all contexts.",
    ("/schemas", "limit"): "Maximum number of schemas; at most 1,000, which is also the default.",
    (
        "/schemas",
        "lifecycle",
    ): "Only schemas whose subjects have an association with this lifecycle: `STRONG`, `WEAK`, or "
    "`NONE` for subjects without associations. May be repeated.",
    (
        "/schemas",
        "associationType",
    ): "Only schemas whose subjects have an association of this type: `key` or `value`. May be repeated.",
    ("/schemas", "resourceType"): "Only schemas whose subjects are associated with a resource of this type, such as "
    "`topic`.",
    ("/subjects", "deleted"): "`true` includes subjects whose versions are all soft-deleted.",
    (
        "/subjects",
        "deletedOnly",
    ): "`true` lists only subjects whose versions are all soft-deleted; it takes precedence over `deleted`.",
}

#: The response is the text of a schema, which is JSON of any kind.
ANY_JSON: Final[dict[str, Any]] = {"description": "The text of the schema: any JSON."}


def describe_route(
    response: dict[str, Any] | type,
    *errors: type[RegistryError],
    body: type | None = None,
    status: int = 200,
) -> dict[str, Any]:
    """Return the arguments of a route's decorator: its response, its errors, and its request body."""
    schema = response if isinstance(response, dict) else body_reference(response)
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
    build_openapi = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = build_openapi()
            _, components = msgspec.json.schema_components(_BODIES, ref_template="#/components/schemas/{name}")
            document["components"] = {"schemas": dict(sorted(components.items()))}
            for path in document["paths"].values():
                for operation in path.values():
                    _drop_validation_errors(operation["responses"])
                    _drop_guessed_types(operation["responses"])
            _describe_parameters(document)
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


def _describe_parameters(document: dict[str, Any]) -> None:
    """Sort the operations of an OpenAPI document by group, and add missing descriptions of parameters."""
    order = list(GROUPS)
    paths: dict[str, dict[str, Any]] = document["paths"]

    def sort_key(path: str) -> tuple[int, str]:
        first = next(iter(paths[path].values()))
        return order.index(first["tags"][0]), path

    for path, operations in paths.items():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                name = parameter["name"]
                words = _SPECIAL.get((path, name)) or _DESCRIPTIONS.get(name)
                if words is not None:
                    parameter.setdefault("description", words)
    document["tags"] = [{"name": name, "description": words} for name, words in GROUPS.items()]
    document["paths"] = {
        path: {method: paths[path][method] for method in _METHODS if method in paths[path]}
        for path in sorted(paths, key=sort_key)
    }

"""Calls of contractlog's extensions to the API, under ``/contractlog/v1``: one function per endpoint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from contractlog.clients.calls import Call, CompatibilityAnswer, ResponseBody, SubjectLike, VersionLike
from contractlog.clients.calls.call import PathParameter, query_parameters
from contractlog.compatibility.errors import RegistryError
from contractlog.compatibility.level import Level
from contractlog.compatibility.policy import Policy
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft

__all__ = [
    "ResponseBody",
    "changes",
    "check_many",
    "difference",
    "fetches",
    "graph",
    "lookup_many",
    "permissions",
    "search",
]

_EXTENSION_PATH: Final = ("contractlog", "v1")


def changes(since: int | Literal["latest"] = 0, *, limit: int | None = None, wait: float = 0) -> Call[ResponseBody]:
    """GET /contractlog/v1/changes."""
    return Call(
        "GET", (*_EXTENSION_PATH, "changes"), dict, query_parameters(since=since, limit=limit, wait=wait or None)
    )


def search(
    *,
    field: str | None = None,
    type: str | None = None,  # noqa: A002 - as it is sent
    tag: str | None = None,
    property: str | None = None,  # noqa: A002 - as it is sent
    prefix: bool = False,
    after: str | None = None,
    limit: int | None = None,
) -> Call[ResponseBody]:
    """GET /contractlog/v1/search."""
    terms = {"field": field, "type": type, "tag": tag, "property": property}
    return Call(
        "GET",
        (*_EXTENSION_PATH, "search"),
        dict,
        query_parameters(**terms, match="prefix" if prefix else None, after=after, limit=limit),
    )


def difference(
    earlier: tuple[SubjectLike, VersionLike],
    later: tuple[SubjectLike, VersionLike] | SchemaDraft,
    *,
    level: Level | None = None,
    policy: Policy | None = None,
) -> Call[ResponseBody]:
    """GET /contractlog/v1/diff, or POST if ``later`` is a draft."""
    path, options = (*_EXTENSION_PATH, "diff"), {"level": level, "policy": policy}
    if isinstance(later, SchemaDraft):
        return Call("POST", path, dict, query_parameters(earlier=_version_name(earlier), **options), later.body())
    return Call(
        "GET", path, dict, query_parameters(earlier=_version_name(earlier), later=_version_name(later), **options)
    )


def graph(
    subject: SubjectLike,
    *,
    version: VersionLike | None = None,
    direction: Literal["both", "references", "referencedby"] = "both",
    depth: int | None = None,
) -> Call[ResponseBody]:
    """GET /contractlog/v1/graph/{subject}."""
    query = query_parameters(version=version, direction=direction, depth=depth)
    return Call("GET", (*_EXTENSION_PATH, "graph", PathParameter(subject)), dict, query)


def permissions(subject: SubjectLike) -> Call[ResponseBody]:
    """GET /contractlog/v1/permissions/{subject}."""
    return Call("GET", (*_EXTENSION_PATH, "permissions", PathParameter(subject)), dict)


def lookup_many(
    schemas: Iterable[tuple[SubjectLike, SchemaDraft]], *, normalize: bool = False, deleted: bool = False
) -> Call[list[RegisteredSchema | RegistryError]]:
    """POST /contractlog/v1/lookup."""
    requests = list(schemas)
    members = [
        {"subject": str(subject), **draft.body(), "normalize": normalize, "deleted": deleted}
        for subject, draft in requests
    ]

    def read(body: Any) -> list[RegisteredSchema | RegistryError]:
        results = zip(body["results"], requests, strict=True)
        return [
            _parse_error(result) or RegisteredSchema.from_body(result, draft=draft) for result, (_, draft) in results
        ]

    return Call("POST", (*_EXTENSION_PATH, "lookup"), read, body={"schemas": members})


def check_many(
    schemas: Iterable[tuple[SubjectLike, SchemaDraft]],
) -> Call[list[CompatibilityAnswer | RegistryError]]:
    """POST /contractlog/v1/check."""
    members = [{"subject": str(subject), **draft.body()} for subject, draft in schemas]

    def read(body: Any) -> list[CompatibilityAnswer | RegistryError]:
        return [
            _parse_error(result)
            or CompatibilityAnswer(bool(result["is_compatible"]), tuple(map(str, result["messages"])))
            for result in body["results"]
        ]

    return Call("POST", (*_EXTENSION_PATH, "check"), read, body={"schemas": members})


def fetches(
    schema_id: int | None = None,
    *,
    subject: SubjectLike | None = None,
    days: int | None = None,
    limit: int | None = None,
) -> Call[list[ResponseBody]]:
    """GET /contractlog/v1/fetches."""
    query = query_parameters(id=schema_id, subject=subject, days=days, limit=limit)
    return Call("GET", (*_EXTENSION_PATH, "fetches"), lambda body: list(body["fetches"]), query)


def _version_name(version: tuple[SubjectLike, VersionLike]) -> str:
    return f"{version[0]}:{version[1]}"


def _parse_error(member: Mapping[str, Any]) -> RegistryError | None:
    code = member.get("error_code")
    return None if code is None else RegistryError.of(int(code), str(member.get("message") or ""))

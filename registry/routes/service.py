"""Routes of the service itself: root, metadata and contexts."""

from __future__ import annotations

from enum import Enum
from importlib.metadata import version as version_of
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Response

from contractlog.compatibility.errors import (
    BadRequest,
    ContextNotEmpty,
    InvalidSubject,
    OperationNotPermitted,
    Overloaded,
)
from contractlog.registry.dependencies import (
    ContextsDependency,
    LookupDependency,
    SettingsDependency,
    TextPath,
)
from contractlog.registry.documented import documented, listed
from contractlog.registry.paths import context_of
from contractlog.registry.problems import Answer
from contractlog.registry.questions import PageQuery

__all__ = ["router"]

router: Final = APIRouter()
_SERVICE: Final[list[str | Enum]] = ["service"]
_CONTEXTS: Final[list[str | Enum]] = ["contexts"]
_NO_CONTENT: Final = 204
_OBJECT: Final[dict[str, Any]] = {"type": "object"}


@router.get("/", tags=_SERVICE, **documented(_OBJECT))
@router.post("/", tags=_SERVICE, **documented(_OBJECT))
async def root() -> Answer:
    """Return an empty object, as a sign that the service runs."""
    return Answer(b"{}")


@router.get("/contexts", tags=_CONTEXTS, **documented(listed("string")))
async def contexts(
    lookup: LookupDependency,
    page: PageQuery,
    *,
    prefix: Annotated[str, Query(alias="contextPrefix")] = "",
) -> Answer:
    """List the contexts, the default context first."""
    return Answer(await lookup.contexts(prefix, page))


@router.delete(
    "/contexts/{context}",
    tags=_CONTEXTS,
    **documented(
        {}, BadRequest, InvalidSubject, ContextNotEmpty, OperationNotPermitted, Overloaded, status=_NO_CONTENT
    ),
)
async def delete_context(context: TextPath, contexts: ContextsDependency) -> Response:
    """Delete a context that no longer has versions; its ids are not reused."""
    await contexts.delete(context_of(context))
    return Response(status_code=_NO_CONTENT)


@router.get("/v1/metadata/id", tags=_SERVICE, **documented(_OBJECT))
async def metadata_id(settings: SettingsDependency) -> Answer:
    """Return the ids of the registry cluster and of its Kafka cluster."""
    clusters = {"kafka-cluster": settings.kafka_cluster_id, "schema-registry-cluster": settings.cluster_id}
    named = {kind: name for kind, name in clusters.items() if name}
    return Answer({"id": "", "scope": {"path": [], "clusters": named}})


@router.get("/v1/metadata/deployment", tags=_SERVICE, **documented(_OBJECT))
async def metadata_deployment() -> Answer:
    """Return the attributes of this deployment; there are none."""
    return Answer({"attributes": []})


@router.get("/v1/metadata/version", tags=_SERVICE, **documented(_OBJECT))
async def metadata_version() -> Answer:
    """Return the version of the service."""
    return Answer({"version": version_of("contractlog"), "commitId": ""})

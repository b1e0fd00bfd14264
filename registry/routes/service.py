"""The service itself: is it there, what is it, which contexts does it hold."""

from __future__ import annotations

from importlib.metadata import version as version_of
from typing import Any, Final

from fastapi import APIRouter

from contractlog.registry.dependencies import Limit, LookupDependency, Offset, page
from contractlog.registry.documented import documented, listed
from contractlog.registry.problems import Answer

__all__ = ["router"]

router: Final = APIRouter(tags=["service"])
_OBJECT: Final[dict[str, Any]] = {"type": "object"}


@router.get("/", **documented(_OBJECT))
@router.post("/", **documented(_OBJECT))
async def root() -> Answer:
    """Answer that somebody is here."""
    return Answer(b"{}")


@router.get("/contexts", **documented(listed("string")))
async def contexts(
    lookup: LookupDependency,
    *,
    offset: Offset = 0,
    limit: Limit = -1,
    contextPrefix: str = "",  # noqa: N803 - as sent
) -> Answer:
    """List the contexts, the default one first."""
    found = [name for name in await lookup.contexts() if name.startswith(contextPrefix)]
    return Answer(page(found, offset, limit))


@router.get("/v1/metadata/id", **documented(_OBJECT))
async def metadata_id() -> Answer:
    """Name the cluster that this registry stands for."""
    return Answer({"id": "", "scope": {"path": [], "clusters": {"schema-registry-cluster": "schema-registry"}}})


@router.get("/v1/metadata/version", **documented(_OBJECT))
async def metadata_version() -> Answer:
    """Tell the version."""
    return Answer({"version": version_of("contractlog"), "commitId": ""})


"""For operators: is it alive, is it ready, what does it count."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter

from contractlog.compatibility.errors import RegistryError, StoreError
from contractlog.registry.dependencies import CacheDependency, LookupDependency, TelemetryDependency
from contractlog.registry.documented import documented
from contractlog.registry.problems import Answer
from contractlog.registry.telemetry.exposition import CONTENT_TYPE, exposition

__all__ = ["router"]

router: Final = APIRouter(tags=["operating"])
_OBJECT: Final[dict[str, Any]] = {"type": "object"}
_UNREADY: Final = 503


@router.get("/healthz/live", **documented(_OBJECT))
async def live() -> Answer:
    """Answer as long as the process can."""
    return Answer({"status": "live"})


@router.get("/healthz/startup", **documented(_OBJECT))
async def startup() -> Answer:
    """Answer once the database was opened: nothing is served before."""
    return Answer({"status": "started"})


@router.get("/healthz/ready", **documented(_OBJECT, StoreError))
async def ready(lookup: LookupDependency, cache: CacheDependency, telemetry: TelemetryDependency) -> Answer:
    """Answer 200 while the database does, and `degraded` while only the cache can; 503 when on the way out."""
    if telemetry.draining.begun:
        return Answer({"status": "draining"}, status_code=_UNREADY)
    try:
        await lookup.check()
    except RegistryError as error:
        able = len(cache) > 0
        words = {"status": "degraded" if able else "unready", "reason": error.message}
        return Answer(words, status_code=200 if able else _UNREADY)
    return Answer({"status": "ready"})


@router.get("/metrics", responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}})
async def metrics(telemetry: TelemetryDependency) -> Answer:
    """Show what is counted, summed up over all workers, in the text format of Prometheus."""
    return Answer(exposition(telemetry.meters), media_type=CONTENT_TYPE)

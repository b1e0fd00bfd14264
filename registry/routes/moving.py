"""Route that imports a whole registry into the running one."""

from __future__ import annotations

from tempfile import SpooledTemporaryFile
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request

from contractlog.compatibility.errors import (
    BadRequest,
    ImportRefused,
    InvalidQuery,
    Overloaded,
    PayloadTooLarge,
    RequestTimeout,
)
from contractlog.registry.access.actor import current_actor
from contractlog.registry.dependencies import ThreadsDependency
from contractlog.registry.documented import documented
from contractlog.registry.moving.receiving import body
from contractlog.registry.own import ReceivingDependency
from contractlog.registry.problems import Answer
from contractlog.registry.queries import KnownAlone, YesOrNo

__all__ = ["IMPORT", "router"]

router: Final = APIRouter(tags=["import"], dependencies=[KnownAlone])
IMPORT: Final = "/contractlog/v1/import"
_IN_MEMORY: Final = 1024 * 1024
_REPORT: Final[dict[str, Any]] = {"type": "object", "description": "What was read, changed and odd, by counts."}
_LINES: Final = {"text/plain": {"schema": {"type": "string", "description": "A file of `contractlog export`."}}}
_DryRun = Annotated[
    bool,
    Query(alias="dryRun", description="Write nothing, say what would be written."),
    YesOrNo("dryRun", default=False),
]
_Modes = Annotated[
    bool, Query(description="`false` leaves modes (READONLY …) as they are here."), YesOrNo("modes", default=True)
]
_DOCUMENTED: Final = documented(
    _REPORT, BadRequest, RequestTimeout, PayloadTooLarge, ImportRefused, InvalidQuery, Overloaded
)


@router.post(IMPORT, **_DOCUMENTED, openapi_extra={"requestBody": {"required": True, "content": _LINES}})
async def take_in(
    request: Request,
    receiving: ReceivingDependency,
    threads: ThreadsDependency,
    *,
    dry_run: _DryRun = False,
    modes: _Modes = True,
) -> Answer:
    """Import a whole registry from the lines of an export: everything, or nothing.

    Ids, guids, versions, times, deletions, settings and modes are kept unchanged. An id never gets different content:
    in that case the response is 409, with the same report, which lists the conflicts. Importing the same export again
    changes nothing.
    """
    actor = current_actor.get()
    with SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        async for piece in request.stream():
            file.write(piece)
        report = await threads.watched(receiving.take, file, actor=actor, dry_run=dry_run, modes=modes)
    told = body(report, dry_run=dry_run)
    if report.conflicts and not dry_run:
        refused = ImportRefused(count=len(report.conflicts))
        request.scope["error_code"] = refused.code
        return Answer({"error_code": refused.code, "message": refused.message, **told}, status_code=refused.http_status)
    return Answer(told)

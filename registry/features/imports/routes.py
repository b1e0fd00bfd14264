"""Route that imports a whole registry into the running one."""

from __future__ import annotations

from tempfile import SpooledTemporaryFile
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request

from contractlog.compatibility.errors import (
    BadRequest,
    ImportRefused,
    InvalidQuery,
    Overloaded,
    PayloadTooLarge,
    RequestTimeout,
    UnsupportedMediaType,
)
from contractlog.registry.access.current_caller import current_actor, current_permissions
from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.extension_parameters import StrictBoolean, StrictParameters
from contractlog.registry.http.openapi import describe_route
from contractlog.registry.http.request_bodies import require_uncompressed_body
from contractlog.registry.http.route_permissions import WRITE_ALL, requires
from contractlog.registry.http.service_dependencies import ImportDependency, ThreadsDependency
from contractlog.registry.transfer.report import IMPORT_PATH

__all__ = ["router"]

router: Final = APIRouter(tags=["import"], dependencies=[StrictParameters, Depends(require_uncompressed_body)])
_MEMORY_BYTES: Final = 1024 * 1024
_REPORT: Final[dict[str, Any]] = {
    "type": "object",
    "description": "Counts of what was read and changed, conflicts, and anomalies.",
}
_LINES: Final = {"text/plain": {"schema": {"type": "string", "description": "A file of `contractlog export`."}}}
_DryRun = Annotated[
    bool,
    Query(alias="dryRun", description="`true` writes nothing, and reports what would be written."),
    StrictBoolean("dryRun", default=False),
]
_Modes = Annotated[
    bool, Query(description="`false` does not import modes (READONLY …)."), StrictBoolean("modes", default=True)
]
_DOCUMENTED: Final = describe_route(
    _REPORT,
    BadRequest,
    RequestTimeout,
    PayloadTooLarge,
    UnsupportedMediaType,
    ImportRefused,
    InvalidQuery,
    Overloaded,
)


@router.post(IMPORT_PATH, **_DOCUMENTED, openapi_extra={"requestBody": {"required": True, "content": _LINES}})
@requires(WRITE_ALL)
async def import_registry(
    request: Request,
    receiving: ImportDependency,
    threads: ThreadsDependency,
    *,
    dry_run: _DryRun = False,
    modes: _Modes = True,
) -> ApiResponse:
    """Import a whole registry from the lines of an export: everything, or nothing.

    Ids, guids, versions, times, deletions, settings and modes are kept unchanged. An id never gets different content:
    in that case the response is 409, with the same report, which lists the conflicts. Importing the same export again
    changes nothing.
    """
    actor, keys = current_actor.get(), current_permissions.get().keys
    with SpooledTemporaryFile(max_size=_MEMORY_BYTES) as file:
        async for piece in request.stream():
            file.write(piece)
        report = await threads.run_watched(receiving.take, file, actor=actor, dry_run=dry_run, modes=modes, keys=keys)
    report_body = report.import_body(dry_run=dry_run)
    if report.conflicts and not dry_run:
        error = ImportRefused(count=len(report.conflicts))
        request.scope["error_code"] = error.code
        return ApiResponse(
            {"error_code": error.code, "message": error.message, **report_body}, status_code=error.http_status
        )
    return ApiResponse(report_body)

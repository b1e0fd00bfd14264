"""Routes of the caller's permissions."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from contractlog.compatibility.errors import InvalidQuery, InvalidSubject
from contractlog.registry.access.current_caller import current_actor, current_permissions
from contractlog.registry.access.permissions import Permission
from contractlog.registry.features.extension_bodies import OpenRequestBody, PermissionsBody
from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.extension_parameters import StrictParameters
from contractlog.registry.http.openapi import describe_route
from contractlog.registry.http.parameters import SubjectPath
from contractlog.registry.http.route_permissions import READ_ANY, requires
from contractlog.registry.http.service_dependencies import ChangeRequestsDependency

__all__ = ["router"]

router: Final = APIRouter(tags=["permissions"], dependencies=[StrictParameters])


@router.get("/contractlog/v1/permissions/{subject}", **describe_route(PermissionsBody, InvalidQuery, InvalidSubject))
@requires(READ_ANY)
async def get_permissions(subject: SubjectPath, changes: ChangeRequestsDependency) -> ApiResponse:
    """Return whether the caller may read and write a subject, which need not exist.

    Every caller with any permission may request their own. Modes such as READONLY are not considered; use `GET
    /mode/{subject}` for them. Callers who may read or write the subject also get its protection: which changes need
    approvals, how many and by which owners, their own waivers and the open change requests. That of a context is
    present if any subject in it is protected.
    """
    permissions = current_permissions.get()
    body = PermissionsBody(
        user=current_actor.get(),
        subject=str(subject),
        read=permissions.permits(Permission.READ, subject),
        write=permissions.permits(Permission.WRITE, subject),
    )
    protection = await changes.find_protection(subject) if body.read or body.write else None
    if protection is not None:
        body.protection = protection.protect.value
        body.approvals, body.owners, body.waived = protection.approvals, protection.owners, protection.waived
        body.open_requests = [OpenRequestBody(each.id, each.kind) for each in protection.open_requests]
    return ApiResponse(body)

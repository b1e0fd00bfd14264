"""Routes of the caller's permissions."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from contractlog.compatibility.errors import InvalidQuery, InvalidSubject
from contractlog.registry.access.actor import current_actor, current_rights
from contractlog.registry.access.rights import Operation
from contractlog.registry.bodies.own import PermissionsBody
from contractlog.registry.dependencies import SubjectPath
from contractlog.registry.documented import documented
from contractlog.registry.problems import Answer
from contractlog.registry.queries import KnownAlone

__all__ = ["router"]

router: Final = APIRouter(tags=["permissions"], dependencies=[KnownAlone])


@router.get("/contractlog/v1/permissions/{subject}", **documented(PermissionsBody, InvalidQuery, InvalidSubject))
async def permissions(subject: SubjectPath) -> Answer:
    """Return whether the caller may read and write a subject, which need not exist.

    Every caller with any permission may request their own. Modes such as READONLY are not considered; use `GET
    /mode/{subject}` for them.
    """
    rights = current_rights.get()
    return Answer(
        PermissionsBody(
            user=current_actor.get(),
            subject=str(subject),
            read=rights.may(Operation.READ, subject),
            write=rights.may(Operation.WRITE, subject),
        )
    )

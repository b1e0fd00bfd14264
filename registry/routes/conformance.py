"""Routes of audit results by topic."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request

from contractlog.compatibility.errors import (
    BadRequest,
    ConformanceNotFound,
    InvalidConformance,
    InvalidQuery,
    Overloaded,
    PayloadTooLarge,
    Unprocessable,
)
from contractlog.registry.bodies.requests import read_object
from contractlog.registry.dependencies import ConformanceDependency, TextPath
from contractlog.registry.documented import documented, listed
from contractlog.registry.problems import Answer
from contractlog.registry.queries import KnownAlone, said

__all__ = ["router"]

router: Final = APIRouter(tags=["conformance"])
_PARTS: Final = ("", "key", "value")
_Part = Annotated[str, Query(description="Else both."), said(_PARTS[1:])]
_ENTRY: Final[dict[str, Any]] = {"type": "object", "description": "One entry of `topics` in `report.json`."}


@router.post(
    "/contractlog/v1/conformance/{topic}",
    **documented(_ENTRY, BadRequest, PayloadTooLarge, Unprocessable, InvalidConformance, Overloaded, body=object),
)
async def record(request: Request, topic: TextPath, conformance: ConformanceDependency) -> Answer:
    """Store the audit of one part of a topic; if it differs from the previous one, it becomes the newest."""
    return Answer(await conformance.record(topic, read_object(await request.body())))


@router.get(
    "/contractlog/v1/conformance/{topic}",
    dependencies=[KnownAlone],
    **documented(listed("object"), InvalidQuery, ConformanceNotFound),
)
async def newest(topic: TextPath, conformance: ConformanceDependency, *, part: _Part = "") -> Answer:
    """Return the newest audit of each part of a topic."""
    if part not in _PARTS:
        raise InvalidQuery(parameter="part", detail="it is `key` or `value`")
    return Answer(await conformance.of(topic, part or None))

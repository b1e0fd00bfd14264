"""Routes of audit results by topic."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request

from contractlog.compatibility.errors import (
    BadRequest,
    ConformanceNotFound,
    InvalidConformance,
    InvalidQuery,
    Overloaded,
    PayloadTooLarge,
    Unprocessable,
)
from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.extension_parameters import BoundedInteger, StrictParameters, enum_schema
from contractlog.registry.http.openapi import describe_route, list_schema
from contractlog.registry.http.parameters import TextPath
from contractlog.registry.http.request_bodies import parse_object
from contractlog.registry.http.route_permissions import READ_TOPIC, WRITE_TOPIC, requires
from contractlog.registry.http.service_dependencies import ConformanceDependency

__all__ = ["router"]

router: Final = APIRouter(tags=["conformance"], dependencies=[StrictParameters])
_PARTS: Final = ("", "key", "value")


async def _parse_part(
    part: Annotated[str, Query(description="The part of the records; by default, both."), enum_schema(_PARTS[1:])] = "",
) -> str:
    if part not in _PARTS:
        raise InvalidQuery(parameter="part", detail="it must be `key` or `value`")
    return part


_Part = Annotated[str, Depends(_parse_part)]
_MAX_HISTORY: Final = 1_000
_Limit = Annotated[
    int, Query(description="Maximum number of audits, newest first."), BoundedInteger("limit", 100, 1, _MAX_HISTORY)
]
_ENTRY: Final[dict[str, Any]] = {"type": "object", "description": "One entry of `topics` in `report.json`."}


@router.post(
    "/contractlog/v1/conformance/{topic}",
    **describe_route(
        _ENTRY,
        BadRequest,
        PayloadTooLarge,
        Unprocessable,
        InvalidQuery,
        InvalidConformance,
        Overloaded,
        body=object,
    ),
)
@requires(WRITE_TOPIC)
async def record_conformance(request: Request, topic: TextPath, conformance: ConformanceDependency) -> ApiResponse:
    """Store the audit of one part of a topic; if it differs from the previous one, it becomes the newest."""
    return ApiResponse(await conformance.record(topic, parse_object(await request.body())))


@router.get(
    "/contractlog/v1/conformance/{topic}",
    **describe_route(list_schema("object"), InvalidQuery, ConformanceNotFound),
)
@requires(READ_TOPIC)
async def get_conformance(topic: TextPath, conformance: ConformanceDependency, *, part: _Part) -> ApiResponse:
    """Return the newest audit of each part of a topic."""
    return ApiResponse(await conformance.list_newest(topic, part or None))


@router.get(
    "/contractlog/v1/conformance/{topic}/history",
    **describe_route(list_schema("object"), InvalidQuery, ConformanceNotFound),
)
@requires(READ_TOPIC)
async def get_conformance_history(
    topic: TextPath, conformance: ConformanceDependency, *, part: _Part, limit: _Limit = 100
) -> ApiResponse:
    """Return the verdicts and counts of the stored audits of a topic, newest first."""
    return ApiResponse(await conformance.list_history(topic, part or None, limit=limit))

"""Routes of fetch counts: the clients that still fetch a schema."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query

from contractlog.compatibility.errors import InvalidQuery, InvalidSubject, Overloaded, SubjectNotFound
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, MAX_ID
from contractlog.registry.features.extension_bodies import FetchBody, FetchesBody
from contractlog.registry.features.fetch_counts.service import MAX_FETCHES
from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.extension_parameters import BoundedInteger, StrictParameters, parse_integer
from contractlog.registry.http.openapi import describe_route
from contractlog.registry.http.parameters import SubjectQuery
from contractlog.registry.http.route_permissions import READ_ALL, requires
from contractlog.registry.http.service_dependencies import FetchesDependency

__all__ = ["router"]

router: Final = APIRouter(tags=["fetches"], dependencies=[StrictParameters])
_MAX_DAYS: Final = 400
_Days = Annotated[int, Query(description="Number of days."), BoundedInteger("days", 30, 1, _MAX_DAYS)]
_Limit = Annotated[int, Query(description="Maximum number of rows."), BoundedInteger("limit", 1_000, 1, MAX_FETCHES)]
_DAY: Final = 86_400


async def _parse_id(
    id: Annotated[str, Query(description=f"An id, from 0 to {MAX_ID}.")] = "",  # noqa: A002 - the name in the request
) -> int | None:
    return parse_integer("id", id, default=0, minimum=0, maximum=MAX_ID) if id else None


_Id = Annotated[int | None, Depends(_parse_id)]


@router.get(
    "/contractlog/v1/fetches", **describe_route(FetchesBody, InvalidQuery, InvalidSubject, SubjectNotFound, Overloaded)
)
@requires(READ_ALL)
async def list_fetches(
    fetches: FetchesDependency,
    *,
    schema_id: _Id,
    days: _Days = 30,
    limit: _Limit = 1_000,
    subject: SubjectQuery,
) -> ApiResponse:
    """List the clients that fetched an ``id``, or any schema of a ``subject``, by day.

    If both are given, the id is in the context of the subject. A client is identified by the authenticated user, if
    any, followed by the first of ``X-Contractlog-Client``, ``Confluent-Client-Version`` and ``User-Agent`` that is
    present. Days are in UTC. Counts of other processes appear after at most half a minute.
    """
    if schema_id is not None:
        context = subject.context if subject else DEFAULT_CONTEXT
        counts = await fetches.list_by_id(context, schema_id, days=days, limit=limit)
    elif subject is not None:
        counts = await fetches.list_by_subject(subject, days=days, limit=limit)
    else:
        raise InvalidQuery(parameter="id", detail="an `id` or a `subject` is required")
    return ApiResponse(
        FetchesBody(
            [
                FetchBody(
                    key.schema_id,
                    key.context,
                    key.client,
                    datetime.fromtimestamp(key.day * _DAY, UTC).date().isoformat(),
                    number,
                )
                for key, number in counts
            ]
        )
    )

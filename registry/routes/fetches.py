"""Routes of fetch counts: the clients that still fetch a schema."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import APIRouter, Query

from contractlog.compatibility.errors import InvalidQuery, InvalidSubject, Overloaded, SubjectNotFound
from contractlog.compatibility.names import DEFAULT_CONTEXT, MAX_ID
from contractlog.registry.bodies.own import FetchBody, FetchesBody
from contractlog.registry.dependencies import SubjectQuery
from contractlog.registry.documented import documented
from contractlog.registry.own import FetchesDependency
from contractlog.registry.problems import Answer
from contractlog.registry.queries import KnownAlone, Whole, whole
from contractlog.registry.services.fetches import MOST_FETCHES

__all__ = ["router"]

router: Final = APIRouter(tags=["fetches"], dependencies=[KnownAlone])
_MOST_DAYS: Final = 400
_Id = Annotated[str, Query(description=f"An id, from 0 to {MAX_ID}.")]
_Days = Annotated[int, Query(description="How many days to look back."), Whole("days", 30, 1, _MOST_DAYS)]
_Limit = Annotated[int, Query(description="How many lines to list at most."), Whole("limit", 1_000, 1, MOST_FETCHES)]
_DAY: Final = 86_400


@router.get(
    "/contractlog/v1/fetches", **documented(FetchesBody, InvalidQuery, InvalidSubject, SubjectNotFound, Overloaded)
)
async def fetches(
    fetches: FetchesDependency,
    *,
    subject: SubjectQuery,
    id: _Id = "",  # noqa: A002 - the name in the request
    days: _Days = 30,
    limit: _Limit = 1_000,
) -> Answer:
    """List the clients that fetched an ``id``, or any schema of a ``subject``, by day.

    With both, it is the id in the context of the subject. A client is named by the authenticated user, if any, followed
    by the first of ``X-Contractlog-Client``, ``Confluent-Client-Version`` and ``User-Agent`` that is present. Days are
    in UTC. Counts of other processes appear after at most half a minute.
    """
    if id:
        number = whole("id", id, default=0, least=0, most=MAX_ID)
        context = subject.context if subject else DEFAULT_CONTEXT
        found = await fetches.of_id(context, number, days=days, limit=limit)
    elif subject is not None:
        found = await fetches.of_subject(subject, days=days, limit=limit)
    else:
        raise InvalidQuery(parameter="id", detail="name an id or a subject")
    return Answer(
        FetchesBody(
            [
                FetchBody(
                    one.schema_id,
                    one.context,
                    one.client,
                    datetime.fromtimestamp(one.day * _DAY, UTC).date().isoformat(),
                    number,
                )
                for one, number in found
            ]
        )
    )

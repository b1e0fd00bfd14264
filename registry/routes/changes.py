"""Routes of the journal of changes."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query

from contractlog.compatibility.errors import ChangesAhead, InvalidQuery, Overloaded
from contractlog.registry.bodies.own import ChangeBody, ChangesBody
from contractlog.registry.documented import documented
from contractlog.registry.own import ChangesDependency
from contractlog.registry.problems import Answer
from contractlog.registry.queries import KnownAlone, Since, Wait, Whole
from contractlog.registry.services.changes import MOST_CHANGES

__all__ = ["router"]

router: Final = APIRouter(tags=["changes"], dependencies=[KnownAlone])
_Limit = Annotated[int, Query(description="How many changes to list at most."), Whole("limit", 100, 1, MOST_CHANGES)]


@router.get("/contractlog/v1/changes", **documented(ChangesBody, InvalidQuery, ChangesAhead, Overloaded))
async def changes(changes: ChangesDependency, *, since: Since = 0, limit: _Limit = 100, wait: Wait = 0) -> Answer:
    """List the changes after ``since``, oldest first and without gaps.

    ``next`` is the value of ``since`` for the next request. With ``wait``, a request without changes is answered when
    there is one, or when the time is over. ``since=latest`` returns the end of the journal and no changes.
    """
    page = await changes.after(since, limit=limit, wait=wait)
    return Answer(ChangesBody([ChangeBody.of(change) for change in page.changes], page.following, page.head))

"""Routes of the full-text search."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query

from contractlog.compatibility.errors import InvalidQuery, Overloaded
from contractlog.compatibility.terms.words import TermKind
from contractlog.registry.bodies.own import HitBody, HitsBody
from contractlog.registry.documented import documented
from contractlog.registry.own import SearchDependency
from contractlog.registry.problems import Answer
from contractlog.registry.queries import KnownAlone, Whole, said
from contractlog.registry.services.search import MOST_HITS
from contractlog.registry.storage.search import Wanted

__all__ = ["router"]

router: Final = APIRouter(tags=["search"], dependencies=[KnownAlone])
_Limit = Annotated[int, Query(description="How many hits to list at most."), Whole("limit", 100, 1, MOST_HITS)]
_Field = Annotated[str, Query(description="The name of a field, or the names of a path to it: `street`.")]
_Type = Annotated[str, Query(description="The name of a record, enum or fixed, with its namespace or without it.")]
_Tag = Annotated[str, Query(description="A tag of the metadata, or of a field.")]
_Property = Annotated[str, Query(description="A property of the metadata, as `name` or `name=value`.")]
_Match = Annotated[str, Query(description="Whole words, or how they begin."), said(("exact", "prefix"))]
_Context = Annotated[str, Query(description="Of this context alone: `.` is the default one, `.eu` another.")]
_After = Annotated[str, Query(description="Where to go on: `next` of the page before.")]
_MATCHES: Final = {"": False, "exact": False, "prefix": True}


@router.get("/contractlog/v1/search", **documented(HitsBody, InvalidQuery, Overloaded))
async def search(
    search: SearchDependency,
    *,
    field: _Field = "",
    type: _Type = "",  # noqa: A002 - the name in the request
    tag: _Tag = "",
    property: _Property = "",  # noqa: A002 - the name in the request
    match: _Match = "",
    context: _Context = "",
    after: _After = "",
    limit: _Limit = 100,
) -> Answer:
    """Find fields, types, tags and properties in the latest live version of every subject.

    Words are compared case-insensitively, whole or, with ``match=prefix``, by their beginning. A property is given by
    its name or as ``name=value``. If several words are given, hits show the first in the order field, type, tag,
    property; the schema contains the others in any place. The index follows the journal: it contains every change up to
    ``indexed_to``.
    """
    if match not in _MATCHES:
        raise InvalidQuery(parameter="match", detail="it is `exact` or `prefix`")
    given = zip(TermKind, (field, type, tag, property), strict=True)
    wanted = [Wanted(kind, word) for kind, word in given if word]
    if context and (not context.startswith(".") or "\0" in context):
        raise InvalidQuery(parameter="context", detail="no context has this name: they begin with a dot")
    found = await search.find(wanted, prefix=_MATCHES[match], context=context or None, after=after, limit=limit)
    return Answer(
        HitsBody(
            hits=[HitBody.of(hit) for hit in found.hits],
            next=found.following,
            indexed_to=found.indexed_to,
            head=found.head,
        )
    )

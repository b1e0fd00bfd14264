"""Routes of the full-text search."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query

from contractlog.compatibility.errors import InvalidQuery, Overloaded
from contractlog.compatibility.search_terms import TermKind
from contractlog.registry.features.extension_bodies import HitBody, HitsBody
from contractlog.registry.features.search.queries import SearchWord
from contractlog.registry.features.search.service import MAX_HITS
from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.extension_parameters import BoundedInteger, StrictParameters, enum_schema
from contractlog.registry.http.openapi import describe_route
from contractlog.registry.http.route_permissions import READ_ALL, requires
from contractlog.registry.http.service_dependencies import SearchDependency

__all__ = ["router"]

router: Final = APIRouter(tags=["search"], dependencies=[StrictParameters])
_Limit = Annotated[int, Query(description="Maximum number of hits."), BoundedInteger("limit", 100, 1, MAX_HITS)]
_Field = Annotated[str, Query(description="The name of a field, or a path of names, such as `street`.")]
_Type = Annotated[str, Query(description="The name of a record, enum or fixed, with or without its namespace.")]
_Tag = Annotated[str, Query(description="A tag in the metadata or of a field.")]
_Property = Annotated[str, Query(description="A metadata property, as `name` or `name=value`.")]
_After = Annotated[str, Query(description="`next` of the previous page.")]
_PREFIX_BY_MATCH: Final = {"": False, "exact": False, "prefix": True}


async def _parse_match(
    match: Annotated[
        str, Query(description="Match whole words, or prefixes of words."), enum_schema(("exact", "prefix"))
    ] = "",
) -> bool:
    if match not in _PREFIX_BY_MATCH:
        raise InvalidQuery(parameter="match", detail="it must be `exact` or `prefix`")
    return _PREFIX_BY_MATCH[match]


async def _parse_context(
    context: Annotated[
        str, Query(description="Search only this context, such as `.eu`; `.` is the default context.")
    ] = "",
) -> str | None:
    if context and (not context.startswith(".") or "\0" in context):
        raise InvalidQuery(parameter="context", detail="names of contexts begin with a dot")
    return context or None


_Match = Annotated[bool, Depends(_parse_match)]  #: whether words are prefixes
_Context = Annotated[str | None, Depends(_parse_context)]


@router.get("/contractlog/v1/search", **describe_route(HitsBody, InvalidQuery, Overloaded))
@requires(READ_ALL)
async def search_schemas(
    search: SearchDependency,
    *,
    field: _Field = "",
    type: _Type = "",  # noqa: A002 - the name in the request
    tag: _Tag = "",
    property: _Property = "",  # noqa: A002 - the name in the request
    match: _Match,
    context: _Context,
    after: _After = "",
    limit: _Limit = 100,
) -> ApiResponse:
    """Find fields, types, tags and properties in the latest live version of every subject.

    Words are compared case-insensitively, whole or, with ``match=prefix``, by their beginning. A property is given by
    its name or as ``name=value``. If several words are given, hits show the first in the order field, type, tag,
    property; the schema contains the others in any place. The index follows the change log: it contains every change
    up to ``indexed_to``.
    """
    words_by_kind = zip(TermKind, (field, type, tag, property), strict=True)
    words = [SearchWord(kind, word) for kind, word in words_by_kind if word]
    results = await search.find(words, prefix=match, context=context, after=after, limit=limit)
    return ApiResponse(
        HitsBody(
            hits=[HitBody.of(hit) for hit in results.hits],
            next=results.next_position,
            indexed_to=results.indexed_to,
            head=results.head,
        )
    )

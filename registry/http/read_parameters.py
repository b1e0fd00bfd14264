"""Query parameters shared by read requests: deleted versions, paging, format of the schema."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Depends, Query

from contractlog.registry.features.schemas.views import View
from contractlog.registry.http.dependencies import Flag, Limit, Offset
from contractlog.registry.storage.model import Deleted, Page

__all__ = [
    "DeletedFilterQuery",
    "DeletedQuery",
    "FormatQuery",
    "PageQuery",
    "QualifiedQuery",
    "TextListQuery",
    "ViewQuery",
]

_QUALIFIED: Final = "qualified"
TextListQuery = Annotated[list[str], Query(default_factory=list)]
_PythonDeletedOnly = Annotated[Flag, Query(alias="deleted_only", include_in_schema=False)]


async def _parse_deleted(*, deleted: Flag = False) -> Deleted:
    return Deleted.of(deleted=deleted)


async def _parse_deleted_filter(
    *,
    deleted: Flag = False,
    deleted_only: Annotated[Flag, Query(alias="deletedOnly")] = False,
    as_python_says: _PythonDeletedOnly = False,
) -> Deleted:
    return Deleted.of(deleted=deleted, deleted_only=deleted_only or as_python_says)


async def _parse_page(*, offset: Offset = 0, limit: Limit = -1) -> Page:
    return Page(offset, limit)


async def _parse_view(
    *,
    tags: Annotated[list[str], Query(alias="findTags", default_factory=list)],
    format: str = "",  # noqa: A002 - the name in the request
) -> View:
    return View(format, frozenset(filter(None, tags)))


async def _parse_qualified(
    *,
    reference_format: Annotated[str, Query(alias="referenceFormat")] = "",
    as_python_says: Annotated[str, Query(alias="reference_format", include_in_schema=False)] = "",
) -> bool:
    return _QUALIFIED in {reference_format, as_python_says}


async def _parse_format(
    *,
    format: str = "",  # noqa: A002 - the name in the request
) -> View:
    return View(format)


#: Live versions; all versions with ``deleted``.
DeletedQuery = Annotated[Deleted, Depends(_parse_deleted)]
#: Live versions; all with ``deleted``; soft-deleted ones with ``deletedOnly``, which Python's client spells
#: ``deleted_only``.
DeletedFilterQuery = Annotated[Deleted, Depends(_parse_deleted_filter)]
PageQuery = Annotated[Page, Depends(_parse_page)]
ViewQuery = Annotated[View, Depends(_parse_view)]
#: The format of the text only.
FormatQuery = Annotated[View, Depends(_parse_format)]
QualifiedQuery = Annotated[bool, Depends(_parse_qualified)]

"""Query parameters shared by read requests: deleted versions, paging, format of the schema."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Depends, Query

from contractlog.registry.dependencies import Flag, Limit, Offset
from contractlog.registry.services.viewing import View
from contractlog.registry.storage.paging import Page
from contractlog.registry.storage.values import Seen

__all__ = ["DeletedQuery", "FormatQuery", "Many", "PageQuery", "Qualified", "SeenQuery", "ViewQuery"]

_QUALIFIED: Final = "qualified"
Many = Annotated[list[str], Query(default_factory=list)]
_Unshown = Annotated[Flag, Query(alias="deleted_only", include_in_schema=False)]


async def _deleted(*, deleted: Flag = False) -> Seen:
    return Seen.of(deleted=deleted)


async def _seen(
    *,
    deleted: Flag = False,
    deleted_only: Annotated[Flag, Query(alias="deletedOnly")] = False,
    as_python_says: _Unshown = False,
) -> Seen:
    return Seen.of(deleted=deleted, deleted_only=deleted_only or as_python_says)


async def _page(*, offset: Offset = 0, limit: Limit = -1) -> Page:
    return Page(offset, limit)


async def _view(
    *,
    tags: Annotated[list[str], Query(alias="findTags", default_factory=list)],
    format: str = "",  # noqa: A002 - the name in the request
) -> View:
    return View(format, frozenset(filter(None, tags)))


async def _qualified(
    *,
    reference_format: Annotated[str, Query(alias="referenceFormat")] = "",
    as_python_says: Annotated[str, Query(alias="reference_format", include_in_schema=False)] = "",
) -> bool:
    return _QUALIFIED in {reference_format, as_python_says}


async def _format(
    *,
    format: str = "",  # noqa: A002 - the name in the request
) -> View:
    return View(format)


#: Live versions; all versions with ``deleted``.
DeletedQuery = Annotated[Seen, Depends(_deleted)]
#: Live versions; all with ``deleted``; soft-deleted ones with ``deletedOnly``, which Python's client spells
#: ``deleted_only``.
SeenQuery = Annotated[Seen, Depends(_seen)]
PageQuery = Annotated[Page, Depends(_page)]
ViewQuery = Annotated[View, Depends(_view)]
#: The format of the text only.
FormatQuery = Annotated[View, Depends(_format)]
Qualified = Annotated[bool, Depends(_qualified)]

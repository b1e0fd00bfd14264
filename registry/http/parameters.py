"""Path and query parameters that routes of the reference's API share, parsed into our own types."""

from __future__ import annotations

import re
from typing import Annotated, Final

from fastapi import Depends, Path, Query
from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from contractlog.compatibility.errors import InvalidVersion
from contractlog.compatibility.identifiers import MAX_VERSION, Subject
from contractlog.registry.features.schemas.renderer import View
from contractlog.registry.http.path_values import decode_segment, parse_subject
from contractlog.registry.storage.store_values import DeletedFilter, Page

__all__ = [
    "DeletedFilterQuery",
    "DeletedQuery",
    "Flag",
    "FormatQuery",
    "Limit",
    "Offset",
    "PageQuery",
    "QualifiedQuery",
    "SchemaIdPath",
    "SubjectPath",
    "SubjectQuery",
    "TextListQuery",
    "TextPath",
    "VersionPath",
    "ViewQuery",
]

_DIGITS: Final = 10
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_QUALIFIED: Final = "qualified"
_TEXT = WithJsonSchema({"type": "string"})
TextPath = Annotated[str, Path(), AfterValidator(decode_segment), _TEXT]
Flag = Annotated[bool, Query(), BeforeValidator(lambda value: str(value).lower() == "true")]


def _parse_integer(text: object) -> int:
    """Parse digits with an optional sign.

    Other spellings that Python accepts as a number are rejected: ``1_0``, ``1.0``, spaces.

    Raises:
        ValueError: it is something else, or too long.
    """
    if not _INTEGER.fullmatch(str(text)):
        raise ValueError(text)
    return int(str(text))


def _parse_schema_id(segment: object) -> int:
    """Parse a schema id.

    Raises:
        ValueError: it is not a 32-bit integer, so no schema can have this address.
    """
    number = _parse_integer(decode_segment(str(segment)))
    if not -MAX_VERSION - 1 <= number <= MAX_VERSION:
        raise ValueError(segment)
    return number


SchemaIdPath = Annotated[int, Path(), BeforeValidator(_parse_schema_id)]
Offset = Annotated[int, Query(), BeforeValidator(lambda value: 0 if value == "" else _parse_integer(value))]
Limit = Annotated[int, Query(), BeforeValidator(lambda value: -1 if value == "" else _parse_integer(value))]


async def _parse_subject(subject: TextPath) -> Subject:
    return parse_subject(subject)


async def _optional_subject(
    subject: Annotated[str, Query(description="A subject; `:.eu:name` is a subject of the context `.eu`.")] = "",
) -> Subject | None:
    return parse_subject(subject) if subject else None


async def _parse_version(version: TextPath) -> int | None:
    """Parse ``{version}``: 1 to 2^31 - 1; ``latest`` and -1 give None, for the latest live version."""
    if version.lower() == "latest" or version == "-1":
        return None
    number = int(version) if version.isascii() and version.isdigit() and len(version) <= _DIGITS else 0
    if not 1 <= number <= MAX_VERSION:
        raise InvalidVersion(version=version)
    return number


SubjectPath = Annotated[Subject, Depends(_parse_subject)]
VersionPath = Annotated[int | None, Depends(_parse_version)]
SubjectQuery = Annotated[Subject | None, Depends(_optional_subject)]
TextListQuery = Annotated[list[str], Query(default_factory=list)]
_PythonDeletedOnly = Annotated[Flag, Query(alias="deleted_only", include_in_schema=False)]


async def _parse_deleted(*, deleted: Flag = False) -> DeletedFilter:
    return DeletedFilter.of(deleted=deleted)


async def _parse_deleted_filter(
    *,
    deleted: Flag = False,
    deleted_only: Annotated[Flag, Query(alias="deletedOnly")] = False,
    python_deleted_only: _PythonDeletedOnly = False,
) -> DeletedFilter:
    return DeletedFilter.of(deleted=deleted, deleted_only=deleted_only or python_deleted_only)


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
    python_reference_format: Annotated[str, Query(alias="reference_format", include_in_schema=False)] = "",
) -> bool:
    return _QUALIFIED in {reference_format, python_reference_format}


async def _parse_format(
    *,
    format: str = "",  # noqa: A002 - the name in the request
) -> View:
    return View(format)


#: Selects live versions; with ``deleted``, soft-deleted ones, too.
DeletedQuery = Annotated[DeletedFilter, Depends(_parse_deleted)]
#: Selects live versions; with ``deleted``, soft-deleted ones, too; with ``deletedOnly``, only soft-deleted ones.
#: confluent-kafka for Python spells the parameter ``deleted_only``.
DeletedFilterQuery = Annotated[DeletedFilter, Depends(_parse_deleted_filter)]
PageQuery = Annotated[Page, Depends(_parse_page)]
ViewQuery = Annotated[View, Depends(_parse_view)]
#: Selects the format of the text; unlike ``ViewQuery``, without tags.
FormatQuery = Annotated[View, Depends(_parse_format)]
QualifiedQuery = Annotated[bool, Depends(_parse_qualified)]

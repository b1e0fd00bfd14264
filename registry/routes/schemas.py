"""Schemas by id and by guid."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query

from contractlog.compatibility.errors import SchemaNotFound
from contractlog.compatibility.parsing import supported
from contractlog.registry.bodies.answers import ContextIdBody, HolderBody, SchemaStringBody
from contractlog.registry.dependencies import (
    CacheDependency,
    Flag,
    GuidPath,
    Limit,
    LookupDependency,
    Offset,
    SubjectQuery,
    page,
)
from contractlog.registry.documented import documented, listed
from contractlog.registry.problems import Answer
from contractlog.registry.storage.values import Seen

__all__ = ["router"]

router: Final = APIRouter(tags=["schemas"])


@router.get("/schemas/types", **documented(listed("string")))
async def types() -> Answer:
    """List the schema types that this registry understands."""
    return Answer([one.value for one in supported()])


@router.get("/schemas/ids/{schema_id}", **documented(SchemaStringBody, SchemaNotFound))
async def schema(
    schema_id: int,
    lookup: LookupDependency,
    cache: CacheDependency,
    subject: SubjectQuery,
    *,
    fetch_max_id: Annotated[Flag, Query(alias="fetchMaxId")] = False,
    reference_format: Annotated[str, Query(alias="referenceFormat")] = "",
) -> Answer:
    """Show a schema by id; soft-deleted ones go on answering."""
    generation = cache.generation  # before reading: what is forgotten meanwhile must not be kept
    found = await lookup.schema(schema_id, subject)
    max_id = await lookup.max_id(subject) if fetch_max_id else None
    answer = Answer(SchemaStringBody.of(found, max_id=max_id, qualified=reference_format == "qualified"))
    if subject is None and not fetch_max_id and not reference_format:
        cache.put((".", schema_id), bytes(answer.body), generation=generation)
    return answer


@router.get("/schemas/ids/{schema_id}/schema", **documented({"type": "object"}, SchemaNotFound))
async def schema_text(schema_id: int, lookup: LookupDependency, subject: SubjectQuery) -> Answer:
    """Show the bare text of a schema."""
    return Answer((await lookup.schema(schema_id, subject)).text.encode())


@router.get("/schemas/ids/{schema_id}/subjects", **documented(listed("string"), SchemaNotFound))
async def subjects_of_id(
    schema_id: int,
    lookup: LookupDependency,
    subject: SubjectQuery,
    *,
    deleted: Flag = False,
    offset: Offset = 0,
    limit: Limit = -1,
) -> Answer:
    """List the subjects that hold an id."""
    holders = await lookup.holders(schema_id, subject, Seen.of(deleted=deleted))
    return Answer(page(sorted({str(holder.subject) for holder in holders}), offset, limit))


@router.get("/schemas/ids/{schema_id}/versions", **documented(listed(HolderBody), SchemaNotFound))
async def versions_of_id(
    schema_id: int,
    lookup: LookupDependency,
    subject: SubjectQuery,
    *,
    deleted: Flag = False,
    offset: Offset = 0,
    limit: Limit = -1,
) -> Answer:
    """List the versions that hold an id."""
    holders = await lookup.holders(schema_id, subject, Seen.of(deleted=deleted))
    return Answer(page([HolderBody(str(holder.subject), holder.version) for holder in holders], offset, limit))


@router.get("/schemas/guids/{guid}", **documented(SchemaStringBody, SchemaNotFound))
async def schema_by_guid(guid: GuidPath, lookup: LookupDependency) -> Answer:
    """Show a schema by guid, with or without hyphens."""
    return Answer(SchemaStringBody.of(await lookup.by_guid(guid)))


@router.get("/schemas/guids/{guid}/ids", **documented(listed(ContextIdBody)))
async def ids_of_guid(guid: GuidPath, lookup: LookupDependency) -> Answer:
    """List the ids that a guid has, context by context."""
    return Answer([ContextIdBody(context, schema_id) for context, schema_id in await lookup.ids_of_guid(guid)])

"""Routes of schemas by id and by guid, and of the list of all schemas."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, Query, Request

from contractlog.compatibility.errors import BadRequest, InvalidSchema, InvalidSubject, SchemaNotFound
from contractlog.compatibility.names import DEFAULT_CONTEXT, Subject
from contractlog.compatibility.parsing import supported
from contractlog.registry.access.actor import current_rights, may_read_everything
from contractlog.registry.bodies.answers import ContextIdBody, HolderBody, SchemaStringBody
from contractlog.registry.bodies.extended import ExtendedSchemaBody
from contractlog.registry.dependencies import (
    CacheDependency,
    Flag,
    GuidPath,
    IdsDependency,
    LookupDependency,
    ProfileDependency,
    SchemaIdPath,
    SubjectQuery,
    ThreadsDependency,
)
from contractlog.registry.documented import ANYTHING, documented, listed
from contractlog.registry.hot import readable_body
from contractlog.registry.own import FetchCountsDependency
from contractlog.registry.problems import Answer
from contractlog.registry.questions import DeletedQuery, Many, PageQuery, Qualified, ViewQuery
from contractlog.registry.storage.extended import Wanted

__all__ = ["router"]

router: Final = APIRouter(tags=["schemas"])
_HERE: Final = Subject(DEFAULT_CONTEXT, "")


@router.get("/schemas", **documented(listed(ExtendedSchemaBody)))
async def schemas(
    lookup: LookupDependency,
    threads: ThreadsDependency,
    profile: ProfileDependency,
    *,
    seen: DeletedQuery,
    page: PageQuery,
    association_type: Annotated[Many, Query(alias="associationType")],
    lifecycle: Many,
    prefix: Annotated[str, Query(alias="subjectPrefix")] = "",
    aliases: Flag = False,
    latest_only: Annotated[Flag, Query(alias="latestOnly")] = False,
    rule_type: Annotated[str, Query(alias="ruleType")] = "",
    resource_type: Annotated[str, Query(alias="resourceType")] = "",
) -> Answer:
    """List schemas, at most 1,000 per request; without a prefix those of the default context."""
    wanted = Wanted(
        prefix=prefix,
        aliases=aliases,
        seen=seen,
        latest_only=latest_only,
        rule_type=rule_type,
        resource_type=resource_type,
        association_types=tuple(filter(None, association_type)),
        lifecycles=tuple(one.upper() for one in lifecycle if one),
    )
    found = await lookup.extended(wanted, page)
    return Answer(
        await threads.run(lambda: msgspec.json.encode([ExtendedSchemaBody.of(one, profile) for one in found]))
    )


@router.get("/schemas/types", **documented(listed("string")))
async def types() -> Answer:
    """List the schema types that this registry supports."""
    return Answer([one.value for one in supported()])


@router.get("/schemas/ids/{schema_id}", **documented(SchemaStringBody, SchemaNotFound, InvalidSubject, InvalidSchema))
async def schema(
    request: Request,
    schema_id: SchemaIdPath,
    ids: IdsDependency,
    cache: CacheDependency,
    counts: FetchCountsDependency,
    *,
    profile: ProfileDependency,
    subject: SubjectQuery,
    view: ViewQuery,
    qualified: Qualified,
    fetch_max_id: Annotated[Flag, Query(alias="fetchMaxId")] = False,
) -> Answer:
    """Return a schema by id, even if all its versions are soft-deleted."""
    start = cache.start_read()
    shown = await ids.schema(schema_id, subject, view)
    counts.count((shown.schema.subject or subject or _HERE).context, schema_id, request.scope["headers"])
    max_id = await ids.max_id(subject) if fetch_max_id else None
    body = SchemaStringBody.of(shown.schema, max_id=max_id, qualified=qualified, tags=shown.tags)
    answer = Answer(profile.shape(body))
    asked = subject or _HERE
    if view.plain and not fetch_max_id and not qualified and (not asked.name or asked == shown.schema.subject):
        # A schema shown under another subject than the requested one is not cached: that subject may get the id itself.
        cache.put((asked.context, schema_id), bytes(answer.body), start=start, form=asked.name)
    return answer if may_read_everything() else Answer(readable_body(bytes(answer.body), current_rights.get()))


@router.get("/schemas/ids/{schema_id}/schema", **documented(ANYTHING, SchemaNotFound, InvalidSubject, InvalidSchema))
async def schema_text(
    request: Request,
    schema_id: SchemaIdPath,
    ids: IdsDependency,
    counts: FetchCountsDependency,
    *,
    subject: SubjectQuery,
    view: ViewQuery,
) -> Answer:
    """Return only the text of a schema."""
    found = (await ids.schema(schema_id, subject, view)).schema
    counts.count((found.subject or subject or _HERE).context, schema_id, request.scope["headers"])
    return Answer(found.text.encode())


@router.get("/schemas/ids/{schema_id}/subjects", **documented(listed("string"), SchemaNotFound, InvalidSubject))
async def subjects_of_id(
    schema_id: SchemaIdPath, ids: IdsDependency, subject: SubjectQuery, seen: DeletedQuery, page: PageQuery
) -> Answer:
    """List the subjects that use an id; the context is that of the subject in the query."""
    return Answer(await ids.subjects(schema_id, subject, seen, page))


@router.get("/schemas/ids/{schema_id}/versions", **documented(listed(HolderBody), SchemaNotFound, InvalidSubject))
async def versions_of_id(
    schema_id: SchemaIdPath, ids: IdsDependency, subject: SubjectQuery, seen: DeletedQuery, page: PageQuery
) -> Answer:
    """List the versions that use an id; the context is that of the subject in the query."""
    holders = await ids.versions(schema_id, subject, seen, page)
    return Answer([HolderBody(str(holder.subject), holder.version) for holder in holders])


@router.get("/schemas/guids/{guid}", **documented(SchemaStringBody, BadRequest, SchemaNotFound, InvalidSchema))
async def schema_by_guid(
    request: Request,
    guid: GuidPath,
    ids: IdsDependency,
    counts: FetchCountsDependency,
    *,
    profile: ProfileDependency,
    view: ViewQuery,
) -> Answer:
    """Return a schema by guid, with or without hyphens.

    No subject is included, because it could be one of any context.
    """
    shown = await ids.by_guid(guid, view)
    counts.count((shown.schema.subject or _HERE).context, shown.schema.schema_id, request.scope["headers"])
    return Answer(profile.shape(SchemaStringBody.of(shown.schema, tags=shown.tags, named=False)))


@router.get("/schemas/guids/{guid}/ids", **documented(listed(ContextIdBody), BadRequest))
async def ids_of_guid(guid: GuidPath, ids: IdsDependency) -> Answer:
    """List the ids that a guid has, one per context."""
    return Answer([ContextIdBody(context, schema_id) for context, schema_id in await ids.of_guid(guid)])

"""Routes of schemas by id and by guid, and of the list of all schemas."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, Query, Request, Response

from contractlog.compatibility.errors import (
    BadRequest,
    InvalidSchema,
    InvalidSubject,
    Overloaded,
    SchemaNotFound,
    TooManyRequests,
)
from contractlog.compatibility.formats import supported_types
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, Subject
from contractlog.registry.access.current_caller import current_permissions, may_read, may_read_everything
from contractlog.registry.features.schemas.bodies import ExtendedSchemaBody
from contractlog.registry.features.schemas.queries import ListedSchema, SchemaFilter
from contractlog.registry.http.api_response import ApiResponse, PieceResponse
from contractlog.registry.http.openapi import ANY_JSON, describe_route, list_schema
from contractlog.registry.http.parameters import (
    DeletedQuery,
    Flag,
    PageQuery,
    QualifiedQuery,
    SchemaIdPath,
    SubjectQuery,
    TextListQuery,
    TextPath,
    ViewQuery,
)
from contractlog.registry.http.redaction import redact_unreadable
from contractlog.registry.http.response_bodies import ContextIdBody, SchemaStringBody, SubjectVersionBody
from contractlog.registry.http.route_permissions import READ_ANY, READ_LISTED, requires
from contractlog.registry.http.service_dependencies import (
    CacheDependency,
    FetchCounterDependency,
    ProfileDependency,
    SchemasDependency,
)

__all__ = ["router"]

router: Final = APIRouter(tags=["schemas"])
_DEFAULT_SCOPE: Final = Subject(DEFAULT_CONTEXT, "")


@router.get("/schemas", **describe_route(list_schema(ExtendedSchemaBody), TooManyRequests, Overloaded))
@requires(READ_LISTED)
async def list_schemas(
    schemas: SchemasDependency,
    profile: ProfileDependency,
    *,
    deleted: DeletedQuery,
    page: PageQuery,
    association_type: Annotated[TextListQuery, Query(alias="associationType")],
    lifecycle: TextListQuery,
    prefix: Annotated[str, Query(alias="subjectPrefix")] = "",
    aliases: Flag = False,
    latest_only: Annotated[Flag, Query(alias="latestOnly")] = False,
    rule_type: Annotated[str, Query(alias="ruleType")] = "",
    resource_type: Annotated[str, Query(alias="resourceType")] = "",
) -> Response:
    """List schemas, at most 1,000 per request; without a prefix those of the default context.

    A page of more than 1 MiB is sent in pieces. Schemas that are hard-deleted meanwhile are left out.
    """
    schema_filter = SchemaFilter(
        prefix=prefix,
        aliases=aliases,
        deleted=deleted,
        latest_only=latest_only,
        rule_type=rule_type,
        resource_type=resource_type,
        association_types=tuple(filter(None, association_type)),
        lifecycles=tuple(name.upper() for name in lifecycle if name),
    )

    def encode(versions: Iterable[ListedSchema]) -> bytes:
        return msgspec.json.encode([ExtendedSchemaBody.of(version, profile) for version in versions])

    listed = await schemas.list_schemas(schema_filter, page, encode)
    if isinstance(listed, bytes):
        return ApiResponse(listed)
    return PieceResponse(listed.pieces, listed.response, partial(schemas.release, listed))


@router.get("/schemas/types", **describe_route(list_schema("string")))
@requires(READ_ANY)
async def list_schema_types() -> ApiResponse:
    """List the schema types that this registry supports."""
    return ApiResponse([schema_type.value for schema_type in supported_types()])


@router.get(
    "/schemas/ids/{schema_id}", **describe_route(SchemaStringBody, SchemaNotFound, InvalidSubject, InvalidSchema)
)
@requires(READ_ANY)
async def get_schema(
    request: Request,
    schema_id: SchemaIdPath,
    schemas: SchemasDependency,
    cache: CacheDependency,
    counts: FetchCounterDependency,
    *,
    profile: ProfileDependency,
    subject: SubjectQuery,
    view: ViewQuery,
    qualified: QualifiedQuery,
    fetch_max_id: Annotated[Flag, Query(alias="fetchMaxId")] = False,
) -> ApiResponse:
    """Return a schema by id, even if all its versions are soft-deleted."""
    start = cache.start_read()
    rendered = await schemas.schema(schema_id, subject, view)
    counts.count((rendered.schema.subject or subject or _DEFAULT_SCOPE).context, schema_id, request.scope["headers"])
    max_id = await schemas.max_id(subject) if fetch_max_id else None
    body = SchemaStringBody.of(rendered.schema, max_id=max_id, qualified=qualified, tags=rendered.tags)
    response = ApiResponse(profile.shape(body))
    requested = subject or _DEFAULT_SCOPE
    if (
        view.plain
        and not fetch_max_id
        and not qualified
        and (not requested.name or (requested == rendered.schema.subject and may_read(requested)))
    ):
        # Two responses are not cached. If the schema belongs to another subject than the requested one, the requested
        # subject may get this id later. If the caller may not read the subject, its alias was not followed.
        cache.put((requested.context, schema_id), bytes(response.body), start=start, requested_subject=requested.name)
    return _redact(response, requested.context)


@router.get(
    "/schemas/ids/{schema_id}/schema", **describe_route(ANY_JSON, SchemaNotFound, InvalidSubject, InvalidSchema)
)
@requires(READ_ANY)
async def get_schema_text(
    request: Request,
    schema_id: SchemaIdPath,
    schemas: SchemasDependency,
    counts: FetchCounterDependency,
    *,
    subject: SubjectQuery,
    view: ViewQuery,
) -> ApiResponse:
    """Return only the text of a schema."""
    schema = (await schemas.schema(schema_id, subject, view)).schema
    counts.count((schema.subject or subject or _DEFAULT_SCOPE).context, schema_id, request.scope["headers"])
    return ApiResponse(schema.text.encode())


@router.get(
    "/schemas/ids/{schema_id}/subjects", **describe_route(list_schema("string"), SchemaNotFound, InvalidSubject)
)
@requires(READ_ANY)
async def list_subjects_of_id(
    schema_id: SchemaIdPath, schemas: SchemasDependency, subject: SubjectQuery, deleted: DeletedQuery, page: PageQuery
) -> ApiResponse:
    """List the subjects that use an id; the context is that of the subject in the query."""
    return ApiResponse(await schemas.subjects(schema_id, subject, deleted, page))


@router.get(
    "/schemas/ids/{schema_id}/versions",
    **describe_route(list_schema(SubjectVersionBody), SchemaNotFound, InvalidSubject),
)
@requires(READ_ANY)
async def list_versions_of_id(
    schema_id: SchemaIdPath, schemas: SchemasDependency, subject: SubjectQuery, deleted: DeletedQuery, page: PageQuery
) -> ApiResponse:
    """List the versions that use an id; the context is that of the subject in the query."""
    versions = await schemas.versions(schema_id, subject, deleted, page)
    return ApiResponse([SubjectVersionBody(str(version.subject), version.version) for version in versions])


@router.get("/schemas/guids/{guid}", **describe_route(SchemaStringBody, BadRequest, SchemaNotFound, InvalidSchema))
@requires(READ_ANY)
async def get_schema_by_guid(
    request: Request,
    guid: TextPath,
    schemas: SchemasDependency,
    counts: FetchCounterDependency,
    *,
    profile: ProfileDependency,
    view: ViewQuery,
) -> ApiResponse:
    """Return a schema by guid, with or without hyphens.

    No subject is included, because it could be one of any context.
    """
    rendered = await schemas.find_by_guid(guid, view)
    counts.count(
        (rendered.schema.subject or _DEFAULT_SCOPE).context, rendered.schema.schema_id, request.scope["headers"]
    )
    body = SchemaStringBody.of(rendered.schema, tags=rendered.tags, with_subject=False)
    return _redact(ApiResponse(profile.shape(body)), (rendered.schema.subject or _DEFAULT_SCOPE).context)


@router.get("/schemas/guids/{guid}/ids", **describe_route(list_schema(ContextIdBody), BadRequest))
@requires(READ_ANY)
async def list_ids_of_guid(guid: TextPath, schemas: SchemasDependency) -> ApiResponse:
    """List the ids that a guid has, one per context."""
    return ApiResponse(
        [ContextIdBody(context, schema_id) for context, schema_id in await schemas.list_ids_of_guid(guid)]
    )


def _redact(response: ApiResponse, context: str) -> ApiResponse:
    if may_read_everything():
        return response
    return ApiResponse(redact_unreadable(bytes(response.body), current_permissions.get(), context))

"""Routes of associations between topics and the subjects of their schemas.

Serializers request these before anything else.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import ExitStack
from typing import Annotated, Any, Final, TypeVar

import msgspec
from fastapi import APIRouter, Depends, Query, Request, Response

from contractlog.compatibility.association_values import TOPIC, Lifecycle
from contractlog.compatibility.errors import (
    AssociationExists,
    AssociationFrozen,
    AssociationNotFound,
    AssociationTypeExists,
    BadRequest,
    IncompatibleSchema,
    InvalidAssociation,
    InvalidRuleSet,
    InvalidSchema,
    InvalidSubject,
    NoActiveVersion,
    NotFound,
    OperationNotPermitted,
    Overloaded,
    PayloadTooLarge,
    ReferenceExists,
    RegistryError,
    StrongAssociationExists,
    Unprocessable,
)
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT
from contractlog.registry.execution.large_responses import PIECE_BYTES, LargeResponse, LargeResponseSlots
from contractlog.registry.features.associations.bodies import (
    MAX_MEMBERS,
    AssociationBatchGetRequest,
    AssociationBatchRequest,
    AssociationBody,
    AssociationGetRequest,
    AssociationRequest,
    AssociationResponseBody,
    AssociationResultBody,
    AssociationResultsBody,
)
from contractlog.registry.features.associations.service import AssociationService, BatchBudget
from contractlog.registry.features.associations.validation import AssociationOperation
from contractlog.registry.http.api_response import ApiResponse, PieceResponse
from contractlog.registry.http.openapi import describe_route, list_schema
from contractlog.registry.http.parameters import Flag, PageQuery, SubjectPath, TextPath
from contractlog.registry.http.request_bodies import parse_body, parse_members
from contractlog.registry.http.route_permissions import READ_ANY, WRITE_ANY, requires
from contractlog.registry.http.service_dependencies import AssociationsDependency, ThreadsDependency
from contractlog.registry.storage.associations import AssociationFilter
from contractlog.registry.storage.store_values import Page

__all__ = ["router"]

M = TypeVar("M")

router: Final = APIRouter(tags=["associations"])

_ANY_NAME: Final = "-"
_MULTI_STATUS: Final = 207
_BODY_ERRORS: Final = (BadRequest, PayloadTooLarge, Unprocessable)
_BIND_ERRORS: Final = (
    *_BODY_ERRORS,
    AssociationExists,
    AssociationTypeExists,
    IncompatibleSchema,
    InvalidAssociation,
    InvalidRuleSet,
    InvalidSchema,
    InvalidSubject,
    NoActiveVersion,
    OperationNotPermitted,
    Overloaded,
    ReferenceExists,
    StrongAssociationExists,
)


async def _parse_filter(
    resource_type: Annotated[str, Query(alias="resourceType")] = "",
    association_types: Annotated[list[str] | None, Query(alias="associationType")] = None,
    lifecycle: str = "",
) -> dict[str, Any]:
    """Parse the filter on associations; empty values do not filter."""
    if lifecycle and lifecycle.upper() not in Lifecycle.__members__:
        raise NotFound
    return {
        "resource_type": resource_type or TOPIC,
        "types": tuple(association_type for association_type in association_types or () if association_type),
        "lifecycle": Lifecycle(lifecycle.upper()) if lifecycle else None,
    }


async def _parse_context(context: str = "") -> str:
    name = context.removeprefix(":").removesuffix(":")
    if ":" in name or "\0" in name:
        raise BadRequest(f"`{context}` is not a valid context name")
    return name if name.startswith(".") else f".{name}" if name else DEFAULT_CONTEXT


Filter = Annotated[dict[str, Any], Depends(_parse_filter)]
ContextQuery = Annotated[str, Depends(_parse_context)]
DryRun = Annotated[Flag, Query(alias="dryRun")]


@router.get("/associations/subjects/{subject}", **describe_route(list_schema(AssociationBody), InvalidSubject))
@requires(READ_ANY)
async def list_subject_associations(
    subject: SubjectPath, associations: AssociationsDependency, which: Filter, page: PageQuery
) -> ApiResponse:
    """List the associations of a subject."""
    return await _list_page(associations, AssociationFilter(subject=subject, **which), page)


@router.get("/associations/resources/{resource}", **describe_route(list_schema(AssociationBody)))
@requires(READ_ANY)
async def list_resource_associations(
    resource: TextPath, associations: AssociationsDependency, which: Filter, page: PageQuery
) -> ApiResponse:
    """List the associations of a resource by its id; an unknown resource has none."""
    return await _list_page(associations, AssociationFilter(resource_id=resource, **which), page)


@router.get("/associations/resources/{namespace}/{name}", **describe_route(list_schema(AssociationBody)))
@requires(READ_ANY)
async def list_associations_by_name(
    namespace: TextPath,
    name: TextPath,
    associations: AssociationsDependency,
    which: Filter,
    page: PageQuery,
) -> ApiResponse:
    """List the associations of a resource by its name; ``-`` matches any namespace or name."""
    association_filter = AssociationFilter(
        name=None if name == _ANY_NAME else name, namespace=None if namespace == _ANY_NAME else namespace, **which
    )
    return await _list_page(associations, association_filter, page)


async def _list_page(
    associations: AssociationService, association_filter: AssociationFilter, page: Page
) -> ApiResponse:
    results = page.cut(await associations.find(association_filter))
    return ApiResponse([AssociationBody.of(result.association) for result in results])


@router.post("/associations", **describe_route(AssociationResponseBody, *_BIND_ERRORS, body=AssociationRequest))
@requires(WRITE_ANY)
async def create_associations(
    request: Request, associations: AssociationsDependency, context: ContextQuery, *, dry_run: DryRun = False
) -> ApiResponse:
    """Associate subjects with a resource.

    A schema in the request is registered, and its subject then belongs to the resource.
    """
    body = parse_body(await request.body(), AssociationRequest)
    changes = [change.change(AssociationOperation.CREATE, context) for change in _without_operations(body)]
    bound = await associations.apply(body.resource(), changes, dry_run=dry_run)
    return ApiResponse(AssociationResponseBody.of(body.resource(), bound))


@router.put(
    "/associations/resources/{resource}",
    **describe_route(AssociationResponseBody, *_BIND_ERRORS, body=AssociationRequest),
)
@requires(WRITE_ANY)
async def upsert_associations(
    request: Request,
    resource: TextPath,
    associations: AssociationsDependency,
    context: ContextQuery,
    *,
    dry_run: DryRun = False,
) -> ApiResponse:
    """Create the associations of a resource that do not exist; existing ones keep subject and lifecycle."""
    body = parse_body(await request.body(), AssociationRequest)
    changes = [change.change(AssociationOperation.UPSERT, context) for change in _without_operations(body)]
    bound = await associations.apply(body.resource(resource), changes, dry_run=dry_run)
    return ApiResponse(AssociationResponseBody.of(body.resource(resource), bound))


def _without_operations(body: AssociationRequest) -> list[Any]:
    """Return the members of a request outside a batch: the HTTP method determines their operation."""
    for member in body.associations or ():
        member.op_type = None
    return body.associations or []


@router.delete(
    "/associations/resources/{resource}",
    **describe_route(
        {}, AssociationNotFound, AssociationFrozen, OperationNotPermitted, Overloaded, ReferenceExists, status=204
    ),
)
@requires(WRITE_ANY)
async def delete_associations(
    resource: TextPath,
    associations: AssociationsDependency,
    which: Filter,
    *,
    cascade: Annotated[Flag, Query(alias="cascadeLifecycle")] = False,
    dry_run: DryRun = False,
) -> ApiResponse:
    """Delete the associations of a resource; with ``cascadeLifecycle`` also the subjects it owns."""
    association_filter = AssociationFilter(resource_id=resource, **which)
    await associations.remove(resource, association_filter, cascade=cascade, dry_run=dry_run)
    return ApiResponse(b"", status_code=204)


@router.post("/associations%3AbatchGet", include_in_schema=False)
@router.post(
    "/associations:batchGet",
    **describe_route(
        AssociationResultsBody, *_BODY_ERRORS, InvalidAssociation, body=AssociationBatchGetRequest, status=_MULTI_STATUS
    ),
)
@requires(READ_ANY)
async def get_associations_in_batch(
    request: Request,
    associations: AssociationsDependency,
    threads: ThreadsDependency,
    *,
    schemas: Annotated[Flag, Query(alias="includeSchemas")] = False,
) -> Response:
    """List the associations of many resources, optionally with the latest schemas.

    Requests beyond 16 MiB of results fail, each on its own.
    """

    async def find(member: AssociationGetRequest, budget: BatchBudget) -> AssociationResponseBody:
        if not (member.resource_id or member.resource_name):
            raise InvalidAssociation(property="resourceName", detail="cannot be null or empty")
        return member.response(await associations.find(member.filter(), schemas=schemas, budget=budget))

    return await _process_members(
        parse_members(await request.body(), AssociationGetRequest, MAX_MEMBERS),
        find,
        (BadRequest, Unprocessable),
        threads.responses,
    )


@router.post("/associations%3AbatchMutate", include_in_schema=False)
@router.post(
    "/associations:batchMutate",
    **describe_route(
        AssociationResultsBody, *_BODY_ERRORS, InvalidAssociation, body=AssociationBatchRequest, status=_MULTI_STATUS
    ),
)
@requires(WRITE_ANY)
async def change_associations_in_batch(
    request: Request,
    associations: AssociationsDependency,
    threads: ThreadsDependency,
    context: ContextQuery,
    *,
    dry_run: DryRun = False,
) -> Response:
    """Change the associations of many resources, in order; each succeeds or fails independently.

    A DELETE needs only the id of its resource; without ``associations`` it removes all associations of the resource.
    Requests beyond 16 MiB of results fail, and change nothing.
    """

    async def apply(member: AssociationRequest, _budget: BatchBudget) -> AssociationResponseBody:
        return await _apply_member(associations, member, context, dry_run=dry_run)

    return await _process_members(
        parse_members(await request.body(), AssociationRequest, MAX_MEMBERS),
        apply,
        (RegistryError,),
        threads.responses,
    )


async def _process_members(
    members: Iterable[M | BadRequest],
    process: Callable[[M, BatchBudget], Awaitable[AssociationResponseBody]],
    member_errors: tuple[type[RegistryError], ...],
    limits: LargeResponseSlots,
) -> Response:
    """Process the members of a batch in order, as long as the response is not too large.

    Args:
        members: parsed members, or the error of a member that cannot be parsed.
        process: returns the result of a member, and may spend some of the budget.
        member_errors: fail a member alone; any other error fails the batch.
        limits: on large responses.
    """
    limits.require()
    budget, results, size = BatchBudget(), [], 0
    with ExitStack() as stack:
        slot = _Slot(limits, stack)
        for member in members:
            try:
                if isinstance(member, BadRequest):
                    raise member
                budget.require_remainder()
                if size > PIECE_BYTES:
                    await slot.require()
                result = AssociationResultBody(result=await process(member, budget))
            except member_errors as error:
                result = AssociationResultBody.failed(error)
            results.append(msgspec.json.encode(result))
            size += len(results[-1])
            budget.spend(len(results[-1]))
        limits.charge(size)
        if slot.response is not None:
            leave = stack.pop_all().close
            return PieceResponse(_join_results(results), slot.response, leave, status_code=_MULTI_STATUS)
    body = b'{"results":[' + b",".join(results) + b"]}" if results else b"{}"
    return ApiResponse(body, status_code=_MULTI_STATUS)


class _Slot:
    """A slot for a large response, which is taken when the response becomes large."""

    def __init__(self, limits: LargeResponseSlots, stack: ExitStack) -> None:
        self._limits = limits
        self._stack = stack
        self._refusal: Overloaded | None = None
        self.response: LargeResponse | None = None  #: None: the slot is not taken

    async def require(self) -> None:
        """Take the slot, unless it is taken already.

        Raises:
            Overloaded: none has become free in time; all further calls raise it immediately.
        """
        if self._refusal is not None:
            raise self._refusal
        if self.response is None:
            try:
                self.response = await self._limits.enter()
            except Overloaded as refusal:
                self._refusal = refusal
                raise
            self._stack.callback(self._limits.leave, self.response)


async def _join_results(results: Iterable[bytes]) -> AsyncIterator[bytes]:
    separator = b'{"results":['
    for result in results:
        yield separator + result
        separator = b","
    yield b"]}"


async def _apply_member(
    associations: AssociationService, member: AssociationRequest, context: str, *, dry_run: bool
) -> AssociationResponseBody:
    """Apply one member of a batch."""
    resource, bound = member.resource(), []
    if member.op_type is AssociationOperation.DELETE and not member.associations:
        association_filter = AssociationFilter(resource_id=resource.id, resource_type=resource.type)
        await associations.remove(resource.id, association_filter, dry_run=dry_run)
    else:
        bound = await associations.apply(
            resource, member.changes(AssociationOperation.CREATE, context), dry_run=dry_run
        )
    return AssociationResponseBody.of(resource, bound)

"""Routes of associations between topics and the subjects of their schemas.

Serializers request these before anything else.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request

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
from contractlog.compatibility.names import DEFAULT_CONTEXT
from contractlog.registry.bodies.associations import (
    MOST,
    AssociationBatchGetRequest,
    AssociationBatchRequest,
    AssociationBody,
    AssociationGetRequest,
    AssociationRequest,
    AssociationResponseBody,
    AssociationResultBody,
    AssociationResultsBody,
)
from contractlog.registry.bodies.requests import read, read_members
from contractlog.registry.dependencies import (
    AssociationsDependency,
    Flag,
    Limit,
    Offset,
    SubjectPath,
    TextPath,
    page,
)
from contractlog.registry.documented import documented, listed
from contractlog.registry.problems import Answer
from contractlog.registry.services.association_rules import Operation
from contractlog.registry.services.associations import Associations
from contractlog.registry.storage.associations import TOPIC, Lifecycle, Wanted

__all__ = ["router"]

router: Final = APIRouter(tags=["associations"])

_ANY: Final = "-"
_MULTI_STATUS: Final = 207
_BAD_BODY: Final = (BadRequest, PayloadTooLarge, Unprocessable)
_BIND: Final = (
    *_BAD_BODY,
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


async def _filter(
    resource_type: Annotated[str, Query(alias="resourceType")] = "",
    association_types: Annotated[list[str] | None, Query(alias="associationType")] = None,
    lifecycle: str = "",
) -> dict[str, Any]:
    """Parse the filter on associations; empty values do not filter."""
    if lifecycle and lifecycle.upper() not in Lifecycle.__members__:
        raise NotFound
    return {
        "resource_type": resource_type or TOPIC,
        "types": tuple(one for one in association_types or () if one),
        "lifecycle": Lifecycle(lifecycle.upper()) if lifecycle else None,
    }


async def _context(context: str = "") -> str:
    name = context.removeprefix(":").removesuffix(":")
    if ":" in name or "\0" in name:
        raise BadRequest(f"`{context}` is no name of a context")
    return name if name.startswith(".") else f".{name}" if name else DEFAULT_CONTEXT


async def _paging(offset: Offset = 0, limit: Limit = -1) -> tuple[int, int]:
    return offset, limit


Paging = Annotated[tuple[int, int], Depends(_paging)]
Filter = Annotated[dict[str, Any], Depends(_filter)]
ContextQuery = Annotated[str, Depends(_context)]
DryRun = Annotated[Flag, Query(alias="dryRun")]


@router.get("/associations/subjects/{subject}", **documented(listed(AssociationBody), InvalidSubject))
async def of_subject(
    subject: SubjectPath, associations: AssociationsDependency, which: Filter, paging: Paging
) -> Answer:
    """List the associations of a subject."""
    return await _listed(associations, Wanted(subject=subject, **which), paging)


@router.get("/associations/resources/{resource}", **documented(listed(AssociationBody)))
async def of_resource(
    resource: TextPath, associations: AssociationsDependency, which: Filter, paging: Paging
) -> Answer:
    """List the associations of a resource by its id; an unknown resource has none."""
    return await _listed(associations, Wanted(resource_id=resource, **which), paging)


@router.get("/associations/resources/{namespace}/{name}", **documented(listed(AssociationBody)))
async def of_name(
    namespace: TextPath,
    name: TextPath,
    associations: AssociationsDependency,
    which: Filter,
    paging: Paging,
) -> Answer:
    """List the associations of a resource by its name; ``-`` stands for any namespace or name."""
    wanted = Wanted(name=None if name == _ANY else name, namespace=None if namespace == _ANY else namespace, **which)
    return await _listed(associations, wanted, paging)


async def _listed(associations: Associations, wanted: Wanted, paging: tuple[int, int]) -> Answer:
    found = page(await associations.find(wanted), *paging)
    return Answer([AssociationBody.of(one.association) for one in found])


@router.post("/associations", **documented(AssociationResponseBody, *_BIND, body=AssociationRequest))
async def create(
    request: Request, associations: AssociationsDependency, context: ContextQuery, *, dry_run: DryRun = False
) -> Answer:
    """Associate subjects with a resource.

    A schema in the request is registered, and its subject then belongs to the resource.
    """
    body = read(await request.body(), AssociationRequest)
    wishes = [one.wish(Operation.CREATE, context) for one in _single(body)]
    bound = await associations.apply(body.resource(), wishes, rehearsal=dry_run)
    return Answer(AssociationResponseBody.of(body.resource(), bound))


@router.put(
    "/associations/resources/{resource}", **documented(AssociationResponseBody, *_BIND, body=AssociationRequest)
)
async def upsert(
    request: Request,
    resource: TextPath,
    associations: AssociationsDependency,
    context: ContextQuery,
    *,
    dry_run: DryRun = False,
) -> Answer:
    """Create the associations of a resource that do not exist; existing ones keep subject and lifecycle."""
    body = read(await request.body(), AssociationRequest)
    wishes = [one.wish(Operation.UPSERT, context) for one in _single(body)]
    bound = await associations.apply(body.resource(resource), wishes, rehearsal=dry_run)
    return Answer(AssociationResponseBody.of(body.resource(resource), bound))


def _single(body: AssociationRequest) -> list[Any]:
    """Return the members of a request outside a batch: the HTTP method determines their operation."""
    for one in body.associations or ():
        one.op_type = None
    return body.associations or []


@router.delete(
    "/associations/resources/{resource}",
    **documented(
        {}, AssociationNotFound, AssociationFrozen, OperationNotPermitted, Overloaded, ReferenceExists, status=204
    ),
)
async def remove(
    resource: TextPath,
    associations: AssociationsDependency,
    which: Filter,
    *,
    cascade: Annotated[Flag, Query(alias="cascadeLifecycle")] = False,
    dry_run: DryRun = False,
) -> Answer:
    """Delete the associations of a resource; with ``cascadeLifecycle`` also the subjects it owns."""
    wanted = Wanted(resource_id=resource, **which)
    await associations.remove(resource, wanted, cascade=cascade, rehearsal=dry_run)
    return Answer(b"", status_code=204)


@router.post("/associations%3AbatchGet", include_in_schema=False)
@router.post(
    "/associations:batchGet",
    **documented(
        AssociationResultsBody, *_BAD_BODY, InvalidAssociation, body=AssociationBatchGetRequest, status=_MULTI_STATUS
    ),
)
async def batch_get(
    request: Request,
    associations: AssociationsDependency,
    *,
    schemas: Annotated[Flag, Query(alias="includeSchemas")] = False,
) -> Answer:
    """List the associations of many resources, optionally with the latest schemas."""
    results = []
    for one in read_members(await request.body(), AssociationGetRequest, MOST):
        if isinstance(one, BadRequest):
            results.append(AssociationResultBody.failed(one))
        elif one.resource_id or one.resource_name:
            found = await associations.find(one.wanted(), schemas=schemas)
            results.append(AssociationResultBody(result=one.answer(found)))
        else:
            error = InvalidAssociation(property="resourceName", detail="cannot be null or empty")
            results.append(AssociationResultBody.failed(error))
    return Answer(AssociationResultsBody(results), status_code=_MULTI_STATUS)


@router.post("/associations%3AbatchMutate", include_in_schema=False)
@router.post(
    "/associations:batchMutate",
    **documented(
        AssociationResultsBody, *_BAD_BODY, InvalidAssociation, body=AssociationBatchRequest, status=_MULTI_STATUS
    ),
)
async def batch_mutate(
    request: Request, associations: AssociationsDependency, context: ContextQuery, *, dry_run: DryRun = False
) -> Answer:
    """Change the associations of many resources, in order; each succeeds or fails independently.

    A DELETE needs only the id of its resource; without ``associations`` it removes all associations of the resource.
    """
    results = []
    for one in read_members(await request.body(), AssociationRequest, MOST):
        try:
            results.append(AssociationResultBody(result=await _changed(associations, one, context, rehearsal=dry_run)))
        except RegistryError as error:
            results.append(AssociationResultBody.failed(error))
    return Answer(AssociationResultsBody(results), status_code=_MULTI_STATUS)


async def _changed(
    associations: Associations, one: AssociationRequest | BadRequest, context: str, *, rehearsal: bool
) -> AssociationResponseBody:
    """Apply one member of a batch."""
    if isinstance(one, BadRequest):
        raise one
    resource, bound = one.resource(), []
    if one.op_type is Operation.DELETE and not one.associations:
        wanted = Wanted(resource_id=resource.id, resource_type=resource.type)
        await associations.remove(resource.id, wanted, rehearsal=rehearsal)
    else:
        bound = await associations.apply(resource, one.wishes(Operation.CREATE, context), rehearsal=rehearsal)
    return AssociationResponseBody.of(resource, bound)

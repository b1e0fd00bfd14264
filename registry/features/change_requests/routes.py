"""Routes of change requests and waivers."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request

from contractlog.compatibility.errors import (
    ApprovalDenied,
    ApprovalsMissing,
    BadRequest,
    ChangeRequestEnded,
    ChangeRequestMoved,
    ChangeRequestNotFound,
    Denied,
    IncompatibleSchema,
    InvalidChangeRequest,
    InvalidQuery,
    InvalidRuleSet,
    InvalidSchema,
    InvalidSubject,
    OperationNotPermitted,
    Overloaded,
    PayloadTooLarge,
    SubjectNotFound,
    TooManyRequests,
    Unprocessable,
)
from contractlog.compatibility.identifiers import Subject
from contractlog.registry.features.change_requests.bodies import (
    ApprovalRequest,
    ChangeRequestBody,
    ChangeRequestsBody,
    CommentRequest,
    OpenChangeRequest,
    WaiverBody,
    WaiversBody,
)
from contractlog.registry.features.change_requests.reach import ReachFinder
from contractlog.registry.features.change_requests.service import MAX_LISTED, ChangeRequestService
from contractlog.registry.features.change_requests.values import ChangeRequest, RequestStatus
from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.extension_parameters import (
    MAX_INTEGER,
    BoundedInteger,
    StrictParameters,
    enum_schema,
)
from contractlog.registry.http.openapi import describe_route
from contractlog.registry.http.path_values import parse_subject
from contractlog.registry.http.request_bodies import parse_body
from contractlog.registry.http.route_permissions import READ_ANY, WRITE_ANY, requires
from contractlog.registry.http.service_dependencies import ChangeRequestsDependency, ReachDependency

__all__ = ["router"]

router: Final = APIRouter(tags=["change requests"], dependencies=[StrictParameters])
_PATH: Final = "/contractlog/v1/change-requests"
_ONE: Final = _PATH + "/{request}"
_MAX_DIGITS: Final = 15
_BODY_ERRORS: Final = (BadRequest, PayloadTooLarge, Unprocessable, InvalidChangeRequest)
_ERRORS: Final = (Denied, InvalidQuery, Overloaded)
_ONE_ERRORS: Final = (*_ERRORS, ChangeRequestNotFound)
_PROPOSAL_ERRORS: Final = (
    *_BODY_ERRORS,
    InvalidRuleSet,
    InvalidSchema,
    InvalidSubject,
    OperationNotPermitted,
    SubjectNotFound,
    TooManyRequests,
)
_Before = Annotated[
    int,
    Query(description="`next` of the previous page: only change requests with a smaller number."),
    BoundedInteger("before", MAX_INTEGER, 1, MAX_INTEGER),
]
_Limit = Annotated[
    int, Query(description="Maximum number of items."), BoundedInteger("limit", MAX_LISTED, 1, MAX_LISTED)
]
_SubjectQuery = Annotated[str, Query(description="Only those of this subject.")]


async def _parse_request(request: str) -> int:
    if not (request.isascii() and request.isdigit() and len(request) <= _MAX_DIGITS):
        raise ChangeRequestNotFound(id=request[:_MAX_DIGITS])
    return int(request)


async def _parse_status(
    status: Annotated[str, Query(description="Only those in this state."), enum_schema(RequestStatus)] = "",
) -> RequestStatus | None:
    try:
        return RequestStatus(status.lower()) if status else None
    except ValueError:
        raise InvalidQuery(parameter="status", detail=f"it must be one of {', '.join(RequestStatus)}") from None


_Id = Annotated[int, Depends(_parse_request)]
_Status = Annotated[RequestStatus | None, Depends(_parse_status)]


@router.post(_PATH, **describe_route(ChangeRequestBody, *_ERRORS, *_PROPOSAL_ERRORS, body=OpenChangeRequest))
@requires(READ_ANY)  # the service requires write on the subject, and names it
async def open_change_request(
    request: Request, changes: ChangeRequestsDependency, reach: ReachDependency
) -> ApiResponse:
    """Open a change request; the caller needs write permission on the subject.

    The change is checked as if it were made: the response has the verdict and what it reaches.
    """
    proposal = parse_body(await request.body(), OpenChangeRequest)
    return await _respond(await changes.open(parse_subject(proposal.subject), proposal), changes, reach)


@router.get(_PATH, **describe_route(ChangeRequestsBody, InvalidQuery, InvalidSubject, Overloaded))
@requires(READ_ANY)
async def list_change_requests(
    changes: ChangeRequestsDependency,
    *,
    subject: _SubjectQuery = "",
    status: _Status,
    before: _Before = MAX_INTEGER,
    limit: _Limit = MAX_LISTED,
) -> ApiResponse:
    """List change requests, the newest first; those of subjects that the caller may not read are left out."""
    requests, following = await changes.list_requests(
        subject=_parse_optional(subject), status=status, before=before, limit=limit
    )
    return ApiResponse(ChangeRequestsBody([ChangeRequestBody.of(each, changes.now()) for each in requests], following))


@router.get(_ONE, **describe_route(ChangeRequestBody, *_ONE_ERRORS))
@requires(READ_ANY)
async def get_change_request(request: _Id, changes: ChangeRequestsDependency, reach: ReachDependency) -> ApiResponse:
    """Return a change request with its evidence, approvals and comments."""
    return await _respond(await changes.get(request), changes, reach)


@router.put(
    _ONE,
    **describe_route(
        ChangeRequestBody,
        *_ONE_ERRORS,
        *_PROPOSAL_ERRORS,
        ApprovalDenied,
        ChangeRequestEnded,
        body=OpenChangeRequest,
    ),
)
@requires(WRITE_ANY)
async def update_change_request(
    http_request: Request, request: _Id, changes: ChangeRequestsDependency, reach: ReachDependency
) -> ApiResponse:
    """Replace the proposal of the caller's own change request, and check it again; approvals are deleted."""
    proposal = parse_body(await http_request.body(), OpenChangeRequest)
    subject = parse_subject(proposal.subject)
    return await _respond(await changes.update(request, subject, proposal), changes, reach)


@router.post(
    _ONE + "/approvals",
    **describe_route(
        ChangeRequestBody,
        *_ONE_ERRORS,
        *_BODY_ERRORS,
        ApprovalDenied,
        ChangeRequestEnded,
        ChangeRequestMoved,
        body=ApprovalRequest,
    ),
)
@requires(READ_ANY)
async def approve_change_request(
    http_request: Request, request: _Id, changes: ChangeRequestsDependency, reach: ReachDependency
) -> ApiResponse:
    """Approve a revision of a change request, as an owner of its subject who is not its author."""
    revision = parse_body(await http_request.body(), ApprovalRequest).revision
    return await _respond(await changes.approve(request, revision), changes, reach)


@router.post(
    _ONE + "/comments",
    **describe_route(
        ChangeRequestBody, *_ONE_ERRORS, *_BODY_ERRORS, ApprovalDenied, ChangeRequestEnded, body=CommentRequest
    ),
)
@requires(READ_ANY)
async def comment_on_change_request(
    http_request: Request, request: _Id, changes: ChangeRequestsDependency, reach: ReachDependency
) -> ApiResponse:
    """Add a comment to an open change request, as its author, an owner or a writer of the subject."""
    text = parse_body(await http_request.body(), CommentRequest).text
    return await _respond(await changes.comment(request, text), changes, reach)


@router.post(
    _ONE + "/merge",
    **describe_route(
        ChangeRequestBody,
        *_ONE_ERRORS,
        ApprovalsMissing,
        ChangeRequestEnded,
        ChangeRequestMoved,
        IncompatibleSchema,
        InvalidRuleSet,
        InvalidSchema,
        InvalidSubject,
        OperationNotPermitted,
        SubjectNotFound,
        TooManyRequests,
        Unprocessable,
    ),
)
@requires(READ_ANY)  # the service requires write on the subject, and names it
async def merge_change_request(request: _Id, changes: ChangeRequestsDependency, reach: ReachDependency) -> ApiResponse:
    """Make the change exactly as it was approved; the caller needs write permission on the subject."""
    return await _respond(await changes.merge(request), changes, reach)


@router.post(_ONE + "/close", **describe_route(ChangeRequestBody, *_ONE_ERRORS, ApprovalDenied, ChangeRequestEnded))
@requires(READ_ANY)
async def close_change_request(request: _Id, changes: ChangeRequestsDependency, reach: ReachDependency) -> ApiResponse:
    """Close a change request without the change, as its author, an owner or a writer of the subject."""
    return await _respond(await changes.close(request), changes, reach)


@router.get("/contractlog/v1/waivers", **describe_route(WaiversBody, InvalidQuery, InvalidSubject, Overloaded))
@requires(READ_ANY)
async def list_waivers(
    changes: ChangeRequestsDependency, *, subject: _SubjectQuery = "", limit: _Limit = MAX_LISTED
) -> ApiResponse:
    """List the waivers that have not expired, of subjects that the caller may read."""
    waivers = await changes.list_waivers(_parse_optional(subject), limit)
    return ApiResponse(WaiversBody([WaiverBody.of(waiver) for waiver in waivers]))


async def _respond(request: ChangeRequest, changes: ChangeRequestService, reach: ReachFinder) -> ApiResponse:
    state = changes.find_approval_state(request)
    reached = await reach.find(request.subject)
    return ApiResponse(ChangeRequestBody.of_whole(request, changes.now(), state.owners, state.missing, reached))


def _parse_optional(subject: str) -> Subject | None:
    return parse_subject(subject) if subject else None

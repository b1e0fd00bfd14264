"""Routes of the contracts of topics."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request

from contractlog.compatibility.errors import (
    BadRequest,
    ContractMismatch,
    ContractMoved,
    ContractNotFound,
    InvalidContract,
    InvalidQuery,
    InvalidVersion,
    Overloaded,
    PayloadTooLarge,
    ProtectedSubject,
    TooManyRequests,
    Unprocessable,
)
from contractlog.compatibility.identifiers import MAX_VERSION
from contractlog.compatibility.lint.duplicate_json_keys import may_have_duplicates
from contractlog.registry.features.contracts.bodies import (
    ConsumersBody,
    ContractBody,
    ContractsBody,
    ContractSummaryBody,
)
from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.extension_parameters import BoundedInteger, StrictParameters
from contractlog.registry.http.openapi import describe_route, list_schema
from contractlog.registry.http.parameters import TextPath, VersionPath
from contractlog.registry.http.request_bodies import parse_object
from contractlog.registry.http.route_permissions import READ_ANY, READ_TOPIC, WRITE_TOPIC, requires
from contractlog.registry.http.service_dependencies import ConsumersDependency, ContractsDependency

__all__ = ["router"]

router: Final = APIRouter(tags=["contracts"], dependencies=[StrictParameters])
_PATH: Final = "/contractlog/v1/contracts"
_ONE: Final = _PATH + "/{topic}"
_ANY_VERSION: Final = -1
_MAX_LISTED: Final = 1_000
_READ_ERRORS: Final = (ContractNotFound, InvalidQuery, Overloaded)
_Expected = Annotated[
    int,
    Query(description="The newest version, 0 for none: if it is another one, nothing is written."),
    BoundedInteger("expected", _ANY_VERSION, 0, MAX_VERSION),
]

_After = Annotated[str, Query(description="`next` of the previous page: only topics after this one.")]
_Limit = Annotated[int, Query(description="Maximum number of items."), BoundedInteger("limit", 100, 1, _MAX_LISTED)]


@router.get(_PATH, **describe_route(ContractsBody, InvalidQuery, Overloaded))
@requires(READ_ANY)
async def list_contracts(contracts: ContractsDependency, *, after: _After = "", limit: _Limit = 100) -> ApiResponse:
    """List the contracts, by topic; those of topics that the caller may not read are left out."""
    newest, following = await contracts.list_contracts(after, limit)
    return ApiResponse(ContractsBody([ContractSummaryBody.of(contract) for contract in newest], following))


@router.get(_ONE, **describe_route(ContractBody, *_READ_ERRORS))
@requires(READ_TOPIC)
async def get_contract(topic: TextPath, contracts: ContractsDependency) -> ApiResponse:
    """Return the newest version of the contract of a topic."""
    return ApiResponse(ContractBody.of(await contracts.get(topic)))


@router.put(
    _ONE,
    **describe_route(
        ContractBody,
        BadRequest,
        ContractMismatch,
        ContractMoved,
        InvalidContract,
        InvalidQuery,
        Overloaded,
        PayloadTooLarge,
        ProtectedSubject,
        TooManyRequests,
        Unprocessable,
        body=object,
    ),
)
@requires(WRITE_TOPIC)
async def put_contract(
    request: Request, topic: TextPath, contracts: ContractsDependency, *, expected: _Expected = _ANY_VERSION
) -> ApiResponse:
    """Store a contract, an ODCS document, as the next version, if it differs from the newest one.

    A contract in force must describe the newest version of the topic's subjects: it registers no schema.
    """
    body = await request.body()
    document = parse_object(body)
    if may_have_duplicates(body.decode()):
        raise InvalidContract(detail="a member occurs twice in an object")
    number = None if expected == _ANY_VERSION else expected
    view = await contracts.put(topic, document, text=body.decode("latin-1"), expected=number)
    return ApiResponse(ContractBody.of(view))


@router.delete(_ONE, **describe_route(list_schema("integer"), *_READ_ERRORS, ProtectedSubject))
@requires(WRITE_TOPIC)
async def delete_contract(topic: TextPath, contracts: ContractsDependency) -> ApiResponse:
    """Delete the contract of a topic, and return the numbers of its versions."""
    return ApiResponse(await contracts.delete(topic))


@router.get(_ONE + "/versions", **describe_route(list_schema("integer"), *_READ_ERRORS))
@requires(READ_TOPIC)
async def list_contract_versions(topic: TextPath, contracts: ContractsDependency) -> ApiResponse:
    """List the versions of the contract of a topic."""
    return ApiResponse(await contracts.list_versions(topic))


@router.get(_ONE + "/versions/{version}", **describe_route(ContractBody, *_READ_ERRORS, InvalidVersion))
@requires(READ_TOPIC)
async def get_contract_version(topic: TextPath, version: VersionPath, contracts: ContractsDependency) -> ApiResponse:
    """Return a version of the contract of a topic; ``latest`` is the newest one."""
    return ApiResponse(ContractBody.of(await contracts.get(topic, version)))


@router.get(_ONE + "/consumers", **describe_route(ConsumersBody, *_READ_ERRORS))
@requires(READ_TOPIC)
async def list_consumers(topic: TextPath, consumers: ConsumersDependency) -> ApiResponse:
    """List who consumes a topic, by version of its contract.

    These are clients within 30 days, records, and data made from it.
    """
    return ApiResponse(await consumers.find(topic))

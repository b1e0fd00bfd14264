"""Routes of config and mode: global, per context and per subject."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request

from contractlog.compatibility.errors import (
    BadRequest,
    InvalidLevel,
    InvalidMode,
    InvalidQuery,
    InvalidRuleSet,
    InvalidSubject,
    LevelNotConfigured,
    ModeNotConfigured,
    OperationNotPermitted,
    Overloaded,
    SubjectNotFound,
    Unprocessable,
)
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.mode import Mode
from contractlog.registry.features.config_and_mode.bodies import (
    ConfigBody,
    ConfigRequest,
    ModeBody,
    ModeRequest,
    SettingsBody,
)
from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.extension_parameters import StrictParameters
from contractlog.registry.http.openapi import describe_route
from contractlog.registry.http.parameters import Flag, SubjectPath
from contractlog.registry.http.request_bodies import parse_body
from contractlog.registry.http.route_permissions import READ_ANY, READ_SUBJECT, WRITE_ALL, WRITE_SUBJECT, requires
from contractlog.registry.http.service_dependencies import ConfigDependency

__all__ = ["router"]

router: Final = APIRouter()
_CONFIG: Final[list[str | Enum]] = ["config"]
_MODE: Final[list[str | Enum]] = ["mode"]
_DEFAULT_SCOPE: Final = Subject(".", "")
_WRITE_ERRORS: Final = (BadRequest, Unprocessable, InvalidSubject, OperationNotPermitted, Overloaded)
Inherited = Annotated[Flag, Query(alias="defaultToGlobal")]


@router.get("/config", tags=_CONFIG, **describe_route(ConfigBody))
@requires(READ_ANY)
async def get_config(configs: ConfigDependency, *, inherited: Inherited = False) -> ApiResponse:
    """Return the config of the default context, or else the server's default.

    With ``defaultToGlobal``, return the config in force.
    """
    return ApiResponse(ConfigBody.of(await configs.config(_DEFAULT_SCOPE, inherited=inherited)))


@router.put(
    "/config",
    tags=_CONFIG,
    **describe_route(ConfigBody, InvalidLevel, InvalidRuleSet, *_WRITE_ERRORS, body=ConfigRequest),
)
@requires(WRITE_ALL)
async def set_config(request: Request, configs: ConfigDependency) -> ApiResponse:
    """Change the config of all subjects that have none of their own."""
    return await _set_config(request, configs, _DEFAULT_SCOPE)


@router.delete("/config", tags=_CONFIG, **describe_route(ConfigBody, OperationNotPermitted, Overloaded))
@requires(WRITE_ALL)
async def delete_config(configs: ConfigDependency) -> ApiResponse:
    """Reset the config to the server's default."""
    return ApiResponse(ConfigBody.of(await configs.delete_config(_DEFAULT_SCOPE)))


@router.get("/config/{subject}", tags=_CONFIG, **describe_route(ConfigBody, InvalidSubject, LevelNotConfigured))
@requires(READ_SUBJECT)
async def get_subject_config(
    subject: SubjectPath, configs: ConfigDependency, *, inherited: Inherited = False
) -> ApiResponse:
    """Return a subject's own config; with ``defaultToGlobal`` the config in force for it."""
    return ApiResponse(ConfigBody.of(await configs.config(subject, inherited=inherited)))


@router.put(
    "/config/{subject}",
    tags=_CONFIG,
    **describe_route(ConfigBody, InvalidLevel, InvalidRuleSet, *_WRITE_ERRORS, body=ConfigRequest),
)
@requires(WRITE_SUBJECT)
async def set_subject_config(request: Request, subject: SubjectPath, configs: ConfigDependency) -> ApiResponse:
    """Change a subject's config; members that the body lacks stay unchanged."""
    return await _set_config(request, configs, subject)


@router.delete(
    "/config/{subject}",
    tags=_CONFIG,
    **describe_route(ConfigBody, InvalidSubject, SubjectNotFound, OperationNotPermitted, Overloaded),
)
@requires(WRITE_SUBJECT)
async def delete_subject_config(subject: SubjectPath, configs: ConfigDependency) -> ApiResponse:
    """Delete a subject's config."""
    return ApiResponse(ConfigBody.of(await configs.delete_config(subject)))


@router.get("/mode", tags=_MODE, **describe_route(ModeBody))
@requires(READ_ANY)
async def get_mode(configs: ConfigDependency, *, inherited: Inherited = False) -> ApiResponse:
    """Return the mode of the default context, or else the server's default.

    With ``defaultToGlobal``, return the mode in force.
    """
    return ApiResponse(ModeBody(await configs.mode(_DEFAULT_SCOPE, inherited=inherited)))


@router.put("/mode", tags=_MODE, **describe_route(ModeBody, InvalidMode, *_WRITE_ERRORS, body=ModeRequest))
@requires(WRITE_ALL)
async def set_mode(request: Request, configs: ConfigDependency, *, force: Flag = False) -> ApiResponse:
    """Set the mode of all subjects that have none of their own."""
    return await _set_mode(request, configs, _DEFAULT_SCOPE, force=force)


@router.delete("/mode", tags=_MODE, **describe_route(ModeBody, SubjectNotFound, OperationNotPermitted, Overloaded))
@requires(WRITE_ALL)
async def delete_mode(configs: ConfigDependency, *, recursive: Flag = False) -> ApiResponse:
    """Reset the mode to READWRITE; with ``recursive`` also that of each subject."""
    return ApiResponse(ModeBody(await configs.delete_mode(_DEFAULT_SCOPE, recursive=recursive)))


@router.get("/mode/{subject}", tags=_MODE, **describe_route(ModeBody, InvalidSubject, ModeNotConfigured))
@requires(READ_SUBJECT)
async def get_subject_mode(
    subject: SubjectPath, configs: ConfigDependency, *, inherited: Inherited = False
) -> ApiResponse:
    """Return a subject's own mode; with ``defaultToGlobal`` the mode in force for it."""
    return ApiResponse(ModeBody(await configs.mode(subject, inherited=inherited)))


@router.put("/mode/{subject}", tags=_MODE, **describe_route(ModeBody, InvalidMode, *_WRITE_ERRORS, body=ModeRequest))
@requires(WRITE_SUBJECT)
async def set_subject_mode(
    request: Request, subject: SubjectPath, configs: ConfigDependency, *, force: Flag = False
) -> ApiResponse:
    """Set a subject's mode; IMPORT requires that no version is live, unless ``force`` is set."""
    return await _set_mode(request, configs, subject, force=force)


@router.delete(
    "/mode/{subject}",
    tags=_MODE,
    **describe_route(ModeBody, InvalidSubject, SubjectNotFound, OperationNotPermitted, Overloaded),
)
@requires(WRITE_SUBJECT)
async def delete_subject_mode(
    subject: SubjectPath, configs: ConfigDependency, *, recursive: Flag = False
) -> ApiResponse:
    """Delete a subject's mode; with ``recursive`` also those of all subjects in a context."""
    return ApiResponse(ModeBody(await configs.delete_mode(subject, recursive=recursive)))


@router.get(
    "/contractlog/v1/settings/{subject}",
    tags=_CONFIG,
    dependencies=[StrictParameters],
    **describe_route(SettingsBody, InvalidQuery, InvalidSubject),
)
@requires(READ_SUBJECT)
async def get_settings(subject: SubjectPath, configs: ConfigDependency) -> ApiResponse:
    """Return the config and the mode in force for a subject, and the scope of each setting.

    The subject need not exist. It may be a context: `:.eu:`, `:.:` for the global settings, `:.__GLOBAL:` for those of
    every context.
    """
    return ApiResponse(SettingsBody.of(subject, *await configs.effective_settings(subject)))


async def _set_config(request: Request, configs: ConfigDependency, scope: Subject) -> ApiResponse:
    patch = parse_body(await request.body(), ConfigRequest).patch()
    return ApiResponse(ConfigBody.echo(await configs.set_config(scope, patch)))


async def _set_mode(request: Request, configs: ConfigDependency, scope: Subject, *, force: bool) -> ApiResponse:
    requested = parse_body(await request.body(), ModeRequest).mode
    mode = Mode.parse(requested) if requested is not None else None
    return ApiResponse(ModeBody(await configs.set_mode(scope, mode, force=force)))

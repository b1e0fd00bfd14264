"""Routes of config and mode: global, per context and per subject."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request

from contractlog.compatibility.errors import (
    BadRequest,
    InvalidLevel,
    InvalidMode,
    InvalidRuleSet,
    InvalidSubject,
    LevelNotConfigured,
    ModeNotConfigured,
    OperationNotPermitted,
    Overloaded,
    SubjectNotFound,
    Unprocessable,
)
from contractlog.compatibility.level import Mode
from contractlog.compatibility.names import Subject
from contractlog.registry.bodies.levels import ConfigBody, ConfigRequest, ModeBody, ModeRequest
from contractlog.registry.bodies.requests import read
from contractlog.registry.dependencies import Flag, LevelsDependency, SubjectPath
from contractlog.registry.documented import documented
from contractlog.registry.problems import Answer

__all__ = ["router"]

router: Final = APIRouter()
_CONFIG: Final[list[str | Enum]] = ["config"]
_MODE: Final[list[str | Enum]] = ["mode"]
_ALL: Final = Subject(".", "")
_WRITE: Final = (BadRequest, Unprocessable, InvalidSubject, OperationNotPermitted, Overloaded)
Inherited = Annotated[Flag, Query(alias="defaultToGlobal")]


@router.get("/config", tags=_CONFIG, **documented(ConfigBody))
async def config(levels: LevelsDependency, *, inherited: Inherited = False) -> Answer:
    """Return the config of the default context, or else the server's default.

    With ``defaultToGlobal``, return the config in force.
    """
    return Answer(ConfigBody.of(await levels.config(_ALL, inherited=inherited)))


@router.put(
    "/config", tags=_CONFIG, **documented(ConfigBody, InvalidLevel, InvalidRuleSet, *_WRITE, body=ConfigRequest)
)
async def set_config(request: Request, levels: LevelsDependency) -> Answer:
    """Change the config of all subjects that have none of their own."""
    return await _set_config(request, levels, _ALL)


@router.delete("/config", tags=_CONFIG, **documented(ConfigBody, OperationNotPermitted, Overloaded))
async def delete_config(levels: LevelsDependency) -> Answer:
    """Reset the config to the server's default."""
    return Answer(ConfigBody.of(await levels.delete_config(_ALL)))


@router.get("/config/{subject}", tags=_CONFIG, **documented(ConfigBody, InvalidSubject, LevelNotConfigured))
async def subject_config(subject: SubjectPath, levels: LevelsDependency, *, inherited: Inherited = False) -> Answer:
    """Return a subject's own config; with ``defaultToGlobal`` the config in force for it."""
    return Answer(ConfigBody.of(await levels.config(subject, inherited=inherited)))


@router.put(
    "/config/{subject}",
    tags=_CONFIG,
    **documented(ConfigBody, InvalidLevel, InvalidRuleSet, *_WRITE, body=ConfigRequest),
)
async def set_subject_config(request: Request, subject: SubjectPath, levels: LevelsDependency) -> Answer:
    """Change a subject's config; members that the body lacks stay unchanged."""
    return await _set_config(request, levels, subject)


@router.delete(
    "/config/{subject}",
    tags=_CONFIG,
    **documented(ConfigBody, InvalidSubject, SubjectNotFound, OperationNotPermitted, Overloaded),
)
async def delete_subject_config(subject: SubjectPath, levels: LevelsDependency) -> Answer:
    """Delete a subject's config."""
    return Answer(ConfigBody.of(await levels.delete_config(subject)))


@router.get("/mode", tags=_MODE, **documented(ModeBody))
async def mode(levels: LevelsDependency, *, inherited: Inherited = False) -> Answer:
    """Return the mode of the default context, or else the server's default.

    With ``defaultToGlobal``, return the mode in force.
    """
    return Answer(ModeBody(await levels.mode(_ALL, inherited=inherited)))


@router.put("/mode", tags=_MODE, **documented(ModeBody, InvalidMode, *_WRITE, body=ModeRequest))
async def set_mode(request: Request, levels: LevelsDependency, *, force: Flag = False) -> Answer:
    """Set the mode of all subjects that have none of their own."""
    return await _set_mode(request, levels, _ALL, force=force)


@router.delete("/mode", tags=_MODE, **documented(ModeBody, SubjectNotFound, OperationNotPermitted, Overloaded))
async def delete_mode(levels: LevelsDependency, *, recursive: Flag = False) -> Answer:
    """Reset the mode to READWRITE; with ``recursive`` also that of each subject."""
    return Answer(ModeBody(await levels.delete_mode(_ALL, recursive=recursive)))


@router.get("/mode/{subject}", tags=_MODE, **documented(ModeBody, InvalidSubject, ModeNotConfigured))
async def subject_mode(subject: SubjectPath, levels: LevelsDependency, *, inherited: Inherited = False) -> Answer:
    """Return a subject's own mode; with ``defaultToGlobal`` the mode in force for it."""
    return Answer(ModeBody(await levels.mode(subject, inherited=inherited)))


@router.put("/mode/{subject}", tags=_MODE, **documented(ModeBody, InvalidMode, *_WRITE, body=ModeRequest))
async def set_subject_mode(
    request: Request, subject: SubjectPath, levels: LevelsDependency, *, force: Flag = False
) -> Answer:
    """Set a subject's mode; IMPORT requires that no version is live, unless ``force`` is set."""
    return await _set_mode(request, levels, subject, force=force)


@router.delete(
    "/mode/{subject}",
    tags=_MODE,
    **documented(ModeBody, InvalidSubject, SubjectNotFound, OperationNotPermitted, Overloaded),
)
async def delete_subject_mode(subject: SubjectPath, levels: LevelsDependency, *, recursive: Flag = False) -> Answer:
    """Delete a subject's mode; with ``recursive`` also those of all subjects in a context."""
    return Answer(ModeBody(await levels.delete_mode(subject, recursive=recursive)))


async def _set_config(request: Request, levels: LevelsDependency, scope: Subject) -> Answer:
    patch = read(await request.body(), ConfigRequest).patch()
    return Answer(ConfigBody.echo(await levels.set_config(scope, patch)))


async def _set_mode(request: Request, levels: LevelsDependency, scope: Subject, *, force: bool) -> Answer:
    wanted = read(await request.body(), ModeRequest).mode
    mode = Mode.parse(wanted) if wanted is not None else None
    return Answer(ModeBody(await levels.set_mode(scope, mode, force=force)))

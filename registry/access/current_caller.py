"""Caller of the current request and their permissions: set on arrival, read where they take effect."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from contractlog.compatibility.identifiers import Subject
from contractlog.registry.access.permissions import ALL_PERMISSIONS, Permission, Permissions

__all__ = [
    "ANONYMOUS",
    "Principal",
    "WriteAuthority",
    "current_actor",
    "current_admission",
    "current_authority",
    "current_permissions",
    "filter_readable",
    "may_read",
    "may_read_association",
    "may_read_everything",
    "may_read_in_context",
    "readmit_caller",
    "require_alias_permission",
]

ANONYMOUS: Final = "anonymous"


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller, or ``anonymous``."""

    name: str
    permissions: Permissions


@dataclass(frozen=True, slots=True)
class WriteAuthority:
    """Authority to change protected subjects, in addition to write permission."""

    permissions: Permissions
    break_glass: str = ""  #: the reason why approvals are bypassed; empty: they are not
    change_request: int | None = None  #: the change request that is merged
    revision: int = 0  #: of the change request


#: Authority of the current request; None: that of an ordinary one.
current_authority: Final[ContextVar[WriteAuthority | None]] = ContextVar("contractlog_authority", default=None)

#: Name of the caller of the current request. Read it before work moves to another thread.
current_actor: Final[ContextVar[str]] = ContextVar("contractlog_actor", default=ANONYMOUS)

#: Permissions of the caller, for subjects that only the request body names. Without authentication: everything.
current_permissions: Final[ContextVar[Permissions]] = ContextVar("contractlog_rights", default=ALL_PERMISSIONS)


#: Identifies the caller of the current request, and checks the permission of the request; None without authentication.
current_admission: Final[ContextVar[Callable[[], Awaitable[Principal]] | None]] = ContextVar(
    "contractlog_admission", default=None
)


async def readmit_caller() -> None:
    """Check the caller's permissions again after a wait, as they may have changed meanwhile.

    Raises:
        Unauthorized, Denied: the caller may no longer make the request.
    """
    admit = current_admission.get()
    if admit is not None:
        current_permissions.set((await admit()).permissions)


def filter_readable(subjects: Iterable[Subject]) -> Iterator[Subject]:
    """Yield the subjects that the caller may read, among subjects that the request itself does not name."""
    return filter(may_read, subjects)


def may_read_everything() -> bool:
    """Return True if the caller may read every subject, so that no list has to be filtered."""
    return current_permissions.get().permits_all(Permission.READ)


def may_read(subject: Subject) -> bool:
    """Return True if the caller may read a subject."""
    return current_permissions.get().permits(Permission.READ, subject)


def may_read_in_context(context: str) -> bool:
    """Return True if the caller may read anything in a context."""
    return current_permissions.get().permits_in_context(Permission.READ, context)


def may_read_association(subject: Subject, topic: str, part: str) -> bool:
    """Return True if the caller may see that a subject is bound to a topic."""
    return current_permissions.get().permits_association(subject, topic, part)


def require_alias_permission(scope: Subject, alias: str | None) -> None:
    """Raise ``Denied`` unless the caller may write to the target of an alias.

    Requests that use the alias will be applied to its target.
    """
    if alias:
        target = Subject.parse(alias)
        resolved = target if alias.startswith(":.") else Subject(scope.context, target.name)
        current_permissions.get().require(Permission.WRITE, resolved)

"""Who is calling and what they may do: set where a request comes in, read where it takes effect."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from contractlog.compatibility.names import Subject
from contractlog.registry.access.rights import EVERYTHING, Operation, Rights

__all__ = ["ANONYMOUS", "Caller", "current_actor", "current_rights", "require_alias"]

ANONYMOUS: Final = "anonymous"


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who is known, or ``anonymous``."""

    name: str
    rights: Rights


#: The name of the caller of this request. Read it before the work goes to another thread.
current_actor: Final[ContextVar[str]] = ContextVar("contractlog_actor", default=ANONYMOUS)

#: What the caller may do, for subjects that only the body of a request names. Without authentication, everything.
current_rights: Final[ContextVar[Rights]] = ContextVar("contractlog_rights", default=EVERYTHING)


def require_alias(scope: Subject, alias: str | None) -> None:
    """Raise ``Denied`` unless the caller may write what an alias leads to: requests by the alias will end there."""
    if alias:
        target = Subject.parse(alias)
        meant = target if alias.startswith(":.") else Subject(scope.context, target.name)
        current_rights.get().require(Operation.WRITE, meant)

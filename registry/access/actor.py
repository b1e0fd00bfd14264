"""Who is calling and what they may do: set where a request comes in, read where it takes effect."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from contractlog.registry.access.rights import EVERYTHING, Rights

__all__ = ["ANONYMOUS", "Caller", "current_actor", "current_rights"]

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

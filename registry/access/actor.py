"""Who is calling: set where a request comes in, read where the journal is written."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

__all__ = ["ANONYMOUS", "current_actor"]

ANONYMOUS: Final = "anonymous"

#: The name of the caller of this request. Read it before the work goes to another thread.
current_actor: Final[ContextVar[str]] = ContextVar("contractlog_actor", default=ANONYMOUS)

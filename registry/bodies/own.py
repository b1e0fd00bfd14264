"""HTTP bodies of contractlog's own resources, as in ``openapi.yaml``."""

from __future__ import annotations

from typing import Any, Self, cast

from msgspec import Raw, Struct

from contractlog.registry.storage.journal import Change

__all__ = ["ChangeBody", "ChangesBody"]


class ChangeBody(Struct, omit_defaults=True):
    """One line of the journal: who did what to what."""

    sequence: int
    at: int  #: milliseconds since 1970, UTC
    actor: str
    action: str
    target: str
    before: str | None = None  #: hashes of the content
    after: str | None = None
    details: dict[str, Any] = {}

    @classmethod
    def of(cls, change: Change) -> Self:
        """Shape a line."""
        details = cast("dict[str, Any]", Raw(change.details.encode())) if change.details else {}  # JSON already
        return cls(
            change.sequence,
            change.at,
            change.actor,
            change.action,
            change.target,
            change.before,
            change.after,
            details,
        )


class ChangesBody(Struct):
    """Changes in order, without a gap."""

    changes: list[ChangeBody]
    next: int  #: what to ask from next
    head: int  #: the newest change there is

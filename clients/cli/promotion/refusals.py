"""Reasons why the versions of a subject cannot be promoted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Refusal", "RefusalKind", "RefusedError"]

RefusalKind = Literal["history", "permission"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reason why the versions of a subject cannot be promoted."""

    subject: str
    reason: str
    kind: RefusalKind = "history"


class RefusedError(Exception):
    """The versions of a subject cannot be promoted."""

    def __init__(self, reason: str, kind: RefusalKind = "history") -> None:
        super().__init__(reason)
        self.kind = kind

"""An entry of the change log, and the hash by which the entry after it refers to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final, Self

__all__ = ["FIRST_PREVIOUS_HASH", "ChangeLogHead", "RecordedChange", "format_details"]

FIRST_PREVIOUS_HASH: Final = "0" * 64  #: in place of the hash before the first entry
_HASH_FORM: Final = "contractlog.change/1"  #: first member of what is hashed; another form would need another name


def format_details(details: Mapping[str, Any]) -> str | None:
    """Return the text of details as it is stored and hashed; None if there are none."""
    return json.dumps(details, separators=(",", ":")) if details else None


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """An effect, recorded in the transaction that caused it."""

    sequence: int
    at: int  #: milliseconds since 1970, UTC
    actor: str
    action: str
    target: str
    before: str | None = None  #: hashes of the content, or of the settings
    after: str | None = None
    details: str | None = None  #: JSON
    previous_hash: str | None = None  #: hash of the entry before
    hash: str | None = None  #: None: written by a release without hashes, and not chained yet

    @property
    def facts(self) -> dict[str, Any]:
        """The parsed details."""
        facts: dict[str, Any] = json.loads(self.details) if self.details else {}
        return facts

    def compute_hash(self) -> str:
        """Return the SHA-256 of all other members: a JSON array in ASCII, without spaces."""
        members = (
            _HASH_FORM,
            self.sequence,
            self.at,
            self.actor,
            self.action,
            self.target,
            self.before,
            self.after,
            self.details,
            self.previous_hash,
        )
        return sha256(json.dumps(members, separators=(",", ":")).encode()).hexdigest()

    def follow(self, previous_hash: str) -> RecordedChange:
        """Return this entry, chained to the one before."""
        unhashed = replace(self, previous_hash=previous_hash, hash=None)
        return replace(unhashed, hash=unhashed.compute_hash())

    def body(self) -> dict[str, Any]:
        """Return its JSON object, as the API and exports have it; members without a value are left out."""
        members = {
            "sequence": self.sequence,
            "at": self.at,
            "actor": self.actor,
            "action": self.action,
            "target": self.target,
            "before": self.before,
            "after": self.after,
            "details": self.facts or None,
            "previous_hash": self.previous_hash,
            "hash": self.hash,
        }
        return {name: value for name, value in members.items() if value is not None}

    @classmethod
    def from_body(cls, body: Any) -> Self:
        """Parse the JSON object of an entry.

        Raises:
            ValueError: it is none.
        """
        if not isinstance(body, Mapping):
            raise ValueError("an entry of the change log is a JSON object")  # noqa: TRY004 - one error for all
        details = body.get("details") or {}
        if not isinstance(details, Mapping):
            raise ValueError("`details` is not a JSON object")  # noqa: TRY004 - as above
        return cls(
            _read_member(body, "sequence", int),
            _read_member(body, "at", int),
            _read_member(body, "actor", str),
            _read_member(body, "action", str),
            _read_member(body, "target", str),
            _read_optional(body, "before"),
            _read_optional(body, "after"),
            format_details(details),
            _read_optional(body, "previous_hash"),
            _read_optional(body, "hash"),
        )


def _read_optional(body: Mapping[str, Any], name: str) -> str | None:
    return None if body.get(name) is None else _read_member(body, name, str)


def _read_member(body: Mapping[str, Any], name: str, kind: type) -> Any:
    value = body.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        kind_name = "an integer" if kind is int else "a string"
        raise ValueError(f"`{name}` is missing, or is not {kind_name}")  # noqa: TRY004 - as above
    return value


@dataclass(frozen=True, slots=True)
class ChangeLogHead:
    """The newest entry of a change log; its hash stands for all entries up to it."""

    sequence: int  #: 0 before the first entry
    hash: str | None  #: None before the first entry, or if that entry is not chained yet

    def __str__(self) -> str:
        return f"{self.sequence}:{self.hash or ''}"

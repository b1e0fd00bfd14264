"""Whose an id is: a record whose id is of no version of its topic's subject says so first, as the audit does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from contractlog.compatibility.errors import NotFound
from contractlog.compatibility.names import SchemaId
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.serdes.context import MessageField
from contractlog.serdes.errors import DecodeError
from contractlog.serdes.source import SchemaSource

__all__ = ["Belonging", "VersionSource"]

_NAMED: Final = 5


class VersionSource(SchemaSource, Protocol):
    """A registry that tells where an id stands as well; ``contractlog.clients.Registry`` is one."""

    def versions_of_id(self, schema_id: int, *, deleted: bool = False) -> Sequence[tuple[str, int]]:
        """Return every (subject, version) that an id stands under; raise ``NotFound`` where there is no such id."""


class Belonging:
    """Knows the subjects of a topic's records, soft-deleted versions included; asks once for each id."""

    def __init__(self, registry: VersionSource, topic: str) -> None:
        self._registry = registry
        self._subjects = {part: f"{topic}-{part}" for part in MessageField if self._versions(f"{topic}-{part}")}
        self._uses: dict[SchemaId, tuple[str, ...]] = {}

    def has_subject(self, part: MessageField) -> bool:
        """Say whether anything was ever registered for this part."""
        return part in self._subjects

    def refuse_foreign(self, part: MessageField, schema_id: SchemaId) -> None:
        """Return for an id of this part's subject, and where the part has no subject or the id no use.

        Raises:
            DecodeError: the id belongs to other subjects, which are named.
        """
        subject = self._subjects.get(part)
        if subject is None:
            return
        uses = self._uses.get(schema_id)
        if uses is None:
            uses = self._uses[schema_id] = self._asked(schema_id)
        if uses and subject not in uses:
            raise DecodeError(
                outcome=Outcome.WRONG_SUBJECT,
                reason=f"the id belongs to {_listed(uses)}, and to no version of `{subject}`",
                schema_id=schema_id,
            )

    def _asked(self, schema_id: SchemaId) -> tuple[str, ...]:
        try:
            found = self._registry.versions_of_id(schema_id, deleted=True)
        except NotFound:
            return ()
        return tuple(dict.fromkeys(subject for subject, _ in found))

    def _versions(self, subject: str) -> Sequence[int]:
        try:
            return self._registry.versions(subject, deleted=True)
        except NotFound:
            return ()


def _listed(subjects: Sequence[str]) -> str:
    named = ", ".join(f"`{subject}`" for subject in subjects[:_NAMED])
    return named if len(subjects) <= _NAMED else f"{named} and {len(subjects) - _NAMED:,} more"

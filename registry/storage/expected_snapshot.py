"""Snapshot that includes expected registrations, for the check of a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import (
    DeletedFilter,
)

__all__ = ["ExpectedSnapshot"]


class ExpectedSnapshot(Snapshot):
    """The state of the database after some expected registrations."""

    def __init__(self, current: Snapshot, expected: Mapping[Subject, Sequence[RegisteredSchema]]) -> None:
        super().__init__(current.connection)
        self._expected = expected

    def version(
        self, subject: Subject, number: int | None, deleted: DeletedFilter = DeletedFilter.EXCLUDED
    ) -> RegisteredSchema | None:
        """Return one version; expected ones are live."""
        expected = () if deleted is DeletedFilter.ONLY else self._expected.get(subject, ())
        matches = [version for version in expected if number in {None, version.version}]
        return matches[-1] if matches else super().version(subject, number, deleted)

    def history(self, subject: Subject) -> list[RegisteredSchema]:
        """List the live versions, expected ones last."""
        return [*super().history(subject), *self._expected.get(subject, ())]

    def highest(self, subject: Subject) -> int:
        """Return the highest number, expected versions included."""
        expected = self._expected.get(subject)
        return expected[-1].version or 0 if expected else super().highest(subject)

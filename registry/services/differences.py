"""Differences of a version, or a candidate, from another version.

They are the engine's findings, with positions and suggested fixes.
"""

from __future__ import annotations

from contractlog.compatibility.differing import Difference, Side, difference_of
from contractlog.compatibility.errors import SubjectNotFound, VersionNotFound
from contractlog.compatibility.level import Level
from contractlog.compatibility.names import Subject
from contractlog.compatibility.policy import Policy
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.registry.services.judging import Judging
from contractlog.registry.services.threads import Threads
from contractlog.registry.services.understanding import Understanding
from contractlog.registry.services.work import current_work
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import Seen

__all__ = ["CANDIDATE", "Differences", "Named", "held_version"]

Named = tuple[Subject, int | None]  #: a subject and a version number; None is the latest live one
CANDIDATE = "candidate"


class Differences:
    """Compares versions; writes nothing."""

    def __init__(self, store: Store, threads: Threads, understanding: Understanding, judging: Judging) -> None:
        self._store = store
        self._threads = threads
        self._understanding = understanding
        self._judging = judging

    async def between(
        self, earlier: Named, later: Named | SchemaDraft, *, level: Level | None = None, policy: Policy | None = None
    ) -> Difference:
        """Return the difference between a version and a later one, or a candidate for the version's subject.

        Args:
            earlier: the old version; by number it may be soft-deleted.
            later: the new version, or the candidate.
            level: compatibility level; None is the one in force for the later version's subject.
            policy: compatibility policy; None is the one in force.

        Raises:
            SubjectNotFound, VersionNotFound: a version does not exist.
            InvalidSchema: one of the two cannot be parsed.
        """
        text = later.text if isinstance(later, SchemaDraft) else ""
        return await self._threads.judge(text, self._between, earlier, later, level=level, policy=policy)

    def _between(
        self, earlier: Named, later: Named | SchemaDraft, *, level: Level | None, policy: Policy | None
    ) -> Difference:
        with self._store.reading() as snapshot:
            old = self._stored(snapshot, earlier)
            subject = earlier[0] if isinstance(later, SchemaDraft) else later[0]
            configured = self._judging.configured(snapshot, subject)
            if isinstance(later, SchemaDraft):
                strict = configured.validate_new_schemas is not False
                read = self._understanding.draft(snapshot, subject, later, strict=strict, seen=Seen.LIVE, new=True)
                new = Side(CANDIDATE, later.text, read.parsed)
            else:
                new = self._stored(snapshot, later)
        by = level or self._judging.level(configured)
        under = policy or self._judging.policy(configured)
        return current_work.get().compared(lambda steps: difference_of(old, new, level=by, policy=under, within=steps))

    def _stored(self, snapshot: Snapshot, named: Named) -> Side:
        held = held_version(snapshot, *named)
        return Side(f"{held.subject}:{held.version}", held.text, self._understanding.stored(snapshot, held))


def held_version(snapshot: Snapshot, subject: Subject, number: int | None) -> RegisteredSchema:
    """Return a version, soft-deleted ones included; None is the latest live one.

    Raises:
        SubjectNotFound, VersionNotFound: it does not exist.
    """
    seen = Seen.LIVE if number is None else Seen.ALL
    found = snapshot.version(subject, number, seen)
    if found is not None:
        return found
    if number is None or not snapshot.versions(subject, seen):
        raise SubjectNotFound(subject=str(subject))
    raise VersionNotFound(version=number)

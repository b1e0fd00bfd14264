"""Differences of a version, or a candidate, from another version.

They are the engine's findings, with positions and suggested fixes.
"""

from __future__ import annotations

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import SchemaDraft
from contractlog.compatibility.schema_diff import DiffSide, SchemaDiff, diff_schemas
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.execution.work_limits import current_work
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.registration.draft_checker import DraftChecker
from contractlog.registry.registration.version_lookup import require_version
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import DeletedFilter

__all__ = ["CANDIDATE", "DiffService", "VersionSelector"]

VersionSelector = tuple[Subject, int | None]  #: a subject and a version number; None is the latest live one
CANDIDATE = "candidate"


class DiffService(ReadService):
    """Compares versions; writes nothing."""

    def __init__(self, store: Store, threads: ThreadPools, checker: DraftChecker) -> None:
        super().__init__(store, threads)
        self._checker = checker

    async def compare(
        self,
        earlier: VersionSelector,
        later: VersionSelector | SchemaDraft,
        *,
        level: Level | None = None,
        policy: Policy | None = None,
    ) -> SchemaDiff:
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
        return await self._threads.run_schema_work(text, self._compare, earlier, later, level=level, policy=policy)

    def _compare(
        self,
        earlier: VersionSelector,
        later: VersionSelector | SchemaDraft,
        *,
        level: Level | None,
        policy: Policy | None,
    ) -> SchemaDiff:
        with self._store.open_snapshot() as snapshot:
            old = self._read_side(snapshot, earlier)
            subject = earlier[0] if isinstance(later, SchemaDraft) else later[0]
            configured = self._checker.read_settings(snapshot, subject)
            if isinstance(later, SchemaDraft):
                parsed = self._checker.parser.parse_new(snapshot, subject, later, configured)
                new = DiffSide(CANDIDATE, later.text, parsed.parsed)
            else:
                new = self._read_side(snapshot, later)
        effective_level = level or self._checker.level(configured)
        effective_policy = policy or self._checker.policy(configured)
        return current_work.get().compare(
            lambda budget: diff_schemas(old, new, level=effective_level, policy=effective_policy, budget=budget)
        )

    def _read_side(self, snapshot: Snapshot, selector: VersionSelector) -> DiffSide:
        version = require_version(snapshot, *selector, DeletedFilter.INCLUDED)
        return DiffSide(
            f"{version.subject}:{version.version}", version.text, self._checker.parser.parse_stored(snapshot, version)
        )

"""Compatibility checks of drafts, without registration."""

from __future__ import annotations

from dataclasses import dataclass

from contractlog.compatibility.errors import InvalidSchema, VersionNotFound
from contractlog.compatibility.finding import Verdict
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.located_finding import LocatedFinding, locate_nonconformity
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.compatibility.verdict_messages import format_messages
from contractlog.registry.access.current_caller import current_permissions
from contractlog.registry.access.permissions import Permission
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.registration.draft_checker import DraftChecker
from contractlog.registry.registration.draft_completion import complete_draft
from contractlog.registry.registration.write_preconditions import require_reference_permissions
from contractlog.registry.storage.name_and_id_lookup import resolve_alias
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store

__all__ = ["LATEST", "CheckResult", "CompatibilityService"]

LATEST = "latest"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of a check, with messages in the reference's words."""

    compatible: bool
    messages: tuple[str, ...] = ()
    verdict: Verdict | None = None
    warning: str | None = None  #: why the meta-schema rejects a draft that is accepted anyway
    nonconformity: LocatedFinding | None = None  #: the same as a finding, with its position


class CompatibilityService(ReadService):
    """Checks drafts against existing versions."""

    def __init__(self, store: Store, threads: ThreadPools, checker: DraftChecker) -> None:
        super().__init__(store, threads)
        self._checker = checker

    async def check(
        self, subject: Subject, draft: SchemaDraft, *, version: int | str | None = None, verbose: bool = False
    ) -> CheckResult:
        """Check a draft at the subject's level.

        It is checked against one version, the latest, or (None) those that the level selects.

        Raises:
            VersionNotFound: there is no such live version.
            InvalidSchema: the draft is not a schema; if ``verbose``, the response says so instead.
        """
        try:
            return await self._query_schemas(draft.text, self.check_on_snapshot, subject, draft, version)
        except InvalidSchema as error:
            if not verbose:
                raise
            return CheckResult(compatible=False, messages=(error.message,))

    def complete_draft(self, snapshot: Snapshot, subject: Subject, draft: SchemaDraft) -> SchemaDraft:
        """Return a draft with what its registration would add from the latest version and the config."""
        subject = resolve_alias(snapshot, subject, current_permissions.get(), Permission.READ)
        return complete_draft(draft, snapshot.version(subject, None), self._checker.read_settings(snapshot, subject))

    def check_on_snapshot(
        self, snapshot: Snapshot, subject: Subject, draft: SchemaDraft, version: int | str | None = None
    ) -> CheckResult:
        """Check a draft on a snapshot, which may be of an expected future state."""
        subject = resolve_alias(snapshot, subject, current_permissions.get(), Permission.READ)
        require_reference_permissions(current_permissions.get(), snapshot, subject, draft.references)
        earlier: list[RegisteredSchema] = []
        if version is not None:
            existing = snapshot.version(subject, None if isinstance(version, str) else version)
            if existing is None and isinstance(version, int):
                raise VersionNotFound(version=version)
            earlier = [existing] if existing else []
        configured = self._checker.read_settings(snapshot, subject)
        parsed = self._checker.parser.parse_new(snapshot, subject, draft, configured)
        self._checker.reject_invalid_fields(parsed, configured)
        self._checker.reject_nonconforming(parsed, configured)
        if version is None:
            previous = snapshot.version(subject, None) if configured.validate_fields else None
            verdict = self._checker.check_history(snapshot, subject, parsed, configured)
        else:
            previous = earlier[0] if earlier else None
            verdict = self._checker.check_versions(snapshot, parsed, earlier, configured)
        reserved = self._checker.find_reserved_conflicts(parsed, previous, configured)
        reasons = format_messages(verdict, validate_fields=bool(configured.validate_fields), extra_messages=reserved)
        nonconformity = locate_nonconformity(parsed.parsed, draft.text)
        return CheckResult(not reasons, tuple(reasons), verdict, parsed.warning, nonconformity)

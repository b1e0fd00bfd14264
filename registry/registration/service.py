"""Registration of schemas: decided outside the locks, then appended if the state still applies."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final, TypeVar

from contractlog.compatibility.errors import Overloaded
from contractlog.compatibility.identifiers import Subject, validate_schema_subject
from contractlog.compatibility.rule_set_validation import validate_rule_set
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.registry.access.current_caller import current_actor, current_permissions
from contractlog.registry.access.permissions import Permission, Permissions
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.registration.decision import WARNING, decide_registration
from contractlog.registry.registration.draft_checker import DraftChecker
from contractlog.registry.registration.draft_completion import Derivation
from contractlog.registry.registration.request import RegistrationRequest, RegistrationResult
from contractlog.registry.registration.subject_lookup import ContentQuery, find_by_content
from contractlog.registry.registration.version_lookup import require_version
from contractlog.registry.storage.name_and_id_lookup import resolve_alias
from contractlog.registry.storage.prefetch import NotPrefetched, PrefetchedSnapshot
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import DeletedFilter, PendingAppend, Stale

__all__ = ["RegistrationService", "log_warning", "retry_stale"]

T = TypeVar("T")
_LOG: Final = logging.getLogger("contractlog.registry")
_ATTEMPTS: Final = 500  #: each failed attempt means that another write succeeded
_PREFETCH_THRESHOLD: Final = 4  #: concurrent proposals; above this, their first queries are prefetched together


def log_warning(appended: PendingAppend) -> None:
    """Log that a schema was registered although its meta-schema rejects it."""
    warning = appended.details.get(WARNING)
    if warning is not None:
        _LOG.warning("registered under %r a schema that its meta-schema rejects: %s", str(appended.subject), warning)


async def retry_stale(attempt: Callable[[], Awaitable[T | Stale]]) -> T:
    """Repeat an attempt until what it was decided on still applies when it is written.

    Raises:
        Overloaded: other writes come in between again and again; nothing was written.
    """
    for _ in range(_ATTEMPTS):
        outcome = await attempt()
        if not isinstance(outcome, Stale):
            return outcome
    raise Overloaded


class RegistrationService:
    """Registers schemas, and looks them up by content."""

    def __init__(
        self, store: Store, threads: ThreadPools, checker: DraftChecker, *, allow_id_gap: bool = False
    ) -> None:
        self._allow_id_gap = allow_id_gap
        self._store = store
        self._threads = threads
        self._checker = checker
        self._concurrent = 0  #: concurrent proposals

    async def register(self, request: RegistrationRequest) -> RegistrationResult:
        """Register a schema under a subject, or return its existing version with the content.

        Raises:
            Denied, InvalidRuleSet, InvalidSubject, InvalidSchema, IncompatibleSchema, OperationNotPermitted,
            Overloaded: nothing was written.
        """

        async def attempt() -> RegistrationResult | Stale:
            proposal = await self.propose(request)
            if isinstance(proposal, RegistrationResult):
                return proposal
            outcome = await asyncio.wrap_future(self._store.append(proposal))
            if isinstance(outcome, Stale):
                return outcome
            log_warning(proposal)
            return RegistrationResult(outcome, warning=proposal.details.get(WARNING))

        return await retry_stale(attempt)

    async def derive(self, subject: Subject, number: int | None, derivation: Derivation) -> RegistrationResult:
        """Register a new version that differs from an existing one in tags, metadata or rules.

        Raises:
            InvalidRuleSet: the derivation's rules are not valid, whether or not there is such a version.
            SubjectNotFound, VersionNotFound: there is no such live version.
        """
        validate_rule_set(derivation.rule_set)
        validate_rule_set(derivation.rules_to_merge)
        base = await self._threads.run(self._read_base, subject, number, current_permissions.get())
        draft = derivation.draft(base)
        return await self.register(RegistrationRequest(subject=subject, draft=draft, version=derivation.version))

    def _read_base(self, name: Subject, number: int | None, permissions: Permissions) -> RegisteredSchema:
        with self._store.open_snapshot() as snapshot:
            subject = resolve_alias(snapshot, name, permissions, Permission.WRITE)
            return require_version(snapshot, subject, number, DeletedFilter.EXCLUDED)

    async def propose(self, request: RegistrationRequest) -> RegistrationResult | PendingAppend:
        """Parse and check a draft: return the existing version, or the append to be made."""
        validate_rule_set(request.draft.rule_set)
        validate_schema_subject(request.subject)
        actor, permissions = current_actor.get(), current_permissions.get()
        self._concurrent += 1
        try:
            prefetched = None
            if self._concurrent > _PREFETCH_THRESHOLD and not request.draft.references:
                prefetched = await asyncio.wrap_future(self._store.prefetch(request.subject))
            proposal = await self._threads.run_schema_work(
                request.draft.text, self._decide, request, permissions, prefetched
            )
        finally:
            self._concurrent -= 1
        if isinstance(proposal, PendingAppend):
            return replace(proposal, actor=actor, allow_id_gap=self._allow_id_gap)
        return proposal

    def _decide(
        self, request: RegistrationRequest, permissions: Permissions, prefetched: PrefetchedSnapshot | None
    ) -> RegistrationResult | PendingAppend:
        if prefetched is not None:
            with suppress(NotPrefetched):
                return decide_registration(self._checker, prefetched, request, permissions)
        with self._store.open_snapshot() as snapshot:
            return decide_registration(self._checker, snapshot, request, permissions)

    async def lookup(
        self, subject: Subject, draft: SchemaDraft, *, normalize: bool = False, deleted: bool = False
    ) -> RegisteredSchema:
        """Return the subject's version with this content; a plain name may be found in another context.

        Raises:
            SubjectNotFound, SchemaNotUnderSubject, InvalidSchema: there is none.
        """

        def run() -> RegisteredSchema:
            with self._store.open_snapshot() as snapshot:
                query = ContentQuery(draft, normalize, DeletedFilter.of(deleted=deleted))
                return find_by_content(self._checker, snapshot, subject, query)

        return await self._threads.run_schema_work(draft.text, run)

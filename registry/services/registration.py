"""Registering schemas: understand and judge first, outside the lock; then append, if all is still as it was judged."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from contractlog.compatibility.errors import (
    IncompatibleSchema,
    InvalidSubject,
    Overloaded,
    SchemaNotUnderSubject,
    SubjectNotFound,
    SubjectNotInImport,
    SubjectReadOnly,
)
from contractlog.compatibility.level import Mode
from contractlog.compatibility.messages import details
from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.registry.services.association_guards import refuse_strong
from contractlog.registry.services.judging import Judging
from contractlog.registry.services.threads import Threads
from contractlog.registry.services.understanding import Understanding
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import Append, Configured, Content, Seen, Stale

__all__ = ["Registered", "Registration", "refuse_read_only"]

_ATTEMPTS: Final = 500  #: each lost attempt means that somebody else's was written
_READ_ONLY: Final = frozenset({Mode.READONLY, Mode.READONLY_OVERRIDE})


@dataclass(frozen=True, slots=True)
class Registered:
    """What a registration answers; ``stored`` when the answer shows an older version that is spelled differently."""

    schema: RegisteredSchema
    stored: bool = False


class Registration:
    """Registers schemas and finds them again by content."""

    def __init__(self, store: Store, threads: Threads, understanding: Understanding, judging: Judging) -> None:
        self._store = store
        self._threads = threads
        self._understanding = understanding
        self._judging = judging

    async def register(
        self,
        subject: Subject,
        draft: SchemaDraft,
        *,
        normalize: bool = False,
        schema_id: int | None = None,
        version: int | None = None,
    ) -> Registered:
        """Register a schema under a subject, or return what the subject already holds.

        Raises:
            InvalidSubject, InvalidSchema, IncompatibleSchema, OperationNotPermitted, Overloaded: nothing was written.
        """
        subject.validated()
        if not subject.name:
            raise InvalidSubject(subject=str(subject))  # that is a context
        for _ in range(_ATTEMPTS):
            proposal = await self.propose(subject, draft, normalize=normalize, schema_id=schema_id, version=version)
            if isinstance(proposal, Registered):
                return proposal
            outcome = await asyncio.wrap_future(self._store.append(proposal))
            if not isinstance(outcome, Stale):
                return Registered(outcome)
        raise Overloaded

    async def propose(
        self,
        subject: Subject,
        draft: SchemaDraft,
        *,
        normalize: bool = False,
        schema_id: int | None = None,
        version: int | None = None,
    ) -> Registered | Append:
        """Understand and judge: return what the subject already holds, or what would have to be appended."""
        return await self._threads.run(
            self._propose, subject, draft, normalize=normalize, schema_id=schema_id, version=version
        )

    def _propose(
        self, subject: Subject, draft: SchemaDraft, *, normalize: bool, schema_id: int | None, version: int | None
    ) -> Registered | Append:
        with self._store.reading() as snapshot:
            # The state is read first: whatever changes later is noticed by its revision when it comes to writing.
            state = snapshot.state(subject)
            configured = self._judging.configured(snapshot, subject)
            normalize = normalize or bool(configured.normalize)
            understood = self._understanding.draft(snapshot, subject, draft, strict=True)
            content = understood.content(snapshot, normalize=normalize)
            known = _known(snapshot, subject, content, normalize=normalize)
            if known is not None and _answers(known.schema, schema_id, version):
                return known
            _refuse(subject, configured, schema_id)
            refuse_strong(snapshot, [held.subject for held in understood.resolved.targets if held.subject])
            verdict = self._judging.against_history(snapshot, subject, understood, configured)
        if not verdict.compatible:
            raise IncompatibleSchema(subject=str(subject), details=details(verdict), verdict=verdict)
        return Append(subject, content, state, configured, version)

    async def lookup(
        self, subject: Subject, draft: SchemaDraft, *, normalize: bool = False, deleted: bool = False
    ) -> RegisteredSchema:
        """Return the subject's version that holds this content.

        Raises:
            SubjectNotFound, SchemaNotUnderSubject, InvalidSchema: there is none.
        """
        return await self._threads.run(self._lookup, subject, draft, normalize=normalize, deleted=deleted)

    def _lookup(self, subject: Subject, draft: SchemaDraft, *, normalize: bool, deleted: bool) -> RegisteredSchema:
        seen = Seen.of(deleted=deleted)
        with self._store.reading() as snapshot:
            normalize = normalize or bool(self._judging.configured(snapshot, subject).normalize)
            understood = self._understanding.draft(snapshot, subject, draft, strict=False)
            content = understood.content(snapshot, normalize=normalize)
            known = _known(snapshot, subject, content, normalize=normalize, seen=seen)
            if known is not None:
                return known.schema
            if not snapshot.versions(subject, seen):
                raise SubjectNotFound(subject=str(subject))
        raise SchemaNotUnderSubject


def _known(
    snapshot: Snapshot, subject: Subject, content: Content, *, normalize: bool, seen: Seen = Seen.LIVE
) -> Registered | None:
    same = snapshot.holding(subject, content.hash, seen)
    if same is not None:
        return Registered(same)
    alike = snapshot.holding_alike(subject, content.normalized_hash, seen) if normalize else []
    return Registered(alike[0], stored=True) if alike else None


def _answers(known: RegisteredSchema, schema_id: int | None, version: int | None) -> bool:
    return schema_id in {None, known.schema_id} and version in {None, known.version}


def _refuse(subject: Subject, configured: Configured, schema_id: int | None) -> None:
    refuse_read_only(subject, configured)
    if schema_id is not None:
        raise SubjectNotInImport(subject=str(subject), context=subject.context)


def refuse_read_only(subject: Subject, configured: Configured) -> None:
    """Raise ``SubjectReadOnly`` where nothing may be written."""
    if configured.mode in _READ_ONLY:
        raise SubjectReadOnly(subject=str(subject), context=subject.context)

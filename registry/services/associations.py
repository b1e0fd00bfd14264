"""Associations: bindings of subjects to a topic's key or value."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

from contractlog.compatibility.errors import Overloaded
from contractlog.registry.access.actor import current_rights, may_read, may_read_binding
from contractlog.registry.services.association_changes import (
    Bound,
    JudgeAgain,
    Proposal,
    apply,
    require_rights,
    unbind,
)
from contractlog.registry.services.association_rules import (
    Operation,
    Wish,
    checked_resource,
    default_subject,
    refuse,
    settled,
)
from contractlog.registry.services.permits import taking_schemas
from contractlog.registry.services.registration import Registration, log_warning
from contractlog.registry.services.threads import Threads
from contractlog.registry.storage import associations
from contractlog.registry.storage.associations import Resource, Wanted
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.values import Append
from contractlog.registry.storage.writes import Transaction

__all__ = ["Associations"]

T = TypeVar("T")
_ATTEMPTS: Final = 500  #: each failed attempt means that another write succeeded


class _Rehearsed(Exception):
    """Carries the result of a rehearsal out of its transaction, which it rolls back."""

    def __init__(self, outcome: object) -> None:
        super().__init__()
        self.outcome = outcome


class Associations:
    """Finds, creates and removes associations."""

    def __init__(
        self,
        store: Store,
        threads: Threads,
        registration: Registration,
        new_guid: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        self._store = store
        self._threads = threads
        self._registration = registration
        self._new_guid = new_guid

    async def find(self, wanted: Wanted, *, schemas: bool = False) -> list[Bound]:
        """List associations, by resource, type and subject; optionally with their subjects' newest schemas.

        Associations are left out if the caller may read neither the subject nor the topic.
        """
        return await self._threads.run(self._find, wanted, schemas=schemas)

    def _find(self, wanted: Wanted, *, schemas: bool) -> list[Bound]:
        with self._store.reading() as snapshot:
            found = [
                one
                for one in associations.find(snapshot, wanted)
                if may_read_binding(one.subject, one.resource.name, one.type)
            ]
            return [
                Bound(one, snapshot.version(one.subject, None) if schemas and may_read(one.subject) else None)
                for one in found
            ]

    async def apply(self, resource: Resource, wishes: Sequence[Wish], *, rehearsal: bool = False) -> list[Bound]:
        """Carry out all requested changes of one resource, or none; a rehearsal only returns their result.

        Raises:
            InvalidAssociation, AssociationTypeExists, AssociationExists, StrongAssociationExists, NoActiveVersion,
            AssociationNotFound, AssociationFrozen, ReferenceExists: the change is not possible.
            InvalidSubject, InvalidSchema, IncompatibleSchema, OperationNotPermitted: the schema cannot be registered.
            Denied: the caller may not write the subject, or the topic's own.
        """
        rights = current_rights.get()
        removing = bool(wishes) and all(wish.operation is Operation.DELETE for wish in wishes)
        resource = checked_resource(resource, rehearsal=rehearsal, named=bool(resource.name) or not removing)
        asked = settled(resource, wishes)
        for wish in asked:  # before any check of a schema, whose errors would reveal facts about the subject
            if wish.operation is not Operation.DELETE:
                subject = wish.subject or default_subject(resource, wish.type or "")
                require_rights(rights, subject, resource, wish.type or "")
        for _ in range(_ATTEMPTS):
            proposals = [(wish, await self._proposal(resource, wish)) for wish in asked]
            try:
                work = partial(apply, resource=resource, wishes=proposals, new_guid=self._new_guid, rights=rights)
                bound = await self._change(work, rehearsal=rehearsal)
            except JudgeAgain:
                continue
            for _wish, proposal in proposals if not rehearsal else ():
                if isinstance(proposal, Append):
                    log_warning(proposal)
            return bound
        raise Overloaded

    async def remove(self, resource_id: str, wanted: Wanted, *, cascade: bool = False, rehearsal: bool = False) -> None:
        """Remove associations of a resource; ``cascade`` deletes the subjects that it owns."""
        rights = current_rights.get()
        if not resource_id:
            refuse("resourceId", "cannot be null or empty")

        def work(transaction: Transaction) -> None:
            kind = wanted.resource_type
            unbind(transaction, resource_id, wanted.types, cascade=cascade, rights=rights, resource_type=kind)

        await self._change(work, rehearsal=rehearsal)

    async def _proposal(self, resource: Resource, wish: Wish) -> Proposal:
        new = wish.schema
        if new is None:
            return None
        subject = taking_schemas(wish.subject or default_subject(resource, wish.type or ""))
        return await self._registration.propose(
            subject, new.draft, normalize=new.normalize, schema_id=new.id, version=new.version
        )

    async def _change(self, work: Callable[[Transaction], T], *, rehearsal: bool) -> T:
        if not rehearsal:
            return await asyncio.wrap_future(self._store.change(work))

        def rehearse(transaction: Transaction) -> T:
            raise _Rehearsed(work(transaction))

        try:
            return await asyncio.wrap_future(self._store.change(rehearse))
        except _Rehearsed as done:
            outcome: T = done.outcome  # type: ignore[assignment]
            return outcome

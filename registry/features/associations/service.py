"""Associations: bindings of subjects to a topic's key or value."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

from contractlog.compatibility.association_values import Resource
from contractlog.compatibility.errors import Unprocessable
from contractlog.compatibility.identifiers import validate_schema_subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.access.current_caller import current_permissions, may_read, may_read_association
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.features.associations.changes import (
    BoundAssociation,
    Proposal,
    StaleProposal,
    apply_changes,
    remove_associations,
    require_write_permission,
)
from contractlog.registry.features.associations.validation import (
    AssociationChange,
    AssociationOperation,
    complete_changes,
    default_subject,
    reject_member,
    validate_resource,
)
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.registration.request import RegistrationRequest
from contractlog.registry.registration.service import RegistrationService, log_warning, retry_stale
from contractlog.registry.storage import associations
from contractlog.registry.storage.associations import AssociationFilter
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import PendingAppend, Stale
from contractlog.registry.storage.transaction import Transaction

__all__ = ["MAX_BATCH_BYTES", "AssociationService", "BatchBudget"]

T = TypeVar("T")

MAX_BATCH_BYTES: Final = 16 * 1024 * 1024
_ROW_BYTES: Final = 200  #: for an association that was read, even if the caller may not see it


class BatchBudget:
    """Limit on the work and the response of one batch.

    Without it, a request of a few kilobytes could return the largest schema of the registry a thousand times.
    """

    def __init__(self) -> None:
        self._bytes = MAX_BATCH_BYTES

    def spend(self, size: int) -> None:
        """Count bytes of the response."""
        self._bytes -= size

    def require_remainder(self) -> None:
        """Raise unless the next member may be processed.

        Raises:
            Unprocessable: the members before it have used up the budget.
        """
        if self._bytes <= 0:
            limit = f"{MAX_BATCH_BYTES // 1024**2} MiB"
            raise Unprocessable(f"The response to this batch would exceed {limit}: send fewer requests per batch")


def _count_characters(schema: RegisteredSchema) -> int:
    parts = (schema.metadata, schema.rule_set)
    return len(schema.text) + sum(len(json.dumps(part.body())) for part in parts if part is not None)


class _DryRunResult(Exception):
    """Carries the result of a rehearsal out of its transaction, which it rolls back."""

    def __init__(self, outcome: object) -> None:
        super().__init__()
        self.outcome = outcome


class AssociationService(ReadService):
    """Finds, creates and removes associations."""

    def __init__(
        self,
        store: Store,
        threads: ThreadPools,
        registration: RegistrationService,
        new_guid: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        super().__init__(store, threads)
        self._registration = registration
        self._new_guid = new_guid

    async def find(
        self, association_filter: AssociationFilter, *, schemas: bool = False, budget: BatchBudget | None = None
    ) -> list[BoundAssociation]:
        """List associations, by resource, type and subject; optionally with their subjects' newest schemas.

        Associations are left out if the caller may read neither the subject nor the topic.

        Raises:
            Unprocessable: the schemas alone exceed the limit of a whole batch.
        """

        def query(snapshot: Snapshot) -> list[BoundAssociation]:
            matches = associations.find_associations(snapshot, association_filter)
            if budget is not None:
                budget.spend(len(matches) * _ROW_BYTES)
            own_budget, results = BatchBudget(), []
            for association in matches:
                subject, schema = association.subject, None
                if may_read_association(subject, association.resource_name, association.association_type):
                    if schemas and may_read(subject):
                        own_budget.require_remainder()
                        schema = snapshot.version(subject, None)
                        own_budget.spend(0 if schema is None else _count_characters(schema))
                    results.append(BoundAssociation(association, schema))
            return results

        return await self._query(query)

    async def apply(
        self, resource: Resource, changes: Sequence[AssociationChange], *, dry_run: bool = False
    ) -> list[BoundAssociation]:
        """Carry out all requested changes of one resource, or none; a rehearsal only returns their result.

        Raises:
            InvalidAssociation, AssociationTypeExists, AssociationExists, StrongAssociationExists, NoActiveVersion,
            AssociationNotFound, AssociationFrozen, ReferenceExists: the change is not possible.
            InvalidSubject, InvalidSchema, IncompatibleSchema, OperationNotPermitted: the schema cannot be registered.
            Denied: the caller may not write the subject, or the topic's own.
        """
        permissions = current_permissions.get()
        removing = bool(changes) and all(change.operation is AssociationOperation.DELETE for change in changes)
        resource = validate_resource(resource, dry_run=dry_run, named=bool(resource.name) or not removing)
        completed = complete_changes(resource, changes)
        for change in completed:  # before any check of a schema, whose errors would reveal facts about the subject
            if change.operation is not AssociationOperation.DELETE:
                subject = change.subject or default_subject(resource, change.type or "")
                require_write_permission(permissions, subject, resource, change.type or "")

        async def attempt() -> list[BoundAssociation] | Stale:
            proposals = [(change, await self._propose(resource, change)) for change in completed]
            work = partial(
                apply_changes, resource=resource, changes=proposals, new_guid=self._new_guid, permissions=permissions
            )
            try:
                bound = await self._change(work, dry_run=dry_run)
            except StaleProposal:
                return Stale()
            for _change, proposal in proposals if not dry_run else ():
                if isinstance(proposal, PendingAppend):
                    log_warning(proposal)
            return bound

        return await retry_stale(attempt)

    async def remove(
        self, resource_id: str, association_filter: AssociationFilter, *, cascade: bool = False, dry_run: bool = False
    ) -> None:
        """Remove associations of a resource; ``cascade`` deletes the subjects that it owns."""
        permissions = current_permissions.get()
        if not resource_id:
            reject_member("resourceId", "cannot be null or empty")

        def work(transaction: Transaction) -> None:
            resource_type = association_filter.resource_type
            remove_associations(
                transaction,
                resource_id,
                association_filter.types,
                cascade=cascade,
                permissions=permissions,
                resource_type=resource_type,
            )

        await self._change(work, dry_run=dry_run)

    async def _propose(self, resource: Resource, change: AssociationChange) -> Proposal:
        schema = change.schema
        if schema is None:
            return None
        subject = validate_schema_subject(change.subject or default_subject(resource, change.type or ""))
        return await self._registration.propose(
            RegistrationRequest(
                subject=subject,
                draft=schema.draft,
                normalize=schema.normalize,
                schema_id=schema.id,
                version=schema.version,
            )
        )

    async def _change(self, work: Callable[[Transaction], T], *, dry_run: bool) -> T:
        if not dry_run:
            return await self._store.change(work)

        def rehearse(transaction: Transaction) -> T:
            raise _DryRunResult(work(transaction))

        try:
            return await self._store.change(rehearse)
        except _DryRunResult as done:
            outcome: T = done.outcome  # type: ignore[assignment]
            return outcome

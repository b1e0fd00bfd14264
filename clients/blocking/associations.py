"""Associations: which subjects hold the schemas of which resource."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from contractlog.clients import calls
from contractlog.clients.blocking.sender import Sender
from contractlog.clients.calls import Answered, SubjectLike
from contractlog.clients.values import Association, AssociationDraft, Resource
from contractlog.compatibility.errors import RegistryError

__all__ = ["Associations"]


class Associations(Sender):
    """Calls about associations."""

    def associations_by_resource_name(
        self,
        name: str,
        *,
        namespace: str = "-",
        resource_type: str | None = None,
        association_types: Iterable[str] = (),
        lifecycle: str | None = None,
        offset: int = 0,
        limit: int = -1,
    ) -> list[Association]:
        """Return what is bound to a resource by its name, in any namespace unless one is named."""
        return self.send(
            calls.associations_by_resource_name(
                name,
                namespace=namespace,
                resource_type=resource_type,
                association_types=association_types,
                lifecycle=lifecycle,
                offset=offset,
                limit=limit,
            )
        )

    def associations_by_resource_id(
        self,
        resource: str,
        *,
        resource_type: str | None = None,
        association_types: Iterable[str] = (),
        lifecycle: str | None = None,
        offset: int = 0,
        limit: int = -1,
    ) -> list[Association]:
        """Return what is bound to a resource by its id."""
        return self.send(
            calls.associations_by_resource_id(
                resource,
                resource_type=resource_type,
                association_types=association_types,
                lifecycle=lifecycle,
                offset=offset,
                limit=limit,
            )
        )

    def associations_of_subject(
        self,
        subject: SubjectLike,
        *,
        resource_type: str | None = None,
        association_types: Iterable[str] = (),
        lifecycle: str | None = None,
        offset: int = 0,
        limit: int = -1,
    ) -> list[Association]:
        """Return what a subject is bound to."""
        return self.send(
            calls.associations_of_subject(
                subject,
                resource_type=resource_type,
                association_types=association_types,
                lifecycle=lifecycle,
                offset=offset,
                limit=limit,
            )
        )

    def associations_of_many(
        self, resources: Iterable[Mapping[str, Any]], *, schemas: bool = False
    ) -> list[Answered | RegistryError]:
        """Return what is bound to each of many resources, named as in ``openapi.yaml``, or the error why not."""
        return self.send(calls.associations_of_many(resources, schemas=schemas))

    def bind(self, resource: Resource, associations: Iterable[AssociationDraft], *, dry_run: bool = False) -> Answered:
        """Bind subjects to a resource; a schema that comes along is registered, and its subject is the resource's own.

        Raises:
            AssociationTypeExists: the resource has one of this type already.
            StrongAssociationExists: the subject belongs to another resource.
        """
        return self.send(calls.bind(resource, associations, dry_run=dry_run))

    def ensure_bound(
        self, resource: Resource, associations: Iterable[AssociationDraft], *, dry_run: bool = False
    ) -> Answered:
        """Make sure that a resource has associations; what is there already keeps its subject and lifecycle."""
        return self.send(calls.ensure_bound(resource, associations, dry_run=dry_run))

    def unbind(
        self,
        resource: str,
        *,
        resource_type: str | None = None,
        association_types: Iterable[str] = (),
        lifecycle: str | None = None,
        cascade: bool = False,
        dry_run: bool = False,
    ) -> None:
        """Remove the associations of a resource, by its id; ``cascade`` deletes the subjects that it owns.

        Raises:
            AssociationNotFound: it has none.
            AssociationFrozen: it owns a subject, and ``cascade`` is false.
        """
        return self.send(
            calls.unbind(
                resource,
                resource_type=resource_type,
                association_types=association_types,
                lifecycle=lifecycle,
                cascade=cascade,
                dry_run=dry_run,
            )
        )

    def change_associations(
        self, requests: Iterable[Mapping[str, Any]], *, dry_run: bool = False
    ) -> list[Answered | RegistryError]:
        """Change the associations of many resources, asked for as in ``openapi.yaml``; each succeeds by itself."""
        return self.send(calls.change_many(requests, dry_run=dry_run))

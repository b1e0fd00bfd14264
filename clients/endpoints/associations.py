"""Associations: bindings of subjects to the keys and values of resources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from contractlog.clients import calls
from contractlog.clients.bodies import Association, AssociationDraft, Resource
from contractlog.clients.calls import ResponseBody, SubjectLike
from contractlog.clients.endpoints.sender import Sender
from contractlog.compatibility.errors import RegistryError

__all__ = ["AssociationEndpoints"]


class AssociationEndpoints(Sender):
    """Client methods for associations."""

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
        """Return the associations of a resource, by its name; ``-`` matches any namespace."""
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
        """Return the associations of a resource, by its id."""
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
        """Return the associations of a subject."""
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
    ) -> list[ResponseBody | RegistryError]:
        """Return the associations of each resource, or an error; requests are as in ``openapi.yaml``."""
        return self.send(calls.associations_of_many(resources, schemas=schemas))

    def bind(
        self, resource: Resource, associations: Iterable[AssociationDraft], *, dry_run: bool = False
    ) -> ResponseBody:
        """Bind subjects to a resource, and register the schemas that are given.

        With a schema, the subject may be left out: the default is the resource's own.

        Raises:
            AssociationTypeExists: the resource already has an association of this type.
            StrongAssociationExists: the subject belongs to another resource.
        """
        return self.send(calls.bind(resource, associations, dry_run=dry_run))

    def ensure_bound(
        self, resource: Resource, associations: Iterable[AssociationDraft], *, dry_run: bool = False
    ) -> ResponseBody:
        """Create the associations that a resource does not have yet; existing ones keep subject and lifecycle."""
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
        """Remove the associations of a resource, by its id; ``cascade`` also deletes the subjects it owns.

        Raises:
            AssociationNotFound: the resource has none.
            AssociationFrozen: the resource owns a subject, and ``cascade`` is false.
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
    ) -> list[ResponseBody | RegistryError]:
        """Change the associations of many resources, independently; requests are as in ``openapi.yaml``."""
        return self.send(calls.change_many(requests, dry_run=dry_run))

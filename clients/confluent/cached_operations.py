"""Operations of ``SchemaRegistryClient`` that read or change its caches."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar

from contractlog.clients import calls
from contractlog.clients.cache import TtlCache
from contractlog.clients.calls import Call, CallSequence
from contractlog.clients.confluent import confluent_calls
from contractlog.clients.confluent.data_classes import (
    AssociationCreateOrUpdateRequest,
    AssociationResponse,
    RegisteredSchema,
    Schema,
    ServerConfig,
)

__all__ = ["CachedOperations"]

P = ParamSpec("P")
V = TypeVar("V")
Key = tuple[Any, ...]


class CachedOperations:
    """Caches of one client by request: schemas never expire, latest versions do.

    A write to a subject invalidates what it may have changed.
    """

    def __init__(self, capacity: int, latest_seconds: float) -> None:
        self._schemas: TtlCache[Key, Schema] = TtlCache(math.inf, capacity)
        self._registered: TtlCache[Key, RegisteredSchema] = TtlCache(math.inf, capacity)  # by (subject, …)
        self.latest: TtlCache[Key, RegisteredSchema] = TtlCache(latest_seconds, capacity)  #: by (subject, …)

    def clear(self) -> None:
        """Clear all caches."""
        for cache in (self._schemas, self._registered, self.latest):
            cache.invalidate()

    def register_schema(self, subject_name: str, schema: Schema, normalize_schemas: bool = False) -> CallSequence[int]:
        """Register a schema under a subject; return its id."""
        registered = yield from self.register_schema_full_response(subject_name, schema, normalize_schemas)
        return int(registered.schema_id or 0)

    def register_schema_full_response(
        self, subject_name: str, schema: Schema, normalize_schemas: bool = False
    ) -> CallSequence[RegisteredSchema]:
        """Register a schema under a subject; return the registered version."""
        key = (subject_name, "registered", schema, normalize_schemas)
        cached = self._registered.get(key)
        if cached is not None:
            return cached
        try:
            registered: RegisteredSchema = yield confluent_calls.register_schema(
                subject_name, schema, normalize_schemas
            )
        finally:
            self._invalidate_subject(subject_name)
        self._registered.put(key, registered, generation=self._registered.generation)
        return registered

    def get_schema(
        self,
        schema_id: int,
        subject_name: str | None = None,
        fmt: str | None = None,
        reference_format: str | None = None,
    ) -> CallSequence[Schema]:
        """Return the schema with this id."""
        arguments = (schema_id, subject_name, fmt, reference_format)
        return self._look_up(self._schemas, ("id", *arguments), confluent_calls.get_schema, *arguments)

    def get_schema_by_guid(self, guid: str, fmt: str | None = None) -> CallSequence[Schema]:
        """Return the schema with this guid."""
        return self._look_up(self._schemas, ("guid", guid, fmt), confluent_calls.get_schema_by_guid, guid, fmt)

    def lookup_schema(
        self,
        subject_name: str,
        schema: Schema,
        normalize_schemas: bool = False,
        fmt: str | None = None,
        deleted: bool = False,
    ) -> CallSequence[RegisteredSchema]:
        """Return the version of a subject that has this content."""
        key = (subject_name, "found", schema, normalize_schemas, deleted)
        call = confluent_calls.lookup_schema
        return self._look_up(self._registered, key, call, subject_name, schema, normalize_schemas, fmt, deleted)

    def get_latest_version(self, subject_name: str, fmt: str | None = None) -> CallSequence[RegisteredSchema]:
        """Return the latest version of a subject; cached for ``cache.latest.ttl.sec``."""
        call = confluent_calls.get_version
        return self._look_up(self.latest, (subject_name, fmt), call, subject_name, "latest", deleted=False, fmt=fmt)

    def get_latest_with_metadata(
        self, subject_name: str, metadata: dict[str, str], deleted: bool = False, fmt: str | None = None
    ) -> CallSequence[RegisteredSchema]:
        """Return the latest version with all these metadata properties; cached for ``cache.latest.ttl.sec``."""
        key = (subject_name, frozenset(metadata.items()), deleted, fmt)
        call = confluent_calls.get_latest_with_metadata
        return self._look_up(self.latest, key, call, subject_name, metadata, deleted, fmt)

    def get_version(
        self,
        subject_name: str,
        version: int | Literal["latest"] = "latest",
        deleted: bool = False,
        fmt: str | None = None,
    ) -> CallSequence[RegisteredSchema]:
        """Return one version of a subject; ``latest`` is never cached."""
        call = confluent_calls.get_version
        if version == "latest":
            latest: RegisteredSchema = yield call(subject_name, version, deleted, fmt)
            return latest
        key = (subject_name, "version", version, fmt)
        return (yield from self._look_up(self._registered, key, call, subject_name, version, deleted, fmt))

    def delete_version(self, subject_name: str, version: int, permanent: bool = False) -> CallSequence[int]:
        """Soft delete a version, or hard delete it if ``permanent``; return its number."""
        try:
            deleted: int = yield calls.delete_version(subject_name, version, permanent=permanent)
        finally:
            self._invalidate_subject(subject_name, permanent=permanent)
        return deleted

    def delete_subject(self, subject_name: str, permanent: bool = False) -> CallSequence[list[int]]:
        """Soft delete a subject, or hard delete it if ``permanent``; return the deleted versions."""
        try:
            deleted: list[int] = yield calls.delete_subject(subject_name, permanent=permanent)
        finally:
            self._invalidate_subject(subject_name, permanent=permanent)
        return deleted

    def set_config(self, subject_name: str | None = None, config: ServerConfig | None = None) -> CallSequence[Any]:
        """Set the members of ``config`` that are not None; return the response body."""
        call = confluent_calls.set_config(subject_name, config)
        try:
            return (yield call)
        finally:
            self.latest.invalidate()

    def create_association(self, request: AssociationCreateOrUpdateRequest) -> CallSequence[AssociationResponse]:
        """Bind subjects to a resource."""
        try:
            created: AssociationResponse = yield confluent_calls.create_association(request)
        finally:
            self.latest.invalidate()
        return created

    def delete_associations(
        self,
        resource_id: str,
        resource_type: str | None = None,
        association_types: list[str] | None = None,
        cascade_lifecycle: bool = False,
    ) -> CallSequence[None]:
        """Remove the associations of a resource; ``cascade_lifecycle`` also deletes the subjects it owns."""
        try:
            yield calls.unbind(
                resource_id,
                resource_type=resource_type,
                association_types=association_types or (),
                cascade=cascade_lifecycle,
            )
        finally:
            self.clear()

    def _look_up(
        self, cache: TtlCache[Key, V], key: Key, describe: Callable[P, Call[V]], *args: P.args, **options: P.kwargs
    ) -> CallSequence[V]:
        cached = cache.get(key)
        if cached is not None:
            return cached
        generation = cache.generation
        response: V = yield describe(*args, **options)
        cache.put(key, response, generation=generation)
        return response

    def _invalidate_subject(self, subject: str, *, permanent: bool = False) -> None:
        """Invalidate what a write to a subject may have changed."""
        for cache in (self._registered, self.latest):
            cache.invalidate(lambda key: key[0] == subject)
        if permanent:
            self._schemas.invalidate()

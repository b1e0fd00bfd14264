"""``AsyncSchemaRegistryClient`` with the methods, arguments and results of confluent-kafka's."""

from __future__ import annotations

from collections.abc import Awaitable
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from contractlog.clients import calls
from contractlog.clients.async_registry import AsyncRegistry
from contractlog.clients.calls import Call
from contractlog.clients.confluent import confluent_calls
from contractlog.clients.confluent.async_config_methods import AsyncConfigMethods
from contractlog.clients.confluent.configuration import ClientConfiguration
from contractlog.clients.confluent.errors import as_confluent_error
from contractlog.clients.confluent.response_caches import COMPLETED, ResponseCaches
from contractlog.clients.confluent.schema import RegisteredSchema, Schema, SchemaVersion
from contractlog.compatibility.errors import RegistryError

__all__ = ["AsyncSchemaRegistryClient"]

T = TypeVar("T")


class AsyncSchemaRegistryClient(AsyncConfigMethods):
    """Client of a registry with confluent-kafka's API; as safe to share as ``AsyncRegistry``.

    Error responses raise ``SchemaRegistryError``, which is also an instance of the class of the error code
    (``SubjectNotFound`` …); without a response, ``Unreachable`` is raised.

    Args:
        conf: ``url`` and the other keys of confluent-kafka's client; unknown ones are rejected. Unlike there, the
            defaults are finite: a call ends after 30 seconds, the latest version of a subject is cached for 60.
    """

    def __init__(self, conf: dict[str, Any]) -> None:
        parsed = ClientConfiguration.parse(conf)
        self._conf = conf
        self._registry = AsyncRegistry(**parsed.registry)
        self._caches = ResponseCaches(parsed.capacity, parsed.latest_seconds)

    @classmethod
    def over(cls, registry: AsyncRegistry) -> Self:
        """Return a client that uses the connections of ``registry``."""
        client = cls({"url": registry.url})
        client._registry = registry
        return client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._registry.close()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._registry.close()

    def config(self) -> dict[str, Any]:
        """Return the configuration that this client was created with."""
        return self._conf

    async def register_schema(self, subject_name: str, schema: Schema, normalize_schemas: bool = False) -> int:
        """Register a schema under a subject; return its id."""
        registered = await self.register_schema_full_response(subject_name, schema, normalize_schemas)
        return int(registered.schema_id or 0)

    async def register_schema_full_response(
        self, subject_name: str, schema: Schema, normalize_schemas: bool = False
    ) -> RegisteredSchema:
        """Register a schema under a subject; return the registered version."""
        key = (subject_name, "registered", schema, normalize_schemas)
        cached = self._caches.registered.get(key)
        if cached is not None:
            return cached
        try:
            registered = await self._send(confluent_calls.register(subject_name, schema, normalize=normalize_schemas))
        finally:
            self._caches.invalidate_subject(subject_name)
        self._caches.registered.put(key, registered, generation=self._caches.registered.generation)
        return registered

    async def get_schema(
        self,
        schema_id: int,
        subject_name: str | None = None,
        fmt: str | None = None,
        reference_format: str | None = None,
    ) -> Schema:
        """Return the schema with this id."""
        key = ("id", schema_id, subject_name, fmt, reference_format)
        cached = self._caches.schemas.get(key)
        if cached is not None:
            return cached
        generation = self._caches.schemas.generation
        schema = await self._send(confluent_calls.by_id(schema_id, subject_name, fmt, reference_format))
        self._caches.schemas.put(key, schema, generation=generation)
        return schema

    async def get_schema_by_guid(self, guid: str, fmt: str | None = None) -> Schema:
        """Return the schema with this guid."""
        cached = self._caches.schemas.get(("guid", guid, fmt))
        if cached is not None:
            return cached
        generation = self._caches.schemas.generation
        schema = await self._send(confluent_calls.by_guid(guid, fmt))
        self._caches.schemas.put(("guid", guid, fmt), schema, generation=generation)
        return schema

    async def get_schema_types(self) -> list[str]:
        """Return the schema formats that the registry supports."""
        return await self._send(calls.types())

    async def get_subjects_by_schema_id(
        self,
        schema_id: int,
        subject_name: str | None = None,
        deleted: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[str]:
        """Return all subjects with a version of this id."""
        return await self._send(
            calls.subjects_of_id(schema_id, subject=subject_name, deleted=deleted, offset=offset, limit=limit)
        )

    async def get_schema_versions(
        self,
        schema_id: int,
        subject_name: str | None = None,
        deleted: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[SchemaVersion]:
        """Return all versions with this id."""
        return await self._send(
            confluent_calls.versions_of_id(schema_id, subject_name, deleted=deleted, offset=offset, limit=limit)
        )

    async def lookup_schema(
        self,
        subject_name: str,
        schema: Schema,
        normalize_schemas: bool = False,
        fmt: str | None = None,
        deleted: bool = False,
    ) -> RegisteredSchema:
        """Return the version of a subject that has this content."""
        key = (subject_name, "found", schema, normalize_schemas, deleted)
        cached = self._caches.registered.get(key)
        if cached is not None:
            return cached
        generation = self._caches.registered.generation
        registered = await self._send(
            confluent_calls.lookup(subject_name, schema, normalize=normalize_schemas, fmt=fmt, deleted=deleted)
        )
        self._caches.registered.put(key, registered, generation=generation)
        return registered

    async def get_subjects(
        self,
        subject_prefix: str | None = None,
        deleted: bool = False,
        deleted_only: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[str]:
        """Return the names of all subjects."""
        return await self._send(
            calls.subjects(
                prefix=subject_prefix, deleted=deleted, deleted_only=deleted_only, offset=offset, limit=limit
            )
        )

    async def delete_subject(self, subject_name: str, permanent: bool = False) -> list[int]:
        """Soft delete a subject, or hard delete it if ``permanent``; return the deleted versions."""
        try:
            return await self._send(calls.delete_subject(subject_name, permanent=permanent))
        finally:
            self._caches.invalidate_subject(subject_name, permanent=permanent)

    async def get_latest_version(self, subject_name: str, fmt: str | None = None) -> RegisteredSchema:
        """Return the latest version of a subject; cached for ``cache.latest.ttl.sec``."""
        cached = self._caches.latest.get((subject_name, fmt))
        if cached is not None:
            return cached
        generation = self._caches.latest.generation
        latest = await self._send(confluent_calls.version(subject_name, "latest", fmt=fmt))
        self._caches.latest.put((subject_name, fmt), latest, generation=generation)
        return latest

    async def get_latest_with_metadata(
        self, subject_name: str, metadata: dict[str, str], deleted: bool = False, fmt: str | None = None
    ) -> RegisteredSchema:
        """Return the latest version with all these metadata properties; cached for ``cache.latest.ttl.sec``."""
        key = (subject_name, frozenset(metadata.items()), deleted, fmt)
        cached = self._caches.latest.get(key)
        if cached is not None:
            return cached
        generation = self._caches.latest.generation
        latest = await self._send(
            confluent_calls.latest_with_metadata(subject_name, metadata, deleted=deleted, fmt=fmt)
        )
        self._caches.latest.put(key, latest, generation=generation)
        return latest

    async def get_version(
        self,
        subject_name: str,
        version: int | Literal["latest"] = "latest",
        deleted: bool = False,
        fmt: str | None = None,
    ) -> RegisteredSchema:
        """Return one version of a subject; ``latest`` is never cached."""
        key = (subject_name, "version", version, fmt)
        cached = None if version == "latest" else self._caches.registered.get(key)
        if cached is not None:
            return cached
        generation = self._caches.registered.generation
        registered = await self._send(confluent_calls.version(subject_name, version, deleted=deleted, fmt=fmt))
        if version != "latest":
            self._caches.registered.put(key, registered, generation=generation)
        return registered

    async def get_referenced_by(
        self, subject_name: str, version: int | Literal["latest"] = "latest", offset: int = 0, limit: int = -1
    ) -> list[int]:
        """Return the ids of the schemas that reference a version."""
        return await self._send(calls.referenced_by(subject_name, version, offset=offset, limit=limit))

    async def get_versions(
        self, subject_name: str, deleted: bool = False, deleted_only: bool = False, offset: int = 0, limit: int = -1
    ) -> list[int]:
        """Return the version numbers of a subject."""
        return await self._send(
            calls.versions(subject_name, deleted=deleted, deleted_only=deleted_only, offset=offset, limit=limit)
        )

    async def delete_version(self, subject_name: str, version: int, permanent: bool = False) -> int:
        """Soft delete a version, or hard delete it if ``permanent``; return its number."""
        try:
            return await self._send(calls.delete_version(subject_name, version, permanent=permanent))
        finally:
            self._caches.invalidate_subject(subject_name, permanent=permanent)

    @property
    def latest_generation(self) -> int:
        """Number of invalidations of the latest-version cache; serializers look up again when it grows."""
        return self._caches.latest.generation

    def clear_latest_caches(self) -> Awaitable[None]:
        """Clear the cache of the versions that are the newest."""
        self._caches.clear_latest()
        return COMPLETED

    def clear_caches(self) -> Awaitable[None]:
        """Clear all caches, so that nothing is remembered."""
        self._caches.clear()
        return COMPLETED

    @staticmethod
    def new_client(conf: dict[str, Any]) -> AsyncSchemaRegistryClient:
        """Return a new client."""
        return AsyncSchemaRegistryClient(conf)

    async def _send(self, call: Call[T]) -> T:
        try:
            return await self._registry.send(call)
        except RegistryError as error:
            raise as_confluent_error(error) from None

"""``SchemaRegistryClient`` with the methods, arguments and results of confluent-kafka's."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from contractlog.clients import calls
from contractlog.clients.calls import Call
from contractlog.clients.client import Registry
from contractlog.clients.confluent import asking
from contractlog.clients.confluent.conf import Conf
from contractlog.clients.confluent.errors import catchable
from contractlog.clients.confluent.known import Known
from contractlog.clients.confluent.schemas import RegisteredSchema, Schema, SchemaVersion
from contractlog.clients.confluent.setting import Setting
from contractlog.compatibility.errors import RegistryError

__all__ = ["SchemaRegistryClient"]

T = TypeVar("T")


class SchemaRegistryClient(Setting):
    """Client of a registry with confluent-kafka's API; as safe to share as ``Registry``.

    Error responses raise ``SchemaRegistryError``, which is also an instance of the class of the error code
    (``SubjectNotFound`` …); without a response, ``Unreachable`` is raised.

    Args:
        conf: ``url`` and the other keys of confluent-kafka's client; unknown ones are rejected. Unlike there, the
            defaults are finite: a call ends after 30 seconds, the latest version of a subject is cached for 60.
    """

    def __init__(self, conf: dict[str, Any]) -> None:
        parsed = Conf.parse(conf)
        self._conf = conf
        self._registry = Registry(**parsed.registry)
        self._known = Known(parsed.capacity, parsed.latest_seconds)

    @classmethod
    def over(cls, registry: Registry) -> Self:
        """Return a client that uses the connections of ``registry``."""
        client = cls({"url": registry.url})
        client._registry = registry
        return client

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._registry.close()

    def close(self) -> None:
        """Close all connections."""
        self._registry.close()

    def config(self) -> dict[str, Any]:
        """Return the configuration that this client was created with."""
        return self._conf

    def register_schema(self, subject_name: str, schema: Schema, normalize_schemas: bool = False) -> int:
        """Register a schema under a subject; return its id."""
        registered = self.register_schema_full_response(subject_name, schema, normalize_schemas)
        return int(registered.schema_id or 0)

    def register_schema_full_response(
        self, subject_name: str, schema: Schema, normalize_schemas: bool = False
    ) -> RegisteredSchema:
        """Register a schema under a subject; return the registered version."""
        key = (subject_name, "registered", schema, normalize_schemas)
        known = self._known.placed.get(key)
        if known is not None:
            return known
        try:
            registered = self._ask(asking.register(subject_name, schema, normalize=normalize_schemas))
        finally:
            self._known.wrote(subject_name)
        self._known.placed.put(key, registered, generation=self._known.placed.generation)
        return registered

    def get_schema(
        self,
        schema_id: int,
        subject_name: str | None = None,
        fmt: str | None = None,
        reference_format: str | None = None,
    ) -> Schema:
        """Return the schema with this id."""
        key = ("id", schema_id, subject_name, fmt, reference_format)
        known = self._known.schemas.get(key)
        if known is not None:
            return known
        generation = self._known.schemas.generation
        found = self._ask(asking.by_id(schema_id, subject_name, fmt, reference_format))
        self._known.schemas.put(key, found, generation=generation)
        return found

    def get_schema_by_guid(self, guid: str, fmt: str | None = None) -> Schema:
        """Return the schema with this guid."""
        known = self._known.schemas.get(("guid", guid, fmt))
        if known is not None:
            return known
        generation = self._known.schemas.generation
        found = self._ask(asking.by_guid(guid, fmt))
        self._known.schemas.put(("guid", guid, fmt), found, generation=generation)
        return found

    def get_schema_types(self) -> list[str]:
        """Return the schema formats that the registry supports."""
        return self._ask(calls.types())

    def get_subjects_by_schema_id(
        self,
        schema_id: int,
        subject_name: str | None = None,
        deleted: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[str]:
        """Return all subjects with a version of this id."""
        return self._ask(
            calls.subjects_of_id(schema_id, subject=subject_name, deleted=deleted, offset=offset, limit=limit)
        )

    def get_schema_versions(
        self,
        schema_id: int,
        subject_name: str | None = None,
        deleted: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[SchemaVersion]:
        """Return all versions with this id."""
        return self._ask(asking.versions_of_id(schema_id, subject_name, deleted=deleted, offset=offset, limit=limit))

    def lookup_schema(
        self,
        subject_name: str,
        schema: Schema,
        normalize_schemas: bool = False,
        fmt: str | None = None,
        deleted: bool = False,
    ) -> RegisteredSchema:
        """Return the version of a subject that has this content."""
        key = (subject_name, "found", schema, normalize_schemas, deleted)
        known = self._known.placed.get(key)
        if known is not None:
            return known
        generation = self._known.placed.generation
        found = self._ask(asking.lookup(subject_name, schema, normalize=normalize_schemas, fmt=fmt, deleted=deleted))
        self._known.placed.put(key, found, generation=generation)
        return found

    def get_subjects(
        self,
        subject_prefix: str | None = None,
        deleted: bool = False,
        deleted_only: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[str]:
        """Return the names of all subjects."""
        return self._ask(
            calls.subjects(
                prefix=subject_prefix, deleted=deleted, deleted_only=deleted_only, offset=offset, limit=limit
            )
        )

    def delete_subject(self, subject_name: str, permanent: bool = False) -> list[int]:
        """Soft delete a subject, or hard delete it if ``permanent``; return the deleted versions."""
        try:
            return self._ask(calls.delete_subject(subject_name, permanent=permanent))
        finally:
            self._known.wrote(subject_name, permanent=permanent)

    def get_latest_version(self, subject_name: str, fmt: str | None = None) -> RegisteredSchema:
        """Return the latest version of a subject; cached for ``cache.latest.ttl.sec``."""
        known = self._known.latest.get((subject_name, fmt))
        if known is not None:
            return known
        generation = self._known.latest.generation
        found = self._ask(asking.version(subject_name, "latest", fmt=fmt))
        self._known.latest.put((subject_name, fmt), found, generation=generation)
        return found

    def get_latest_with_metadata(
        self, subject_name: str, metadata: dict[str, str], deleted: bool = False, fmt: str | None = None
    ) -> RegisteredSchema:
        """Return the latest version with all these metadata properties; cached for ``cache.latest.ttl.sec``."""
        key = (subject_name, frozenset(metadata.items()), deleted, fmt)
        known = self._known.latest.get(key)
        if known is not None:
            return known
        generation = self._known.latest.generation
        found = self._ask(asking.latest_with_metadata(subject_name, metadata, deleted=deleted, fmt=fmt))
        self._known.latest.put(key, found, generation=generation)
        return found

    def get_version(
        self,
        subject_name: str,
        version: int | Literal["latest"] = "latest",
        deleted: bool = False,
        fmt: str | None = None,
    ) -> RegisteredSchema:
        """Return one version of a subject; ``latest`` is never cached."""
        key = (subject_name, "version", version, fmt)
        known = None if version == "latest" else self._known.placed.get(key)
        if known is not None:
            return known
        generation = self._known.placed.generation
        found = self._ask(asking.version(subject_name, version, deleted=deleted, fmt=fmt))
        if version != "latest":
            self._known.placed.put(key, found, generation=generation)
        return found

    def get_referenced_by(
        self, subject_name: str, version: int | Literal["latest"] = "latest", offset: int = 0, limit: int = -1
    ) -> list[int]:
        """Return the ids of the schemas that reference a version."""
        return self._ask(calls.referenced_by(subject_name, version, offset=offset, limit=limit))

    def get_versions(
        self, subject_name: str, deleted: bool = False, deleted_only: bool = False, offset: int = 0, limit: int = -1
    ) -> list[int]:
        """Return the version numbers of a subject."""
        return self._ask(
            calls.versions(subject_name, deleted=deleted, deleted_only=deleted_only, offset=offset, limit=limit)
        )

    def delete_version(self, subject_name: str, version: int, permanent: bool = False) -> int:
        """Soft delete a version, or hard delete it if ``permanent``; return its number."""
        try:
            return self._ask(calls.delete_version(subject_name, version, permanent=permanent))
        finally:
            self._known.wrote(subject_name, permanent=permanent)

    @property
    def latest_generation(self) -> int:
        """Number of invalidations of the latest-version cache; serializers look up again when it grows."""
        return self._known.latest.generation

    def clear_latest_caches(self) -> None:
        """Clear the cache of the versions that are the newest."""
        self._known.clear_latest()

    def clear_caches(self) -> None:
        """Clear all caches, so that nothing is remembered."""
        self._known.clear()

    @staticmethod
    def new_client(conf: dict[str, Any]) -> SchemaRegistryClient:
        """Return a new client."""
        return SchemaRegistryClient(conf)

    def _ask(self, call: Call[T]) -> T:
        try:
            return self._registry.send(call)
        except RegistryError as error:
            raise catchable(error) from None

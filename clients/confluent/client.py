"""``SchemaRegistryClient`` with the methods, arguments and results of confluent-kafka's."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from contractlog.clients.calls import Call
from contractlog.clients.confluent import confluent_calls
from contractlog.clients.confluent.cached_operations import CachedOperations
from contractlog.clients.confluent.configuration import ClientConfiguration
from contractlog.clients.confluent.errors import as_confluent_error
from contractlog.clients.method_factories import endpoint, sequence_endpoint
from contractlog.clients.registry import Registry, RegistryBase
from contractlog.compatibility.errors import RegistryError

__all__ = ["ClientBase", "SchemaRegistryClient"]

T = TypeVar("T")
RegistryT = TypeVar("RegistryT", bound=RegistryBase[Any])


class ClientBase(Generic[RegistryT]):
    """Configuration, connection and caches of a client, blocking or asynchronous."""

    _registry_class: type[RegistryT]

    def __init__(self, conf: dict[str, Any]) -> None:
        parsed = ClientConfiguration.parse(conf)
        self._conf = conf
        self._registry = self._registry_class(**parsed.registry)
        self._operations = CachedOperations(parsed.capacity, parsed.latest_seconds)

    @classmethod
    def over(cls, registry: RegistryT) -> Self:
        """Return a client that uses the connections of ``registry``."""
        client = cls({"url": registry.url})
        client._registry = registry
        return client

    def config(self) -> dict[str, Any]:
        """Return the configuration that this client was created with."""
        return self._conf

    @property
    def latest_generation(self) -> int:
        """Number of invalidations of the latest-version cache; serializers look up again when it grows."""
        return self._operations.latest.generation


class SchemaRegistryClient(ClientBase[Registry]):
    """Blocking client of a registry with confluent-kafka's API; as safe to share as ``Registry``.

    Error responses raise ``SchemaRegistryError``, which is also an instance of the class of the error code
    (``SubjectNotFound`` …); without a response, ``Unreachable`` is raised.

    Args:
        conf: ``url`` and the other keys of confluent-kafka's client; unknown ones are rejected. Unlike there, the
            defaults are finite: a call ends after 30 seconds, the latest version of a subject is cached for 60.
    """

    _registry_class = Registry

    get_schema_types = endpoint(confluent_calls.get_schema_types)
    get_subjects_by_schema_id = endpoint(confluent_calls.get_subjects_by_schema_id)
    get_schema_versions = endpoint(confluent_calls.get_schema_versions)
    get_subjects = endpoint(confluent_calls.get_subjects)
    get_referenced_by = endpoint(confluent_calls.get_referenced_by)
    get_versions = endpoint(confluent_calls.get_versions)
    set_compatibility = endpoint(confluent_calls.set_compatibility)
    get_compatibility = endpoint(confluent_calls.get_compatibility)
    test_compatibility = endpoint(confluent_calls.test_compatibility)
    test_compatibility_all_versions = endpoint(confluent_calls.test_compatibility_all_versions)
    get_config = endpoint(confluent_calls.get_config)
    delete_config = endpoint(confluent_calls.delete_config)
    get_mode = endpoint(confluent_calls.get_mode)
    update_mode = endpoint(confluent_calls.update_mode)
    delete_mode = endpoint(confluent_calls.delete_mode)
    get_global_mode = endpoint(confluent_calls.get_global_mode)
    update_global_mode = endpoint(confluent_calls.update_global_mode)
    get_contexts = endpoint(confluent_calls.get_contexts)
    get_associations_by_resource_name = endpoint(confluent_calls.get_associations_by_resource_name)

    register_schema = sequence_endpoint(CachedOperations.register_schema)
    register_schema_full_response = sequence_endpoint(CachedOperations.register_schema_full_response)
    get_schema = sequence_endpoint(CachedOperations.get_schema)
    get_schema_by_guid = sequence_endpoint(CachedOperations.get_schema_by_guid)
    lookup_schema = sequence_endpoint(CachedOperations.lookup_schema)
    get_latest_version = sequence_endpoint(CachedOperations.get_latest_version)
    get_latest_with_metadata = sequence_endpoint(CachedOperations.get_latest_with_metadata)
    get_version = sequence_endpoint(CachedOperations.get_version)
    delete_version = sequence_endpoint(CachedOperations.delete_version)
    delete_subject = sequence_endpoint(CachedOperations.delete_subject)
    set_config = sequence_endpoint(CachedOperations.set_config)
    create_association = sequence_endpoint(CachedOperations.create_association)
    delete_associations = sequence_endpoint(CachedOperations.delete_associations)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._registry.close()

    def close(self) -> None:
        """Close all connections."""
        self._registry.close()

    def clear_latest_caches(self) -> None:
        """Clear the cache of the versions that are the newest."""
        self._operations.latest.invalidate()

    def clear_caches(self) -> None:
        """Clear all caches, so that nothing is remembered."""
        self._operations.clear()

    @staticmethod
    def new_client(conf: dict[str, Any]) -> SchemaRegistryClient:
        """Return a new client."""
        return SchemaRegistryClient(conf)

    def _send(self, call: Call[T]) -> T:
        try:
            return self._registry.send(call)
        except RegistryError as error:
            raise as_confluent_error(error) from None

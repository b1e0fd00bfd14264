"""``AsyncSchemaRegistryClient`` with the methods, arguments and results of confluent-kafka's."""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from contractlog.clients.async_registry import AsyncRegistry
from contractlog.clients.calls import Call
from contractlog.clients.confluent import confluent_calls
from contractlog.clients.confluent.cached_operations import CachedOperations
from contractlog.clients.confluent.client import ClientBase
from contractlog.clients.confluent.errors import as_confluent_error
from contractlog.clients.method_factories import async_endpoint, async_sequence_endpoint
from contractlog.compatibility.errors import RegistryError

__all__ = ["AsyncSchemaRegistryClient"]

T = TypeVar("T")


class _Completed:
    """Completed awaitable: may be awaited any number of times, or not at all."""

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


_COMPLETED: Final = _Completed()


class AsyncSchemaRegistryClient(ClientBase[AsyncRegistry]):
    """Asynchronous client of a registry with confluent-kafka's API; as safe to share as ``AsyncRegistry``.

    Error responses raise ``SchemaRegistryError``, which is also an instance of the class of the error code
    (``SubjectNotFound`` …); without a response, ``Unreachable`` is raised.

    Args:
        conf: ``url`` and the other keys of confluent-kafka's client; unknown ones are rejected. Unlike there, the
            defaults are finite: a call ends after 30 seconds, the latest version of a subject is cached for 60.
    """

    _registry_class = AsyncRegistry

    get_schema_types = async_endpoint(confluent_calls.get_schema_types)
    get_subjects_by_schema_id = async_endpoint(confluent_calls.get_subjects_by_schema_id)
    get_schema_versions = async_endpoint(confluent_calls.get_schema_versions)
    get_subjects = async_endpoint(confluent_calls.get_subjects)
    get_referenced_by = async_endpoint(confluent_calls.get_referenced_by)
    get_versions = async_endpoint(confluent_calls.get_versions)
    set_compatibility = async_endpoint(confluent_calls.set_compatibility)
    get_compatibility = async_endpoint(confluent_calls.get_compatibility)
    test_compatibility = async_endpoint(confluent_calls.test_compatibility)
    test_compatibility_all_versions = async_endpoint(confluent_calls.test_compatibility_all_versions)
    get_config = async_endpoint(confluent_calls.get_config)
    delete_config = async_endpoint(confluent_calls.delete_config)
    get_mode = async_endpoint(confluent_calls.get_mode)
    update_mode = async_endpoint(confluent_calls.update_mode)
    delete_mode = async_endpoint(confluent_calls.delete_mode)
    get_global_mode = async_endpoint(confluent_calls.get_global_mode)
    update_global_mode = async_endpoint(confluent_calls.update_global_mode)
    get_contexts = async_endpoint(confluent_calls.get_contexts)
    get_associations_by_resource_name = async_endpoint(confluent_calls.get_associations_by_resource_name)

    register_schema = async_sequence_endpoint(CachedOperations.register_schema)
    register_schema_full_response = async_sequence_endpoint(CachedOperations.register_schema_full_response)
    get_schema = async_sequence_endpoint(CachedOperations.get_schema)
    get_schema_by_guid = async_sequence_endpoint(CachedOperations.get_schema_by_guid)
    lookup_schema = async_sequence_endpoint(CachedOperations.lookup_schema)
    get_latest_version = async_sequence_endpoint(CachedOperations.get_latest_version)
    get_latest_with_metadata = async_sequence_endpoint(CachedOperations.get_latest_with_metadata)
    get_version = async_sequence_endpoint(CachedOperations.get_version)
    delete_version = async_sequence_endpoint(CachedOperations.delete_version)
    delete_subject = async_sequence_endpoint(CachedOperations.delete_subject)
    set_config = async_sequence_endpoint(CachedOperations.set_config)
    create_association = async_sequence_endpoint(CachedOperations.create_association)
    delete_associations = async_sequence_endpoint(CachedOperations.delete_associations)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._registry.close()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._registry.close()

    def clear_latest_caches(self) -> Awaitable[None]:
        """Clear the cache of the versions that are the newest; may be awaited, as in confluent-kafka."""
        self._operations.latest.invalidate()
        return _COMPLETED

    def clear_caches(self) -> Awaitable[None]:
        """Clear all caches, so that nothing is remembered; may be awaited, as in confluent-kafka."""
        self._operations.clear()
        return _COMPLETED

    @staticmethod
    def new_client(conf: dict[str, Any]) -> AsyncSchemaRegistryClient:
        """Return a new client."""
        return AsyncSchemaRegistryClient(conf)

    async def _send(self, call: Call[T]) -> T:
        try:
            return await self._registry.send(call)
        except RegistryError as error:
            raise as_confluent_error(error) from None

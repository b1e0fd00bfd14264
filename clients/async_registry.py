"""Asynchronous client of a registry, with the methods of ``registry.py``."""

from __future__ import annotations

from types import TracebackType
from typing import Self, TypeVar

from contractlog.clients import calls
from contractlog.clients.async_transport import AsyncTransport
from contractlog.clients.cache import CachedLookups
from contractlog.clients.calls import Call, encryption_keys, extensions
from contractlog.clients.calls import change_requests as change_request_calls
from contractlog.clients.method_factories import async_endpoint, async_paged_endpoint, async_sequence_endpoint
from contractlog.clients.registry import RegistryBase
from contractlog.compatibility.errors import SubjectNotFound

__all__ = ["AsyncRegistry"]

T = TypeVar("T")


class AsyncRegistry(RegistryBase[AsyncTransport]):
    """Asynchronous client of a registry, over HTTP or in this process; used from one event loop.

    Every failure is an exception of ``compatibility/errors.py``: those that the service raises, ``Unreachable`` if
    there was no response, ``UnreadableResponse`` if the response was not that of a registry.

    Args:
        url: URL of the registry, with credentials if needed; several URLs are separated by commas.
        app: an ASGI application to call in this process, instead of a URL.
        timeout: seconds for a whole call, retries included.
        headers: sent with every request.
        retries: number of attempts of a failed call, and the pauses between them.
        security: user and password, or a token; client certificate and trusted CA.
        proxy: URL of a proxy; None uses the one in ``HTTPS_PROXY`` and the like, if any.
        caching: sizes and lifetimes of the caches.
        watch: hooks called for every request and every cache lookup.
    """

    _transport_class = AsyncTransport

    subjects = async_endpoint(calls.subjects)
    each_subject = async_paged_endpoint(calls.each_subject)
    register = async_endpoint(calls.register)
    lookup = async_endpoint(calls.lookup)
    delete_subject = async_endpoint(calls.delete_subject)

    version = async_endpoint(calls.version)
    text_of_version = async_endpoint(calls.text_of_version)
    versions = async_endpoint(calls.versions)
    referenced_by = async_endpoint(calls.referenced_by)
    derive = async_endpoint(calls.derive)
    delete_version = async_endpoint(calls.delete_version)

    text_of_id = async_endpoint(calls.text_of_id)
    subjects_of_id = async_endpoint(calls.subjects_of_id)
    versions_of_id = async_endpoint(calls.versions_of_id)
    ids_of_guid = async_endpoint(calls.ids_of_guid)
    schemas = async_endpoint(calls.schemas)
    each_schema = async_paged_endpoint(calls.each_schema)
    types = async_endpoint(calls.types)
    check = async_endpoint(calls.check)

    config = async_endpoint(calls.config)
    set_config = async_endpoint(calls.set_config)
    delete_config = async_endpoint(calls.delete_config)
    level = async_endpoint(calls.level)
    set_level = async_endpoint(calls.set_level)
    delete_level = async_endpoint(calls.delete_level)
    policy = async_endpoint(calls.policy)
    set_policy = async_endpoint(calls.set_policy)
    mode = async_endpoint(calls.mode)
    set_mode = async_endpoint(calls.set_mode)
    delete_mode = async_endpoint(calls.delete_mode)

    associations_by_resource_name = async_endpoint(calls.associations_by_resource_name)
    associations_by_resource_id = async_endpoint(calls.associations_by_resource_id)
    associations_of_subject = async_endpoint(calls.associations_of_subject)
    associations_of_many = async_endpoint(calls.associations_of_many)
    bind = async_endpoint(calls.bind)
    ensure_bound = async_endpoint(calls.ensure_bound)
    unbind = async_endpoint(calls.unbind)
    change_associations = async_endpoint(calls.change_associations)

    keks = async_endpoint(encryption_keys.keks)
    kek = async_endpoint(encryption_keys.kek)
    create_kek = async_endpoint(encryption_keys.create_kek)
    update_kek = async_endpoint(encryption_keys.update_kek)
    test_kek = async_endpoint(encryption_keys.test_kek)
    delete_kek = async_endpoint(encryption_keys.delete_kek)
    undelete_kek = async_endpoint(encryption_keys.undelete_kek)
    dek_subjects = async_endpoint(encryption_keys.dek_subjects)
    dek = async_endpoint(encryption_keys.dek)
    dek_versions = async_endpoint(encryption_keys.dek_versions)
    create_dek = async_endpoint(encryption_keys.create_dek)
    delete_dek = async_endpoint(encryption_keys.delete_dek)
    undelete_dek = async_endpoint(encryption_keys.undelete_dek)
    delete_dek_version = async_endpoint(encryption_keys.delete_dek_version)
    undelete_dek_version = async_endpoint(encryption_keys.undelete_dek_version)

    contexts = async_endpoint(calls.contexts)
    delete_context = async_endpoint(calls.delete_context)
    ping = async_endpoint(calls.ping)
    clusters = async_endpoint(calls.clusters)
    server_version = async_endpoint(calls.server_version)
    deployment = async_endpoint(calls.deployment)
    live = async_endpoint(calls.live)
    started = async_endpoint(calls.started)
    ready = async_endpoint(calls.ready)
    metrics = async_endpoint(calls.metrics)

    conformance = async_endpoint(calls.conformance)
    conformance_history = async_endpoint(calls.conformance_history)
    publish_conformance = async_endpoint(calls.publish_conformance)
    contracts = async_endpoint(extensions.contracts)
    contract = async_endpoint(extensions.contract)
    contract_versions = async_endpoint(extensions.contract_versions)
    contract_consumers = async_endpoint(extensions.contract_consumers)
    put_contract = async_endpoint(extensions.put_contract)
    delete_contract = async_endpoint(extensions.delete_contract)
    lineage = async_endpoint(extensions.lineage)
    lineage_edges = async_endpoint(extensions.lineage_edges)
    each_lineage_edge = async_paged_endpoint(extensions.each_lineage_edge)
    publish_lineage = async_endpoint(extensions.publish_lineage)
    changes = async_endpoint(extensions.changes)
    each_change = async_paged_endpoint(extensions.each_change)
    open_change_request = async_endpoint(change_request_calls.open_change_request)
    update_change_request = async_endpoint(change_request_calls.update_change_request)
    change_requests = async_endpoint(change_request_calls.change_requests)
    change_request = async_endpoint(change_request_calls.change_request)
    approve_change_request = async_endpoint(change_request_calls.approve_change_request)
    comment_on_change_request = async_endpoint(change_request_calls.comment_on_change_request)
    merge_change_request = async_endpoint(change_request_calls.merge_change_request)
    close_change_request = async_endpoint(change_request_calls.close_change_request)
    waivers = async_endpoint(change_request_calls.waivers)
    search = async_endpoint(extensions.search)
    each_hit = async_paged_endpoint(extensions.each_hit)
    difference = async_endpoint(extensions.difference)
    graph = async_endpoint(extensions.graph)
    permissions = async_endpoint(extensions.permissions)
    effective_settings = async_endpoint(extensions.effective_settings)
    lookup_many = async_endpoint(extensions.lookup_many)
    check_many = async_endpoint(extensions.check_many)
    fetches = async_endpoint(extensions.fetches)
    usage = async_endpoint(extensions.usage)

    schema_by_id = async_sequence_endpoint(CachedLookups.schema_by_id)
    schema_by_guid = async_sequence_endpoint(CachedLookups.schema_by_guid)
    latest = async_sequence_endpoint(CachedLookups.latest)
    latest_with_metadata = async_sequence_endpoint(CachedLookups.latest_with_metadata)
    referenced = async_sequence_endpoint(CachedLookups.referenced)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._transport.close()

    async def send(self, call: Call[T]) -> T:
        """Send a call of ``calls/`` and return its parsed response."""
        try:
            return await self._transport.send(call if self._context is None else call.within(self._context))
        except SubjectNotFound:
            if call.without_subject is None:
                raise
            return await self.send(call.without_subject)
        finally:
            self._operations.invalidate_after(call)

    async def _send(self, call: Call[T]) -> T:
        return await self.send(call)  # which a subclass may override

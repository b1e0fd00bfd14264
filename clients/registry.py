"""Blocking client of a registry: one method per operation, with caches."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from types import TracebackType
from typing import Generic, Self, TypeVar

from contractlog.clients import calls
from contractlog.clients.cache import CachedLookups, Caching, ClientCaches
from contractlog.clients.calls import Call, encryption_keys, extensions
from contractlog.clients.calls import change_requests as change_request_calls
from contractlog.clients.hooks import Watch
from contractlog.clients.method_factories import endpoint, paged_endpoint, sequence_endpoint
from contractlog.clients.retry_and_failover import Retries
from contractlog.clients.settings import DEFAULT_TIMEOUT, Security
from contractlog.clients.transport import ASGIApp, HttpTransportBase, Transport
from contractlog.compatibility.errors import SubjectNotFound

__all__ = ["Registry", "RegistryBase"]

T = TypeVar("T")
TransportT = TypeVar("TransportT", bound=HttpTransportBase)


class RegistryBase(Generic[TransportT]):
    """Connection, caches and context of a client, blocking or asynchronous."""

    _transport_class: type[TransportT]

    def __init__(
        self,
        url: str | None = None,
        *,
        app: ASGIApp | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        headers: Mapping[str, str] | None = None,
        retries: Retries | None = None,
        security: Security | None = None,
        proxy: str | None = None,
        caching: Caching | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._transport = self._transport_class(
            url,
            app=app,
            timeout=timeout,
            headers=headers,
            retries=retries,
            security=security,
            proxy=proxy,
            watch=watch,
        )
        self._operations = CachedLookups(ClientCaches(caching, watch), seconds=self._transport.seconds)
        self._context: str | None = None

    @property
    def latest_generation(self) -> int:
        """Number of invalidations of the latest-version cache; serializers look up again when it grows."""
        return self._operations.caches.latest.generation

    @property
    def url(self) -> str:
        """URL of the registry, without credentials; of several, the first."""
        return self._transport.urls[0]

    def with_context(self, context: str) -> Self:
        """Return a client for a context (``.eu``), in which unqualified subject names are resolved.

        Connections and caches are shared; closing either client closes both.
        """
        client = copy(self)
        client._context = context if context.startswith(".") else f".{context}"  # noqa: SLF001 - of the same class
        client._operations = CachedLookups(self._operations.caches, client._context, self._operations.seconds)  # noqa: SLF001
        return client

    def forget(self) -> None:
        """Clear all caches."""
        self._operations.caches.clear()


class Registry(RegistryBase[Transport]):
    """Blocking client of a registry, over HTTP or in this process; may be shared by threads.

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

    _transport_class = Transport

    subjects = endpoint(calls.subjects)
    each_subject = paged_endpoint(calls.each_subject)
    register = endpoint(calls.register)
    lookup = endpoint(calls.lookup)
    delete_subject = endpoint(calls.delete_subject)

    version = endpoint(calls.version)
    text_of_version = endpoint(calls.text_of_version)
    versions = endpoint(calls.versions)
    referenced_by = endpoint(calls.referenced_by)
    derive = endpoint(calls.derive)
    delete_version = endpoint(calls.delete_version)

    text_of_id = endpoint(calls.text_of_id)
    subjects_of_id = endpoint(calls.subjects_of_id)
    versions_of_id = endpoint(calls.versions_of_id)
    ids_of_guid = endpoint(calls.ids_of_guid)
    schemas = endpoint(calls.schemas)
    each_schema = paged_endpoint(calls.each_schema)
    types = endpoint(calls.types)
    check = endpoint(calls.check)

    config = endpoint(calls.config)
    set_config = endpoint(calls.set_config)
    delete_config = endpoint(calls.delete_config)
    level = endpoint(calls.level)
    set_level = endpoint(calls.set_level)
    delete_level = endpoint(calls.delete_level)
    policy = endpoint(calls.policy)
    set_policy = endpoint(calls.set_policy)
    mode = endpoint(calls.mode)
    set_mode = endpoint(calls.set_mode)
    delete_mode = endpoint(calls.delete_mode)

    associations_by_resource_name = endpoint(calls.associations_by_resource_name)
    associations_by_resource_id = endpoint(calls.associations_by_resource_id)
    associations_of_subject = endpoint(calls.associations_of_subject)
    associations_of_many = endpoint(calls.associations_of_many)
    bind = endpoint(calls.bind)
    ensure_bound = endpoint(calls.ensure_bound)
    unbind = endpoint(calls.unbind)
    change_associations = endpoint(calls.change_associations)

    keks = endpoint(encryption_keys.keks)
    kek = endpoint(encryption_keys.kek)
    create_kek = endpoint(encryption_keys.create_kek)
    update_kek = endpoint(encryption_keys.update_kek)
    test_kek = endpoint(encryption_keys.test_kek)
    delete_kek = endpoint(encryption_keys.delete_kek)
    undelete_kek = endpoint(encryption_keys.undelete_kek)
    dek_subjects = endpoint(encryption_keys.dek_subjects)
    dek = endpoint(encryption_keys.dek)
    dek_versions = endpoint(encryption_keys.dek_versions)
    create_dek = endpoint(encryption_keys.create_dek)
    delete_dek = endpoint(encryption_keys.delete_dek)
    undelete_dek = endpoint(encryption_keys.undelete_dek)
    delete_dek_version = endpoint(encryption_keys.delete_dek_version)
    undelete_dek_version = endpoint(encryption_keys.undelete_dek_version)

    contexts = endpoint(calls.contexts)
    delete_context = endpoint(calls.delete_context)
    ping = endpoint(calls.ping)
    clusters = endpoint(calls.clusters)
    server_version = endpoint(calls.server_version)
    deployment = endpoint(calls.deployment)
    live = endpoint(calls.live)
    started = endpoint(calls.started)
    ready = endpoint(calls.ready)
    metrics = endpoint(calls.metrics)

    conformance = endpoint(calls.conformance)
    conformance_history = endpoint(calls.conformance_history)
    publish_conformance = endpoint(calls.publish_conformance)
    contracts = endpoint(extensions.contracts)
    contract = endpoint(extensions.contract)
    contract_versions = endpoint(extensions.contract_versions)
    contract_consumers = endpoint(extensions.contract_consumers)
    put_contract = endpoint(extensions.put_contract)
    delete_contract = endpoint(extensions.delete_contract)
    lineage = endpoint(extensions.lineage)
    lineage_edges = endpoint(extensions.lineage_edges)
    each_lineage_edge = paged_endpoint(extensions.each_lineage_edge)
    publish_lineage = endpoint(extensions.publish_lineage)
    changes = endpoint(extensions.changes)
    each_change = paged_endpoint(extensions.each_change)
    open_change_request = endpoint(change_request_calls.open_change_request)
    update_change_request = endpoint(change_request_calls.update_change_request)
    change_requests = endpoint(change_request_calls.change_requests)
    change_request = endpoint(change_request_calls.change_request)
    approve_change_request = endpoint(change_request_calls.approve_change_request)
    comment_on_change_request = endpoint(change_request_calls.comment_on_change_request)
    merge_change_request = endpoint(change_request_calls.merge_change_request)
    close_change_request = endpoint(change_request_calls.close_change_request)
    waivers = endpoint(change_request_calls.waivers)
    search = endpoint(extensions.search)
    each_hit = paged_endpoint(extensions.each_hit)
    difference = endpoint(extensions.difference)
    graph = endpoint(extensions.graph)
    permissions = endpoint(extensions.permissions)
    effective_settings = endpoint(extensions.effective_settings)
    lookup_many = endpoint(extensions.lookup_many)
    check_many = endpoint(extensions.check_many)
    fetches = endpoint(extensions.fetches)
    usage = endpoint(extensions.usage)

    schema_by_id = sequence_endpoint(CachedLookups.schema_by_id)
    schema_by_guid = sequence_endpoint(CachedLookups.schema_by_guid)
    latest = sequence_endpoint(CachedLookups.latest)
    latest_with_metadata = sequence_endpoint(CachedLookups.latest_with_metadata)
    referenced = sequence_endpoint(CachedLookups.referenced)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._transport.close()

    def send(self, call: Call[T]) -> T:
        """Send a call of ``calls/`` and return its parsed response."""
        try:
            return self._transport.send(call if self._context is None else call.within(self._context))
        except SubjectNotFound:
            if call.without_subject is None:
                raise
            return self.send(call.without_subject)
        finally:
            self._operations.invalidate_after(call)

    def _send(self, call: Call[T]) -> T:
        return self.send(call)  # which a subclass may override

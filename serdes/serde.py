"""Base classes of serializers and deserializers: source of schemas, cached plans, merged requests."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Hashable
from typing import Any, Final, Generic, Protocol, Self, TypeVar

from contractlog.compatibility.errors import ServerError, Unreachable
from contractlog.serdes.cache import BoundedDict, Clock, GenerationCounter
from contractlog.serdes.confluent_source import require_async_client, require_sync_client
from contractlog.serdes.context import Context
from contractlog.serdes.sans_io import Steps, run_async, run_sync
from contractlog.serdes.single_flight import SingleFlight, TaskSingleFlight
from contractlog.serdes.subject_names import SubjectResolver

__all__ = ["AsyncSerde", "CachedPlan", "Serde", "SyncSerde"]

MAX_PLANS: Final = 2_000  #: cached topics and parts; each may hold a codec of its own, of about 30 KiB
RETRY_SECONDS: Final = 5.0  #: seconds until the newest version is requested again from an unavailable registry


class CachedPlan(Protocol):
    """A prepared way to write or read the records of one topic and part."""

    expires_at: float | None  #: expiry time; None: never
    generation: int  #: of the client's newest versions, when it was requested


P = TypeVar("P", bound=CachedPlan)


class Serde(ABC, Generic[P]):
    """Cache of plans by topic and part, which makes those that are missing or stale.

    Args:
        source: the source of schemas; None if schemas are given.
        naming: names the subjects.
        clock: returns seconds; monotonic.
    """

    def __init__(self, source: Any, naming: SubjectResolver, clock: Clock = time.monotonic) -> None:
        self._source = source
        self._generation = GenerationCounter(source)
        self._subject_resolver = naming
        self._cacheable = naming.cacheable
        self._clock = clock
        self._plans: BoundedDict[Any, P] = BoundedDict(MAX_PLANS)
        self._owns_source = False

    def own_schema_registry_client(self) -> None:
        """Close the registry client with this serde; builders call this for a client that they made."""
        self._owns_source = self._source is not None

    def set_cluster_id_resolver(self, resolver: Callable[[], Any]) -> None:
        """Set the function that returns the Kafka cluster's id; confluent-kafka's clients call this."""
        self._subject_resolver.set_cluster_id_resolver(resolver)

    @abstractmethod
    def _make_plan(self, key: Any, ctx: Context | None) -> Steps[P]:
        """Make the plan of a key, and cache it."""

    def _request_key(self, key: Any, ctx: Context | None) -> Hashable:  # noqa: ARG002 -- overrides use both arguments
        """Return the key under which concurrent requests are merged."""
        named: Hashable = key
        return named

    def _fresh_plan(self, key: Any) -> P | None:
        plan = self._plans.get(key)
        return None if plan is None or self._is_stale(plan) else plan

    def _is_stale(self, plan: P) -> bool:
        return plan.expires_at is not None and (
            plan.expires_at <= self._clock() or plan.generation != self._generation()
        )

    def _extend_stale_plan(self, key: Any, error: Exception) -> P:
        """Extend a stale plan while the registry is unavailable."""
        plan = self._plans.get(key)
        if plan is None:
            raise error
        plan.expires_at, plan.generation = self._clock() + RETRY_SECONDS, self._generation()
        return plan


class SyncSerde(Serde[P]):
    """A synchronous serde. May be shared by threads."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        require_sync_client(self, self._source)
        self._single_flight: SingleFlight[P] = SingleFlight()

    def close(self) -> None:
        """Close the registry client if a builder made it; a client that was passed in belongs to the caller."""
        if self._owns_source:
            self._owns_source = False
            self._source.close()

    def _find_plan(self, key: Any, ctx: Context | None) -> P:
        return self._fresh_plan(key) or self._single_flight.run_once(
            self._request_key(key, ctx), lambda: self._make_or_extend_plan(key, ctx)
        )

    def _make_or_extend_plan(self, key: Any, ctx: Context | None) -> P:
        plan = self._fresh_plan(key)
        if plan is not None:
            return plan
        try:
            return run_sync(self._make_plan(key, ctx), self._source)
        except (Unreachable, ServerError) as error:
            return self._extend_stale_plan(key, error)


class AsyncSerde(Serde[P]):
    """An asynchronous serde. May be shared by tasks.

    It is ready after construction; ``await AsyncAvroSerializer(…)``, as confluent-kafka requires, returns the same
    object.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        require_async_client(self, self._source)
        self._single_flight: TaskSingleFlight[P] = TaskSingleFlight()

    def __await__(self) -> Generator[Any, None, Self]:
        yield from ()
        return self

    def set_async_cluster_id_resolver(self, resolver: Callable[[], Any]) -> None:
        """Set the function that returns the Kafka cluster's id; confluent-kafka's asyncio clients call this."""
        self.set_cluster_id_resolver(resolver)

    async def close(self) -> None:
        """Close the registry client if a builder made it; a client that was passed in belongs to the caller."""
        if self._owns_source:
            self._owns_source = False
            await self._source.close()

    async def aclose(self) -> None:
        """Call ``close``; asyncio clients of confluent-kafka call this."""
        await self.close()

    async def _find_plan(self, key: Any, ctx: Context | None) -> P:
        return self._fresh_plan(key) or await self._single_flight.run_once(
            self._request_key(key, ctx), lambda: self._make_or_extend_plan(key, ctx)
        )

    async def _make_or_extend_plan(self, key: Any, ctx: Context | None) -> P:
        plan = self._fresh_plan(key)
        if plan is not None:
            return plan
        try:
            return await run_async(self._make_plan(key, ctx), self._source)
        except (Unreachable, ServerError) as error:
            return self._extend_stale_plan(key, error)

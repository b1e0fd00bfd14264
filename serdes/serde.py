"""Base classes of serializers and deserializers: source of schemas, cached plans, merged requests."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Hashable
from typing import Any, Final, Generic, Protocol, Self, TypeVar

from contractlog.compatibility.errors import ServerError, Unreachable
from contractlog.serdes.adapting import awaiting, waiting
from contractlog.serdes.asking import Steps, answered, awaited
from contractlog.serdes.context import Context
from contractlog.serdes.flights import Flights, TaskFlights
from contractlog.serdes.memory import Clock, Generation, Kept
from contractlog.serdes.naming import Naming

__all__ = ["AwaitedSerde", "Plan", "Serde", "WaitingSerde"]

PLACES: Final = 2_000  #: cached topics and parts; each may hold a codec of its own, of about 30 KiB
PATIENCE: Final = 5.0  #: seconds until the newest version is requested again from an unavailable registry


class Plan(Protocol):
    """A prepared way to write or read the records of one topic and part."""

    until: float | None  #: expiry time; None: never
    generation: int  #: of the client's newest versions, when it was requested


P = TypeVar("P", bound=Plan)


class Serde(ABC, Generic[P]):
    """Cache of plans by topic and part, which makes those that are missing or stale.

    Args:
        source: the source of schemas; None if schemas are given.
        naming: names the subjects.
        clock: returns seconds; monotonic.
    """

    def __init__(self, source: Any, naming: Naming, clock: Clock = time.monotonic) -> None:
        self._source = source
        self._generation = Generation(source)
        self._naming = naming
        self._by_place = naming.by_place
        self._clock = clock
        self._plans: Kept[Any, P] = Kept(PLACES)
        self._owns_source = False

    def own_schema_registry_client(self) -> None:
        """Close the registry client with this serde; builders call this for a client that they made."""
        self._owns_source = self._source is not None

    def set_cluster_id_resolver(self, resolver: Callable[[], Any]) -> None:
        """Set the function that returns the Kafka cluster's id; confluent-kafka's clients call this."""
        self._naming.set_cluster_id_resolver(resolver)

    @abstractmethod
    def _planning(self, key: Any, ctx: Context | None) -> Steps[P]:
        """Make the plan of a key, and cache it."""

    def _flight(self, key: Any, ctx: Context | None) -> Hashable:  # noqa: ARG002 -- overrides use both arguments
        """Return the key under which concurrent requests are merged."""
        named: Hashable = key
        return named

    def _known(self, key: Any) -> P | None:
        plan = self._plans.get(key)
        return None if plan is None or self._stale(plan) else plan

    def _stale(self, plan: P) -> bool:
        return plan.until is not None and (plan.until <= self._clock() or plan.generation != self._generation())

    def _kept_though_old(self, key: Any, error: Exception) -> P:
        """Extend a stale plan while the registry is unavailable."""
        plan = self._plans.get(key)
        if plan is None:
            raise error
        plan.until, plan.generation = self._clock() + PATIENCE, self._generation()
        return plan


class WaitingSerde(Serde[P]):
    """A synchronous serde. May be shared by threads."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        waiting(self, self._source)
        self._flights: Flights[P] = Flights()

    def close(self) -> None:
        """Close the registry client if a builder made it; a client that was passed in belongs to the caller."""
        if self._owns_source:
            self._owns_source = False
            self._source.close()

    def _planned(self, key: Any, ctx: Context | None) -> P:
        return self._known(key) or self._flights.once(self._flight(key, ctx), lambda: self._made(key, ctx))

    def _made(self, key: Any, ctx: Context | None) -> P:
        known = self._known(key)
        if known is not None:
            return known
        try:
            return answered(self._planning(key, ctx), self._source)
        except (Unreachable, ServerError) as error:
            return self._kept_though_old(key, error)


class AwaitedSerde(Serde[P]):
    """An asynchronous serde. May be shared by tasks.

    It is ready after construction; ``await AsyncAvroSerializer(…)``, as confluent-kafka requires, returns the same
    object.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        awaiting(self, self._source)
        self._flights: TaskFlights[P] = TaskFlights()

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

    async def _planned(self, key: Any, ctx: Context | None) -> P:
        return self._known(key) or await self._flights.once(self._flight(key, ctx), lambda: self._made(key, ctx))

    async def _made(self, key: Any, ctx: Context | None) -> P:
        known = self._known(key)
        if known is not None:
            return known
        try:
            return await awaited(self._planning(key, ctx), self._source)
        except (Unreachable, ServerError) as error:
            return self._kept_though_old(key, error)

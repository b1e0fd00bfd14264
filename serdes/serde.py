"""What serializers and deserializers share: where schemas come from, the plans of places, and one question for each."""

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

PLACES: Final = 2_000  #: topics and parts that are remembered; each may hold a codec of its own, of about 30 KiB
PATIENCE: Final = 5.0  #: seconds until a registry that is away is asked for the newest version again


class Plan(Protocol):
    """What the records of one place are written or read with."""

    until: float | None  #: when it has to be made anew; None: it holds for ever
    generation: int  #: of the client's newest versions, when this was asked for


P = TypeVar("P", bound=Plan)


class Serde(ABC, Generic[P]):
    """Holds plans by place, and makes those that are missing or old.

    Args:
        source: answers what is asked of a registry; None where schemas are given.
        naming: decides on subjects.
        clock: tells the seconds; it never goes back.
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
        """Close the registry client when this is closed; builders call this for a client that they made."""
        self._owns_source = self._source is not None

    def set_cluster_id_resolver(self, resolver: Callable[[], Any]) -> None:
        """Hear how to find the id of the Kafka cluster; producers and consumers of confluent-kafka call this."""
        self._naming.set_cluster_id_resolver(resolver)

    @abstractmethod
    def _planning(self, key: Any, ctx: Context | None) -> Steps[P]:
        """Decide on the plan of a place, and keep it."""

    def _flight(self, key: Any, ctx: Context | None) -> Hashable:  # noqa: ARG002 -- others are named by both
        """Name what is asked for once."""
        named: Hashable = key
        return named

    def _known(self, key: Any) -> P | None:
        plan = self._plans.get(key)
        return None if plan is None or self._stale(plan) else plan

    def _stale(self, plan: P) -> bool:
        return plan.until is not None and (plan.until <= self._clock() or plan.generation != self._generation())

    def _kept_though_old(self, key: Any, error: Exception) -> P:
        """Go on with an old plan while the registry is away."""
        plan = self._plans.get(key)
        if plan is None:
            raise error
        plan.until, plan.generation = self._clock() + PATIENCE, self._generation()
        return plan


class WaitingSerde(Serde[P]):
    """Waits for the registry. May be shared by threads."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        waiting(self, self._source)
        self._flights: Flights[P] = Flights()

    def close(self) -> None:
        """Close the registry client if a builder made it; one that was passed in is the caller's."""
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
    """Awaits the registry. May be shared by tasks.

    It is ready when it is made; ``await AsyncAvroSerializer(…)``, as confluent-kafka's wants it, gives the same.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        awaiting(self, self._source)
        self._flights: TaskFlights[P] = TaskFlights()

    def __await__(self) -> Generator[Any, None, Self]:
        yield from ()
        return self

    def set_async_cluster_id_resolver(self, resolver: Callable[[], Any]) -> None:
        """Hear how to find the id of the Kafka cluster; asyncio clients of confluent-kafka call this."""
        self.set_cluster_id_resolver(resolver)

    async def close(self) -> None:
        """Close the registry client if a builder made it; one that was passed in is the caller's."""
        if self._owns_source:
            self._owns_source = False
            await self._source.close()

    async def aclose(self) -> None:
        """Do as ``close``; asyncio clients of confluent-kafka call this."""
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

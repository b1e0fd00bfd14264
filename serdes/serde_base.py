"""Base classes of serializers and deserializers: source of schemas, cached plans, merged requests."""

from __future__ import annotations

import asyncio
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Generator, Hashable
from concurrent.futures import Future
from typing import Any, Final, Generic, Protocol, Self, TypeVar

from contractlog.compatibility.bounded_cache import BoundedCache
from contractlog.compatibility.errors import ServerError, Unreachable
from contractlog.serdes.client_sources import require_async_client, require_sync_client
from contractlog.serdes.context import Context
from contractlog.serdes.rules.components import RuleComponents
from contractlog.serdes.settings import Clock
from contractlog.serdes.source_requests import Steps, run_async, run_sync
from contractlog.serdes.subject_names import SubjectResolver

__all__ = ["AsyncSerde", "CachedPlan", "PlanMissing", "Serde", "SingleFlight", "SyncSerde", "TaskSingleFlight"]

V = TypeVar("V")
MAX_PLANS: Final = 2_000  #: cached topics and parts; each may hold a codec of its own, of about 30 KiB
RETRY_SECONDS: Final = 5.0  #: seconds until the newest version is requested again from an unavailable registry


class SingleFlight(Generic[V]):
    """Work by key, done once for all threads that request it at the same time."""

    def __init__(self) -> None:
        self._running: dict[Hashable, Future[V]] = {}
        self._lock = threading.Lock()

    def run_once(self, key: Hashable, work: Callable[[], V]) -> V:
        """Do the work, or wait for the thread that is doing it; all callers get its result or its error."""
        while True:
            with self._lock:
                flight = self._running.get(key)
                if flight is None:
                    own = self._running[key] = Future()
                    break
            try:
                return flight.result()
            except Exception:
                raise
            except BaseException:  # noqa: BLE001, S112 -- only the other thread was interrupted
                continue
        try:
            result = work()
        except BaseException as error:
            self._finish(key)
            own.set_exception(error)
            raise
        self._finish(key)
        own.set_result(result)
        return result

    def _finish(self, key: Hashable) -> None:
        with self._lock:
            del self._running[key]


class TaskSingleFlight(Generic[V]):
    """Work by key, done once for all tasks of an event loop that request it at the same time.

    The work is a task of its own, so the cancellation of one waiting task does not affect the others.
    """

    def __init__(self) -> None:
        self._running: dict[tuple[int, Hashable], asyncio.Task[V]] = {}

    async def run_once(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, V]]) -> V:
        """Do the work, or wait for the task that is doing it; all callers get its result or its error."""
        loop_key = (id(asyncio.get_running_loop()), key)
        task = self._running.get(loop_key)
        if task is None:
            task = self._running[loop_key] = asyncio.create_task(work())
            task.add_done_callback(lambda done: self._finish(loop_key, done))
        waiting: Awaitable[V] = asyncio.shield(task)
        return await waiting

    def _finish(self, loop_key: tuple[int, Hashable], done: asyncio.Task[V]) -> None:
        self._running.pop(loop_key, None)
        if not done.cancelled():
            done.exception()  # marks the error as retrieved, as no caller may be waiting any more


class CachedPlan(Protocol):
    """A prepared way to write or read the records of one topic and part."""

    expires_at: float | None  #: expiry time; None: never
    generation: int  #: of the client's newest versions, when it was requested


P = TypeVar("P", bound=CachedPlan)


class PlanMissing(Exception):
    """No fresh plan is cached; an asynchronous serde requests it, and then continues."""

    body: tuple[bytes, int]  #: of a record that is read: the bytes that hold the body, and its offset in them

    def __init__(self, key: Any) -> None:
        super().__init__(key)
        self.key = key


class _GenerationCounter:
    """Counter of how often a source dropped its newest versions; always 0 for sources that do not count."""

    def __init__(self, source: Any) -> None:
        is_counting = isinstance(getattr(source, "latest_generation", None), int)
        self._source = source if is_counting else self
        self.latest_generation = 0

    def __call__(self) -> int:
        """Return the current count."""
        generation: int = self._source.latest_generation
        return generation


class Serde(ABC, Generic[P]):
    """Cache of plans by topic and part, which makes those that are missing or stale.

    Args:
        source: the source of schemas; None if schemas are given.
        naming: names the subjects.
        clock: returns seconds; monotonic.
    """

    def __init__(self, source: Any, naming: SubjectResolver, clock: Clock = time.monotonic) -> None:
        self._source = source
        self._generation = _GenerationCounter(source)
        self._subject_resolver = naming
        self._cacheable = naming.cacheable
        self._clock = clock
        self._plans: BoundedCache[Any, P] = BoundedCache(MAX_PLANS)
        self._owns_source = False
        self._rule_components: RuleComponents | None = None  # set by subclasses

    def own_schema_registry_client(self) -> None:
        """Close the registry client with this serde; builders call this for a client that they made."""
        self._owns_source = self._source is not None

    def set_cluster_id_resolver(self, resolver: Callable[[], Any]) -> None:
        """Set the function that returns the Kafka cluster's id; confluent-kafka's clients call this."""
        self._subject_resolver.set_cluster_id_resolver(resolver)

    @abstractmethod
    def _make_plan(self, key: Any, ctx: Context | None) -> Steps[P]:
        """Make the plan of a key, and cache it."""

    @abstractmethod
    def _find_plan(self, key: Any, ctx: Context | None) -> P:
        """Return the plan of a key; if it is missing or stale, request it or raise ``PlanMissing``."""

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
        """Close executors and actions of rules, and the registry client if a builder made it.

        A client that was passed in belongs to the caller.
        """
        if self._rule_components is not None:
            self._rule_components.close()
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
        """Close executors and actions of rules, and the registry client if a builder made it."""
        if self._rule_components is not None:
            await asyncio.to_thread(self._rule_components.close)
        if self._owns_source:
            self._owns_source = False
            await self._source.close()

    async def aclose(self) -> None:
        """Call ``close``; asyncio clients of confluent-kafka call this."""
        await self.close()

    def _find_plan(self, key: Any, ctx: Context | None) -> P:  # noqa: ARG002 -- signature of the base class
        plan = self._fresh_plan(key)
        if plan is None:
            raise PlanMissing(key)
        return plan

    async def _request_plan(self, key: Any, ctx: Context | None) -> P:
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

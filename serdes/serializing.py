"""Values to framed bytes: what the serializers of all formats share, for callers that wait and for those that await."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any, Final, Self, TypeAlias

from contractlog.compatibility.errors import ServerError, Unreachable
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.serdes.adapting import awaiting, source_of, waiting
from contractlog.serdes.asking import answered, awaited
from contractlog.serdes.context import Context, MessageField, SerializationContext
from contractlog.serdes.errors import SerializationError
from contractlog.serdes.flights import Flights, TaskFlights
from contractlog.serdes.memory import Clock, Generation, Kept
from contractlog.serdes.schema_ids import put_header
from contractlog.serdes.settings import SerializerSettings
from contractlog.serdes.writing import WritePlan, WritePlanner, WriterFormat

__all__ = ["AsyncSerializer", "Serializer", "Serializing", "ToDict"]

ToDict: TypeAlias = Callable[[Any, Any], Any]

PLACES: Final = 2_000  #: topics and parts that are remembered; each may hold a codec of its own, of about 30 KiB
PATIENCE: Final = 5.0  #: seconds until a registry that is away is asked for the newest version again


class Serializing:
    """What a serializer holds, and does once it need not wait for the registry."""

    def __init__(
        self,
        client: Any,
        draft: SchemaDraft | None,
        to_dict: ToDict | None,
        *,
        settings: SerializerSettings,
        form: WriterFormat,
        clock: Clock = time.monotonic,
    ) -> None:
        if to_dict is not None and not callable(to_dict):
            raise ValueError("to_dict must be a function of value and context")
        self._source = source_of(client)
        self._generation = Generation(self._source)
        self._to_dict = to_dict
        self._settings = settings
        self._clock = clock
        self._planner = WritePlanner(draft, settings, form, clock)
        self._by_place = settings.naming.by_place
        self._plain = self._planner.prefixed
        self._plans: Kept[Any, WritePlan] = Kept(PLACES)

    def set_cluster_id_resolver(self, resolver: Callable[[], Any]) -> None:
        """Hear how to find the id of the Kafka cluster; producers of confluent-kafka call this."""
        self._settings.naming.set_cluster_id_resolver(resolver)

    def _subject_at_once(self, ctx: Context | None) -> str | None:
        try:
            return self._planner.subject_at_once(ctx)
        except SerializationError as error:
            raise error.within(topic=None if ctx is None else ctx.topic) from None

    def _known(self, key: Any) -> WritePlan | None:
        plan = self._plans.get(key)
        return None if plan is None or (plan.until is not None and self._stale(plan)) else plan

    def _stale(self, plan: WritePlan) -> bool:
        return plan.until is not None and (plan.until <= self._clock() or plan.generation != self._generation())

    def _kept_though_old(self, key: Any, error: Exception) -> WritePlan:
        """Go on with an old plan while the registry is away."""
        plan = self._plans.get(key)
        if plan is None or not isinstance(error, Unreachable | ServerError):
            raise error
        plan.until, plan.generation = self._clock() + PATIENCE, self._generation()
        return plan

    def _stamped(self, body: bytes, ctx: Context | None, plan: WritePlan) -> bytes:
        if self._planner.in_header:
            put_header(ctx, plan.frame_id.guid_to_bytes())
            return body
        return self._settings.id_serializer(body, ctx, plan.frame_id)


class Serializer(Serializing):
    """Values to framed bytes. May be shared by threads; ids are kept by subject."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        waiting(self, self._source)
        self._flights: Flights[WritePlan] = Flights()

    def __call__(self, value: Any, ctx: Context | None = None) -> bytes | None:
        """Return the framed bytes of a value; None stays None.

        Raises:
            SerializationError: the value does not fit its schema, or the schema cannot be used.
            ContractlogError: the registry refused, or did not answer.
        """
        if value is None:
            return None
        key = (ctx.topic, ctx.field) if self._by_place and ctx is not None else self._key(ctx)
        plan = self._plans.get(key)
        if plan is None or (plan.until is not None and self._stale(plan)):
            plan = self._planned(key, ctx)
        if self._to_dict is not None:
            value = self._to_dict(value, ctx)
        try:
            body = plan.encode(value, plan.prefix)
            return body if self._plain else self._stamped(body, ctx, plan)
        except SerializationError as error:
            raise error.within(**plan.facts(ctx)) from None

    def prepare(self, topic: str, field: str = MessageField.VALUE) -> RegisteredSchema:
        """Make everything ready for a topic's values, or keys, and return the schema that they are written with.

        Raises:
            SerializationError: the schema cannot be used.
            ContractlogError: the registry refused, or did not answer.
        """
        context = SerializationContext(topic, field)
        return self._planned(self._key(context), context).registered

    def close(self) -> None:
        """Let go of nothing: the client is the caller's."""

    def _key(self, ctx: Context | None) -> Any:
        if self._by_place:
            return (None, None) if ctx is None else (ctx.topic, ctx.field)
        return self._subject_at_once(ctx) if self._planner.named else self._subject(ctx)

    def _subject(self, ctx: Context | None) -> str | None:
        try:
            return answered(self._planner.subject(ctx), self._source)
        except SerializationError as error:
            raise error.within(topic=None if ctx is None else ctx.topic) from None

    def _planned(self, key: Any, ctx: Context | None) -> WritePlan:
        return self._known(key) or self._flights.once(key, lambda: self._made(key, ctx))

    def _made(self, key: Any, ctx: Context | None) -> WritePlan:
        known = self._known(key)
        if known is not None:
            return known
        subject = None
        try:
            subject = self._subject(ctx) if self._by_place else key
            return self._plans.keep(key, answered(self._planner.plan(subject, self._generation()), self._source))
        except SerializationError as error:
            raise error.within(subject=subject, topic=None if ctx is None else ctx.topic) from None
        except (Unreachable, ServerError) as error:
            return self._kept_though_old(key, error)


class AsyncSerializer(Serializing):
    """Values to framed bytes, awaited. May be shared by tasks; ids are kept by subject.

    It is ready when it is made; ``await AsyncAvroSerializer(…)``, as confluent-kafka's wants it, gives the same.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        awaiting(self, self._source)
        self._flights: TaskFlights[WritePlan] = TaskFlights()

    def __await__(self) -> Generator[Any, None, Self]:
        yield from ()
        return self

    async def __call__(self, value: Any, ctx: Context | None = None) -> bytes | None:
        """Return the framed bytes of a value; None stays None. It raises what ``Serializer`` does."""
        if value is None:
            return None
        key = (ctx.topic, ctx.field) if self._by_place and ctx is not None else await self._key(ctx)
        plan = self._plans.get(key)
        if plan is None or (plan.until is not None and self._stale(plan)):
            plan = await self._planned(key, ctx)
        if self._to_dict is not None:
            value = self._to_dict(value, ctx)
        try:
            body = plan.encode(value, plan.prefix)
            return body if self._plain else self._stamped(body, ctx, plan)
        except SerializationError as error:
            raise error.within(**plan.facts(ctx)) from None

    async def prepare(self, topic: str, field: str = MessageField.VALUE) -> RegisteredSchema:
        """Make everything ready for a topic's values, or keys; see ``Serializer.prepare``."""
        context = SerializationContext(topic, field)
        return (await self._planned(await self._key(context), context)).registered

    def set_async_cluster_id_resolver(self, resolver: Callable[[], Any]) -> None:
        """Hear how to find the id of the Kafka cluster; asyncio producers of confluent-kafka call this."""
        self.set_cluster_id_resolver(resolver)

    async def close(self) -> None:
        """Let go of nothing: the client is the caller's."""

    async def aclose(self) -> None:
        """Do as ``close``; asyncio producers of confluent-kafka call this."""

    async def _key(self, ctx: Context | None) -> Any:
        if self._by_place:
            return (None, None) if ctx is None else (ctx.topic, ctx.field)
        return self._subject_at_once(ctx) if self._planner.named else await self._subject(ctx)

    async def _subject(self, ctx: Context | None) -> str | None:
        try:
            return await awaited(self._planner.subject(ctx), self._source)
        except SerializationError as error:
            raise error.within(topic=None if ctx is None else ctx.topic) from None

    async def _planned(self, key: Any, ctx: Context | None) -> WritePlan:
        return self._known(key) or await self._flights.once(key, lambda: self._made(key, ctx))

    async def _made(self, key: Any, ctx: Context | None) -> WritePlan:
        known = self._known(key)
        if known is not None:
            return known
        subject = None
        try:
            subject = await self._subject(ctx) if self._by_place else key
            return self._plans.keep(key, await awaited(self._planner.plan(subject, self._generation()), self._source))
        except SerializationError as error:
            raise error.within(subject=subject, topic=None if ctx is None else ctx.topic) from None
        except (Unreachable, ServerError) as error:
            return self._kept_though_old(key, error)

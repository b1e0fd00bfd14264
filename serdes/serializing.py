"""Base classes of serializers from values to framed bytes, sync and async."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeAlias

from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.serdes.adapting import source_of
from contractlog.serdes.asking import Steps, answered, awaited
from contractlog.serdes.context import Context, MessageField, SerializationContext
from contractlog.serdes.errors import SerializationError
from contractlog.serdes.memory import Clock
from contractlog.serdes.schema_ids import put_header
from contractlog.serdes.serde import AwaitedSerde, Serde, WaitingSerde
from contractlog.serdes.settings import SerializerSettings
from contractlog.serdes.writing import WritePlan, WritePlanner, WriterFormat

__all__ = ["AsyncSerializer", "Serializer", "Serializing", "ToDict"]

ToDict: TypeAlias = Callable[[Any, Any], Any]


class Serializing(Serde[WritePlan]):
    """State and logic of a serializer, apart from the way it waits for the registry."""

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
        super().__init__(source_of(client), settings.naming, clock)
        self._to_dict = to_dict
        self._id_serializer = settings.id_serializer
        self._planner = WritePlanner(draft, settings, form, clock)
        self._plain = self._planner.prefixed

    def _subject_at_once(self, ctx: Context | None) -> str | None:
        try:
            return self._planner.subject_at_once(ctx)
        except SerializationError as error:
            raise _at(error, ctx) from None

    def _subject(self, ctx: Context | None) -> Steps[str | None]:
        try:
            return (yield from self._planner.subject(ctx))
        except SerializationError as error:
            raise _at(error, ctx) from None

    def _planning(self, key: Any, ctx: Context | None) -> Steps[WritePlan]:
        subject = (yield from self._subject(ctx)) if self._by_place else key
        try:
            return self._plans.keep(key, (yield from self._planner.plan(subject, self._generation())))
        except SerializationError as error:
            raise _at(error, ctx, subject=subject) from None

    def _stamped(self, body: bytes, ctx: Context | None, plan: WritePlan) -> bytes:
        if self._planner.in_header:
            put_header(ctx, plan.frame_id.guid_to_bytes())
            return body
        return self._id_serializer(body, ctx, plan.frame_id)


class Serializer(Serializing, WaitingSerde[WritePlan]):
    """Serializer of values to framed bytes. May be shared by threads; ids are cached by subject."""

    def __call__(self, value: Any, ctx: Context | None = None) -> bytes | None:
        """Return the framed bytes of a value; None stays None.

        Raises:
            SerializationError: the value does not fit its schema, or the schema cannot be used.
            ContractlogError: the registry rejected the request, or did not answer.
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
        """Prepare for a topic's values, or keys, and return the schema that they are written with.

        Raises:
            SerializationError: the schema cannot be used.
            ContractlogError: the registry rejected the request, or did not answer.
        """
        context = SerializationContext(topic, field)
        return self._planned(self._key(context), context).registered

    def _key(self, ctx: Context | None) -> Any:
        if self._by_place:
            return (None, None) if ctx is None else (ctx.topic, ctx.field)
        return self._subject_at_once(ctx) if self._planner.named else answered(self._subject(ctx), self._source)


class AsyncSerializer(Serializing, AwaitedSerde[WritePlan]):
    """Async serializer of values to framed bytes. May be shared by tasks; ids are cached by subject."""

    async def __call__(self, value: Any, ctx: Context | None = None) -> bytes | None:
        """Return the framed bytes of a value; None stays None. Raises the same errors as ``Serializer``."""
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
        """Prepare for a topic's values, or keys; see ``Serializer.prepare``."""
        context = SerializationContext(topic, field)
        return (await self._planned(await self._key(context), context)).registered

    async def _key(self, ctx: Context | None) -> Any:
        if self._by_place:
            return (None, None) if ctx is None else (ctx.topic, ctx.field)
        if self._planner.named:
            return self._subject_at_once(ctx)
        return await awaited(self._subject(ctx), self._source)


def _at(error: SerializationError, ctx: Context | None, **facts: Any) -> SerializationError:
    """Add the topic and further facts to an error."""
    return error.within(topic=None if ctx is None else ctx.topic, **facts)

"""Base classes of serializers from values to framed bytes, sync and async."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.serdes.client_sources import make_source
from contractlog.serdes.context import Context, MessageField, SerializationContext
from contractlog.serdes.errors import SerializationError
from contractlog.serdes.schema_ids import set_id_header
from contractlog.serdes.serde_base import AsyncSerde, PlanMissing, Serde, SyncSerde
from contractlog.serdes.settings import Clock, SerializerSettings
from contractlog.serdes.source_requests import Steps, run_async, run_sync
from contractlog.serdes.write_planner import WritePlan, WritePlanner, WriterFormat

__all__ = ["AsyncSerializer", "SerializerBase", "SyncSerializer", "ToDict"]

ToDict: TypeAlias = Callable[[Any, Any], Any]


class SerializerBase(Serde[WritePlan]):
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
        super().__init__(make_source(client), settings.subject_resolver, clock)
        self._to_dict = to_dict
        self._id_serializer = settings.id_serializer
        self._planner = WritePlanner(draft, settings, form, clock)
        self._writes_prefix = self._planner.writes_prefix

    def _serialize(self, value: Any, ctx: Context | None, plan: WritePlan | None = None) -> bytes | None:
        """Return the framed bytes of a value, whose plan is found unless it is given."""
        if value is None:
            return None
        if plan is None:
            key = (ctx.topic, ctx.field) if self._cacheable and ctx is not None else self._plan_key(ctx)
            plan = self._plans.get(key)
            if plan is None or (plan.expires_at is not None and self._is_stale(plan)):
                plan = self._find_plan(key, ctx)
        if self._to_dict is not None:
            value = self._to_dict(value, ctx)
        try:
            body = plan.encode(value, plan.prefix)
            return body if self._writes_prefix else self._add_id(body, ctx, plan)
        except SerializationError as error:
            raise error.within(**plan.facts(ctx)) from None

    def _plan_key(self, ctx: Context | None) -> Any:
        if self._cacheable:
            return (None, None) if ctx is None else (ctx.topic, ctx.field)
        return self._subject_offline(ctx) if self._planner.is_name_resolved else self._request_subject(ctx)

    @abstractmethod
    def _request_subject(self, ctx: Context | None) -> str | None:
        """Return the subject for a context, for which the registry may be asked; or raise ``PlanMissing``."""

    def _subject_offline(self, ctx: Context | None) -> str | None:
        try:
            return self._planner.subject_offline(ctx)
        except SerializationError as error:
            raise _add_topic(error, ctx) from None

    def _subject(self, ctx: Context | None) -> Steps[str | None]:
        try:
            return (yield from self._planner.subject(ctx))
        except SerializationError as error:
            raise _add_topic(error, ctx) from None

    def _make_plan(self, key: Any, ctx: Context | None) -> Steps[WritePlan]:
        subject = (yield from self._subject(ctx)) if self._cacheable else key
        try:
            return self._plans.put(key, (yield from self._planner.plan(subject, self._generation())))
        except SerializationError as error:
            raise _add_topic(error, ctx, subject=subject) from None

    def _add_id(self, body: bytes, ctx: Context | None, plan: WritePlan) -> bytes:
        if self._planner.writes_header:
            set_id_header(ctx, plan.frame_id.guid_to_bytes())
            return body
        return self._id_serializer(body, ctx, plan.frame_id)


class SyncSerializer(SerializerBase, SyncSerde[WritePlan]):
    """Serializer of values to framed bytes. May be shared by threads; ids are cached by subject."""

    def __call__(self, value: Any, ctx: Context | None = None) -> bytes | None:
        """Return the framed bytes of a value; None stays None.

        Raises:
            SerializationError: the value does not fit its schema, or the schema cannot be used.
            ContractlogError: the registry rejected the request, or did not respond.
        """
        return self._serialize(value, ctx)

    def prepare(self, topic: str, field: str = MessageField.VALUE) -> RegisteredSchema:
        """Prepare for a topic's values, or keys, and return the schema that they are written with.

        Raises:
            SerializationError: the schema cannot be used.
            ContractlogError: the registry rejected the request, or did not respond.
        """
        context = SerializationContext(topic, field)
        return self._find_plan(self._plan_key(context), context).registered

    def _request_subject(self, ctx: Context | None) -> str | None:
        return run_sync(self._subject(ctx), self._source)


class AsyncSerializer(SerializerBase, AsyncSerde[WritePlan]):
    """Async serializer of values to framed bytes. May be shared by tasks; ids are cached by subject."""

    async def __call__(self, value: Any, ctx: Context | None = None) -> bytes | None:
        """Return the framed bytes of a value; None stays None. Raises the same errors as ``SyncSerializer``."""
        try:
            return self._serialize(value, ctx)
        except PlanMissing as missing:
            key = missing.key
        return self._serialize(value, ctx, await self._request_plan_or_subject(key, ctx))

    async def prepare(self, topic: str, field: str = MessageField.VALUE) -> RegisteredSchema:
        """Prepare for a topic's values, or keys; see ``SyncSerializer.prepare``."""
        context = SerializationContext(topic, field)
        try:
            key = self._plan_key(context)
        except PlanMissing as missing:
            key = missing.key
        return (await self._request_plan_or_subject(key, context)).registered

    def _request_subject(self, ctx: Context | None) -> str | None:  # noqa: ARG002 -- signature of the base class
        raise PlanMissing(None)

    async def _request_plan_or_subject(self, key: Any, ctx: Context | None) -> WritePlan:
        """Request the plan of a key, or, without a key, the subject first, which is the key."""
        return await self._request_plan(await run_async(self._subject(ctx), self._source) if key is None else key, ctx)


def _add_topic(error: SerializationError, ctx: Context | None, **facts: Any) -> SerializationError:
    """Add the topic and further facts to an error."""
    return error.within(topic=None if ctx is None else ctx.topic, **facts)

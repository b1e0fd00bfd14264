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
from contractlog.serdes.rules.components import RuleComponents
from contractlog.serdes.rules.pipeline import RulesDue, track_original
from contractlog.serdes.rules.work import Work, run_work, run_work_async
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
        self._rule_components = RuleComponents(client, settings.rules)
        self._planner = WritePlanner(draft, settings, form, clock, self._rule_components)
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
            raise error.within(**plan.facts(ctx)) from error.__cause__
        except RulesDue as due:
            due.plan = plan
            raise

    def _serialize_with_rules(self, value: Any, ctx: Context | None, due: RulesDue) -> Work[bytes]:
        """Return the framed bytes of a value whose schema has rules."""
        plan: WritePlan = due.plan
        rules = plan.rules
        if rules is None:
            raise due
        try:
            body = yield from track_original(
                value, due.content, ctx, lambda original: rules.write(due.content, original)
            )
            return plan.prefix + body if self._writes_prefix else self._add_id(body, ctx, plan)
        except SerializationError as error:
            raise error.within(**plan.facts(ctx)) from error.__cause__

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
            return self._plans.put(key, (yield from self._planner.plan(subject, ctx, self._generation())))
        except SerializationError as error:
            raise _add_topic(error, ctx, subject=subject) from error.__cause__

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
            SerializationError: the value does not fit its schema, a rule rejected it, or the schema cannot be used.
            ContractlogError: the registry rejected the request, or did not respond.
        """
        try:
            return self._serialize(value, ctx)
        except RulesDue as rules_due:
            due = rules_due
        return run_work(self._serialize_with_rules(value, ctx, due))

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
            try:
                return self._serialize(value, ctx)
            except PlanMissing as missing:
                key = missing.key
            return self._serialize(value, ctx, await self._request_plan_or_subject(key, ctx))
        except RulesDue as rules_due:
            due = rules_due
        return await run_work_async(self._serialize_with_rules(value, ctx, due))

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

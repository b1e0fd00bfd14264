"""Base classes of deserializers from framed bytes to values, sync and async."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Hashable
from typing import Any, Literal, TypeAlias

from contractlog.compatibility.bounded_cache import BoundedCache
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.serdes.client_sources import make_source
from contractlog.serdes.context import Context, MessageField, SerializationContext, header
from contractlog.serdes.errors import SerializationError
from contractlog.serdes.read_planner import ReaderFormat, ReadPlan, ReadPlanner, list_heads, schema_id_in
from contractlog.serdes.rules.components import RuleComponents
from contractlog.serdes.rules.pipeline import RulesDue, track_original
from contractlog.serdes.rules.work import Work, run_work, run_work_async
from contractlog.serdes.schema_ids import (
    FrameId,
    dual_schema_id_deserializer,
    id_header_name,
    locate_head,
    prefix_schema_id_deserializer,
    split_head,
)
from contractlog.serdes.serde_base import AsyncSerde, PlanMissing, Serde, SyncSerde
from contractlog.serdes.settings import Clock, DeserializerSettings
from contractlog.serdes.source_requests import Steps, run_async, run_sync
from contractlog.serdes.wire import HEADER_SIZE
from contractlog.serdes.write_planner import MAX_SCHEMAS, is_same_function

__all__ = ["AsyncDeserializer", "DeserializerBase", "FromDict", "SyncDeserializer", "VersionSelection"]

FromDict: TypeAlias = Callable[[Any, Any], Any]
VersionSelection: TypeAlias = Literal["latest", "all"]


class DeserializerBase(Serde[ReadPlan]):
    """State and logic of a deserializer, apart from the way it waits for the registry."""

    def __init__(
        self,
        client: Any,
        draft: SchemaDraft | None,
        from_dict: FromDict | None,
        *,
        settings: DeserializerSettings,
        form: ReaderFormat,
        clock: Clock = time.monotonic,
    ) -> None:
        if from_dict is not None and not callable(from_dict):
            raise ValueError("from_dict must be a function of value and context")
        super().__init__(None if client is None else make_source(client), settings.subject_resolver, clock)
        self._from_dict = from_dict
        self._id_deserializer = settings.id_deserializer
        self._draft = draft
        self._format = form
        self._rule_components = RuleComponents(client, settings.rules)
        self._planner = ReadPlanner(
            draft, settings, form, clock, self._rule_components, has_registry=client is not None
        )
        self._reads_header_or_prefix = is_same_function(settings.id_deserializer, dual_schema_id_deserializer)
        self._has_fast_path = self._cacheable and self._reads_header_or_prefix
        self._reads_prefix = is_same_function(settings.id_deserializer, prefix_schema_id_deserializer)
        self._record_names: BoundedCache[bytes, str | None] = BoundedCache(MAX_SCHEMAS)

    def _deserialize(self, value: Any, ctx: Context | None, located: tuple[ReadPlan, bytes, int] | None = None) -> Any:
        """Return the value of framed bytes, whose plan, body and its offset may be given."""
        if value is None:
            return None
        if located is None:
            data = value if type(value) is bytes else to_bytes(value)
            start = HEADER_SIZE
            plan = None
            if self._has_fast_path and ctx is not None:
                try:
                    if not ctx.headers or not self._has_header(ctx):  # type: ignore[attr-defined]
                        plan = self._plans.get((ctx.topic, ctx.field, data[:HEADER_SIZE]))
                except AttributeError:  # a context without headers takes the longer way
                    pass
            if plan is None or (plan.expires_at is not None and self._is_stale(plan)):
                key, data, start = self._plan_key_and_body(data, ctx)
                try:
                    plan = self._find_plan(key, ctx)
                except PlanMissing as missing:
                    missing.body = data, start
                    raise
        else:
            plan, data, start = located
        try:
            decoded = plan.decode(data, start)
        except SerializationError as error:
            raise error.within(**self._facts(plan, ctx)) from error.__cause__
        except RulesDue as due:
            due.plan = plan
            raise
        return decoded if self._from_dict is None else self._from_dict(decoded, ctx)

    def _deserialize_with_rules(self, value: Any, ctx: Context | None, due: RulesDue) -> Work[Any]:
        """Return the value of framed bytes whose schema has rules."""
        plan: ReadPlan = due.plan
        rules = plan.rules
        if rules is None:
            raise due
        try:
            data = to_bytes(value)
            decoded = yield from track_original(
                data, data, ctx, lambda original: rules.read(due.content, due.start, original)
            )
        except SerializationError as error:
            raise error.within(**self._facts(plan, ctx)) from error.__cause__
        return decoded if self._from_dict is None else self._from_dict(decoded, ctx)

    @staticmethod
    def _has_header(ctx: Context) -> bool:
        return header(ctx, id_header_name(ctx)) is not None

    def _locate_body(self, data: bytes, ctx: Context | None) -> tuple[bytes, bytes, int]:
        """Return the bytes of the id or guid, the bytes that hold the body, and the body's offset in them."""
        if self._reads_header_or_prefix or self._reads_prefix:
            head, start = locate_head(data, ctx) if self._reads_header_or_prefix else split_head(data)
            return head, data, start
        frame_id = FrameId(str(self._format.type))
        rest = self._id_deserializer(data, ctx, frame_id)
        return frame_id.head, rest.read() if isinstance(rest, io.BytesIO) else bytes(rest), 0

    def _plan_key_and_body(self, data: bytes, ctx: Context | None) -> tuple[Any, bytes, int]:
        """Return the key of a record's plan, the bytes that hold the body, and the body's offset in them."""
        try:
            head, data, start = self._locate_body(data, ctx)
            if self._cacheable:
                return (None, None, head) if ctx is None else (ctx.topic, ctx.field, head), data, start
            subject = self._planner.subject_offline(ctx, None)
            if subject is None and head in self._record_names:
                subject = self._planner.subject_offline(ctx, self._record_names.get(head))
        except SerializationError as error:
            topic = None if ctx is None else ctx.topic
            raise error.within(topic=topic, subject=self._subject_offline(ctx)) from error.__cause__
        return (subject, head), data, start

    def _subject_offline(self, ctx: Context | None) -> str | None:
        """Return the subject if it needs no request to the registry."""
        try:
            return self._planner.subject_offline(ctx, None)
        except Exception:  # noqa: BLE001 -- another error is being raised
            return None

    def _request_key(self, key: Any, ctx: Context | None) -> Hashable:
        """Return the key under which concurrent requests are merged.

        If the subject depends on the record's name, it includes the topic and the part.
        """
        unnamed = not self._cacheable and key[0] is None and ctx is not None
        return (key, ctx.topic, ctx.field) if unnamed and ctx is not None else key

    def _make_plan(self, key: Any, ctx: Context | None) -> Steps[ReadPlan]:
        """Make and cache the plan for the records of one topic, part and schema."""
        head: bytes = key[-1]
        generation = self._generation()
        subject = None
        try:
            subject = (yield from self._planner.subject(ctx, None)) if self._cacheable else key[0]
            plan = yield from self._planner.plan(head, subject, ctx, generation)
        except SerializationError as error:
            topic = None if ctx is None else ctx.topic
            facts = {} if error.schema_id else {"schema_id": schema_id_in(head)}
            raise error.within(topic=topic, subject=subject, **facts) from error.__cause__
        if not self._cacheable and subject is None:
            self._record_names.put(head, plan.name)
            key = (plan.subject, head)
        return self._plans.put(key, plan)

    def _prepare_plans(self, ctx: SerializationContext, versions: VersionSelection) -> Steps[list[RegisteredSchema]]:
        """Prepare the plans for the versions that a subject has now."""
        if self._source is None:
            return []
        generation = self._generation()
        name = (
            None if self._draft is None else self._format.name((yield from self._planner.parse_own_schema(self._draft)))
        )
        subject = yield from self._planner.subject(ctx, name)
        if subject is None:
            raise SerializationError(reason="the subject is named after the record, and none is known", topic=ctx.topic)
        try:
            if versions == "all":
                versions_found = yield from self._planner.request_all_versions(subject)
            else:
                versions_found = [(yield from self._planner.request_latest(subject))]
            for registered in versions_found:
                plan = yield from self._planner.plan_for(registered, subject, ctx, generation)
                plan.require_readable()
                for head in list_heads(registered):
                    self._plans.put(self._plan_key(ctx, head, subject), plan)
        except SerializationError as error:
            raise error.within(topic=ctx.topic, subject=subject) from error.__cause__
        return versions_found

    def _plan_key(self, ctx: Context | None, head: bytes, subject: str | None) -> Any:
        if not self._cacheable:
            return subject, head
        return (None, None, head) if ctx is None else (ctx.topic, ctx.field, head)

    def _facts(self, plan: ReadPlan, ctx: Context | None) -> dict[str, Any]:
        topic = None if ctx is None else ctx.topic
        return {"topic": topic, "subject": plan.subject, "schema_id": plan.schema_id}


class SyncDeserializer(DeserializerBase, SyncSerde[ReadPlan]):
    """Deserializer of framed bytes to values. May be shared by threads."""

    def __call__(self, value: bytes | bytearray | memoryview | None, ctx: Context | None = None) -> Any:
        """Return the value of framed bytes; None stays None.

        Raises:
            DecodeError: the bytes do not fit their schema or have no valid frame; ``outcome`` has the reason.
            SerializationError: the reader schema cannot read the record, or a rule rejected it.
            ContractlogError: the registry did not respond.
        """
        try:
            return self._deserialize(value, ctx)
        except RulesDue as rules_due:
            due = rules_due
        return run_work(self._deserialize_with_rules(value, ctx, due))

    def prepare(
        self, topic: str, field: str = MessageField.VALUE, *, versions: VersionSelection = "latest"
    ) -> list[RegisteredSchema]:
        """Prepare the schemas that a topic's subject has now, and return them.

        Args:
            topic: the topic whose records will be read.
            field: whether they are its values or its keys.
            versions: whether to prepare the newest version, or all of them.

        Raises:
            SerializationError: a schema cannot be read, or not as the reader schema.
            ContractlogError: the registry does not have the subject, or did not respond.
        """
        return run_sync(self._prepare_plans(SerializationContext(topic, field), versions), self._source)


class AsyncDeserializer(DeserializerBase, AsyncSerde[ReadPlan]):
    """Async deserializer of framed bytes to values. May be shared by tasks."""

    async def __call__(self, value: bytes | bytearray | memoryview | None, ctx: Context | None = None) -> Any:
        """Return the value of framed bytes; None stays None. Raises the same errors as ``SyncDeserializer``."""
        try:
            try:
                return self._deserialize(value, ctx)
            except PlanMissing as missing:
                key, (data, start) = missing.key, missing.body
            return self._deserialize(value, ctx, (await self._request_plan(key, ctx), data, start))
        except RulesDue as rules_due:
            due = rules_due
        return await run_work_async(self._deserialize_with_rules(value, ctx, due))

    async def prepare(
        self, topic: str, field: str = MessageField.VALUE, *, versions: VersionSelection = "latest"
    ) -> list[RegisteredSchema]:
        """Prepare the schemas that a topic's subject has now; see ``SyncDeserializer.prepare``."""
        return await run_async(self._prepare_plans(SerializationContext(topic, field), versions), self._source)


def to_bytes(value: Any) -> bytes:
    """Return the bytes of a bytes-like object.

    Raises:
        SerializationError: the value is not bytes-like.
    """
    if not isinstance(value, bytes | bytearray | memoryview):
        raise SerializationError(reason=f"a record is bytes, not {type(value).__name__}")
    return bytes(value)

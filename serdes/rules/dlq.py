"""Action DLQ: a record that a rule rejects is sent to a topic, the dead letter queue."""

from __future__ import annotations

import copy
import json
import logging
import struct
import threading
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from contractlog.clients.confluent.data_classes import Rule
from contractlog.serdes.errors import RuleError, RuleFailed
from contractlog.serdes.rules.context import FieldContext, FieldType, RuleContext
from contractlog.serdes.rules.executors import RuleAction
from contractlog.serdes.rules.original_record import ORIGINAL_KEYS

__all__ = ["DlqAction"]

_LOG: Final = logging.getLogger(__name__)
_TOPIC: Final = "dlq.topic"
_AUTO_FLUSH: Final = "dlq.auto.flush"
_REDACTED_TYPES: Final = "dlq.redact.rule.types"
_DEFAULT_REDACTED_TYPES: Final = "ENCRYPT,ENCRYPT_PAYLOAD"
_PRODUCER: Final = "producer"
_PRODUCER_PREFIX: Final = "dlq.producer."
_HEADER_PREFIX: Final = "__rule."
_REDACTED: Final = "<REDACTED>"
_CLOSE_SECONDS: Final = 30.0  #: seconds to wait for deliveries when the action is closed
_INT64: Final = range(-(2**63), 2**63)
_PRODUCER_DEFAULTS: Final = {
    "acks": "all",
    "enable.idempotence": False,
    "max.in.flight.requests.per.connection": 1,
    "message.timeout.ms": 0,  # retry until delivered
}


class DlqAction(RuleAction):
    """Sends the original record to a topic, with headers that name the rule, and raises ``RuleFailed``.

    Values are written as JSON; fields with the tags of encryption rules are replaced by ``<REDACTED>``, and bodies that
    a rule should encrypt as a whole, too. Records that are read are sent as they are. A consumer of the topic does not
    run the rule named in the header again.

    Args:
        conf: ``dlq.topic``, unless each rule has such a parameter; ``dlq.auto.flush``: wait for each delivery;
            ``dlq.redact.rule.types``: types of rules whose fields are redacted; ``producer``: a producer of
            confluent-kafka; or the settings of a new one, such as ``bootstrap.servers``. The ``rule_conf`` of a
            serializer may have the keys that begin with ``dlq.``, and ``producer``; settings of a new producer begin
            with ``dlq.producer.`` there.
    """

    def __init__(self, conf: Mapping[str, Any] | None = None) -> None:
        self._conf: dict[str, Any] = dict(conf or {})
        self._producer: Any = None
        self._lock = threading.Lock()
        self.may_block = self._auto_flush
        ORIGINAL_KEYS.enabled = True

    def type(self) -> str:
        """Return ``DLQ``."""
        return "DLQ"

    def configure(self, client_conf: Mapping[str, Any], rule_conf: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Take the settings that concern the action."""
        with self._lock:
            self._conf |= {key: rule_conf[key] for key in rule_conf if key == _PRODUCER or key.startswith("dlq.")}
            self.may_block = self._auto_flush

    def run(self, ctx: RuleContext, message: Any, ex: Exception | None) -> None:  # noqa: ARG002 -- the interface's
        """Send the record, and raise ``RuleFailed``."""
        topic = self._conf.get(_TOPIC) or ctx.get_parameter(_TOPIC)
        if not topic:
            detail = f"; it was not sent to a dead letter queue, as neither rule_conf nor the rule has {_TOPIC}"
            raise RuleFailed.of(ctx.rule, ctx.rule_mode, ex, detail=detail) from ex
        detail = ""
        try:
            self._send(str(topic), ctx, ex)
        except Exception as error:  # noqa: BLE001 -- the record is rejected in any case
            _LOG.exception("a record could not be sent to the dead letter queue %s", topic)
            detail = f"; it could not be sent to the dead letter queue {topic}: {error}"
        raise RuleFailed.of(ctx.rule, ctx.rule_mode, ex, detail=detail) from ex

    def close(self) -> None:
        """Wait for deliveries, at most half a minute."""
        with self._lock:
            producer, self._producer = self._producer, None
        if producer is not None and producer.flush(_CLOSE_SECONDS):
            _LOG.error("records for the dead letter queue were not delivered in %.0f seconds", _CLOSE_SECONDS)

    @property
    def _auto_flush(self) -> bool:
        return str(self._conf.get(_AUTO_FLUSH, "")).lower() == "true"

    def _send(self, topic: str, ctx: RuleContext, ex: Exception | None) -> None:
        producer = self._find_producer()
        key, value = ctx.original_key, ctx.original_value
        if ctx.rule_mode == "WRITE" and ctx.field_transformer is None and self._list_redacting(ctx):
            key, value = (_REDACTED, None) if getattr(ctx.ser_ctx, "field", None) == "key" else (key, _REDACTED)
        producer.produce(
            topic,
            key=self._to_bytes(ctx, key),
            value=self._to_bytes(ctx, value),
            headers=_make_headers(ctx, ex),
            on_delivery=_log_delivery,
        )
        producer.poll(0)
        if self._auto_flush:
            producer.flush()

    def _find_producer(self) -> Any:
        given = self._conf.get(_PRODUCER)
        if given is not None:
            return given
        with self._lock:
            if self._producer is None:
                settings = {
                    key.removeprefix(_PRODUCER_PREFIX): value
                    for key, value in self._conf.items()
                    if key.startswith(_PRODUCER_PREFIX) or not key.startswith("dlq.")
                }
                if not settings:
                    raise RuleError(f"there is no producer: set {_PRODUCER_PREFIX}bootstrap.servers in rule_conf")
                from confluent_kafka import Producer  # noqa: PLC0415 -- only if a record is sent

                self._producer = Producer(_PRODUCER_DEFAULTS | settings)
            return self._producer

    def _to_bytes(self, ctx: RuleContext, content: Any) -> bytes | None:
        """Return the bytes of a key or value; those of numbers are as in Java."""
        if content is None:
            return None
        if isinstance(content, (bytes, bytearray, memoryview)):
            return bytes(content)
        if isinstance(content, (str, UUID)):
            return str(content).encode()
        if isinstance(content, float):
            return struct.pack(">d", content)
        if isinstance(content, int) and not isinstance(content, bool) and content in _INT64:
            return struct.pack(">q", content)
        return json.dumps(self._redact(ctx, content), default=_to_json).encode()

    def _list_redacting(self, ctx: RuleContext) -> list[Rule]:
        """Return the rules whose fields are redacted."""
        types = {name.strip() for name in str(self._conf.get(_REDACTED_TYPES) or _DEFAULT_REDACTED_TYPES).split(",")}
        return [rule for rule in ctx.rules if rule.type in types]

    def _redact(self, ctx: RuleContext, content: Any) -> Any:
        """Return a value without the contents of fields to which encryption rules apply."""
        rules = self._list_redacting(ctx)
        if not rules:
            return content
        if ctx.field_transformer is None:
            return _REDACTED
        tags = sorted({tag for rule in rules for tag in rule.tags or ()}) if all(rule.tags for rule in rules) else []
        redacting = _make_redacting_rule(ctx, tags)
        redacting_context = RuleContext(
            ctx.enabled_env,
            ctx.ser_ctx,
            ctx.source,
            ctx.target,
            ctx.subject,
            ctx.rule_mode,
            redacting,
            0,
            [redacting],
            ctx.inline_tags,
            ctx.field_transformer,
        )
        # the walks of confluent-kafka change values in place
        return ctx.field_transformer(redacting_context, _redact_field, copy.deepcopy(content))


def _make_redacting_rule(ctx: RuleContext, tags: list[str]) -> Rule:
    members = {"name": "redact", "kind": "TRANSFORM", "mode": ctx.rule_mode.value, "type": "DLQ", "tags": tags}
    return Rule.from_dict(members)


def _redact_field(_: RuleContext, field: FieldContext, value: Any) -> Any:
    if value is None:
        return None
    if field.field_type == FieldType.STRING:
        return _REDACTED
    return _REDACTED.encode() if field.field_type == FieldType.BYTES else value


def _make_headers(ctx: RuleContext, ex: Exception | None) -> list[tuple[str, bytes | None]]:
    """Return the record's headers, and those that name the rule.

    Headers of the record with the same prefix are left out: readers of the queue trust those of the rule.
    """
    headers = getattr(ctx.ser_ctx, "headers", None) or ()
    given = list(headers.items()) if isinstance(headers, Mapping) else list(headers)
    facts = {
        "name": ctx.rule.name,
        "mode": ctx.rule_mode.value,
        "subject": ctx.subject,
        "topic": None if ctx.ser_ctx is None else ctx.ser_ctx.topic,
    } | ({} if ex is None else {"exception": str(ex)})
    added = [(f"{_HEADER_PREFIX}{name}", value) for name, value in facts.items()]
    kept = [(name, value) for name, value in given if not str(name).startswith(_HEADER_PREFIX)]
    return [(name, _header_bytes(value)) for name, value in [*kept, *added]]


def _header_bytes(value: Any) -> bytes | None:
    if value is None:
        return None
    return bytes(value) if isinstance(value, (bytes, bytearray)) else str(value).encode()


def _to_json(value: Any) -> str:
    return bytes(value).decode("latin-1") if isinstance(value, (bytes, bytearray)) else str(value)


def _log_delivery(error: Any, _: Any) -> None:
    if error is not None:
        _LOG.error("a record was not delivered to the dead letter queue: %s", error)

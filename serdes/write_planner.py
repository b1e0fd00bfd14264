"""Plans for writing: the subject, schema, id and codec of a topic's values or keys."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol
from uuid import UUID

from contractlog.compatibility.bounded_cache import BoundedCache
from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.schema import ParsedSchema, RegisteredSchema, SchemaDraft, SchemaType
from contractlog.serdes.context import Context, MessageField
from contractlog.serdes.errors import RuleNotRun, SchemaNotUsable, SerializationError
from contractlog.serdes.rules.components import RuleComponents
from contractlog.serdes.rules.due_rules import RulePhaseName, has_due_rules
from contractlog.serdes.rules.field_rules import FieldRules
from contractlog.serdes.rules.inline_rules import Constraints
from contractlog.serdes.rules.original_record import ORIGINAL_KEYS
from contractlog.serdes.rules.pipeline import WriteRules
from contractlog.serdes.rules.planner import RuledSchema, plan_write_rules
from contractlog.serdes.schema_ids import FrameId, header_schema_id_serializer, prefix_schema_id_serializer
from contractlog.serdes.schema_source import parse_steps
from contractlog.serdes.settings import Clock, SerializerSettings, expiry_time
from contractlog.serdes.source_requests import Steps, request, run_sync
from contractlog.serdes.wire import encode_prefix

__all__ = [
    "BodyWriter",
    "SchemaContent",
    "WritePlan",
    "WritePlanner",
    "WriterFormat",
    "is_same_function",
    "make_frame_id",
    "schema_content",
]

SchemaContent = tuple[Any, ...]  #: identity of a schema's content, regardless of subject and id

MAX_SCHEMAS: Final = 1_000  #: cached schemas of each kind
WRITE_PHASES: Final[tuple[RulePhaseName, ...]] = ("domain", "encoding")
_CONFLUENT_PACKAGE: Final = "confluent_kafka.schema_registry"


class BodyWriter(Protocol):
    """A schema prepared for writing."""

    def encode(self, value: Any, prefix: bytes = b"") -> bytes:
        """Return the body of a value after a prefix, or raise ``EncodeError``."""


class WriterFormat(Protocol):
    """The part of a format that writing needs."""

    @property
    def type(self) -> SchemaType:
        """The type of its schemas."""

    def name(self, parsed: ParsedSchema) -> str | None:
        """Return the name of a schema for strategies that use record names."""

    def writer(self, parsed: ParsedSchema) -> BodyWriter:
        """Prepare a schema."""

    def field_rules(self, parsed: ParsedSchema, metadata: Metadata | None) -> FieldRules:
        """Return the application of rules to the fields of a schema."""

    def inline_constraints(self, parsed: ParsedSchema) -> Constraints | None:
        """Return the inline constraints of a schema; None if it has none."""


@dataclass(slots=True)
class WritePlan:
    """A prepared way to write the values of one topic and part."""

    subject: str | None
    registered: RegisteredSchema
    prefix: bytes  #: precedes every body
    encode: Callable[[Any, bytes], bytes]
    frame_id: FrameId
    expires_at: float | None  #: expiry time by the planner's clock
    generation: int  #: of the client's newest versions, when it was requested
    rules: WriteRules | None = None  #: ``encode`` raises ``RulesDue`` if there are any

    def facts(self, context: Context | None) -> dict[str, Any]:
        """Return the facts that errors of its values include."""
        return {
            "topic": None if context is None else context.topic,
            "subject": self.subject,
            "schema_id": self.frame_id.id,
        }


class WritePlanner:
    """Maker of plans; each schema is prepared once, however many topics use it."""

    def __init__(
        self,
        draft: SchemaDraft | None,
        settings: SerializerSettings,
        form: WriterFormat,
        clock: Clock,
        components: RuleComponents,
    ) -> None:
        pinned = settings.latest or settings.use_schema_id is not None or settings.metadata is not None
        if draft is None and not pinned:
            raise ValueError(
                "without a schema, use.latest.version, use.latest.with.metadata or use.schema.id has to be set"
            )
        self._draft = draft
        self._settings = settings
        self._format = form
        self._clock = clock
        self._components = components
        self._parsed: ParsedSchema | None = None
        self._name: str | None = None
        self.is_name_resolved = False  #: whether the record's name has been determined, if there is one
        self._writers: BoundedCache[SchemaContent, BodyWriter] = BoundedCache(MAX_SCHEMAS)
        self.writes_prefix = is_same_function(settings.id_serializer, prefix_schema_id_serializer)
        self.writes_header = is_same_function(settings.id_serializer, header_schema_id_serializer)
        if draft is not None and not draft.references:
            self._parsed = run_sync(parse_steps(draft, None), None)

    def subject(self, context: Context | None) -> Steps[str | None]:
        """Return the subject for a context."""
        if self._draft is not None and not self.is_name_resolved:
            self._name = self._format.name((yield from self._parse_own_schema(self._draft, None)))
        self.is_name_resolved = True
        return (yield from self._settings.subject_resolver.subject(context, self._name))

    def subject_offline(self, context: Context | None) -> str | None:
        """Return the subject without a request to the registry, once the schema is parsed."""
        return self._settings.subject_resolver.resolve_offline(context, self._name)

    def plan(self, subject: str | None, context: Context | None, generation: int = 0) -> Steps[WritePlan]:
        """Make the plan for values of a subject; ``generation`` is recorded in it.

        Raises:
            SerializationError: the schema cannot be used.
            RegistryError: the registry rejected the schema, or does not have it.
        """
        registered, parsed = yield from self._find_schema(subject)
        registered = replace(registered, text=sys.intern(registered.text))  # one string in memory for all plans
        encode: Callable[[Any, bytes], bytes] = self._find_writer(parsed, registered).encode
        rules = self._plan_rules(registered, parsed, subject, context, encode)
        if rules is not None:
            encode = rules.encode
        newest = self._settings.latest or self._settings.metadata is not None
        frame_id = make_frame_id(registered)
        if self.writes_header:
            frame_id.guid_to_bytes()
        return WritePlan(
            subject,
            registered,
            encode_prefix(frame_id.id or 0) if self.writes_prefix else b"",
            encode,
            frame_id,
            expiry_time(self._settings.latest_seconds, self._clock) if newest else None,
            generation,
            rules,
        )

    def _plan_rules(
        self,
        registered: RegisteredSchema,
        parsed: ParsedSchema,
        subject: str | None,
        context: Context | None,
        encode: Callable[[Any, bytes], bytes],
    ) -> WriteRules | None:
        """Return the encoding with the rules that the registry has for a schema; None if no rules have to run.

        Raises:
            RuleNotRun: a rule cannot be executed, or the registry has dropped the rules of the schema.
        """
        try:
            self._require_stored_rules(registered)
            schema = RuledSchema(registered.draft, parsed, subject, registered)
            rules = plan_write_rules(schema, self._components, self._settings.inline_rules, self._format, encode)
        except RuleNotRun as error:
            raise error.within(schema_id=int(registered.schema_id)) from error.__cause__
        if rules is not None:
            return rules
        is_key = context is not None and context.field == MessageField.KEY
        return WriteRules(encode) if is_key and ORIGINAL_KEYS.enabled else None

    def _require_stored_rules(self, registered: RegisteredSchema) -> None:
        """Check that the registry has not dropped the rules of the schema; some registries do."""
        rule_set = None if self._draft is None else self._draft.rule_set
        stored = registered.rule_set
        if stored is not None and (stored.domain_rules or stored.encoding_rules):
            return
        if not any(has_due_rules(rule_set, phase, "WRITE", self._components) for phase in WRITE_PHASES):
            return
        rules = (*rule_set.domain_rules, *rule_set.encoding_rules) if rule_set is not None else ()
        raise RuleNotRun(
            reason=f"the registry returned the schema without its rules ({', '.join(rule.name for rule in rules)}), so "
            "that readers would not run them: use a registry that stores rules, or remove them from the schema",
            rule=rules[0].name if rules else None,
        )

    def _find_schema(self, subject: str | None) -> Steps[tuple[RegisteredSchema, ParsedSchema]]:
        settings = self._settings
        if settings.use_schema_id is not None:
            pinned = settings.use_schema_id
            registered = yield request("schema_by_id", pinned, subject=subject)
            return registered, (yield from parse_steps(registered.draft, subject))
        if subject is None:
            raise SerializationError(reason="the subject name strategy gave no subject")
        if settings.metadata is not None:
            properties = settings.metadata
            registered = yield request("latest_with_metadata", subject, properties, deleted=True)
            return registered, (yield from parse_steps(registered.draft, subject))
        if settings.latest:
            registered = yield request("version", subject, "latest")
            return registered, (yield from parse_steps(registered.draft, subject))
        draft = self._draft
        if draft is None:
            raise SerializationError(reason="there is no schema to write with")
        if settings.auto_register:
            registered = yield request("register", subject, draft, normalize=settings.normalize)
        else:
            registered = yield request("lookup", subject, draft, normalize=settings.normalize)
        if registered.echoed:
            registered = yield from _request_stored(registered, subject)
        return registered, (yield from self._parse_own_schema(draft, subject))

    def _parse_own_schema(self, draft: SchemaDraft, subject: str | None) -> Steps[ParsedSchema]:
        if self._parsed is None:
            self._parsed = yield from parse_steps(draft, subject)
        return self._parsed

    def _find_writer(self, parsed: ParsedSchema, registered: RegisteredSchema) -> BodyWriter:
        content = schema_content(parsed)
        try:
            return self._writers.get(content) or self._writers.put(content, self._format.writer(parsed))
        except InvalidSchema as error:
            raise SchemaNotUsable(reason=error.message, schema_id=int(registered.schema_id)) from error


def _request_stored(registered: RegisteredSchema, subject: str) -> Steps[RegisteredSchema]:
    """Request the schema of an id whose response only echoed the request: the stored one may have rules."""
    stored: RegisteredSchema = yield request("schema_by_id", int(registered.schema_id), subject=subject)
    guid = registered.guid or stored.guid
    return replace(stored, subject=registered.subject, version=registered.version, guid=guid)


def schema_content(parsed: ParsedSchema) -> SchemaContent:
    """Return the identity of a schema for a codec."""
    return parsed.type, parsed.canonical, tuple(parsed.referenced.items())


def is_same_function(given: Callable[..., Any], ours: Callable[..., Any]) -> bool:
    """Return whether a function is one of ours, or confluent-kafka's of the same name."""
    named = getattr(given, "__module__", None), getattr(given, "__name__", None)
    return given is ours or named == (_CONFLUENT_PACKAGE, ours.__name__)


def make_frame_id(registered: RegisteredSchema) -> FrameId:
    """Return the id and guid for records of a schema; responses of older and other servers lack a guid."""
    guid = UUID(registered.guid) if registered.guid else None
    return FrameId(str(registered.type), int(registered.schema_id) or None, guid)

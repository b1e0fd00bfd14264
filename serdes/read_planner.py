"""Plans for reading: a record's writer schema, the reader schema, and their codec."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol, TypeAlias
from uuid import UUID

from contractlog.clients.cache import TtlCache
from contractlog.compatibility.bounded_cache import BoundedCache
from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.errors import InvalidSchema, NotFound, UnreadableResponse
from contractlog.compatibility.schema import ParsedSchema, RegisteredSchema, SchemaDraft, SchemaType
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.context import Context, MessageField
from contractlog.serdes.errors import DecodeError, RuleNotRun, SchemaIdNotFound, SchemaNotUsable, SerializationError
from contractlog.serdes.rules.components import RuleComponents
from contractlog.serdes.rules.field_rules import FieldRules
from contractlog.serdes.rules.original_record import ORIGINAL_KEYS
from contractlog.serdes.rules.pipeline import ReadRules
from contractlog.serdes.rules.planner import RuledSchema, plan_read_rules
from contractlog.serdes.schema_ids import FrameId
from contractlog.serdes.schema_source import parse_steps
from contractlog.serdes.settings import Clock, DeserializerSettings, expiry_time
from contractlog.serdes.source_requests import Steps, request, run_sync
from contractlog.serdes.wire import MAGIC
from contractlog.serdes.write_planner import MAX_SCHEMAS, SchemaContent, make_frame_id, schema_content

__all__ = ["BodyReader", "ReadPlan", "ReadPlanner", "ReaderFormat", "list_heads", "schema_id_in"]

UNKNOWN_ID_SECONDS: Final = 10.0  #: seconds for which an unknown id is cached
UNUSABLE_SECONDS: Final = 10.0  #: seconds for which the reason is cached why a schema cannot be used
_Unusable: TypeAlias = InvalidSchema | NotFound | UnreadableResponse


class BodyReader(Protocol):
    """A schema prepared for reading."""

    def decode(self, data: bytes, start: int = 0) -> Any:
        """Return the value of a body, which begins at ``start``, or raise ``DecodeError``."""

    def require_readable(self) -> None:
        """Raise ``ReaderMismatch`` if no record can be read."""


class ReaderFormat(Protocol):
    """The part of a format that reading needs."""

    @property
    def type(self) -> SchemaType:
        """The type of its schemas."""

    def name(self, parsed: ParsedSchema) -> str | None:
        """Return the name of a schema for strategies that use record names."""

    def reader(self, writer: ParsedSchema, reader_schema: ParsedSchema | None) -> BodyReader:
        """Prepare a schema, or a pair of schemas."""

    def field_rules(self, parsed: ParsedSchema, metadata: Metadata | None) -> FieldRules:
        """Return the application of rules to the fields of a schema."""

    def checker(self, parsed: ParsedSchema) -> Callable[[Any], None] | None:
        """Return a function that checks values that rules have changed; None if they are not checked."""


@dataclass(slots=True)
class ReadPlan:
    """A prepared way to read the records of one topic, part and schema."""

    subject: str | None
    schema_id: int | None
    name: str | None  #: of the record that was written
    decode: Callable[[bytes, int], Any]
    require_readable: Callable[[], None]
    expires_at: float | None  #: expiry time by the planner's clock
    generation: int  #: of the client's newest versions, when it was requested
    rules: ReadRules | None = None  #: ``decode`` raises ``RulesDue`` if there are any


class ReadPlanner:
    """Maker of plans; each pair of schemas is prepared once, however many topics use it."""

    def __init__(
        self,
        draft: SchemaDraft | None,
        settings: DeserializerSettings,
        form: ReaderFormat,
        clock: Clock,
        components: RuleComponents,
        *,
        has_registry: bool = True,
    ) -> None:
        if not has_registry and (draft is None or draft.references):
            raise ValueError("a registry is needed: pass schema_registry_client")
        self._draft = draft
        self._settings = settings
        self._format = form
        self._clock = clock
        self._components = components
        self._has_registry = has_registry
        self._reader_schema: ParsedSchema | None = None
        self._readers: BoundedCache[tuple[SchemaContent, SchemaContent | None], BodyReader] = BoundedCache(MAX_SCHEMAS)
        #: what is known for a while to have no usable schema: the cause is fetched and parsed once, not for each record
        self.unusable: TtlCache[Hashable, _Unusable] = TtlCache(UNUSABLE_SECONDS, MAX_SCHEMAS, clock)
        self.unknown_ids: TtlCache[tuple[str | None, bytes], NotFound] = TtlCache(
            UNKNOWN_ID_SECONDS, MAX_SCHEMAS, clock
        )
        if draft is not None and not draft.references:
            self._reader_schema = run_sync(parse_steps(draft, None), None)

    def subject(self, context: Context | None, record_name: str | None) -> Steps[str | None]:
        """Return the subject; None if the strategy needs a record's name and none is available yet."""
        if context is None or not self._has_registry:
            return None
        try:
            return (yield from self._settings.subject_resolver.subject(context, record_name))
        except SerializationError:
            if record_name is None:
                return None
            raise

    def subject_offline(self, context: Context | None, record_name: str | None) -> str | None:
        """Return the subject if it needs no request to the registry."""
        if context is None or not self._has_registry:
            return None
        try:
            return self._settings.subject_resolver.resolve_offline(context, record_name)
        except SerializationError:
            if record_name is None:
                return None
            raise

    def plan(self, head: bytes, subject: str | None, context: Context | None, generation: int = 0) -> Steps[ReadPlan]:
        """Make the plan for records with these bytes of id or guid; ``generation`` is recorded in it.

        Raises:
            SerializationError: the id is unknown, or its schema cannot be used.
            RegistryError: the registry did not return the schema.
        """
        if not self._has_registry:
            return (yield from self._plan_without_registry(head, context))
        registered = yield from self._request_schema(head, subject)
        return (yield from self.plan_for(registered, subject, context, generation))

    def plan_for(
        self, registered: RegisteredSchema, subject: str | None, context: Context | None, generation: int = 0
    ) -> Steps[ReadPlan]:
        """Make the plan for records of a schema."""
        if registered.type is not self._format.type:
            raise DecodeError(
                outcome=Outcome.WRONG_SUBJECT,
                reason=f"the id stands for a schema of type {registered.type}, and {self._format.type} is expected",
                schema_id=int(registered.schema_id) or None,
            )
        writer = yield from self._parse_writer(registered, subject)
        if subject is None and context is not None:
            subject = yield from self._subject_by_name(writer, context)
        read_as = yield from self._find_reader_schema(subject)
        written = RuledSchema(registered.draft, writer, subject, registered)
        rules = yield from self._plan_rules(written, read_as, context)
        if rules is not None and rules.has_migrations:
            reader = self._find_reader(writer, None)
        else:
            reader = self._find_reader(writer, None if read_as is None else read_as.parsed)
        return ReadPlan(
            subject,
            int(registered.schema_id) or None,
            self._format.name(writer),
            reader.decode if rules is None else rules.decode,
            reader.require_readable,
            expiry_time(self._settings.latest_seconds, self._clock) if self._uses_latest else None,
            generation,
            rules,
        )

    def _plan_rules(
        self, written: RuledSchema, read_as: RuledSchema | None, context: Context | None
    ) -> Steps[ReadRules | None]:
        """Return the decoding with rules; None if none have to run."""
        find_decoder = partial(self._find_decoder, written.parsed)
        try:
            rules = yield from plan_read_rules(written, read_as, self._components, self._format, find_decoder)
        except RuleNotRun as error:
            schema_id = 0 if written.registered is None else int(written.registered.schema_id)
            raise error.within(schema_id=schema_id or None) from error.__cause__
        if rules is None and context is not None and context.field == MessageField.KEY and ORIGINAL_KEYS.enabled:
            return ReadRules(find_decoder(None if read_as is None else read_as.parsed))
        return rules

    def _find_decoder(self, writer: ParsedSchema, reader_schema: ParsedSchema | None) -> Callable[[bytes, int], Any]:
        return self._find_reader(writer, reader_schema).decode

    def _parse_writer(self, registered: RegisteredSchema, subject: str | None) -> Steps[ParsedSchema]:
        """Parse the schema of records, unless that has failed a short time ago."""
        key = subject, int(registered.schema_id), registered.guid, registered.text
        failure = self.unusable.get(key)
        if failure is not None:
            raise type(failure)(failure.message, **failure.facts)
        try:
            return (yield from parse_steps(registered.draft, subject))
        except (InvalidSchema, NotFound, UnreadableResponse) as error:
            self.unusable.put(key, error)
            raise

    def parse_own_schema(self, draft: SchemaDraft, subject: str | None = None) -> Steps[ParsedSchema]:
        """Parse the reader schema that the caller gave."""
        if self._reader_schema is None:
            self._reader_schema = yield from parse_steps(draft, subject)
        return self._reader_schema

    def request_latest(self, subject: str) -> Steps[RegisteredSchema]:
        """Request the newest version of a subject."""
        registered: RegisteredSchema = yield request("version", subject, "latest")
        return registered

    def request_all_versions(self, subject: str) -> Steps[list[RegisteredSchema]]:
        """Request all versions of a subject."""
        numbers = yield request("versions", subject)
        versions: list[RegisteredSchema] = []
        for number in numbers:
            versions += [(yield request("version", subject, number))]
        return versions

    @property
    def _uses_latest(self) -> bool:
        return self._settings.latest or self._settings.metadata is not None

    def _request_schema(self, head: bytes, subject: str | None) -> Steps[RegisteredSchema]:
        unknown = self.unknown_ids.get((subject, head))
        if unknown is None:
            try:
                if head[0] == MAGIC:
                    schema_id = int.from_bytes(head[1:])
                    registered: RegisteredSchema = yield request("schema_by_id", schema_id, subject=subject)
                    return registered
                guid = str(UUID(bytes=head[1:]))
                registered = yield request("schema_by_guid", guid)
                return registered  # noqa: TRY300 -- both branches return directly
            except NotFound as error:
                unknown = self.unknown_ids.put((subject, head), error)
        raise SchemaIdNotFound(
            reason=f"the registry has no schema with this id: {unknown}",
            schema_id=schema_id_in(head),
            error_message=str(unknown),
        ) from unknown

    def _subject_by_name(self, writer: ParsedSchema, context: Context) -> Steps[str | None]:
        try:
            return (yield from self.subject(context, self._format.name(writer)))
        except SerializationError:
            if self._uses_latest:
                raise
            return None

    def _find_reader_schema(self, subject: str | None) -> Steps[RuledSchema | None]:
        if self._uses_latest:
            if subject is None:
                raise SerializationError(
                    reason="the subject name strategy gave no subject, so none has a newest version"
                )
            newest = yield from self._request_configured(subject)
            return RuledSchema(newest.draft, (yield from parse_steps(newest.draft, subject)), subject, newest)
        if self._draft is None:
            return None
        return RuledSchema(self._draft, (yield from self.parse_own_schema(self._draft, subject)), subject)

    def _request_configured(self, subject: str) -> Steps[RegisteredSchema]:
        metadata = self._settings.metadata
        if metadata is None:
            return (yield from self.request_latest(subject))
        registered: RegisteredSchema = yield request("latest_with_metadata", subject, metadata, deleted=True)
        return registered

    def _plan_without_registry(self, head: bytes, context: Context | None) -> Steps[ReadPlan]:
        if self._reader_schema is None or self._draft is None:
            raise SerializationError(reason="without a registry, a schema to read with is needed")
        schema = RuledSchema(self._draft, self._reader_schema, None)
        rules = yield from self._plan_rules(schema, None, context)
        reader = self._find_reader(self._reader_schema, None)
        decode = reader.decode if rules is None else rules.decode
        return ReadPlan(None, schema_id_in(head), None, decode, reader.require_readable, None, 0, rules)

    def _find_reader(self, writer: ParsedSchema, reader_schema: ParsedSchema | None) -> BodyReader:
        contents = schema_content(writer), None if reader_schema is None else schema_content(reader_schema)
        failure = self.unusable.get(contents)
        if failure is not None:
            raise SchemaNotUsable(reason=failure.message) from failure
        try:
            return self._readers.get(contents) or self._readers.put(
                contents, self._format.reader(writer, reader_schema)
            )
        except InvalidSchema as error:
            self.unusable.put(contents, error)
            raise SchemaNotUsable(reason=error.message) from error


def schema_id_in(head: bytes) -> int | None:
    """Return the id in a head; None if it holds a guid."""
    return int.from_bytes(head[1:]) if head[:1] == bytes((MAGIC,)) else None


def list_heads(registered: RegisteredSchema) -> list[bytes]:
    """Return the bytes by which records may name a schema."""
    frame_id = make_frame_id(registered)
    heads = [] if frame_id.id is None else [frame_id.id_to_bytes()]
    return (
        heads if frame_id.guid is None else [*heads, FrameId(frame_id.schema_type, None, frame_id.guid).guid_to_bytes()]
    )

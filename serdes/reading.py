"""Plans for reading: a record's writer schema, the reader schema, and their codec."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol
from uuid import UUID

from contractlog.compatibility.errors import InvalidSchema, NotFound
from contractlog.compatibility.schema import ParsedSchema, RegisteredSchema, SchemaDraft, SchemaType
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.serdes.asking import Steps, answered, ask
from contractlog.serdes.context import Context
from contractlog.serdes.errors import DecodeError, SchemaIdNotFound, SchemaNotUsable, SerializationError
from contractlog.serdes.memory import Clock, Kept, Memory, lasting
from contractlog.serdes.rules import refuse_migrations, refuse_rules
from contractlog.serdes.schema_ids import FrameId
from contractlog.serdes.settings import DeserializerSettings
from contractlog.serdes.source import parsing
from contractlog.serdes.wire import MAGIC
from contractlog.serdes.writing import Content, content_of, frame_id_of

__all__ = ["BodyReader", "ReadPlan", "ReadPlanner", "ReaderFormat", "heads_of", "id_of"]

UNKNOWN_SECONDS: Final = 10.0  #: seconds for which an unknown id is cached


class BodyReader(Protocol):
    """A schema prepared for reading."""

    def decode(self, data: bytes, start: int = 0) -> Any:
        """Return the value of a body, which begins at ``start``, or raise ``DecodeError``."""

    def prove(self) -> None:
        """Raise ``ReaderMismatch`` if no record can be read."""


class ReaderFormat(Protocol):
    """The part of a format that reading needs."""

    @property
    def type(self) -> SchemaType:
        """The type of its schemas."""

    def name(self, parsed: ParsedSchema) -> str | None:
        """Return the name of a schema for strategies that use record names."""

    def reader(self, writer: ParsedSchema, wanted: ParsedSchema | None) -> BodyReader:
        """Prepare a schema, or a pair of schemas."""


@dataclass(slots=True)
class ReadPlan:
    """A prepared way to read the records of one topic, part and schema."""

    subject: str | None
    schema_id: int | None
    name: str | None  #: of the record that was written
    decode: Callable[[bytes, int], Any]
    prove: Callable[[], None]
    until: float | None  #: expiry time by the planner's clock
    generation: int  #: of the client's newest versions, when it was requested


class ReadPlanner:
    """Maker of plans; each pair of schemas is prepared once, however many topics use it."""

    def __init__(
        self,
        draft: SchemaDraft | None,
        settings: DeserializerSettings,
        form: ReaderFormat,
        clock: Clock,
        *,
        has_registry: bool = True,
    ) -> None:
        if not has_registry and (draft is None or draft.references):
            raise ValueError("a registry is needed: pass schema_registry_client")
        self._draft = draft
        self._settings = settings
        self._form = form
        self._clock = clock
        self._has_registry = has_registry
        self._wanted: ParsedSchema | None = None
        self._readers: Kept[tuple[Content, Content | None], BodyReader] = Kept()
        self.unknown: Memory[tuple[str | None, bytes], NotFound] = Memory(seconds=UNKNOWN_SECONDS, clock=clock)
        if draft is not None and not draft.references:
            self._wanted = answered(parsing(draft, None), None)

    def subject(self, context: Context | None, record_name: str | None) -> Steps[str | None]:
        """Return the subject; None if the strategy needs a record's name and none is available yet."""
        if context is None or not self._has_registry:
            return None
        try:
            return (yield from self._settings.naming.subject(context, record_name))
        except SerializationError:
            if record_name is None:
                return None
            raise

    def subject_at_once(self, context: Context | None, record_name: str | None) -> str | None:
        """Return the subject if it needs no request to the registry."""
        if context is None or not self._has_registry:
            return None
        try:
            return self._settings.naming.at_once(context, record_name)
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
            return self._without_registry(head)
        registered = yield from self._registered(head, subject)
        return (yield from self.plan_of(registered, subject, context, generation))

    def plan_of(
        self, registered: RegisteredSchema, subject: str | None, context: Context | None, generation: int = 0
    ) -> Steps[ReadPlan]:
        """Make the plan for records of a schema."""
        if registered.type is not self._form.type:
            raise DecodeError(
                outcome=Outcome.WRONG_SUBJECT,
                reason=f"the id stands for a schema of type {registered.type}, and {self._form.type} is expected",
                schema_id=int(registered.schema_id) or None,
            )
        refuse_rules(registered, "READ")
        writer = yield from parsing(registered.draft, subject)
        if subject is None and context is not None:
            subject = yield from self._by_name(writer, context)
        wanted = yield from self._wanted_for(subject, registered)
        reader = self._reader(writer, wanted)
        return ReadPlan(
            subject,
            int(registered.schema_id) or None,
            self._form.name(writer),
            reader.decode,
            reader.prove,
            lasting(self._settings.latest_seconds, self._clock) if self._wants_newest else None,
            generation,
        )

    def own(self, draft: SchemaDraft, subject: str | None = None) -> Steps[ParsedSchema]:
        """Parse the reader schema that the caller gave."""
        if self._wanted is None:
            self._wanted = yield from parsing(draft, subject)
        return self._wanted

    def newest(self, subject: str) -> Steps[RegisteredSchema]:
        """Request the newest version of a subject."""
        found: RegisteredSchema = yield ask("version", subject, "latest")
        return found

    def every(self, subject: str) -> Steps[list[RegisteredSchema]]:
        """Request all versions of a subject."""
        numbers = yield ask("versions", subject)
        found: list[RegisteredSchema] = []
        for number in numbers:
            found += [(yield ask("version", subject, number))]
        return found

    @property
    def _wants_newest(self) -> bool:
        return self._settings.latest or self._settings.metadata is not None

    def _registered(self, head: bytes, subject: str | None) -> Steps[RegisteredSchema]:
        unknown = self.unknown.get((subject, head))
        if unknown is None:
            try:
                if head[0] == MAGIC:
                    schema_id = int.from_bytes(head[1:])
                    found: RegisteredSchema = yield ask("schema_by_id", schema_id, subject=subject)
                    return found
                guid = str(UUID(bytes=head[1:]))
                found = yield ask("schema_by_guid", guid)
                return found  # noqa: TRY300 -- both branches return directly
            except NotFound as error:
                unknown = self.unknown.put((subject, head), error)
        raise SchemaIdNotFound(
            reason=f"the registry has no schema with this id: {unknown}",
            schema_id=id_of(head),
            error_message=str(unknown),
        ) from unknown

    def _by_name(self, writer: ParsedSchema, context: Context) -> Steps[str | None]:
        try:
            return (yield from self.subject(context, self._form.name(writer)))
        except SerializationError:
            if self._wants_newest:
                raise
            return None

    def _wanted_for(self, subject: str | None, written: RegisteredSchema) -> Steps[ParsedSchema | None]:
        if self._wants_newest:
            if subject is None:
                raise SerializationError(
                    reason="the subject name strategy gave no subject, so none has a newest version"
                )
            newest = yield from self._newest_wanted(subject)
            refuse_rules(newest, "READ")
            yield from self._refuse_migrations(subject, written, newest)
            return (yield from parsing(newest.draft, subject))
        if self._draft is None:
            return None
        refuse_rules(self._draft, "READ")
        return (yield from self.own(self._draft, subject))

    def _newest_wanted(self, subject: str) -> Steps[RegisteredSchema]:
        metadata = self._settings.metadata
        if metadata is None:
            return (yield from self.newest(subject))
        found: RegisteredSchema = yield ask("latest_with_metadata", subject, metadata, deleted=True)
        return found

    def _refuse_migrations(self, subject: str, written: RegisteredSchema, newest: RegisteredSchema) -> Steps[None]:
        """Reject a migration with rules: any version between the two may have one."""
        if written.schema_id == newest.schema_id:
            return
        try:
            start = yield ask("lookup", subject, written.draft, deleted=True)
        except NotFound:  # of another subject, so there is no path from version to version
            refuse_migrations(newest, "up")
            return
        here, there = int(start.version or 0), int(newest.version or 0)
        for number in range(min(here, there) + 1, max(here, there) + 1):
            try:
                step = yield ask("version", subject, number, deleted=True)
            except NotFound:
                continue
            refuse_migrations(step, "up" if here < there else "down")

    def _without_registry(self, head: bytes) -> ReadPlan:
        if self._wanted is None:
            raise SerializationError(reason="without a registry, a schema to read with is needed")
        if self._draft is not None:
            refuse_rules(self._draft, "READ")
        reader = self._reader(self._wanted, None)
        return ReadPlan(None, id_of(head), None, reader.decode, reader.prove, None, 0)

    def _reader(self, writer: ParsedSchema, wanted: ParsedSchema | None) -> BodyReader:
        contents = content_of(writer), None if wanted is None else content_of(wanted)
        try:
            return self._readers.get(contents) or self._readers.keep(contents, self._form.reader(writer, wanted))
        except InvalidSchema as error:
            raise SchemaNotUsable(reason=error.message) from error


def id_of(head: bytes) -> int | None:
    """Return the id in a head; None if it holds a guid."""
    return int.from_bytes(head[1:]) if head[:1] == bytes((MAGIC,)) else None


def heads_of(registered: RegisteredSchema) -> list[bytes]:
    """Return the bytes by which records may name a schema."""
    known = frame_id_of(registered)
    heads = [] if known.id is None else [known.id_to_bytes()]
    return heads if known.guid is None else [*heads, FrameId(known.schema_type, None, known.guid).guid_to_bytes()]

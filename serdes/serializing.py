"""What the serializers of all formats share: subject, schema, id, frame. Formats bring the body."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final, Protocol, TypeAlias

from contractlog.compatibility.errors import NotFound
from contractlog.compatibility.names import SchemaId
from contractlog.compatibility.schema import ParsedSchema, RegisteredSchema, SchemaDraft, SchemaType
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.serdes.context import Context, MessageField, header
from contractlog.serdes.errors import BadFrame, DecodeError, SerializationError
from contractlog.serdes.memory import Clock, Memory
from contractlog.serdes.settings import DeserializerSettings, SerializerSettings
from contractlog.serdes.source import SchemaSource, parsed_of, refuse_rules
from contractlog.serdes.wire import KEY_ID_HEADER, VALUE_ID_HEADER, frame, unframe

__all__ = ["BodyReader", "BodyWriter", "Deserializer", "FromDict", "Serializer", "ToDict"]

ToDict: TypeAlias = Callable[[Any, Any], Any]
FromDict: TypeAlias = Callable[[Any, Any], Any]

LATEST_SECONDS: Final = 60.0  #: how long "latest" is believed
UNKNOWN_SECONDS: Final = 10.0  #: how long an id stays unknown before the registry is asked again


class BodyWriter(Protocol):
    """A schema made ready for writing."""

    def encode(self, value: Any, prefix: bytes = b"") -> bytes:
        """Return the prefix and the body of a value, or raise ``EncodeError``."""


class BodyReader(Protocol):
    """A schema made ready for reading."""

    def decode(self, data: bytes | bytearray | memoryview, start: int = 0) -> Any:
        """Return the value of the body from ``start`` to the end, or raise ``DecodeError``."""


class Serializer(ABC):
    """Values to framed bytes. May be shared by threads; ids are kept by subject."""

    format: SchemaType

    def __init__(
        self,
        client: SchemaSource,
        draft: SchemaDraft | None,
        to_dict: ToDict | None,
        settings: SerializerSettings,
        clock: Clock = time.monotonic,
    ) -> None:
        if to_dict is not None and not callable(to_dict):
            raise ValueError("to_dict must be a function of value and context")
        if draft is None and not settings.use_latest_version and settings.use_schema_id is None:
            raise ValueError("without a schema, use.latest.version or use.schema.id has to be set")
        self._client = client
        self._draft = draft
        self._to_dict = to_dict
        self._settings = settings
        self._parsed = parsed_of(client, draft) if draft is not None and not draft.references else None
        seconds = LATEST_SECONDS if settings.use_latest_version else None
        self._ready: Memory[str, tuple[SchemaId, BodyWriter]] = Memory(seconds=seconds, clock=clock)
        self._preparing = threading.Lock()

    @abstractmethod
    def _writer(self, parsed: ParsedSchema) -> BodyWriter:
        """Make a schema ready."""

    @abstractmethod
    def _name(self, parsed: ParsedSchema) -> str | None:
        """Return what record name strategies call a schema."""

    def __call__(self, value: Any, ctx: Context | None = None) -> bytes | None:
        """Return the framed bytes of a value; None stays None.

        Raises:
            SerializationError: the value does not fit its schema, or the schema cannot be used.
            ContractlogError: the registry refused, or did not answer.
        """
        if value is None:
            return None
        subject = self._settings.subject_name(ctx, self._record_name())
        try:
            schema_id, writer = self._ready.get(subject or "") or self._prepare(subject)
        except SerializationError as error:
            raise error.within(**_facts(ctx, subject)) from None
        given = value if self._to_dict is None else self._to_dict(value, ctx)
        try:
            return frame(schema_id, writer.encode(given))
        except SerializationError as error:
            raise error.within(schema_id=schema_id, **_facts(ctx, subject)) from None

    def _record_name(self) -> str | None:
        return None if self._draft is None else self._name(self._understood(self._draft))

    def _understood(self, draft: SchemaDraft) -> ParsedSchema:
        if self._parsed is None:
            self._parsed = parsed_of(self._client, draft)
        return self._parsed

    def _prepare(self, subject: str | None) -> tuple[SchemaId, BodyWriter]:
        with self._preparing:
            known = self._ready.get(subject or "")
            if known is not None:
                return known
            registered, parsed = self._found(subject)
            refuse_rules(registered, "WRITE")
            return self._ready.put(subject or "", (registered.schema_id, self._writer(parsed)))

    def _found(self, subject: str | None) -> tuple[RegisteredSchema, ParsedSchema]:
        settings = self._settings
        if settings.use_schema_id is not None:
            registered = self._client.schema_by_id(settings.use_schema_id, subject=subject)
            return registered, parsed_of(self._client, registered.draft)
        if subject is None:
            raise SerializationError(reason="the subject name strategy gave no subject")
        if settings.use_latest_version:
            registered = self._client.version(subject, "latest")
            return registered, parsed_of(self._client, registered.draft)
        if self._draft is None:
            raise SerializationError(reason="there is no schema to write with")
        ask = self._client.register if settings.auto_register else self._client.lookup
        registered = ask(subject, self._draft, normalize=settings.normalize)
        return registered, self._understood(self._draft)


class Deserializer(ABC):
    """Framed bytes to values. May be shared by threads."""

    format: SchemaType

    def __init__(
        self,
        client: SchemaSource,
        draft: SchemaDraft | None,
        from_dict: FromDict | None,
        settings: DeserializerSettings,
        clock: Clock = time.monotonic,
    ) -> None:
        if from_dict is not None and not callable(from_dict):
            raise ValueError("from_dict must be a function of value and context")
        self._client = client
        self._draft = draft
        self._from_dict = from_dict
        self._settings = settings
        self._wanted = parsed_of(client, draft) if draft is not None and not draft.references else None
        seconds = LATEST_SECONDS if settings.use_latest_version else None
        self._ready: Memory[tuple[str | None, int], BodyReader] = Memory(seconds=seconds, clock=clock)
        self._unknown: Memory[tuple[str | None, int], str] = Memory(seconds=UNKNOWN_SECONDS, clock=clock)
        self._preparing = threading.Lock()

    @abstractmethod
    def _reader(self, writer: ParsedSchema, wanted: ParsedSchema | None) -> BodyReader:
        """Make a schema ready."""

    @abstractmethod
    def _name(self, parsed: ParsedSchema) -> str | None:
        """Return what record name strategies call a schema."""

    def __call__(self, value: bytes | bytearray | memoryview | None, ctx: Context | None = None) -> Any:
        """Return the value of framed bytes; None stays None.

        Raises:
            DecodeError: the bytes are not what they say they are; ``outcome`` tells how.
            SerializationError: the reader's schema cannot follow, or a rule would have to run.
            ContractlogError: the registry did not answer.
        """
        if value is None:
            return None
        subject = self._subject(ctx)
        schema_id = None
        try:
            _refuse_guid(ctx)
            schema_id, body = unframe(value)
            reader = self._ready.get((subject, schema_id)) or self._prepare(subject, schema_id, ctx)
            decoded = reader.decode(body)
        except SerializationError as error:
            raise error.within(schema_id=schema_id, **_facts(ctx, subject)) from None
        return decoded if self._from_dict is None else self._from_dict(decoded, ctx)

    def _subject(self, ctx: Context | None) -> str | None:
        """Return the subject that the topic names; strategies that want a record's name have to wait for it."""
        if ctx is None:
            return None
        try:
            return self._settings.subject_name(ctx, None)
        except SerializationError:
            return None

    def _prepare(self, subject: str | None, schema_id: SchemaId, ctx: Context | None) -> BodyReader:
        with self._preparing:
            known = self._ready.get((subject, schema_id))
            if known is not None:
                return known
            registered = self._registered(subject, schema_id)
            if registered.type is not self.format:
                raise DecodeError(
                    outcome=Outcome.WRONG_SUBJECT,
                    reason=f"the id stands for a schema of type {registered.type}, and {self.format} is expected",
                )
            writer = parsed_of(self._client, registered.draft)
            wanted = self._wanted_for(subject, writer, ctx)
            refuse_rules(registered, "READ", migrating=wanted is not None)
            return self._ready.put((subject, schema_id), self._reader(writer, wanted))

    def _registered(self, subject: str | None, schema_id: SchemaId) -> RegisteredSchema:
        unknown = self._unknown.get((subject, schema_id))
        if unknown is None:
            try:
                return self._client.schema_by_id(schema_id, subject=subject)
            except NotFound as error:
                unknown = self._unknown.put((subject, schema_id), str(error))
        raise DecodeError(outcome=Outcome.UNKNOWN_SCHEMA_ID, reason=f"the registry does not know the id: {unknown}")

    def _wanted_for(self, subject: str | None, writer: ParsedSchema, ctx: Context | None) -> ParsedSchema | None:
        if self._settings.use_latest_version:
            named = subject or self._settings.subject_name(ctx, self._name(writer))
            if named is None:
                raise SerializationError(reason="the subject name strategy gave no subject")
            latest = self._client.version(named, "latest")
            refuse_rules(latest, "READ", migrating=True)
            return parsed_of(self._client, latest.draft)
        if self._draft is not None and self._wanted is None:
            self._wanted = parsed_of(self._client, self._draft)
        return self._wanted


def _facts(ctx: Context | None, subject: str | None) -> dict[str, Any]:
    return {"topic": None if ctx is None else ctx.topic, "subject": subject}


def _refuse_guid(ctx: Context | None) -> None:
    key = ctx is not None and ctx.field == MessageField.KEY
    name = KEY_ID_HEADER if key else VALUE_ID_HEADER
    if header(ctx, name) is not None:
        raise BadFrame(reason=f"the schema is named by a guid in the header {name}, which this release does not read")

"""Check that a record's schema belongs to its topic, by the topic's subject name strategy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol
from uuid import UUID

from contractlog.compatibility.errors import InvalidSchema, NotFound
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, Subject, topic_subject
from contractlog.compatibility.name_lists import list_first
from contractlog.compatibility.schema import RegisteredSchema, SchemaType
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.avro_schema import find_record_name
from contractlog.serdes.context import MessageField
from contractlog.serdes.errors import DecodeError
from contractlog.serdes.json_schema.schema_preparation import find_title
from contractlog.serdes.read_planner import schema_id_in
from contractlog.serdes.schema_source import SchemaSource, fetch_and_parse
from contractlog.serdes.subject_names import SubjectNameStrategyType, find_associated_subjects

__all__ = ["TopicSchemaCheck", "VersionSource"]

_MAX_LISTED: Final = 5


class VersionSource(SchemaSource, Protocol):
    """A registry that also lists the versions of an id; ``contractlog.clients.Registry`` is one."""

    def versions_of_id(
        self, schema_id: int, *, subject: str | None = None, deleted: bool = False
    ) -> Sequence[tuple[str, int]]:
        """Return every (subject, version) of an id; raise ``NotFound`` if there is no such id."""

    def ids_of_guid(self, guid: str) -> Sequence[tuple[str, int]]:
        """Return every (context, id) of a guid's content."""


class TopicSchemaCheck:
    """The subjects of a topic's records, including soft-deleted versions.

    Each id or guid is requested once.

    Args:
        registry: the source of schemas.
        topic: the topic of the records.
        strategy: names the topic's subjects; None accepts each that a serializer could have used: the topic's own
            subject, an associated one, and those named after the record.
    """

    def __init__(self, registry: VersionSource, topic: str, strategy: SubjectNameStrategyType | None = None) -> None:
        self._registry = registry
        self._topic = topic
        self._strategy = strategy
        by_topic = {part: topic_subject(topic, part) for part in (MessageField.KEY, MessageField.VALUE)}
        self._associated: dict[MessageField, list[str]] = {
            part: find_associated_subjects(registry, topic, part) if self._uses_associations else []
            for part in by_topic
        }
        self._by_topic = by_topic
        self._parts_with_versions = {part for part, subject in by_topic.items() if self._list_versions(subject)}
        self._rejections: dict[tuple[MessageField, bytes], DecodeError | None] = {}

    @property
    def _uses_associations(self) -> bool:
        return self._strategy in {None, SubjectNameStrategyType.ASSOCIATED}

    def subject(self, part: MessageField) -> str:
        """Return the subject under which this part's schemas are looked up, unless records determine it."""
        associated = self._associated[part]
        return associated[0] if len(associated) == 1 else self._by_topic[part]

    def has_subject(self, part: MessageField) -> bool:
        """Return whether this part has an associated subject, or had a registered one at any time."""
        return part in self._parts_with_versions or bool(self._associated[part])

    def schema(self, part: MessageField, head: bytes) -> RegisteredSchema:
        """Return the schema of an id or guid; raise ``NotFound`` if there is none."""
        schema_id = schema_id_in(head)
        if schema_id is None:
            return self._registry.schema_by_guid(_guid_in(head))
        return self._registry.schema_by_id(schema_id, subject=self.subject(part))

    def schema_id(self, part: MessageField, head: bytes) -> int | None:
        """Return the id in a head; for a guid its id in the context of this part's subject, or None."""
        schema_id = schema_id_in(head)
        if schema_id is not None:
            return schema_id
        context = Subject.parse(self.subject(part)).context
        try:
            ids = self._registry.ids_of_guid(_guid_in(head))
        except NotFound:
            return None
        return next((schema_id for name, schema_id in ids if name == context), None)

    def subjects(self, part: MessageField, head: bytes, schema: RegisteredSchema) -> Sequence[str]:
        """Return the subjects of this part that a schema belongs to, the most likely first."""
        schema_id = self.schema_id(part, head)
        uses = () if schema_id is None else self._find_subjects(schema_id, Subject.parse(self.subject(part)).context)
        used = set(map(_normalize_subject, uses))
        return [name for name in self._allowed_subjects(part, schema) if _normalize_subject(name) in used]

    def require_allowed_subject(self, part: MessageField, head: bytes, schema: RegisteredSchema) -> None:
        """Check that a schema belongs to one of this part's subjects.

        Without a strategy, a part without subjects is not checked; an id that no subject uses is accepted.

        Raises:
            DecodeError: the schema belongs to other subjects, which are named.
        """
        if self._strategy is None and not self.has_subject(part):
            return
        key = part, head
        if key not in self._rejections:
            self._rejections[key] = self._find_rejection(part, head, schema)
        verdict = self._rejections[key]
        if verdict is not None:
            raise verdict

    def _find_rejection(self, part: MessageField, head: bytes, schema: RegisteredSchema) -> DecodeError | None:
        schema_id = self.schema_id(part, head)
        uses = () if schema_id is None else self._find_subjects(schema_id, Subject.parse(self.subject(part)).context)
        allowed = self._allowed_subjects(part, schema)
        if not uses or not {_normalize_subject(name) for name in allowed}.isdisjoint(map(_normalize_subject, uses)):
            return None
        return DecodeError(
            outcome=Outcome.WRONG_SUBJECT,
            reason=f"the id belongs to {_format_subjects(uses)}, and to no version of {_format_subjects(allowed)}",
            schema_id=schema_id,
        )

    def _allowed_subjects(self, part: MessageField, schema: RegisteredSchema) -> Sequence[str]:
        """Return the subjects that a schema of this part may belong to, the most likely first."""
        by_topic, associated, name = self._by_topic[part], self._associated[part], self._find_record_name(schema)
        match self._strategy:
            case SubjectNameStrategyType.RECORD if name:
                return [name]
            case SubjectNameStrategyType.TOPIC_RECORD if name:
                return [topic_subject(self._topic, name)]
            case SubjectNameStrategyType.ASSOCIATED if associated:
                return associated
            case None:
                named = [name, topic_subject(self._topic, name)] if name else []
                return list(dict.fromkeys((*associated, by_topic, *named)))
        return [by_topic]  # a schema without a name, under any strategy

    def _find_record_name(self, schema: RegisteredSchema) -> str | None:
        try:
            parsed = fetch_and_parse(self._registry, schema.draft)
        except (InvalidSchema, NotFound):  # decoding reports it
            return None
        name_of = {SchemaType.AVRO: find_record_name, SchemaType.JSON: find_title}.get(parsed.type)
        return None if name_of is None else name_of(parsed)

    def _find_subjects(self, schema_id: int, context: str) -> Sequence[str]:
        context_subject = None if context == DEFAULT_CONTEXT else str(Subject(context, ""))
        try:
            versions = self._registry.versions_of_id(schema_id, subject=context_subject, deleted=True)
        except NotFound:
            return ()
        return tuple(dict.fromkeys(subject for subject, _ in versions))

    def _list_versions(self, subject: str) -> Sequence[int]:
        try:
            return self._registry.versions(subject, deleted=True)
        except NotFound:
            return ()


def _guid_in(head: bytes) -> str:
    return str(UUID(bytes=head[1:]))


def _normalize_subject(subject: str) -> str:
    return str(Subject.parse(subject))


def _format_subjects(subjects: Iterable[str]) -> str:
    return list_first([f"`{subject}`" for subject in subjects], _MAX_LISTED)

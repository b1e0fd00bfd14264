"""Source of an import: a ``_schemas`` topic, whose records are applied one by one."""

from __future__ import annotations

import base64
import binascii
import sys
import uuid
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from contractlog.clients.cli.progress_line import ProgressLine
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.identifiers import GLOBAL_CONTEXT, Subject
from contractlog.registry.storage.associations import StoredAssociation
from contractlog.registry.transfer import import_parsers
from contractlog.registry.transfer.config_columns import read_config, read_mode
from contractlog.registry.transfer.import_parsers import InvalidField
from contractlog.registry.transfer.registry_contents import (
    Deletions,
    RegistryContents,
    RetiredId,
    SchemaKey,
    TransferredSchema,
    TransferredVersion,
    VersionKey,
)
from contractlog.registry.transfer.report import OddityKind, TransferReport
from contractlog.registry.transfer.schemas_topic import SchemasTopic
from contractlog.registry.transfer.topic_records import (
    KeyType,
    LogKey,
    LogRecord,
    UnreadableRecord,
    read_key,
)

__all__ = ["TopicReplay", "TopicSource"]

T = TypeVar("T")
_ACTOR: Final = "import"
_MAX_MEMORY: Final = 4 << 30  #: for the records of a topic, as for the responses of a live registry
_RECORD_MEMORY: Final = 1_000  #: estimate of what a record takes besides its bytes


class TopicReplay:
    """Registry state built from records, strictly by offset.

    A key may have several byte representations; records with equal parsed keys are about the same thing.
    """

    def __init__(self, report: TransferReport) -> None:
        self._report = report
        self.contents = RegistryContents()
        self._numbers: defaultdict[Subject, set[int]] = defaultdict(set)
        self._holders: defaultdict[SchemaKey, set[VersionKey]] = defaultdict(set)
        self._texts: dict[SchemaKey, str] = {}  #: the text of every id ever accepted
        self._highest: dict[str, int] = {}
        self._applied: dict[SchemaKey, int] = {}  #: the newest offset of each id
        self._by_association: dict[tuple[tuple[str, str], ...], str] = {}
        self._old_forms: dict[VersionKey, int] = {}
        self._new_forms: set[VersionKey] = set()
        self._memory = 0

    def apply(self, record: LogRecord) -> None:
        """Apply one record.

        Raises:
            UsageError: the records do not fit into the memory of an import.
        """
        self._memory += _RECORD_MEMORY + len(record.key or b"") + len(record.value or b"")
        if self._memory > _MAX_MEMORY:
            raise UsageError(
                f"{record.position}: the records up to here need more than {_MAX_MEMORY / 2**30:g} GiB of memory, the "
                "limit of an import; compact the topic, or import from the URL of its registry"
            )
        self._report.read["records"] += 1
        try:
            key = read_key(record.key)
            if isinstance(key, str):
                self._report.odd(OddityKind.UNKNOWN_KEYTYPE, record.position, key)
                return
            self._report.read[f"{key.type} records"] += 1
            if key.subject and Subject.parse(key.subject).ambiguous:
                self._report.odd(OddityKind.NO_NAME, record.position, key.subject)
                return
            if key.subject:
                import_parsers.parse_scope(key.subject)
            self._dispatch(key, record)
        except (UnreadableRecord, InvalidField) as reason:
            self._report.odd(OddityKind.BAD_RECORD, record.position, str(reason))

    def _dispatch(self, key: LogKey, record: LogRecord) -> None:
        if record.value is not None and record.deletes:
            self._report.odd(OddityKind.ZERO_LENGTH, record.position, f"{key.type} {key.subject or ''}")
        match key.type:
            case KeyType.SCHEMA:
                self._schema(key, record)
            case KeyType.DELETE_SUBJECT if not record.deletes:
                self._delete_subject(record.parse_value(), record)
            case KeyType.CLEAR_SUBJECT if not record.deletes:
                self._clear_subject(record.parse_value().get("subject"), record)
            case KeyType.CONFIG:
                self._config(key, record)
            case KeyType.MODE:
                self._mode(key, record)
            case KeyType.CONTEXT:
                self._context(key, record)
            case KeyType.ASSOC:
                self._association(key, record)
            case _:
                pass  # NOOP marks the end of the log; a deletion record without a value has no effect

    def _schema(self, key: LogKey, record: LogRecord) -> None:
        if not key.subject:
            self._report.odd(OddityKind.EMPTY_SUBJECT, record.position, f"version {key.version}")
            return
        at: VersionKey = Subject.parse(key.subject), key.version or 0
        if record.headed and key.subject.startswith(":."):
            self._report.odd(OddityKind.QUALIFIED_IN_KARAPACE, record.position, key.subject)
        if key.canonical:
            self._new_forms.add(at)
        else:
            self._old_forms[at] = record.offset
        if record.deletes:
            self._remove(at, record.timestamp)
            return
        value = record.parse_value()
        schema = self._read_schema(at, value, record)
        if schema is not None and self._owns(schema, at, record):
            self._put(schema, at, deleted=value.get("deleted") is True, record=record)

    def _read_schema(self, at: VersionKey, value: Mapping[str, Any], record: LogRecord) -> TransferredSchema | None:
        subject, version = at
        import_parsers.parse_subject(str(subject) if subject.name else f":{subject.context}:")
        where, name = record.position, f"{subject}/{version}"
        try:
            import_parsers.read_version({"version": version})
            schema = import_parsers.read_reference_schema(value, subject.context, self._report, where, name)
            return schema and replace(schema, guid=_parse_guid(value.get("md5")), created_at=record.timestamp)
        except KeyError as error:
            raise UnreadableRecord(f"a schema without {error}") from None
        except InvalidField as error:
            raise UnreadableRecord(f"a schema of which {error}") from None

    def _owns(self, schema: TransferredSchema, at: VersionKey, record: LogRecord) -> bool:
        """Return whether an id may have this text: while it is in use, its first text in log order owns it."""
        bound = self._holders[schema.key]
        if bound and self._texts[schema.key] != schema.text:
            self._report.odd(
                OddityKind.ID_CONFLICT,
                record.position,
                f"id {schema.id} of context {schema.context}, for {at[0]}/{at[1]}",
            )
            return False
        if not bound and self._texts.get(schema.key, schema.text) != schema.text:
            self._report.odd(OddityKind.REISSUED, record.position, f"id {schema.id} of context {schema.context}")
        return True

    def _put(self, schema: TransferredSchema, at: VersionKey, *, deleted: bool, record: LogRecord) -> None:
        before = self.contents.versions.get(at)
        if before is not None and before.schema_id != schema.id:
            where = f"{at[0]}/{at[1]}: id {before.schema_id}, then {schema.id}"
            self._report.odd(OddityKind.REWRITTEN, record.position, where)
            self._release(at, before.schema, record.timestamp)
            before = None
        first = self.contents.schemas.get(schema.key)
        if first is None or not self._holders[schema.key]:
            self.contents.schemas[schema.key] = first = schema
        elif first.content_without_text != schema.content_without_text:
            self._report.odd(OddityKind.SECOND_CONTENT, record.position, f"id {schema.id}, for {at[0]}/{at[1]}")
        self._texts[schema.key] = schema.text
        self._applied[schema.key] = record.offset
        self._holders[schema.key].add(at)
        self._numbers[at[0]].add(at[1])
        self._highest[schema.context] = max(self._highest.get(schema.context, 0), schema.id)
        self.contents.retired.pop(schema.key, None)
        self.contents.deletions.versions.discard((*at, schema.id))
        created = record.timestamp if before is None else before.created_at
        when = (before.deleted_at if before else None) or record.timestamp
        self.contents.versions[at] = TransferredVersion(*at, schema.id, created, when if deleted else None)

    def _remove(self, at: VersionKey, when: int) -> None:
        before = self.contents.versions.pop(at, None)
        if before is not None:
            self._numbers[at[0]].discard(at[1])
            self._release(at, before.schema, when)

    def _release(self, at: VersionKey, schema: SchemaKey, when: int) -> None:
        """Remove an id from a version; an id that no version uses any more is retired."""
        self.contents.deletions.versions.add((*at, schema[1]))
        self._holders[schema].discard(at)
        if not self._holders[schema]:
            self.contents.schemas.pop(schema, None)
            self.contents.retired[schema] = RetiredId(when, _ACTOR)

    def _delete_subject(self, value: Mapping[str, Any], record: LogRecord) -> None:
        """Soft-delete the current versions up to a number; later versions are live, whatever their number."""
        name, highest = value.get("subject"), value.get("version")
        if not isinstance(name, str) or not isinstance(highest, int) or isinstance(highest, bool):
            raise UnreadableRecord("a deletion without subject or version")
        subject = Subject.parse(name)
        for number in self._numbers.get(subject, ()):
            version = self.contents.versions[subject, number]
            if number <= highest and version.deleted_at is None:
                self.contents.versions[version.key] = replace(version, deleted_at=record.timestamp)

    def _clear_subject(self, name: Any, record: LogRecord) -> None:
        scope = Subject.parse(name) if isinstance(name, str) and name else Subject(GLOBAL_CONTEXT, "")
        for at in [
            version.key
            for version in self.contents.versions.values()
            if version.deleted_at is not None and _covers(scope, version.subject)
        ]:
            self._remove(at, record.timestamp)

    def _config(self, key: LogKey, record: LogRecord) -> None:
        value = {} if record.deletes else record.parse_value()
        config = read_config(value, record.position, self._report)
        _replace_item(self.contents.settings, self.contents.deletions.settings, key, config)

    def _mode(self, key: LogKey, record: LogRecord) -> None:
        value = None if record.deletes else record.parse_value().get("mode")
        mode = None if value is None else read_mode(value, record.position, self._report)
        _replace_item(self.contents.modes, self.contents.deletions.modes, key, mode)

    def _context(self, key: LogKey, record: LogRecord) -> None:
        import_parsers.validate_context(key.context or "")
        if record.deletes:
            self.contents.contexts.pop(key.context or "", None)
        else:
            self.contents.contexts.setdefault(key.context or "", 1)

    def _association(self, key: LogKey, record: LogRecord) -> None:
        guid = self._by_association.get(key.association)
        association = None
        if not record.deletes:
            old = self.contents.associations.get(guid) if guid else None
            association = _parse_association(record.parse_value(), dict(key.association), old, record.timestamp)
        if guid is not None:
            del self._by_association[key.association]
            self.contents.associations.pop(guid, None)
            self.contents.deletions.associations.add(guid)
        if association is not None:
            self.contents.associations[association.guid] = association
            self.contents.deletions.associations.discard(association.guid)
            self._by_association[key.association] = association.guid

    def copy_contents(self) -> RegistryContents:
        """Return the state after all records so far; counters are above every id ever accepted."""
        contents, deletions = self.contents, self.contents.deletions
        whole = RegistryContents(
            dict(contents.contexts),
            dict(contents.schemas),
            dict(contents.versions),
            dict(contents.settings),
            dict(contents.modes),
            dict(contents.associations),
            dict(contents.retired),
            Deletions(
                set(deletions.versions), set(deletions.settings), set(deletions.modes), set(deletions.associations)
            ),
        )
        whole.select_reused_ids(sorted(whole.schemas, key=self._applied.__getitem__))
        whole.raise_counters()
        for context, highest in self._highest.items():
            whole.contexts[context] = max(whole.contexts.get(context, 1), highest + 1)
        return whole

    def conclude(self) -> None:
        """Report what is certain only at the end: versions that may be leftovers of a compaction."""
        mixed = bool(self._new_forms)
        for at, offset in self._old_forms.items():
            if mixed and at not in self._new_forms and at in self.contents.versions:
                self._report.odd(OddityKind.OLD_KEY_FORM, f"offset {offset}", f"{at[0]}/{at[1]}")
        for schema in self.contents.schemas.values():
            if schema.encrypted:
                self._report.odd(OddityKind.ENCRYPTED, f"id {schema.id} of context {schema.context}")


def _replace_item(items: dict[Subject, T], deleted: set[Subject], key: LogKey, item: T | None) -> None:
    """Set the config or mode of the scope that a key names; an empty one deletes it."""
    scope = Subject.parse(key.subject or "")
    if item:
        items[scope] = item
        deleted.discard(scope)
    elif items.pop(scope, None) is not None:
        deleted.add(scope)


def _parse_guid(md5: Any) -> str | None:
    """Return the guid that a value contains: with encrypted metadata it cannot be computed."""
    if not md5:
        return None
    try:
        return str(uuid.UUID(bytes=base64.b64decode(md5, validate=True)))
    except (binascii.Error, ValueError, TypeError):
        raise UnreadableRecord("an md5 that is none") from None


def _covers(scope: Subject, subject: Subject) -> bool:
    if scope.context == GLOBAL_CONTEXT:
        return True
    return subject == scope if scope.name else subject.context == scope.context


def _parse_association(
    value: Mapping[str, Any], names: Mapping[str, str], old: StoredAssociation | None, timestamp: int
) -> StoredAssociation:
    merged = dict(names) | {name: member for name, member in value.items() if member is not None}
    merged |= {"resourceId": merged.get("resourceId", ""), "lifecycle": str(merged.get("lifecycle") or "WEAK").upper()}
    try:
        association = import_parsers.read_association(merged, frozen=False)
        return replace(association, created_at=old.created_at if old else timestamp, updated_at=timestamp)
    except KeyError as error:
        raise UnreadableRecord(f"an association that lacks {error}") from None
    except InvalidField as error:
        raise UnreadableRecord(f"an association of which {error}") from None


class TopicSource:
    """A ``_schemas`` topic; each ``poll`` continues where the previous one ended."""

    def __init__(self, topic: SchemasTopic) -> None:
        self._topic = topic
        self._replay: TopicReplay | None = None

    def read_contents(self, report: TransferReport) -> RegistryContents:
        """Replay the log up to its current end."""
        self._replay = TopicReplay(report)
        with ProgressLine("reading the topic", "records", sys.stderr, logged=False) as report_progress:
            for record in self._topic.records(report_progress):
                self._replay.apply(record)
        self._replay.conclude()
        return self._replay.copy_contents()

    def poll(self, report: TransferReport) -> RegistryContents | None:
        """Apply the records added since."""
        if self._replay is None:
            return self.read_contents(report)
        before = self._topic.position
        for record in self._topic.records():
            self._replay.apply(record)
        return None if self._topic.position == before else self._replay.copy_contents()

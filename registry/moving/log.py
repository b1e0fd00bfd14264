"""Replay of a ``_schemas`` topic: its records applied one by one, as the reference applies them."""

from __future__ import annotations

import base64
import binascii
import uuid
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from contractlog.compatibility.names import GLOBAL_CONTEXT, Subject
from contractlog.compatibility.schema import SchemaType
from contractlog.registry.moving import members
from contractlog.registry.moving.log_records import (
    KeyType,
    LogKey,
    LogRecord,
    Unreadable,
    read_key,
    read_value,
)
from contractlog.registry.moving.members import Unfit
from contractlog.registry.moving.picture import (
    Association,
    Gone,
    HeldSchema,
    HeldVersion,
    Picture,
    Retired,
    SchemaKey,
    VersionKey,
)
from contractlog.registry.moving.report import Report, Strange
from contractlog.registry.moving.scopes import known_config, known_mode
from contractlog.registry.moving.storable import unstorable

__all__ = ["Replay"]

_ACTOR: Final = "import"


class Replay:
    """Registry state built from records, strictly by offset.

    A key may have several byte representations; records with equal parsed keys are about the same thing.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self.picture = Picture()
        self._numbers: defaultdict[Subject, set[int]] = defaultdict(set)
        self._holders: defaultdict[SchemaKey, set[VersionKey]] = defaultdict(set)
        self._texts: dict[SchemaKey, str] = {}  #: the text of every id ever accepted
        self._highest: dict[str, int] = {}
        self._applied: dict[SchemaKey, int] = {}  #: the newest offset of each id
        self._by_association: dict[tuple[tuple[str, str], ...], str] = {}
        self._old_forms: dict[VersionKey, int] = {}
        self._new_forms: set[VersionKey] = set()

    def apply(self, record: LogRecord) -> None:
        """Apply one record."""
        self._report.read["records"] += 1
        try:
            key = read_key(record.key)
            if isinstance(key, str):
                self._report.odd(Strange.UNKNOWN_KEYTYPE, _at(record), key)
                return
            self._report.read[f"{key.type} records"] += 1
            if key.subject and Subject.parse(key.subject).ambiguous:
                self._report.odd(Strange.NO_NAME, _at(record), key.subject)
                return
            if key.subject:
                members.subject_of(key.subject)
            self._dispatch(key, record)
        except (Unreadable, Unfit) as reason:
            self._report.odd(Strange.BAD_RECORD, _at(record), str(reason))

    def _dispatch(self, key: LogKey, record: LogRecord) -> None:
        if record.value is not None and record.deletes:
            self._report.odd(Strange.ZERO_LENGTH, _at(record), f"{key.type} {key.subject or ''}")
        match key.type:
            case KeyType.SCHEMA:
                self._schema(key, record)
            case KeyType.DELETE_SUBJECT if not record.deletes:
                self._delete_subject(read_value(record.value or b""), record)
            case KeyType.CLEAR_SUBJECT if not record.deletes:
                self._clear_subject(read_value(record.value or b"").get("subject"), record)
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
            self._report.odd(Strange.EMPTY_SUBJECT, _at(record), f"version {key.version}")
            return
        at: VersionKey = Subject.parse(key.subject), key.version or 0
        if record.headed and key.subject.startswith(":."):
            self._report.odd(Strange.QUALIFIED_IN_KARAPACE, _at(record), key.subject)
        if key.canonical:
            self._new_forms.add(at)
        else:
            self._old_forms[at] = record.offset
        if record.deletes:
            self._remove(at, record.timestamp)
            return
        value = read_value(record.value or b"")
        held = self._read_schema(at, value, record)
        if held is not None and self._owns(held, at, record):
            self._put(held, at, deleted=value.get("deleted") is True, record=record)

    def _read_schema(self, at: VersionKey, value: Mapping[str, Any], record: LogRecord) -> HeldSchema | None:
        subject, version = at
        members.version_subject(str(subject) if subject.name else f":{subject.context}:")
        name = value.get("schemaType") or SchemaType.AVRO
        if not isinstance(name, str) or name not in set(SchemaType):
            self._report.odd(Strange.UNKNOWN_TYPE, _at(record), f"{subject}/{version}: {name}")
            return None
        held = _schema_of(at, SchemaType(name), value, record.timestamp)
        reason = unstorable(held)
        if reason:
            self._report.odd(Strange.NOT_STORABLE, _at(record), f"{subject}/{version}: {reason}")
            return None
        return held

    def _owns(self, held: HeldSchema, at: VersionKey, record: LogRecord) -> bool:
        """Return whether an id may have this text: while it is in use, its first text in log order owns it."""
        bound = self._holders[held.key]
        if bound and self._texts[held.key] != held.text:
            self._report.odd(
                Strange.ID_CONFLICT, _at(record), f"id {held.id} of context {held.context}, for {at[0]}/{at[1]}"
            )
            return False
        if not bound and self._texts.get(held.key, held.text) != held.text:
            self._report.odd(Strange.REISSUED, _at(record), f"id {held.id} of context {held.context}")
        return True

    def _put(self, held: HeldSchema, at: VersionKey, *, deleted: bool, record: LogRecord) -> None:
        before = self.picture.versions.get(at)
        if before is not None and before.schema_id != held.id:
            where = f"{at[0]}/{at[1]}: id {before.schema_id}, then {held.id}"
            self._report.odd(Strange.REWRITTEN, _at(record), where)
            self._release(at, before.schema, record.timestamp)
            before = None
        first = self.picture.schemas.get(held.key)
        if first is None or not self._holders[held.key]:
            self.picture.schemas[held.key] = first = held
        elif first.beside != held.beside:
            self._report.odd(Strange.SECOND_CONTENT, _at(record), f"id {held.id}, for {at[0]}/{at[1]}")
        self._texts[held.key] = held.text
        self._applied[held.key] = record.offset
        self._holders[held.key].add(at)
        self._numbers[at[0]].add(at[1])
        self._highest[held.context] = max(self._highest.get(held.context, 0), held.id)
        self.picture.retired.pop(held.key, None)
        self.picture.gone.versions.discard((*at, held.id))
        created = record.timestamp if before is None else before.created_at
        when = (before.deleted_at if before else None) or record.timestamp
        self.picture.versions[at] = HeldVersion(*at, held.id, created, when if deleted else None)

    def _remove(self, at: VersionKey, when: int) -> None:
        before = self.picture.versions.pop(at, None)
        if before is not None:
            self._numbers[at[0]].discard(at[1])
            self._release(at, before.schema, when)

    def _release(self, at: VersionKey, schema: SchemaKey, when: int) -> None:
        """Remove an id from a version; an id that no version uses any more is retired."""
        self.picture.gone.versions.add((*at, schema[1]))
        self._holders[schema].discard(at)
        if not self._holders[schema]:
            self.picture.schemas.pop(schema, None)
            self.picture.retired[schema] = Retired(when, _ACTOR)

    def _delete_subject(self, value: Mapping[str, Any], record: LogRecord) -> None:
        """Soft-delete the current versions up to a number; later versions are live, whatever their number."""
        name, highest = value.get("subject"), value.get("version")
        if not isinstance(name, str) or not isinstance(highest, int) or isinstance(highest, bool):
            raise Unreadable("a deletion without subject or version")
        subject = Subject.parse(name)
        for number in self._numbers.get(subject, ()):
            version = self.picture.versions[subject, number]
            if number <= highest and version.deleted_at is None:
                self.picture.versions[version.key] = replace(version, deleted_at=record.timestamp)

    def _clear_subject(self, name: Any, record: LogRecord) -> None:
        scope = Subject.parse(name) if isinstance(name, str) and name else Subject(GLOBAL_CONTEXT, "")
        for at in [
            version.key
            for version in self.picture.versions.values()
            if version.deleted_at is not None and _covers(scope, version.subject)
        ]:
            self._remove(at, record.timestamp)

    def _config(self, key: LogKey, record: LogRecord) -> None:
        scope = Subject.parse(key.subject or "")
        value = {} if record.deletes else read_value(record.value or b"")
        config = known_config(value, _at(record), self._report)
        if config:
            self.picture.settings[scope] = config
            self.picture.gone.settings.discard(scope)
        elif self.picture.settings.pop(scope, None) is not None:
            self.picture.gone.settings.add(scope)

    def _mode(self, key: LogKey, record: LogRecord) -> None:
        scope = Subject.parse(key.subject or "")
        value = None if record.deletes else read_value(record.value or b"").get("mode")
        mode = None if value is None else known_mode(value, _at(record), self._report)
        if mode is not None:
            self.picture.modes[scope] = mode
            self.picture.gone.modes.discard(scope)
        elif self.picture.modes.pop(scope, None) is not None:
            self.picture.gone.modes.add(scope)

    def _context(self, key: LogKey, record: LogRecord) -> None:
        members.context_name(key.context or "")
        if record.deletes:
            self.picture.contexts.pop(key.context or "", None)
        else:
            self.picture.contexts.setdefault(key.context or "", 1)

    def _association(self, key: LogKey, record: LogRecord) -> None:
        known = self._by_association.get(key.association)
        one = None
        if not record.deletes:
            old = self.picture.associations.get(known) if known else None
            one = _association_of(read_value(record.value or b""), dict(key.association), old, record.timestamp)
        if known is not None:
            del self._by_association[key.association]
            self.picture.associations.pop(known, None)
            self.picture.gone.associations.add(known)
        if one is not None:
            self.picture.associations[one.guid] = one
            self.picture.gone.associations.discard(one.guid)
            self._by_association[key.association] = one.guid

    def pictured(self) -> Picture:
        """Return the state after all records so far; counters are above every id ever accepted."""
        picture, gone = self.picture, self.picture.gone
        whole = Picture(
            dict(picture.contexts),
            dict(picture.schemas),
            dict(picture.versions),
            dict(picture.settings),
            dict(picture.modes),
            dict(picture.associations),
            dict(picture.retired),
            Gone(set(gone.versions), set(gone.settings), set(gone.modes), set(gone.associations)),
        )
        whole.reuse(sorted(whole.schemas, key=self._applied.__getitem__))
        whole.count_ids()
        for context, highest in self._highest.items():
            whole.contexts[context] = max(whole.contexts.get(context, 1), highest + 1)
        return whole

    def conclude(self) -> None:
        """Report what is certain only at the end: versions that may be leftovers of a compaction."""
        mixed = bool(self._new_forms)
        for at, offset in self._old_forms.items():
            if mixed and at not in self._new_forms and at in self.picture.versions:
                self._report.odd(Strange.OLD_KEY_FORM, f"offset {offset}", f"{at[0]}/{at[1]}")
        for schema in self.picture.schemas.values():
            if schema.encrypted:
                self._report.odd(Strange.ENCRYPTED, f"id {schema.id} of context {schema.context}")


def _at(record: LogRecord) -> str:
    return f"offset {record.offset}"


def _schema_of(at: VersionKey, schema_type: SchemaType, value: Mapping[str, Any], created_at: int) -> HeldSchema:
    subject, version = at
    try:
        members.read_version({"version": version})
        return HeldSchema(
            context=subject.context,
            id=members.read_id(value),
            type=schema_type,
            text=members.read_string(value, "schema"),
            references=members.read_references(value),
            metadata=members.metadata_of(value.get("metadata")),
            rule_set=members.rule_set_of(value.get("ruleSet")),
            guid=_guid(value.get("md5")),
            created_at=created_at,
        )
    except KeyError as error:
        raise Unreadable(f"a schema without {error}") from None
    except Unfit as error:
        raise Unreadable(f"a schema of which {error}") from None


def _guid(md5: Any) -> str | None:
    """Return the guid that a value contains: with encrypted metadata it cannot be computed."""
    if not md5:
        return None
    try:
        return str(uuid.UUID(bytes=base64.b64decode(md5, validate=True)))
    except (binascii.Error, ValueError, TypeError):
        raise Unreadable("an md5 that is none") from None


def _covers(scope: Subject, subject: Subject) -> bool:
    if scope.context == GLOBAL_CONTEXT:
        return True
    return subject == scope if scope.name else subject.context == scope.context


def _association_of(
    value: Mapping[str, Any], names: Mapping[str, str], old: Association | None, timestamp: int
) -> Association:
    merged = dict(names) | {name: found for name, found in value.items() if found is not None}
    merged |= {"resourceId": merged.get("resourceId", ""), "lifecycle": str(merged.get("lifecycle") or "WEAK").upper()}
    try:
        return Association(
            guid=members.guid_of(merged["guid"]),
            subject=members.version_subject(merged["subject"]),
            **members.read_binding(merged),
            frozen=members.read_flag(merged, "frozen", default=False),
            created_at=old.created_at if old else timestamp,
            updated_at=timestamp,
        )
    except KeyError as error:
        raise Unreadable(f"an association that lacks {error}") from None
    except Unfit as error:
        raise Unreadable(f"an association of which {error}") from None

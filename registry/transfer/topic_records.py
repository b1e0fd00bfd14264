"""Records of a ``_schemas`` topic.

They are read as leniently as the reference does, and written as its 8.x writes them.
"""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from contractlog.compatibility.content_identity import compute_guid
from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT
from contractlog.registry.storage.associations import StoredAssociation
from contractlog.registry.transfer import import_parsers
from contractlog.registry.transfer.config_columns import CONTRACTLOG_CONFIG_NAMES, scope_subject
from contractlog.registry.transfer.import_parsers import InvalidField
from contractlog.registry.transfer.registry_contents import (
    RegistryContents,
    TransferredSchema,
    TransferredVersion,
)
from contractlog.registry.transfer.report import OddityKind, TransferReport

__all__ = [
    "KeyType",
    "LogKey",
    "LogRecord",
    "UnreadableRecord",
    "build_records",
    "encode_key",
    "read_key",
]

_MAGIC: Final = (0, 1)  #: others are skipped; SCHEMA keys have 1 since the reference's 3.3, all others 0
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_KARAPACE_NULLS: Final = frozenset({b"", b"null", b'""'})


class KeyType(StrEnum):
    """The type of a record."""

    SCHEMA = "SCHEMA"
    CONFIG = "CONFIG"
    MODE = "MODE"
    DELETE_SUBJECT = "DELETE_SUBJECT"
    CLEAR_SUBJECT = "CLEAR_SUBJECT"
    CONTEXT = "CONTEXT"
    ASSOC = "ASSOC"
    NOOP = "NOOP"


class UnreadableRecord(Exception):
    """A record is skipped; the text gives the reason."""


@dataclass(frozen=True, slots=True)
class LogRecord:
    """A record of the topic; a value that is None or empty deletes."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headed: bool = False  #: whether it has headers: Karapace adds some, the reference none

    @property
    def position(self) -> str:
        """Its position, as reports name it."""
        return f"offset {self.offset}"

    @property
    def deletes(self) -> bool:
        """True if the record deletes.

        Its value is absent, empty, as Karapace writes it, or ``null`` or ``""``, which Karapace also reads as a
        deletion.
        """
        return self.value is None or self.value.strip() in _KARAPACE_NULLS

    def parse_value(self) -> dict[str, Any]:
        """Parse the value of a record that does not delete.

        Raises:
            UnreadableRecord: it is not a JSON object.
        """
        return _parse_json(self.value or b"", "value")


@dataclass(frozen=True, slots=True)
class LogKey:
    """A parsed key: its byte representations are equal."""

    type: KeyType
    subject: str | None = None
    version: int | None = None
    context: str | None = None
    association: tuple[tuple[str, str], ...] = ()
    canonical: bool = True  #: whether the bytes are those that the reference writes today


def read_key(raw: bytes | None) -> LogKey | str:
    """Parse a key; return the name of the key type if it is unknown.

    Raises:
        UnreadableRecord: it is not a JSON object, has no key type, or has a magic byte other than 0 or 1.
    """
    if raw is None:
        raise UnreadableRecord("no key")
    body = _parse_json(raw, "key")
    name = body.get("keytype")
    if not isinstance(name, str):
        raise UnreadableRecord("a key without keytype")
    if name not in set(KeyType):
        return name
    kind = KeyType(name)
    if body.get("magic", 0) not in _MAGIC:
        raise UnreadableRecord(f"a key with the magic {body['magic']}")
    return _parse_key(kind, body, raw)


def _parse_key(kind: KeyType, body: Mapping[str, Any], raw: bytes) -> LogKey:
    subject, version = body.get("subject"), body.get("version")
    if subject is not None and not isinstance(subject, str):
        raise UnreadableRecord("a key whose subject is not a string")
    if kind is KeyType.SCHEMA and (not isinstance(version, int) or isinstance(version, bool)):
        raise UnreadableRecord("a key whose version is not a number")
    if kind is KeyType.CONTEXT:
        return LogKey(kind, context=_read_text(body, "context"))
    if kind is KeyType.ASSOC:
        names = ("tenant", "resourceName", "resourceNamespace", "resourceType", "associationType", "subject")
        return LogKey(kind, subject, association=tuple((name, _read_text(body, name)) for name in names))
    key = LogKey(kind, subject or None, version if kind is KeyType.SCHEMA else None)
    canonical = raw == encode_key(kind, key.subject, key.version)
    return LogKey(kind, key.subject, key.version, canonical=canonical)


def _read_text(body: Mapping[str, Any], name: str) -> str:
    try:
        return import_parsers.read_text(body, name, default="")
    except InvalidField as error:
        raise UnreadableRecord(f"a key of which {error}") from None


def _parse_json(raw: bytes, part: str) -> dict[str, Any]:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise UnreadableRecord(f"a {part} that is not JSON") from None
    if not isinstance(body, dict):
        raise UnreadableRecord(f"a {part} that is not a JSON object")
    try:
        import_parsers.require_unicode(body)
    except InvalidField as error:
        raise UnreadableRecord(f"a {part} that cannot be stored: {error}") from None
    return body


def encode_key(
    kind: KeyType, subject: str | None = None, version: int | None = None, further: Mapping[str, str] = _NOTHING
) -> bytes:
    """Encode a key as the reference does since 5.3.

    Members are in its order, compact, ``magic`` last; null is omitted.
    """
    body: dict[str, Any] = {"keytype": kind.value, **further}
    if subject is not None:
        body["subject"] = subject
    if version is not None:
        body["version"] = version
    body["magic"] = 1 if kind is KeyType.SCHEMA else 0
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


_TENANT: Final = "default"

TopicMessage = tuple[bytes, bytes, int]  #: key, value, time in milliseconds since 1970


def build_records(contents: RegistryContents, report: TransferReport, now: int) -> Iterator[TopicMessage]:
    """Yield the records: contexts, settings, modes, schemas after their references, associations."""
    for context in sorted(contents.contexts):
        if context != DEFAULT_CONTEXT:
            value = {"tenant": _TENANT, "context": context}
            yield encode_key(KeyType.CONTEXT, further=value), _encode_value(value), now
    for scope, config in sorted(contents.settings.items()):
        subject = scope_subject(scope)
        settings = {name: value for name, value in config.items() if name not in CONTRACTLOG_CONFIG_NAMES}
        for name in config.keys() - settings.keys():
            report.odd(OddityKind.NOT_EXPRESSIBLE, str(scope), name)
        if settings:
            yield (
                encode_key(KeyType.CONFIG, subject),
                _encode_value({"subject": subject, **_sort_config(settings)}),
                now,
            )
    for scope, mode in sorted(contents.modes.items()):
        subject = scope_subject(scope)
        yield encode_key(KeyType.MODE, subject), _encode_value({"subject": subject, "mode": mode}), now
    for version in _sort_by_references(contents):
        yield from _schema_records(version, contents.schemas[version.schema], now)
    for association in contents.associations.values():
        yield _association_record(association, now)
    _report_left_out(contents, report)
    _report_counters(contents, report)


def _report_left_out(contents: RegistryContents, report: TransferReport) -> None:
    for kek in contents.keks:
        report.odd(OddityKind.NOT_EXPRESSIBLE, f"KEK {kek}", "encryption keys")
    for topic in dict.fromkeys(topic for topic, _ in contents.contracts):
        report.odd(OddityKind.NOT_EXPRESSIBLE, topic, "contracts")


def _report_counters(contents: RegistryContents, report: TransferReport) -> None:
    highest: dict[str, int] = {}
    for context, schema_id in contents.schemas:
        highest[context] = max(highest.get(context, 0), schema_id)
    for context, next_id in contents.contexts.items():
        if next_id > highest.get(context, 0) + 1:
            where = f"context {context}"
            report.odd(OddityKind.ID_MAY_RETURN, where, f"{highest.get(context, 0) + 1} to {next_id - 1}")


def _sort_by_references(contents: RegistryContents) -> Iterator[TransferredVersion]:
    """Yield versions by id; a version comes after those it references."""
    done: set[Any] = set()
    for start in sorted(contents.versions.values(), key=lambda version: (version.schema, version.key)):
        pending = [(start, False)]
        while pending:
            version, ready = pending.pop()
            if ready:
                yield version
            elif version.key not in done:
                done.add(version.key)
                pending.append((version, True))
                targets = contents.schemas[version.schema].targets
                pending += [(contents.versions[at], False) for at in targets if at in contents.versions]


def _schema_records(version: TransferredVersion, schema: TransferredSchema, now: int) -> Iterator[TopicMessage]:
    """Yield the registration, and the deletion if there is one.

    A deletion repeats the whole value, with its own time.
    """
    subject = str(version.subject)
    value = {
        "subject": subject,
        "version": version.version,
        "id": schema.id,
        "md5": _encode_md5(schema),
        "schemaType": schema.type.value,
        "references": [reference.body() for reference in schema.references],
        "metadata": None if schema.metadata is None else _sort_metadata(schema.metadata),
        "ruleSet": None if schema.rule_set is None else schema.rule_set.body(),
        "schema": schema.text,
        "deleted": False,
    }
    key = encode_key(KeyType.SCHEMA, subject, version.version)
    yield key, _encode_value(value), now if version.created_at is None else version.created_at
    if version.deleted_at is not None:
        yield key, _encode_value(value | {"deleted": True}), version.deleted_at


def _encode_md5(schema: TransferredSchema) -> str | None:
    """Return the guid as ``md5``, if it cannot be computed from what is written.

    That is the case if metadata came encrypted, or is present but empty.
    """
    metadata, rule_set = schema.metadata, schema.rule_set
    written = compute_guid(
        schema.text,
        schema.references,
        metadata if metadata and metadata.body() else None,
        rule_set if rule_set and rule_set.body() else None,
    )
    return None if schema.content_guid == written else base64.b64encode(uuid.UUID(schema.content_guid).bytes).decode()


_ASSOCIATION_KEY: Final = ("tenant", "resourceName", "resourceNamespace", "resourceType", "associationType")
_ASSOCIATION_VALUE: Final = (
    *("guid", "tenant", "resourceName", "resourceNamespace", "resourceId", "resourceType", "associationType"),
    *("subject", "lifecycle", "frozen", "createTs"),
)


def _association_record(association: StoredAssociation, now: int) -> TopicMessage:
    members = {**association.body(), "tenant": _TENANT, "createTs": association.created_at}
    names = {name: members[name] for name in _ASSOCIATION_KEY}
    key = encode_key(KeyType.ASSOC, str(association.subject), further=names)
    value = {name: members[name] for name in _ASSOCIATION_VALUE}
    return key, _encode_value(value), now if association.updated_at is None else association.updated_at


_JSON_OPTIONS: Final[Mapping[str, Any]] = {"ensure_ascii": False, "separators": (",", ":")}


def _encode_value(members: Mapping[str, Any]) -> bytes:
    """Encode a value: None and empty members are omitted, false and 0 are not."""
    settings = {name: value for name, value in members.items() if value not in (None, "", [], {})}
    return json.dumps(settings, **_JSON_OPTIONS).encode()


def _sort_config(config: Mapping[str, Any]) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for name, value in config.items():
        if name.endswith("Metadata"):
            written[name] = _sort_metadata(Metadata.from_body(value))
        elif name.endswith("RuleSet"):
            written[name] = RuleSet.from_body(value).body()
        else:
            written[name] = value
    return written


def _sort_metadata(metadata: Metadata) -> dict[str, Any]:
    """Return metadata with all members sorted."""
    members = {
        "tags": {path: sorted(tags) for path, tags in sorted(metadata.tags.items())},
        "properties": dict(sorted(metadata.properties.items())),
        "sensitive": sorted(metadata.sensitive),
    }
    return {name: value for name, value in members.items() if value}

"""Keys and values of a ``_schemas`` topic, parsed as leniently as the reference does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from contractlog.compatibility.names import DEFAULT_CONTEXT, Subject
from contractlog.registry.transfer import field_parsers
from contractlog.registry.transfer.field_parsers import InvalidField

__all__ = [
    "KeyType",
    "LogKey",
    "LogRecord",
    "UnreadableRecord",
    "encode_key",
    "read_key",
    "read_value",
    "scope_subject",
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
    def deletes(self) -> bool:
        """True if the record deletes.

        Its value is absent, empty, as Karapace writes it, or ``null`` or ``""``, which Karapace also reads as a
        deletion.
        """
        return self.value is None or self.value.strip() in _KARAPACE_NULLS


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
        UnreadableRecord: it is not a JSON object, has no key type, or another magic than 0 and 1.
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
        raise UnreadableRecord("a key whose subject is no text")
    if kind is KeyType.SCHEMA and (not isinstance(version, int) or isinstance(version, bool)):
        raise UnreadableRecord("a key whose version is no number")
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
        return field_parsers.read_text(body, name, default="")
    except InvalidField as error:
        raise UnreadableRecord(f"a key of which {error}") from None


def read_value(raw: bytes) -> dict[str, Any]:
    """Parse a value that is not a deletion.

    Raises:
        UnreadableRecord: it is not a JSON object.
    """
    return _parse_json(raw, "value")


def _parse_json(raw: bytes, what: str) -> dict[str, Any]:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise UnreadableRecord(f"a {what} that is no JSON") from None
    if not isinstance(body, dict):
        raise UnreadableRecord(f"a {what} that is no JSON object")
    try:
        field_parsers.require_unicode(body)
    except InvalidField as error:
        raise UnreadableRecord(f"a {what} that cannot be stored: {error}") from None
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


def scope_subject(scope: Subject) -> str | None:
    """Return the subject of a CONFIG or MODE key: None for the default context, ``:.ctx:`` for another.

    >>> scope_subject(Subject(".", "")), scope_subject(Subject(".eu", "")), scope_subject(Subject(".", "orders"))
    (None, ':.eu:', 'orders')
    """
    if scope.name:
        return str(scope)
    return None if scope.context == DEFAULT_CONTEXT else f":{scope.context}:"

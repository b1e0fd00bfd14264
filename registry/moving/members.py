"""Validated parsing of imported members, as strict as for requests, whatever the source."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

import msgspec

from contractlog.compatibility.contract import Metadata, RuleSet
from contractlog.compatibility.errors import InvalidSubject
from contractlog.compatibility.names import GLOBAL_CONTEXT, MAX_ID, MAX_VERSION, Subject
from contractlog.compatibility.schema import Reference
from contractlog.registry.bodies.requests import MetadataBody, ReferenceBody, RuleSetBody
from contractlog.registry.moving.storable import storable
from contractlog.registry.services.association_rules import LONGEST_RESOURCE, TYPES
from contractlog.registry.storage.associations import TOPIC, Lifecycle

__all__ = [
    "LATEST_TIME",
    "Unfit",
    "context_name",
    "context_of",
    "guid_of",
    "metadata_of",
    "read_binding",
    "read_context",
    "read_flag",
    "read_hash",
    "read_id",
    "read_number",
    "read_references",
    "read_string",
    "read_text",
    "read_time",
    "read_version",
    "require_unicode",
    "rule_set_of",
    "shaped",
    "subject_of",
    "version_subject",
]

_REQUIRED: Final = object()
LATEST_TIME: Final = 253_402_300_799_999  #: the last millisecond of the year 9999
_LONGEST_CONTEXT: Final = 255
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_SHOWN: Final = 60  #: characters of a value in a message


class Unfit(ValueError):
    """A member cannot be imported; the text names it and gives the reason."""


def read_number(body: Mapping[str, Any], name: str, *, lowest: int, most: int) -> int:
    """Parse an integer within bounds.

    Raises:
        KeyError: there is none.
        Unfit: it is something else.
    """
    value = body[name]
    if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= most:
        raise Unfit(f"`{name}`: {_short(value)} is no number from {lowest} to {most}")
    return value


def read_id(body: Mapping[str, Any], name: str = "id") -> int:
    """Parse a schema id."""
    return read_number(body, name, lowest=0, most=MAX_ID)


def read_version(body: Mapping[str, Any], name: str = "version") -> int:
    """Parse a version number."""
    return read_number(body, name, lowest=1, most=MAX_VERSION)


def read_time(body: Mapping[str, Any], name: str) -> int | None:
    """Parse milliseconds since 1970; None if absent."""
    return None if body.get(name) is None else read_number(body, name, lowest=0, most=LATEST_TIME)


def read_flag(body: Mapping[str, Any], name: str, default: object = _REQUIRED) -> bool:
    """Parse a boolean."""
    value = _value(body, name, default)
    if not isinstance(value, bool):
        raise Unfit(f"`{name}`: {_short(value)} is neither true nor false")
    return value


def read_string(body: Mapping[str, Any], name: str) -> str:
    """Return the text of a schema, whatever characters it contains."""
    value = body[name]
    if not isinstance(value, str):
        raise Unfit(f"`{name}`: {_short(value)} is no text")
    return value


def read_text(body: Mapping[str, Any], name: str, default: object = _REQUIRED, *, longest: int | None = None) -> str:
    """Parse a text that every database can store."""
    value = _value(body, name, default)
    value = read_string({name: value}, name)
    if not storable(value):
        raise Unfit(f"`{name}` holds a NUL or half a character, which no database takes")
    if longest is not None and len(value) > longest:
        raise Unfit(f"`{name}` has {len(value)} characters, over the limit of {longest}")
    return value


def read_hash(body: Mapping[str, Any], name: str) -> str | None:
    """Parse the hash of a content; None if unknown."""
    value = body.get(name)
    if value is not None and not (isinstance(value, str) and _HASH.fullmatch(value)):
        raise Unfit(f"`{name}`: {_short(value)} is no hash: 64 hexadecimal digits")
    return value


def read_binding(body: Mapping[str, Any]) -> dict[str, str]:
    """Parse the resource, type and lifecycle of an association."""
    kind, part, lifecycle = body["resourceType"], body["associationType"], body["lifecycle"]
    if kind != TOPIC:
        raise Unfit(f"`resourceType`: {_short(kind)} is not `{TOPIC}`")
    if part not in TYPES:
        raise Unfit(f"`associationType`: {_short(part)} is neither `key` nor `value`")
    if not isinstance(lifecycle, str) or lifecycle not in set(Lifecycle):
        raise Unfit(f"`lifecycle`: {_short(lifecycle)} is neither STRONG nor WEAK")
    return {
        "resource_id": read_text(body, "resourceId", longest=LONGEST_RESOURCE),
        "resource_name": read_text(body, "resourceName", longest=LONGEST_RESOURCE),
        "resource_namespace": read_text(body, "resourceNamespace", longest=LONGEST_RESOURCE),
        "resource_type": kind,
        "association_type": part,
        "lifecycle": lifecycle,
    }


def read_context(body: Mapping[str, Any], name: str) -> str:
    """Parse the name of a context."""
    return context_name(read_text(body, name), f"`{name}`: ")


def context_of(value: Any) -> str:
    """Parse the name of a context that is not a member of an object."""
    return context_name(read_text({"context": value}, "context"))


def context_name(name: str, where: str = "") -> str:
    """Validate the name of a context that can have subjects, and return it.

    Raises:
        Unfit: no context can have this name.
    """
    if len(name) > _LONGEST_CONTEXT:
        shown = name[:_SHOWN]
        raise Unfit(
            f"{where}the context {shown}… has a name of {len(name)} characters, over the limit of {_LONGEST_CONTEXT}"
        )
    try:
        subject = Subject.parse(f":{name}:s").validated()
    except InvalidSubject:
        subject = None
    if subject is None or subject != Subject(name, "s") or name == GLOBAL_CONTEXT:
        raise Unfit(f"{where}{_short(name)} is no name of a context: one starts with a dot and has no colon")
    return name


def subject_of(text: Any, name: str = "subject") -> Subject:
    """Parse a subject, a context or the global scope, as in ``:.context:name``.

    Raises:
        Unfit: it is none of them.
    """
    plain = read_text({name: text}, name)
    try:
        subject = Subject.parse(plain).validated()
    except InvalidSubject as error:
        raise Unfit(error.message) from None
    if subject.context != GLOBAL_CONTEXT:
        context_name(subject.context, f"`{name}`: ")
    return subject


def version_subject(text: Any, name: str = "subject") -> Subject:
    """Parse a subject that can have versions.

    Raises:
        Unfit: it is invalid, or means a context.
    """
    subject = subject_of(text, name)
    if not subject.name or subject.context == GLOBAL_CONTEXT:
        raise Unfit(f"`{name}`: {_short(text)} names a context, and no subject of it")
    return subject


def guid_of(value: Any, name: str = "guid") -> str:
    """Parse a guid; return its canonical form."""
    try:
        return str(UUID(read_text({name: value}, name)))
    except Unfit:
        raise
    except ValueError:
        raise Unfit(f"`{name}`: {_short(value)} is no guid") from None


def read_references(body: Mapping[str, Any]) -> tuple[Reference, ...]:
    """Parse the references of a schema."""
    found = shaped(body.get("references"), list[ReferenceBody] | None, "references") or ()
    for one in found:
        if one.version is not None and not -1 <= one.version <= MAX_VERSION:
            raise Unfit(f"`references`: {one.version} is no version")
    return tuple(Reference(one.name or "", one.subject or "", one.version or 0) for one in found)


def metadata_of(value: Any, name: str = "metadata") -> Metadata | None:
    """Parse metadata; None if there is none."""
    found = shaped(value, MetadataBody | None, name)
    return None if found is None else Metadata.from_body(msgspec.to_builtins(found))


def rule_set_of(value: Any, name: str = "ruleSet") -> RuleSet | None:
    """Parse rules; None if there are none."""
    found = shaped(value, RuleSetBody | None, name)
    return None if found is None else RuleSet.from_body(msgspec.to_builtins(found))


def shaped(value: Any, kind: Any, name: str) -> Any:
    """Convert a value to the type of a request body.

    Raises:
        Unfit: it has another structure.
    """
    try:
        found = msgspec.convert(value, kind)
        msgspec.json.encode(found)
    except (msgspec.ValidationError, RecursionError) as error:
        raise Unfit(f"`{name}` is of another kind than it should be: {error}") from None
    except UnicodeEncodeError:
        raise Unfit(f"`{name}` holds half a character") from None
    return found


def require_unicode(body: Any) -> None:
    """Require that every text inside a JSON value can be encoded.

    Raises:
        Unfit: a text contains half of a surrogate pair, or the value is nested too deeply.
    """
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Unfit("a text holds half a character") from None
    except RecursionError:
        raise Unfit("it is nested too deep") from None


def _value(body: Mapping[str, Any], name: str, default: object) -> Any:
    if default is _REQUIRED:
        return body[name]
    value = body.get(name)
    return default if value is None else value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"

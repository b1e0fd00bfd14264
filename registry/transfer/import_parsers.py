"""Validated parsing of imported members, as strict as for requests, whatever the source."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

import msgspec

from contractlog.compatibility.association_values import TOPIC, Lifecycle
from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.errors import InvalidSubject
from contractlog.compatibility.identifiers import (
    GLOBAL_CONTEXT,
    MAX_ENCODED_SUBJECT,
    MAX_ID,
    MAX_VERSION,
    Subject,
    find_context_problem,
)
from contractlog.compatibility.limits import truncate
from contractlog.compatibility.schema import Reference, SchemaType
from contractlog.contracts.change_log.recorded_change import ChangeLogHead
from contractlog.registry.features.associations.validation import ASSOCIATION_TYPES, MAX_RESOURCE_CHARACTERS
from contractlog.registry.http.request_bodies import MetadataBody, ReferenceBody, RuleSetBody
from contractlog.registry.storage.associations import StoredAssociation
from contractlog.registry.transfer.registry_contents import TransferredSchema, is_storable
from contractlog.registry.transfer.report import OddityKind, TransferReport

__all__ = [
    "LATEST_TIME",
    "NOT_STORABLE",
    "InvalidField",
    "convert_body",
    "parse_context",
    "parse_guid",
    "parse_metadata",
    "parse_rule_set",
    "parse_scope",
    "parse_subject",
    "read_association",
    "read_change_log_head",
    "read_context",
    "read_flag",
    "read_hash",
    "read_id",
    "read_number",
    "read_reference_schema",
    "read_references",
    "read_schema",
    "read_string",
    "read_text",
    "read_time",
    "read_version",
    "require_unicode",
    "validate_context",
]

_REQUIRED: Final = object()
NOT_STORABLE: Final = "the schema contains a NUL or half of a surrogate pair, which databases cannot store"
LATEST_TIME: Final = 253_402_300_799_999  #: the last millisecond of the year 9999
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_MAX_SEQUENCE: Final = 10**18 - 1
_MAX_MESSAGE_LENGTH: Final = 60  #: characters of a value in a message


class InvalidField(ValueError):
    """A member cannot be imported; the text names it and gives the reason."""


def read_number(body: Mapping[str, Any], name: str, *, minimum: int, maximum: int) -> int:
    """Parse an integer within bounds.

    Raises:
        KeyError: there is none.
        InvalidField: it is something else.
    """
    value = body[name]
    if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
        raise InvalidField(f"`{name}`: {_shorten(value)} is not a number from {minimum} to {maximum}")
    return value


def read_id(body: Mapping[str, Any], name: str = "id") -> int:
    """Parse a schema id."""
    return read_number(body, name, minimum=0, maximum=MAX_ID)


def read_version(body: Mapping[str, Any], name: str = "version") -> int:
    """Parse a version number."""
    return read_number(body, name, minimum=1, maximum=MAX_VERSION)


def read_time(body: Mapping[str, Any], name: str) -> int | None:
    """Parse milliseconds since 1970; None if absent."""
    return None if body.get(name) is None else read_number(body, name, minimum=0, maximum=LATEST_TIME)


def read_flag(body: Mapping[str, Any], name: str, default: object = _REQUIRED) -> bool:
    """Parse a boolean."""
    value = _read_value(body, name, default)
    if not isinstance(value, bool):
        raise InvalidField(f"`{name}`: {_shorten(value)} is neither true nor false")
    return value


def read_string(body: Mapping[str, Any], name: str) -> str:
    """Return the text of a schema, whatever characters it contains."""
    value = body[name]
    if not isinstance(value, str):
        raise InvalidField(f"`{name}`: {_shorten(value)} is not a string")
    return value


def read_text(body: Mapping[str, Any], name: str, default: object = _REQUIRED, *, max_length: int | None = None) -> str:
    """Parse a string that every database can store."""
    value = _read_value(body, name, default)
    value = read_string({name: value}, name)
    if not is_storable(value):
        raise InvalidField(f"`{name}` contains a NUL or half of a surrogate pair, which databases cannot store")
    if max_length is not None and len(value) > max_length:
        raise InvalidField(f"`{name}` has {len(value)} characters, over the limit of {max_length}")
    return value


def read_hash(body: Mapping[str, Any], name: str) -> str | None:
    """Parse the hash of a content; None if unknown."""
    value = body.get(name)
    if value is not None and not (isinstance(value, str) and _HASH.fullmatch(value)):
        raise InvalidField(f"`{name}`: {_shorten(value)} is not a hash: 64 hexadecimal digits")
    return value


def read_change_log_head(body: Mapping[str, Any], sequence: str, hash_name: str) -> ChangeLogHead | None:
    """Parse number and hash of the newest entry of a change log; None if the source has no hash."""
    head_hash = read_hash(body, hash_name)
    if head_hash is None:
        return None
    number = {sequence: body.get(sequence)}
    return ChangeLogHead(read_number(number, sequence, minimum=1, maximum=_MAX_SEQUENCE), head_hash)


def read_schema(body: Mapping[str, Any], context: str, schema_type: SchemaType) -> TransferredSchema:
    """Parse the members of a schema that every source has: id, text, references, metadata and rules."""
    return TransferredSchema(
        context=context,
        id=read_id(body),
        type=schema_type,
        text=read_string(body, "schema"),
        references=read_references(body),
        metadata=parse_metadata(body.get("metadata")),
        rule_set=parse_rule_set(body.get("ruleSet")),
    )


def read_reference_schema(
    body: Mapping[str, Any], context: str, report: TransferReport, where: str, name: str = ""
) -> TransferredSchema | None:
    """Parse a schema in the reference's form; None, and an oddity, if it cannot be imported.

    Args:
        body: the members.
        context: of the schema.
        report: receives the oddity.
        where: position of the schema.
        name: of the schema, if the position does not tell it.
    """
    prefix = f"{name}: " if name else ""
    schema_type = body.get("schemaType") or SchemaType.AVRO
    if not isinstance(schema_type, str) or schema_type not in set(SchemaType):
        report.odd(OddityKind.UNKNOWN_TYPE, where, f"{prefix}{schema_type}")
        return None
    schema = read_schema(body, context, SchemaType(schema_type))
    if not schema.storable:
        report.odd(OddityKind.NOT_STORABLE, where, prefix + NOT_STORABLE)
        return None
    return schema


def read_association(body: Mapping[str, Any], frozen: object = _REQUIRED) -> StoredAssociation:
    """Parse an association without its times; ``frozen`` is the default of that member."""
    kind, part, lifecycle = body["resourceType"], body["associationType"], body["lifecycle"]
    if kind != TOPIC:
        raise InvalidField(f"`resourceType`: {_shorten(kind)} is not `{TOPIC}`")
    if part not in ASSOCIATION_TYPES:
        raise InvalidField(f"`associationType`: {_shorten(part)} is neither `key` nor `value`")
    if not isinstance(lifecycle, str) or lifecycle not in set(Lifecycle):
        raise InvalidField(f"`lifecycle`: {_shorten(lifecycle)} is neither STRONG nor WEAK")
    return StoredAssociation(
        guid=parse_guid(body["guid"]),
        subject=parse_subject(body["subject"]),
        resource_id=read_text(body, "resourceId", max_length=MAX_RESOURCE_CHARACTERS),
        resource_name=read_text(body, "resourceName", max_length=MAX_RESOURCE_CHARACTERS),
        resource_namespace=read_text(body, "resourceNamespace", max_length=MAX_RESOURCE_CHARACTERS),
        resource_type=kind,
        association_type=part,
        lifecycle=Lifecycle(lifecycle),
        frozen=read_flag(body, "frozen", frozen),
    )


def read_context(body: Mapping[str, Any], name: str) -> str:
    """Parse the name of a context."""
    return validate_context(read_text(body, name), f"`{name}`: ")


def parse_context(value: Any) -> str:
    """Parse the name of a context that is not a member of an object."""
    return validate_context(read_text({"context": value}, "context"))


def validate_context(name: str, where: str = "") -> str:
    """Validate the name of a context that can have subjects, and return it.

    Raises:
        InvalidField: no context can have this name.
    """
    problem = find_context_problem(name)
    if problem is not None:
        raise InvalidField(f"{where}{problem}")
    return name


def parse_scope(text: Any, name: str = "subject") -> Subject:
    """Parse a subject, a context or the global scope, as in ``:.context:name``.

    Raises:
        InvalidField: it is none of them.
    """
    subject = Subject.parse(read_text({name: text}, name))
    if subject.too_long:
        raise InvalidField(f"`{name}`: {_shorten(str(subject))} takes more than {MAX_ENCODED_SUBJECT:,} bytes in a URL")
    try:
        subject.validate()
    except InvalidSubject as error:
        raise InvalidField(error.message) from None
    if subject.context != GLOBAL_CONTEXT:
        validate_context(subject.context, f"`{name}`: ")
    return subject


def parse_subject(text: Any, name: str = "subject") -> Subject:
    """Parse a subject that can have versions.

    Raises:
        InvalidField: it is invalid, or means a context.
    """
    subject = parse_scope(text, name)
    if not subject.name or subject.context == GLOBAL_CONTEXT:
        raise InvalidField(f"`{name}`: {_shorten(text)} names a context, and no subject of it")
    return subject


def parse_guid(value: Any, name: str = "guid") -> str:
    """Parse a guid; return its canonical form."""
    try:
        return str(UUID(read_text({name: value}, name)))
    except InvalidField:
        raise
    except ValueError:
        raise InvalidField(f"`{name}`: {_shorten(value)} is not a guid") from None


def read_references(body: Mapping[str, Any]) -> tuple[Reference, ...]:
    """Parse the references of a schema."""
    converted = convert_body(body.get("references"), list[ReferenceBody] | None, "references") or ()
    for reference in converted:
        if reference.version is not None and not -1 <= reference.version <= MAX_VERSION:
            raise InvalidField(f"`references`: {reference.version} is not a version")
    return tuple(
        Reference(reference.name or "", reference.subject or "", reference.version or 0) for reference in converted
    )


def parse_metadata(value: Any, name: str = "metadata") -> Metadata | None:
    """Parse metadata; None if there is none."""
    converted = convert_body(value, MetadataBody | None, name)
    return None if converted is None else Metadata.from_body(msgspec.to_builtins(converted))


def parse_rule_set(value: Any, name: str = "ruleSet") -> RuleSet | None:
    """Parse rules; None if there are none."""
    converted = convert_body(value, RuleSetBody | None, name)
    return None if converted is None else RuleSet.from_body(msgspec.to_builtins(converted))


def convert_body(value: Any, kind: Any, name: str) -> Any:
    """Convert a value to the type of a request body.

    Raises:
        InvalidField: it has another structure.
    """
    try:
        converted = msgspec.convert(value, kind)
        msgspec.json.encode(converted)
    except (msgspec.ValidationError, RecursionError) as error:
        raise InvalidField(f"`{name}` is of another kind than it should be: {error}") from None
    except UnicodeEncodeError:
        raise InvalidField(f"`{name}` contains half of a surrogate pair") from None
    return converted


def require_unicode(body: Any) -> None:
    """Require that every text inside a JSON value can be encoded.

    Raises:
        InvalidField: a string contains half of a surrogate pair, or the value is nested too deeply.
    """
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InvalidField("a string contains half of a surrogate pair") from None
    except RecursionError:
        raise InvalidField("it is nested too deep") from None


def _read_value(body: Mapping[str, Any], name: str, default: object) -> Any:
    if default is _REQUIRED:
        return body[name]
    value = body.get(name)
    return default if value is None else value


def _shorten(value: Any) -> str:
    return truncate(repr(value), _MAX_MESSAGE_LENGTH)

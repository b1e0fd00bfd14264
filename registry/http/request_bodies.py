"""Request bodies, as in ``openapi.yaml``: their content types, their parsing."""

from __future__ import annotations

import codecs
from typing import Any, Final, TypeVar

import msgspec
from fastapi import Request
from msgspec import Struct

from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.errors import (
    BadRequest,
    InvalidAssociation,
    InvalidRuleSet,
    InvalidSchema,
    Unprocessable,
    UnsupportedMediaType,
)
from contractlog.compatibility.identifiers import MAX_VERSION
from contractlog.compatibility.schema import Reference, SchemaDraft, SchemaType
from contractlog.compatibility.tags import Entity, EntityType
from contractlog.registry.registration.draft_completion import Derivation
from contractlog.registry.registration.request import RequestedVersion, TagEdits, parse_requested_version

__all__ = [
    "MetadataBody",
    "ReferenceBody",
    "RegisterRequest",
    "RuleSetBody",
    "TagsRequest",
    "is_json",
    "parse_body",
    "parse_members",
    "parse_object",
    "parse_objects",
    "require_json_content",
    "require_uncompressed_body",
]

_MAX_REFERENCES: Final = 1_000
_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: The encoding by which of the first bytes are zero; the first character is ASCII.
_ENCODING_BY_ZEROS: Final = {
    (True, True, True, False): "utf-32-be",
    (False, True, True, True): "utf-32-le",
    (True, False): "utf-16-be",
    (False, True): "utf-16-le",
}
#: Content types that say nothing about the body, which is then parsed as JSON as well.
_UNSPECIFIC: Final = frozenset({"", "application/octet-stream"})
B = TypeVar("B", bound=Struct)


def is_json(content_type: str) -> bool:
    """Return whether a content type, with or without parameters, is JSON.

    >>> is_json("application/json; charset=utf-8"), is_json("Application/vnd.x+JSON"), is_json("text/plain")
    (True, True, False)
    """
    kind = _media_type(content_type)
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def _media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


async def require_uncompressed_body(request: Request) -> None:
    """Require a body without a content encoding: none is decoded.

    Raises:
        UnsupportedMediaType: the body is declared as compressed.
    """
    encoding = request.headers.get("content-encoding", "").strip()
    if encoding.lower() not in {"", "identity"}:
        raise UnsupportedMediaType(
            f"HTTP 415 Unsupported Media Type: send the body uncompressed, without Content-Encoding: {encoding}"
        )


async def require_json_content(request: Request) -> None:
    """Require an uncompressed body whose content type is JSON or unspecific.

    Raises:
        UnsupportedMediaType: the body is declared as something else.
    """
    await require_uncompressed_body(request)
    content_type = request.headers.get("content-type", "")
    if _media_type(content_type) not in _UNSPECIFIC and not is_json(content_type):
        raise UnsupportedMediaType


def parse_body(body: bytes, kind: type[B]) -> B:
    """Parse a request body, whatever its content type says.

    Raises:
        Unprocessable: there is no body.
        BadRequest: it is not JSON, or has another structure.
    """
    parsed: B = _decode_body(body, kind)
    return parsed


def _decode_body(body: bytes, kind: Any) -> Any:
    body = _convert_to_utf8(body)
    if body.strip() in {b"", b"null"}:
        raise Unprocessable("The request has no body; a JSON object is needed")
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise BadRequest(f"The request body cannot be used: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"The request body is not JSON: {error}") from error


def _convert_to_utf8(body: bytes) -> bytes:
    """Convert a JSON text to UTF-8; its first bytes show its encoding (RFC 4627, section 3).

    The charset of the content type is not needed: JSON begins with an ASCII character, or with a byte order mark.

    Raises:
        BadRequest: the bytes are invalid in that encoding.
    """
    encoding = next((encoding for mark, encoding in _BYTE_ORDER_MARKS if body.startswith(mark)), None)
    if encoding is None:
        zeros = tuple(byte == 0 for byte in body[:4])
        encoding = _ENCODING_BY_ZEROS.get(zeros) or _ENCODING_BY_ZEROS.get(zeros[:2])
    if encoding is None:
        return body
    try:
        return body.decode(encoding).encode()
    except UnicodeError as error:
        raise BadRequest(f"The request body is not JSON: {error}") from error


class _Batch(Struct):
    requests: list[msgspec.Raw] | None = None


def parse_members(body: bytes, kind: type[B], maximum: int) -> list[B | BadRequest]:
    """Parse a batch, each member separately; an error takes the position of an invalid member.

    Raises:
        Unprocessable: there is no body, or it has more than ``most`` members.
        InvalidAssociation: it has no members.
        BadRequest: the batch itself is not JSON, or has another structure.
    """
    members = parse_body(body, _Batch).requests
    if not members:
        raise InvalidAssociation(property="requests", detail="cannot be null or empty")
    if len(members) > maximum:
        raise Unprocessable(f"A batch may have at most {maximum} requests")
    return [_parse_member(bytes(member), kind) for member in members]


def _parse_member(member: bytes, kind: type[B]) -> B | BadRequest:
    try:
        return parse_body(member, kind) if member != b"null" else BadRequest("The request of a batch is null")
    except BadRequest as error:
        return error


def parse_object(body: bytes) -> dict[str, Any]:
    """Parse a request body that is any JSON object."""
    parsed: dict[str, Any] = _decode_body(body, dict[str, Any])
    return parsed


def parse_objects(body: bytes) -> dict[str, Any] | list[dict[str, Any]]:
    """Parse a request body that is any JSON object, or an array of them."""
    parsed: dict[str, Any] | list[dict[str, Any]] = _decode_body(body, dict[str, Any] | list[dict[str, Any]])
    return parsed


class ReferenceBody(Struct):
    """A reference to a version of another schema."""

    name: str | None = None
    subject: str | None = None
    version: int | None = None


class MetadataBody(Struct, omit_defaults=True):
    """Metadata of a schema: tags by path, properties, and the names of sensitive properties."""

    tags: dict[str, list[str]] | None = None
    properties: dict[str, str] | None = None
    sensitive: list[str] | None = None


class RuleBody(Struct, omit_defaults=True, rename="camel"):
    """One rule of a data contract."""

    name: str | None = None
    doc: str | None = None
    kind: str | None = None
    mode: str | None = None
    type: str | None = None
    tags: list[str] | None = None
    params: dict[str, str] | None = None
    expr: str | None = None
    on_success: str | None = None
    on_failure: str | None = None
    disabled: bool | None = None


class RuleSetBody(Struct, omit_defaults=True, rename="camel"):
    """The rules of a schema."""

    migration_rules: list[RuleBody] | None = None
    domain_rules: list[RuleBody] | None = None
    encoding_rules: list[RuleBody] | None = None
    enable_at: str | None = None


class SchemaEntityBody(Struct, rename="camel"):
    """A part of a schema that can have tags."""

    entity_path: str
    entity_type: EntityType


class SchemaTagsBody(Struct, rename="camel"):
    """Tags of a part of a schema."""

    schema_entity: SchemaEntityBody
    tags: list[str] | None = None


def parse_tags(bodies: list[SchemaTagsBody] | None) -> dict[Entity, tuple[str, ...]]:
    """Parse tags, grouped by the part of the schema."""
    tags: dict[Entity, tuple[str, ...]] = {}
    for body in bodies or ():
        entity = Entity(body.schema_entity.entity_path, body.schema_entity.entity_type)
        tags[entity] = (*tags.get(entity, ()), *(body.tags or ()))
    return tags


class RegisterRequest(Struct, rename="camel"):
    """A schema to register, to look up, or to check."""

    schema: str | None = None
    schema_type: str | None = None
    references: list[ReferenceBody] | None = None
    metadata: MetadataBody | None = None
    rule_set: RuleSetBody | None = None
    version: int | None = None
    id: int | None = None
    schema_tags_to_add: list[SchemaTagsBody] | None = None
    schema_tags_to_remove: list[SchemaTagsBody] | None = None
    propagate_schema_tags: bool | None = None

    def draft(self) -> SchemaDraft:
        """Build the draft.

        Raises:
            InvalidSchema: no schema type has this name, which is case-sensitive, or there are too many references.
        """
        try:
            schema_type = SchemaType(self.schema_type or SchemaType.AVRO)
        except ValueError:
            raise InvalidSchema(f"Invalid schema type {self.schema_type}") from None
        if len(self.references or ()) > _MAX_REFERENCES:
            raise InvalidSchema(f"A schema may have at most {_MAX_REFERENCES} references")
        return SchemaDraft(
            text=self.schema or "",
            type=schema_type,
            references=tuple(Reference(r.name or "", r.subject or "", r.version or 0) for r in self.references or ()),
            metadata=parse_metadata(self.metadata),
            rule_set=parse_rule_set(self.rule_set),
        )

    def tags(self) -> TagEdits:
        """Return the requested changes of tags inside the schema text."""
        return TagEdits(
            parse_tags(self.schema_tags_to_add),
            parse_tags(self.schema_tags_to_remove),
            bool(self.propagate_schema_tags),
        )

    @property
    def requested_version(self) -> RequestedVersion:
        """The requested version."""
        return parse_requested_version(_parse_number("version", self.version))

    @property
    def requested_id(self) -> int | None:
        """The requested schema id; None, also for a negative one, lets the registry choose."""
        number = _parse_number("id", self.id)
        return number if number is not None and number >= 0 else None


class TagsRequest(Struct, rename="camel"):
    """The changes that a new version makes to the version it is derived from."""

    new_version: int | None = None
    tags_to_add: list[SchemaTagsBody] | None = None
    tags_to_remove: list[SchemaTagsBody] | None = None
    metadata: MetadataBody | None = None
    rule_set: RuleSetBody | None = None
    rules_to_merge: RuleSetBody | None = None
    rules_to_remove: list[str] | None = None

    def derivation(self) -> Derivation:
        """Parse the changes.

        Raises:
            InvalidRuleSet: both a complete rule set and changes of rules are given.
        """
        if self.rule_set is not None and (self.rules_to_merge is not None or self.rules_to_remove is not None):
            raise InvalidRuleSet("ruleSet should be omitted if specifying rulesToMerge or rulesToRemove")
        return Derivation(
            version=parse_requested_version(_parse_number("newVersion", self.new_version)),
            tags=TagEdits(parse_tags(self.tags_to_add), parse_tags(self.tags_to_remove)),
            metadata=parse_metadata(self.metadata),
            rule_set=parse_rule_set(self.rule_set),
            rules_to_merge=parse_rule_set(self.rules_to_merge),
            rules_to_remove=frozenset(self.rules_to_remove or ()),
        )


def parse_metadata(body: MetadataBody | None) -> Metadata | None:
    """Parse metadata."""
    return None if body is None else Metadata.from_body(msgspec.to_builtins(body))


def parse_rule_set(body: RuleSetBody | None) -> RuleSet | None:
    """Parse rules."""
    return None if body is None else RuleSet.from_body(msgspec.to_builtins(body))


def _parse_number(name: str, number: int | None) -> int | None:
    if number is not None and abs(number) > MAX_VERSION:
        raise BadRequest(f"The request body cannot be used: {name} is no 32-bit integer")
    return number

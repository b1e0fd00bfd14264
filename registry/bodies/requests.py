"""HTTP bodies that come in, as in ``openapi.yaml``, and how they are read."""

from __future__ import annotations

from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from contractlog.compatibility.contract import Metadata, RuleSet
from contractlog.compatibility.errors import BadRequest, InvalidSchema, Unprocessable
from contractlog.compatibility.level import Level
from contractlog.compatibility.policy import Policy
from contractlog.compatibility.schema import Reference, SchemaDraft, SchemaType

__all__ = [
    "ConfigRequest",
    "ModeRequest",
    "ReferenceBody",
    "RegisterRequest",
    "read",
    "read_object",
]

_LARGEST_REFERENCES: Final = 1_000
_POLICIES: Final = frozenset({Policy.STRICT, Policy.LENIENT})  #: that clients know
B = TypeVar("B", bound=Struct)


def read(body: bytes, kind: type[B]) -> B:
    """Read a request body, whatever its content type says.

    Raises:
        Unprocessable: there is none.
        BadRequest: it is no JSON, or of another shape.
    """
    found: B = _decoded(body, kind)
    return found


def _decoded(body: bytes, kind: Any) -> Any:
    if body.strip() in {b"", b"null"}:
        raise Unprocessable("The request has no body; a JSON object is needed")
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise BadRequest(f"The request body cannot be used: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"The request body is no JSON: {error}") from error


def read_object(body: bytes) -> dict[str, Any]:
    """Read a request body that is any JSON object."""
    found: dict[str, Any] = _decoded(body, dict[str, Any])
    return found


class ReferenceBody(Struct):
    """A schema that another one leans on."""

    name: str | None = None
    subject: str | None = None
    version: int | None = None


class MetadataBody(Struct, omit_defaults=True):
    """Tags by path, properties, and the names of those that must not be shown."""

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


class RegisterRequest(Struct, rename="camel"):
    """A schema to register, to look up, or to judge."""

    schema: str | None = None
    schema_type: str | None = None
    references: list[ReferenceBody] | None = None
    metadata: MetadataBody | None = None
    rule_set: RuleSetBody | None = None
    version: int | None = None
    id: int | None = None

    def draft(self) -> SchemaDraft:
        """Make the draft.

        Raises:
            InvalidSchema: no schema type has this name.
        """
        try:
            schema_type = SchemaType((self.schema_type or SchemaType.AVRO).upper())
        except ValueError:
            raise InvalidSchema(f"Invalid schema type {self.schema_type}") from None
        if len(self.references or ()) > _LARGEST_REFERENCES:
            raise InvalidSchema(f"A schema may have at most {_LARGEST_REFERENCES} references")
        return SchemaDraft(
            text=self.schema or "",
            type=schema_type,
            references=tuple(Reference(r.name or "", r.subject or "", r.version or 0) for r in self.references or ()),
            metadata=None if self.metadata is None else Metadata.from_body(msgspec.to_builtins(self.metadata)),
            rule_set=None if self.rule_set is None else RuleSet.from_body(msgspec.to_builtins(self.rule_set)),
        )

    @property
    def wanted_version(self) -> int | None:
        """The number that the version must get; 0 and -1 leave it to the registry."""
        return self.version if self.version is not None and self.version > 0 else None

    @property
    def wanted_id(self) -> int | None:
        """The id that the schema must get; a negative one leaves it to the registry."""
        return self.id if self.id is not None and self.id >= 0 else None


class ConfigRequest(Struct, rename="camel"):
    """A patch: members that are absent stay, null clears. Others are accepted and not kept by this release."""

    compatibility: str | UnsetType | None = UNSET
    compatibility_level: str | UnsetType | None = UNSET
    normalize: bool | UnsetType | None = UNSET
    compatibility_policy: str | UnsetType | None = UNSET
    compatibility_group: str | UnsetType | None = UNSET
    contractlog_policy: str | UnsetType | None = UNSET

    def patch(self) -> dict[str, Any]:
        """The members to set; a policy that the API does not know is dropped, as the reference does.

        Raises:
            InvalidLevel: no level has this name.
            Unprocessable: a member that is ours alone has no such value.
        """
        level = self.compatibility if self.compatibility is not UNSET else self.compatibility_level
        patch: dict[str, Any] = {}
        if level is not UNSET:
            patch["level"] = None if level is None else Level.parse(str(level))
        if self.normalize is not UNSET:
            patch["normalize"] = self.normalize
        policy = self.compatibility_policy
        if policy is None:
            patch["compatibility_policy"] = None
        elif isinstance(policy, str) and policy.upper() in _POLICIES:
            patch["compatibility_policy"] = Policy(policy.upper())
        if self.compatibility_group is not UNSET:
            group = self.compatibility_group
            if isinstance(group, str) and "\0" in group:
                raise Unprocessable("compatibilityGroup holds a control character")
            patch["compatibility_group"] = group or None
        if self.contractlog_policy is not UNSET:
            patch["own_policy"] = None if self.contractlog_policy is None else _own_policy(str(self.contractlog_policy))
        return patch


def _own_policy(text: str) -> Policy:
    if text.upper() != Policy.EXACT:
        raise Unprocessable("contractlogPolicy is EXACT or null")
    return Policy.EXACT


class ModeRequest(Struct):
    """The mode to set; null clears it."""

    mode: str | None = None

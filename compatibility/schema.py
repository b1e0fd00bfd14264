"""Schemas in their three stages: submitted, parsed, registered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.identifiers import SchemaId, Subject, Version

__all__ = ["ParsedSchema", "Reference", "RegisteredSchema", "SchemaDraft", "SchemaType"]


class SchemaType(StrEnum):
    """The schema types of the API; ``formats.FORMATS`` has the implemented ones."""

    AVRO = "AVRO"
    JSON = "JSON"
    PROTOBUF = "PROTOBUF"


@dataclass(frozen=True, slots=True, order=True)
class Reference:
    """A reference: a schema that another one depends on, and the name its text uses for it."""

    name: str
    subject: str
    version: int  #: -1 means the latest, until the registry resolves it

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Reference:
        """Parse a reference as written by the API."""
        return cls(body.get("name") or "", body.get("subject") or "", int(body.get("version") or 0))

    def body(self) -> dict[str, Any]:
        """Return the API's form of the reference."""
        return {"name": self.name, "subject": self.subject, "version": self.version}


@dataclass(frozen=True, slots=True)
class SchemaDraft:
    """A submitted schema, not yet parsed."""

    text: str
    type: SchemaType = SchemaType.AVRO
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None

    def body(self) -> dict[str, Any]:
        """Return the draft as a RegisterSchemaRequest."""
        body: dict[str, Any] = {"schema": self.text}
        if self.type is not SchemaType.AVRO:
            body["schemaType"] = self.type.value
        if self.references:
            body["references"] = [reference.body() for reference in self.references]
        if self.metadata is not None:
            body["metadata"] = self.metadata.body()
        if self.rule_set is not None:
            body["ruleSet"] = self.rule_set.body()
        return body


@dataclass(frozen=True, slots=True, eq=False)
class ParsedSchema:
    """A parsed schema: its canonical text decides identity, and engines compare its tree.

    The texts are written on demand: a check against a long history needs none of those of the stored versions.
    """

    type: SchemaType
    write: Callable[[bool], str] = field(repr=False)  #: writes the canonical text, or the normalized one if True
    root: Any = field(repr=False)  #: the format's own tree, opaque outside the format and ``formats.py``
    size: int = 0  #: length of the parsed text, in characters
    references: tuple[Reference, ...] = ()
    referenced: Mapping[str, str] = field(default_factory=dict, repr=False)
    #: name -> text of every direct and indirect dependency; a schema follows its own dependencies
    _texts: dict[bool, str] = field(default_factory=dict, init=False, repr=False)

    @property
    def canonical(self) -> str:
        """The text that is stored, hashed and returned."""
        return self._text(normalized=False)

    @property
    def normalized(self) -> str:
        """The text that is stored with ``normalize=true``."""
        return self._text(normalized=True)

    def _text(self, *, normalized: bool) -> str:
        text = self._texts.get(normalized)
        if text is None:
            text = self._texts[normalized] = self.write(normalized)
        return text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ParsedSchema) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[SchemaType, str, str, tuple[Reference, ...]]:
        return self.type, self.canonical, self.normalized, self.references


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A registered schema: a version of a subject, with the id that records carry."""

    schema_id: SchemaId
    text: str
    type: SchemaType = SchemaType.AVRO
    subject: Subject | None = None  #: None if a response does not contain it (old servers, responses by id)
    version: Version | None = None
    guid: str | None = None
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    timestamp: int | None = None  #: milliseconds since 1970, UTC
    deleted: bool = False
    echoed: bool = field(default=False, compare=False, repr=False)  #: text copied from the request, not received

    @property
    def draft(self) -> SchemaDraft:
        """The draft that would register the same content."""
        return SchemaDraft(self.text, self.type, self.references, self.metadata, self.rule_set)

    @classmethod
    def from_body(
        cls, body: Mapping[str, Any], *, schema_id: int | None = None, draft: SchemaDraft | None = None
    ) -> RegisteredSchema:
        """Parse any response that contains a schema; members that older servers omit are taken from ``draft``."""
        defaults = draft or SchemaDraft("")
        subject, version = body.get("subject"), body.get("version")
        references: Sequence[Mapping[str, Any]] | None = body.get("references")
        metadata, rule_set = body.get("metadata"), body.get("ruleSet")
        return cls(
            schema_id=SchemaId(int(body["id"] if schema_id is None else schema_id)),
            text=body.get("schema") or defaults.text,
            type=SchemaType(body.get("schemaType") or defaults.type),
            subject=Subject.parse(subject) if subject else None,
            version=Version(int(version)) if version else None,
            guid=body.get("guid"),
            references=tuple(map(Reference.from_body, references)) if references else defaults.references,
            metadata=Metadata.from_body(metadata) if metadata is not None else defaults.metadata,
            rule_set=RuleSet.from_body(rule_set) if rule_set is not None else defaults.rule_set,
            timestamp=body.get("ts"),
            deleted=bool(body.get("deleted", False)),
            echoed=not body.get("schema"),
        )

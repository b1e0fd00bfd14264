"""Schemas in their three stages: submitted, understood, stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from contractlog.compatibility.contract import Metadata, RuleSet
from contractlog.compatibility.names import SchemaId, Subject, Version

__all__ = ["ParsedSchema", "Reference", "RegisteredSchema", "SchemaDraft", "SchemaType"]


class SchemaType(StrEnum):
    """The formats that the API can name; which of them work, ``parsing.supported()`` says."""

    AVRO = "AVRO"
    JSON = "JSON"
    PROTOBUF = "PROTOBUF"


@dataclass(frozen=True, slots=True, order=True)
class Reference:
    """A schema that another one leans on, under the name by which its text calls it."""

    name: str
    subject: str
    version: int  #: -1 means the latest, until the registry has put the number in its place

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Reference:
        """Read a reference as the API writes it."""
        return cls(body.get("name") or "", body.get("subject") or "", int(body.get("version") or 0))

    def body(self) -> dict[str, Any]:
        """Write the reference as the API does."""
        return {"name": self.name, "subject": self.subject, "version": self.version}


@dataclass(frozen=True, slots=True)
class SchemaDraft:
    """A schema as somebody submitted it: text that nobody has understood yet."""

    text: str
    type: SchemaType = SchemaType.AVRO
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None

    def body(self) -> dict[str, Any]:
        """Write the draft as a RegisterSchemaRequest."""
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
    """A schema that was understood: its canonical text decides identity, its root is what engines walk.

    Its texts are written when somebody needs them: a check against a long history needs none of the stored versions'.
    """

    type: SchemaType
    write: Callable[[bool], str] = field(repr=False)  #: writes the canonical text, or the normalized one
    root: Any = field(repr=False)  #: the format's own tree; nothing above ``parsing.py`` looks inside
    size: int = 0  #: characters of the text that was parsed
    references: tuple[Reference, ...] = ()
    referenced: Mapping[str, str] = field(default_factory=dict, repr=False)
    #: name of every schema leaned on, directly or not -> its text; those that lean on nothing come first
    _texts: dict[bool, str] = field(default_factory=dict, init=False, repr=False)

    @property
    def canonical(self) -> str:
        """The text that is stored, hashed and answered."""
        return self._text(normalized=False)

    @property
    def normalized(self) -> str:
        """The text that ``normalize=true`` stores."""
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
    """A schema as a registry holds it: a version of a subject, and the id that records carry."""

    schema_id: SchemaId
    text: str
    type: SchemaType = SchemaType.AVRO
    subject: Subject | None = None  #: None where an answer does not tell (old servers, by-id answers)
    version: Version | None = None
    guid: str | None = None
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    timestamp: int | None = None  #: milliseconds since 1970, UTC
    deleted: bool = False
    echoed: bool = field(default=False, compare=False, repr=False)  #: the content is the asker's: no answer told it

    @property
    def draft(self) -> SchemaDraft:
        """What one would submit to register the same content."""
        return SchemaDraft(self.text, self.type, self.references, self.metadata, self.rule_set)

    @classmethod
    def from_body(
        cls, body: Mapping[str, Any], *, schema_id: int | None = None, draft: SchemaDraft | None = None
    ) -> RegisteredSchema:
        """Read any answer that carries a schema; what an older server leaves out is taken from ``draft``."""
        known = draft or SchemaDraft("")
        subject, version = body.get("subject"), body.get("version")
        references: Sequence[Mapping[str, Any]] | None = body.get("references")
        metadata, rule_set = body.get("metadata"), body.get("ruleSet")
        return cls(
            schema_id=SchemaId(int(body["id"] if schema_id is None else schema_id)),
            text=body.get("schema") or known.text,
            type=SchemaType(body.get("schemaType") or known.type),
            subject=Subject.parse(subject) if subject else None,
            version=Version(int(version)) if version else None,
            guid=body.get("guid"),
            references=tuple(map(Reference.from_body, references)) if references else known.references,
            metadata=Metadata.from_body(metadata) if metadata is not None else known.metadata,
            rule_set=RuleSet.from_body(rule_set) if rule_set is not None else known.rule_set,
            timestamp=body.get("ts"),
            deleted=bool(body.get("deleted", False)),
            echoed=not body.get("schema"),
        )

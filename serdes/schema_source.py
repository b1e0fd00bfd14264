"""Interface of schema sources, and the conversion and parsing of their schemas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import ParsedSchema, Reference, RegisteredSchema, SchemaDraft, SchemaType
from contractlog.serdes.source_requests import Steps, request, run_sync

__all__ = ["SchemaSource", "fetch_and_parse", "parse_steps", "to_draft"]


class SchemaSource(Protocol):
    """The part of a registry that serializers need; ``contractlog.clients.Registry`` is one.

    For async serializers the same methods may be coroutines, as in ``AsyncRegistry``. Every method may raise the
    classes of ``compatibility/errors.py``.
    """

    def register(self, subject: str, draft: SchemaDraft, *, normalize: bool = False) -> RegisteredSchema:
        """Register a schema, or return the existing version with its content."""

    def lookup(
        self, subject: str, draft: SchemaDraft, *, normalize: bool = False, deleted: bool = False
    ) -> RegisteredSchema:
        """Return the version of a subject that has this content; raise ``NotFound`` if there is none."""

    def schema_by_id(self, schema_id: int, *, subject: str | None = None) -> RegisteredSchema:
        """Return the schema of an id; raise ``NotFound`` if there is none."""

    def schema_by_guid(self, guid: str) -> RegisteredSchema:
        """Return the schema of a guid; raise ``NotFound`` if there is none."""

    def version(self, subject: str, version: int | Literal["latest"], *, deleted: bool = False) -> RegisteredSchema:
        """Return a version of a subject; raise ``NotFound`` if there is none."""

    def versions(self, subject: str, *, deleted: bool = False) -> Sequence[int]:
        """Return the versions of a subject, ascending; raise ``NotFound`` if there is none."""

    def latest_with_metadata(
        self, subject: str, metadata: Mapping[str, str], *, deleted: bool = False
    ) -> RegisteredSchema:
        """Return the newest version with these properties; raise ``NotFound`` if there is none."""

    def associations_by_resource_name(
        self,
        name: str,
        *,
        namespace: str = "-",
        resource_type: str | None = None,
        association_types: Iterable[str] = (),
    ) -> Sequence[Any]:
        """Return the associations of a resource, each with its ``subject``; empty or ``NotFound`` if none."""

    def referenced(self, draft: SchemaDraft, *, subject: str | None = None) -> Mapping[str, str]:
        """Return the texts of all dependencies of a draft by name, each after its own dependencies."""


def to_draft(schema: Any, schema_type: SchemaType) -> SchemaDraft | None:
    """Return the draft of a schema given as text, draft or confluent-kafka's ``Schema``; None for None.

    Raises:
        TypeError: the schema is none of these.
    """
    if schema is None or isinstance(schema, SchemaDraft):
        return schema
    if isinstance(schema, str):
        return SchemaDraft(schema, schema_type)
    text = getattr(schema, "schema_str", None)
    if not isinstance(text, str):
        raise TypeError(f"a schema is a text, a SchemaDraft or a Schema with schema_str, not {type(schema).__name__}")
    references = getattr(schema, "references", None) or ()
    metadata, rule_set = _to_body(getattr(schema, "metadata", None)), _to_body(getattr(schema, "rule_set", None))
    return SchemaDraft(
        text,
        SchemaType(getattr(schema, "schema_type", None) or schema_type),
        tuple(Reference(str(each.name), str(each.subject), int(each.version)) for each in references),
        None if metadata is None else Metadata.from_body(metadata),
        None if rule_set is None else RuleSet.from_body(rule_set),
    )


def fetch_and_parse(source: SchemaSource, draft: SchemaDraft) -> ParsedSchema:
    """Parse a schema, after fetching its dependencies from a source."""
    return run_sync(parse_steps(draft, None), source)


def parse_steps(draft: SchemaDraft, subject: str | None) -> Steps[ParsedSchema]:
    """Parse a schema; its references are resolved in the context of the subject."""
    texts: Mapping[str, str] = {}
    if draft.references:
        texts = yield request("referenced", draft, subject=subject)
    return parse_schema(draft, texts, strict=False)


def _to_body(given: Any) -> Mapping[str, Any] | None:
    """Return metadata or rules, ours or confluent-kafka's, as in the API."""
    write = getattr(given, "body", None) or getattr(given, "to_dict", None)
    body: Mapping[str, Any] | None = write() if callable(write) else given
    return body

"""What serializers ask of a registry client, and what they make of its answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, Protocol

from contractlog.compatibility.contract import Rule, RuleSet
from contractlog.compatibility.parsing import parse
from contractlog.compatibility.schema import ParsedSchema, Reference, RegisteredSchema, SchemaDraft, SchemaType
from contractlog.serdes.errors import RuleNotRun

__all__ = ["SchemaSource", "draft_of", "parsed_of", "refuse_rules"]

_CLIENT_SIDE: Final = frozenset({None, "ALL", "CLIENT"})
_BOTH_WAYS: Final = {"WRITE": frozenset({"WRITE", "WRITEREAD"}), "READ": frozenset({"READ", "WRITEREAD"})}


class SchemaSource(Protocol):
    """A registry, as far as serializers go; ``contractlog.clients.Registry`` is one.

    Every method may raise the classes of ``compatibility/errors.py``.
    """

    def register(self, subject: str, draft: SchemaDraft, *, normalize: bool = False) -> RegisteredSchema:
        """Register a schema, or return the version it already is."""

    def lookup(self, subject: str, draft: SchemaDraft, *, normalize: bool = False) -> RegisteredSchema:
        """Return the version of a subject that has this content; raise ``NotFound`` where there is none."""

    def schema_by_id(self, schema_id: int, *, subject: str | None = None) -> RegisteredSchema:
        """Return the schema of an id; raise ``NotFound`` where there is none."""

    def version(self, subject: str, version: int | Literal["latest"]) -> RegisteredSchema:
        """Return a version of a subject; raise ``NotFound`` where there is none."""

    def referenced(self, draft: SchemaDraft) -> Mapping[str, str]:
        """Return the texts of all schemas that a draft leans on, by name, those that lean on nothing first."""


def draft_of(schema: Any, schema_type: SchemaType) -> SchemaDraft | None:
    """Take a schema as users give it: text, a draft, or confluent-kafka's ``Schema``; None where there is none.

    Raises:
        TypeError: it is none of these.
    """
    if schema is None or isinstance(schema, SchemaDraft):
        return schema
    if isinstance(schema, str):
        return SchemaDraft(schema, schema_type)
    text = getattr(schema, "schema_str", None)
    if not isinstance(text, str):
        raise TypeError(f"a schema is a text, a SchemaDraft or a Schema with schema_str, not {type(schema).__name__}")
    references = getattr(schema, "references", None) or ()
    return SchemaDraft(
        text,
        SchemaType(getattr(schema, "schema_type", None) or schema_type),
        tuple(Reference(str(each.name), str(each.subject), int(each.version)) for each in references),
    )


def parsed_of(source: SchemaSource, draft: SchemaDraft) -> ParsedSchema:
    """Understand a schema that the registry holds, or will judge."""
    return parse(draft, source.referenced(draft) if draft.references else {}, strict=False)


def refuse_rules(schema: RegisteredSchema, way: Literal["WRITE", "READ"], *, migrating: bool = False) -> None:
    """Refuse a schema whose rules would have to run: none may be passed over in silence.

    Args:
        schema: as the registry answered it.
        way: whether values are written or read.
        migrating: whether values are read as another version than they were written.

    Raises:
        RuleNotRun: with the first such rule.
    """
    rules = schema.rule_set
    if rules is None or rules.enable_at not in _CLIENT_SIDE:
        return
    for rule in _due(rules, way, migrating=migrating):
        raise RuleNotRun(
            reason=f"the rule {rule.name} ({rule.type or rule.kind}) of the schema would have to run on "
            f"{'writing' if way == 'WRITE' else 'reading'}, and this release runs no rules",
            rule=rule.name,
            schema_id=int(schema.schema_id),
        )


def _due(rules: RuleSet, way: Literal["WRITE", "READ"], *, migrating: bool) -> list[Rule]:
    both = (*rules.domain_rules, *rules.encoding_rules)
    due = [rule for rule in both if rule.mode in _BOTH_WAYS[way]]
    due += rules.migration_rules if migrating else ()
    return [rule for rule in due if not rule.disabled]

"""Hashes of imported schemas, as the service would compute them; unparsable ones are kept verbatim."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from contractlog.compatibility.content_identity import compute_guid
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import Reference
from contractlog.registry.registration.candidate import hash_draft
from contractlog.registry.registration.references import resolve_target
from contractlog.registry.transfer.snapshot import RegistrySnapshot, SchemaKey, SnapshotSchema, VersionKey

__all__ = ["IdentifiedSchema", "identify_schemas", "reference_target"]

_MAX_DEPTH: Final = 16


@dataclass(frozen=True, slots=True)
class IdentifiedSchema:
    """A schema with its hashes, guid and references, as in a store."""

    schema: SnapshotSchema
    hash: str
    normalized_hash: str
    guid: str
    targets: tuple[VersionKey, ...]  #: of its references
    verbatim: str | None = None  #: why it cannot be parsed, if it cannot


def reference_target(context: str, reference: Reference) -> VersionKey:
    """Return the version that a reference of a schema in this context refers to."""
    return resolve_target(reference, Subject(context, "")), reference.version


def identify_schemas(
    whole: RegistrySnapshot, schemas: Iterable[SnapshotSchema], report_progress: Callable[[int], None] = lambda _: None
) -> dict[SchemaKey, IdentifiedSchema]:
    """Parse schemas; references are looked up in the whole state.

    Args:
        whole: the state with all schemas that references may refer to.
        schemas: the schemas to parse.
        report_progress: called with the number of schemas parsed so far.
    """
    identified: dict[SchemaKey, IdentifiedSchema] = {}
    for number, schema in enumerate(schemas, 1):
        identified[schema.key] = _identify_schema(whole, schema)
        report_progress(number)
    return identified


def _identify_schema(whole: RegistrySnapshot, schema: SnapshotSchema) -> IdentifiedSchema:
    draft = schema.draft
    targets = tuple(dict.fromkeys(reference_target(schema.context, reference) for reference in schema.references))
    own = schema.guid or compute_guid(schema.text, schema.references, schema.metadata, schema.rule_set)
    try:
        parsed = parse_schema(draft, dict(_referenced_texts(whole, schema, 1, set())), strict=False)
    except (InvalidSchema, RecursionError, UnicodeError) as error:
        reason = getattr(error, "message", None) or type(error).__name__
        return IdentifiedSchema(schema, *hash_draft(draft, schema.text, schema.text), own, targets, reason)
    return IdentifiedSchema(schema, *hash_draft(draft, parsed.canonical, parsed.normalized), own, targets)


def _referenced_texts(
    whole: RegistrySnapshot, schema: SnapshotSchema, depth: int, seen: set[str]
) -> Iterator[tuple[str, str]]:
    """Yield name and text of all direct and indirect references, dependencies first."""
    for reference in schema.references:
        if reference.name in seen:
            continue  # the first wins
        if depth > _MAX_DEPTH:
            raise InvalidSchema(f"References are nested deeper than {_MAX_DEPTH} schemas")
        seen.add(reference.name)
        version = whole.versions.get(reference_target(schema.context, reference))
        if version is None:
            raise InvalidSchema(
                f'No schema reference found for subject "{reference.subject}" and version {reference.version}'
            )
        target = whole.schemas[version.schema]
        yield from _referenced_texts(whole, target, depth + 1, seen)
        yield reference.name, target.text

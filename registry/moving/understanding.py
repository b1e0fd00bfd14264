"""Hashes of imported schemas, as the service would compute them; unparsable ones are kept verbatim."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.identity import guid
from contractlog.compatibility.names import Subject
from contractlog.compatibility.parsing import parse
from contractlog.compatibility.schema import Reference
from contractlog.registry.moving.picture import HeldSchema, Picture, SchemaKey, VersionKey
from contractlog.registry.services.references import target_of
from contractlog.registry.services.understanding import hashes_of

__all__ = ["Identified", "identified", "leads_to"]

_DEEPEST: Final = 16


@dataclass(frozen=True, slots=True)
class Identified:
    """A schema with its hashes, guid and references, as in a store."""

    schema: HeldSchema
    hash: str
    normalized_hash: str
    guid: str
    targets: tuple[VersionKey, ...]  #: of its references
    verbatim: str | None = None  #: why it cannot be parsed, if it cannot


def leads_to(context: str, reference: Reference) -> VersionKey:
    """Return the version that a reference of a schema in this context refers to."""
    return target_of(reference, Subject(context, "")), reference.version


def identified(
    whole: Picture, schemas: Iterable[HeldSchema], told: Callable[[int], None] = lambda _: None
) -> dict[SchemaKey, Identified]:
    """Parse schemas; references are looked up in the whole state.

    Args:
        whole: the state with all schemas that references may refer to.
        schemas: the schemas to parse.
        told: called with the number of schemas parsed so far.
    """
    found: dict[SchemaKey, Identified] = {}
    for number, schema in enumerate(schemas, 1):
        found[schema.key] = _identified(whole, schema)
        told(number)
    return found


def _identified(whole: Picture, schema: HeldSchema) -> Identified:
    draft = schema.draft
    targets = tuple(dict.fromkeys(leads_to(schema.context, reference) for reference in schema.references))
    own = schema.guid or guid(schema.text, schema.references, schema.metadata, schema.rule_set)
    try:
        parsed = parse(draft, dict(_texts(whole, schema, 1, set())), strict=False)
    except (InvalidSchema, RecursionError, UnicodeError) as error:
        reason = getattr(error, "message", None) or type(error).__name__
        return Identified(schema, *hashes_of(draft, schema.text, schema.text), own, targets, reason)
    return Identified(schema, *hashes_of(draft, parsed.canonical, parsed.normalized), own, targets)


def _texts(whole: Picture, schema: HeldSchema, depth: int, seen: set[str]) -> Iterator[tuple[str, str]]:
    """Yield name and text of all direct and indirect references, dependencies first."""
    for reference in schema.references:
        if reference.name in seen:
            continue  # the first wins
        if depth > _DEEPEST:
            raise InvalidSchema(f"References are nested deeper than {_DEEPEST} schemas")
        seen.add(reference.name)
        version = whole.versions.get(leads_to(schema.context, reference))
        if version is None:
            raise InvalidSchema(
                f'No schema reference found for subject "{reference.subject}" and version {reference.version}'
            )
        target = whole.schemas[version.schema]
        yield from _texts(whole, target, depth + 1, seen)
        yield reference.name, target.text

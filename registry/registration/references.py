"""Reference resolver: from references to the texts of their schemas, depth first, within limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, MAX_VERSION, Subject
from contractlog.compatibility.limits import MAX_DEPENDENCIES, MAX_DEPENDENCY_CHARACTERS, MAX_REFERENCE_DEPTH
from contractlog.compatibility.schema import Reference, RegisteredSchema
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import DeletedFilter

__all__ = [
    "ResolvedReferences",
    "check_reference_depth",
    "reference_not_found",
    "remove_own_context",
    "resolve_references",
    "resolve_target",
]

_LATEST: Final = -1


@dataclass(slots=True)
class ResolvedReferences:
    """Resolved references of a schema."""

    references: list[Reference] = field(default_factory=list)  #: with numbers in place of "latest"
    targets: list[RegisteredSchema] = field(default_factory=list)  #: the direct ones
    texts: dict[str, str] = field(default_factory=dict)  #: of direct and indirect references; dependencies come first


def resolve_target(reference: Reference, referrer: Subject) -> Subject:
    """Return the subject of a reference; without a context, it is in the referrer's."""
    subject = Subject.parse(reference.subject)
    unqualified = subject.context == DEFAULT_CONTEXT and not reference.subject.startswith(":.")
    return Subject(referrer.context, subject.name) if unqualified else subject


def remove_own_context(references: Iterable[Reference], referrer: Subject) -> tuple[Reference, ...]:
    """Return references without their referrer's own context, so that equivalent ones are equal."""
    return tuple(_without_own_context(reference, referrer) for reference in references)


def _without_own_context(reference: Reference, referrer: Subject) -> Reference:
    if not reference.subject.startswith(":."):
        return reference
    target = resolve_target(reference, referrer)
    short = replace(reference, subject=target.name)
    return short if resolve_target(short, referrer) == target else reference


def resolve_references(
    snapshot: Snapshot, referrer: Subject, references: Sequence[Reference], deleted: DeletedFilter
) -> ResolvedReferences:
    """Read the schemas of direct and indirect references.

    Raises:
        InvalidSchema: a target does not exist or is soft-deleted where only live ones are allowed, or the graph is too
            large.
    """
    resolved = ResolvedReferences()
    for reference in references:
        target = _find_target(snapshot, referrer, reference, deleted)
        resolved.references.append(replace(reference, version=target.version or 0))
        resolved.targets.append(target)
        _collect_texts(snapshot, reference.name, target, resolved.texts, 1)
    return resolved


def _collect_texts(snapshot: Snapshot, name: str, schema: RegisteredSchema, texts: dict[str, str], depth: int) -> None:
    if name in texts:
        return  # the first one takes precedence
    check_reference_depth(depth)
    for reference in schema.references:
        if reference.name not in texts:
            subject = schema.subject or Subject.parse("")
            target = _find_target(snapshot, subject, reference, DeletedFilter.INCLUDED)
            _collect_texts(snapshot, reference.name, target, texts, depth + 1)
    texts[name] = schema.text
    if len(texts) > MAX_DEPENDENCIES or sum(map(len, texts.values())) > MAX_DEPENDENCY_CHARACTERS:
        raise InvalidSchema(
            f"References lead to more than {MAX_DEPENDENCIES} schemas or {MAX_DEPENDENCY_CHARACTERS} characters of text"
        )


def _find_target(
    snapshot: Snapshot, referrer: Subject, reference: Reference, deleted: DeletedFilter
) -> RegisteredSchema:
    subject = resolve_target(reference, referrer)
    number = None if reference.version == _LATEST else reference.version
    if not reference.name or not reference.subject:
        raise InvalidSchema(f"The reference {reference.body()} needs a name and a subject")
    target = None
    if number is None or 1 <= number <= MAX_VERSION:  # numbers beyond the column's range are not queried
        target = snapshot.version(subject, number, DeletedFilter.EXCLUDED if number is None else deleted)
    if target is None:
        raise reference_not_found(reference)
    return target


def check_reference_depth(depth: int) -> None:
    """Check the depth of a reference; the references of the schema itself have the depth 1.

    Raises:
        InvalidSchema: it is too deep.
    """
    if depth > MAX_REFERENCE_DEPTH:
        raise InvalidSchema(f"References are nested deeper than {MAX_REFERENCE_DEPTH} schemas")


def reference_not_found(reference: Reference) -> InvalidSchema:
    """Return the error about a reference to a version that does not exist."""
    return InvalidSchema(f'No schema reference found for subject "{reference.subject}" and version {reference.version}')

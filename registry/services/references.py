"""Reference resolver: from references to the texts of their schemas, depth first, within limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.names import DEFAULT_CONTEXT, MAX_VERSION, Subject
from contractlog.compatibility.schema import Reference, RegisteredSchema
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import Seen

__all__ = ["Resolved", "plain", "resolve", "target_of"]

_MOST: Final = 100
_DEEPEST: Final = 16
_LARGEST_BYTES: Final = 10 * 1024 * 1024
_LATEST: Final = -1


@dataclass(slots=True)
class Resolved:
    """Resolved references of a schema."""

    references: list[Reference] = field(default_factory=list)  #: with numbers in place of "latest"
    targets: list[RegisteredSchema] = field(default_factory=list)  #: the direct ones
    texts: dict[str, str] = field(default_factory=dict)  #: of direct and indirect references; dependencies come first


def target_of(reference: Reference, referrer: Subject) -> Subject:
    """Return the subject of a reference; without a context, it is in the referrer's."""
    subject = Subject.parse(reference.subject)
    unqualified = subject.context == DEFAULT_CONTEXT and not reference.subject.startswith(":.")
    return Subject(referrer.context, subject.name) if unqualified else subject


def plain(references: Iterable[Reference], referrer: Subject) -> tuple[Reference, ...]:
    """Return references without their referrer's own context, so that equivalent ones are equal."""
    return tuple(_plain(reference, referrer) for reference in references)


def _plain(reference: Reference, referrer: Subject) -> Reference:
    if not reference.subject.startswith(":."):
        return reference
    target = target_of(reference, referrer)
    short = replace(reference, subject=target.name)
    return short if target_of(short, referrer) == target else reference


def resolve(snapshot: Snapshot, referrer: Subject, references: Sequence[Reference], seen: Seen) -> Resolved:
    """Read the schemas of direct and indirect references.

    Raises:
        InvalidSchema: a target does not exist or is soft-deleted where only live ones are allowed, or the graph is too
            large.
    """
    resolved = Resolved()
    for reference in references:
        found = _find(snapshot, referrer, reference, seen)
        resolved.references.append(replace(reference, version=found.version or 0))
        resolved.targets.append(found)
        _collect(snapshot, reference.name, found, resolved.texts, 1)
    return resolved


def _collect(snapshot: Snapshot, name: str, found: RegisteredSchema, texts: dict[str, str], depth: int) -> None:
    if name in texts:
        return  # the first one takes precedence
    if depth > _DEEPEST:
        raise InvalidSchema(f"References are nested deeper than {_DEEPEST} schemas")
    for reference in found.references:
        if reference.name not in texts:
            subject = found.subject or Subject.parse("")
            inner = _find(snapshot, subject, reference, Seen.ALL)
            _collect(snapshot, reference.name, inner, texts, depth + 1)
    texts[name] = found.text
    if len(texts) > _MOST or sum(map(len, texts.values())) > _LARGEST_BYTES:
        raise InvalidSchema(f"References lead to more than {_MOST} schemas or {_LARGEST_BYTES} bytes of text")


def _find(snapshot: Snapshot, referrer: Subject, reference: Reference, seen: Seen) -> RegisteredSchema:
    subject = target_of(reference, referrer)
    number = None if reference.version == _LATEST else reference.version
    if not reference.name or not reference.subject:
        raise InvalidSchema(f"The reference {reference.body()} needs a name and a subject")
    found = None
    if number is None or 1 <= number <= MAX_VERSION:  # numbers beyond the column's range are not queried
        found = snapshot.version(subject, number, Seen.LIVE if number is None else seen)
    if found is None:
        raise InvalidSchema(
            f'No schema reference found for subject "{reference.subject}" and version {reference.version}'
        )
    return found

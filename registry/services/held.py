"""Look-up of existing versions of a subject: by content, or by content that is equivalent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.merging import VERSION_PROPERTY, present_metadata, present_rules, unversioned
from contractlog.compatibility.names import Subject
from contractlog.compatibility.parsing import equivalent
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.services.references import plain
from contractlog.registry.services.understanding import Understanding, Understood, hashes_of
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import Content, Seen

__all__ = ["Registered", "find"]


@dataclass(frozen=True, slots=True)
class Registered:
    """Result of a registration; ``stored`` if it shows a version as stored rather than as sent."""

    schema: RegisteredSchema
    stored: bool = False
    warning: str | None = None  #: why the meta-schema rejects a schema that is accepted anyway


def find(
    understanding: Understanding,
    snapshot: Snapshot,
    subject: Subject,
    candidate: tuple[Understood, Content],
    *,
    seen: Seen = Seen.LIVE,
    fits: Callable[[RegisteredSchema], bool] = lambda _held: True,
) -> Registered | None:
    """Return the newest version with this content, else the newest one with an equivalent content.

    Args:
        understanding: parses stored schemas.
        snapshot: the state.
        subject: its versions are searched.
        candidate: the parsed draft and its content.
        seen: live versions, or all.
        fits: whether a version may be the result.
    """
    understood, content = candidate
    for same in snapshot.holdings(subject, content.hash, seen):
        if fits(same):
            return Registered(same)
    for alike in _alike(understanding, snapshot, subject, (understood, content), seen):
        if fits(alike) and _numbered_alike(content, alike):
            return Registered(alike, stored=True)
    return None


def _alike(
    understanding: Understanding,
    snapshot: Snapshot,
    subject: Subject,
    candidate: tuple[Understood, Content],
    seen: Seen,
) -> Iterator[RegisteredSchema]:
    """Yield versions that differ in spelling only, then those that differ in inlined references."""
    understood, content = candidate
    if content.references:
        yield from _qualified_otherwise(understanding, snapshot, subject, candidate, seen)
    yield from snapshot.holding_alike(subject, content.normalized_hash, seen)
    for held in snapshot.leaning_versions(subject, seen, leaning=not content.references):
        if held.type is content.type and _beside(held) == _beside(content):
            try:
                if equivalent(understood.parsed, understanding.stored(snapshot, held)):
                    yield held
            except InvalidSchema:
                continue  # cannot be parsed, or is too long with its references inlined


def _qualified_otherwise(
    understanding: Understanding,
    snapshot: Snapshot,
    subject: Subject,
    candidate: tuple[Understood, Content],
    seen: Seen,
) -> Iterator[RegisteredSchema]:
    """Yield versions whose references differ only in naming their own context, or not naming it.

    References are stored and hashed as they were sent. Versions with the same canonical text come first.
    """
    understood, content = candidate
    draft = replace(
        understood.draft,
        references=plain(content.references, subject),
        metadata=content.metadata,
        rule_set=content.rule_set,
    )
    exact, alike = hashes_of(draft, content.text, understood.parsed.normalized)
    qualifying = [
        (held, _plain_hashes(understanding, snapshot, subject, held))
        for held in snapshot.qualifying_versions(subject, seen)
    ]
    if draft.references != content.references:
        yield from snapshot.holdings(subject, exact, seen)
    yield from (held for held, hashes in qualifying if hashes[0] == exact)
    if draft.references != content.references:
        yield from snapshot.holding_alike(subject, alike, seen)
    yield from (held for held, hashes in qualifying if hashes[1] == alike)


def _plain_hashes(
    understanding: Understanding, snapshot: Snapshot, subject: Subject, held: RegisteredSchema
) -> tuple[str, str]:
    draft = replace(
        held.draft,
        references=plain(held.references, subject),
        metadata=present_metadata(held.metadata),
        rule_set=present_rules(held.rule_set),
    )
    try:
        normalized = understanding.stored(snapshot, held).normalized
    except InvalidSchema:
        normalized = held.text  # text that cannot be parsed is compared as it is
    return hashes_of(draft, held.text, normalized)


def _beside(one: RegisteredSchema | Content) -> object:
    return present_metadata(unversioned(one.metadata)), present_rules(one.rule_set)


def _numbered_alike(content: Content, held: RegisteredSchema) -> bool:
    """Return True unless the candidate's metadata names the number of another version.

    A version whose own metadata names a number matches in any case.
    """
    asked, own = _number(content), _number(held)
    return asked is None or own is not None or asked == str(held.version)


def _number(one: RegisteredSchema | Content) -> str | None:
    return None if one.metadata is None else one.metadata.properties.get(VERSION_PROPERTY)

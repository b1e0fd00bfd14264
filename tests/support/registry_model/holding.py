"""What a registry holds, and how a content is found again: sections 2.1, 2.2 and 2.6 of the facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Final

from support.registry_model.contents import Content, Items, Reference, Refused, Text
from support.registry_model.scopes import DEFAULT, GLOBAL, Scopes, context_of

__all__ = ["Holding", "Sent", "Version"]

#: What ``user`` and ``named`` can lean on. What leans on something itself does so by the same name, which is taken.
_DEFINING: Final = {"user": ("record", "inlined"), "named": ("inlined",)}


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A registration as it is asked for; None is what the body lacks."""

    text: Text | None = None
    references: tuple[Reference, ...] = ()
    metadata: Items | None = None
    rules: Items | None = None
    version: int = 0
    id: int | None = None
    normalize: bool = False
    force: bool = False
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    propagate: bool = False

    def __repr__(self) -> str:
        """Show what is there."""
        told = {member.name: getattr(self, member.name) for member in fields(self)}
        return f"Sent({', '.join(f'{name}={value!r}' for name, value in told.items() if value)})"


@dataclass(frozen=True)
class Version:
    """A version of a subject."""

    id: int
    content: Content
    deleted: bool = False


@dataclass
class Holding:
    """What a registry holds."""

    subjects: dict[str, dict[int, Version]] = field(default_factory=dict)
    owners: dict[tuple[str, int], Content] = field(default_factory=dict)  #: context, id -> its content, for ever
    reused: dict[tuple[str, Content], int] = field(default_factory=dict)  #: the id that new registrations get
    next_id: dict[str, int] = field(default_factory=dict)
    contexts: set[str] = field(default_factory=lambda: {DEFAULT})
    scopes: Scopes = field(default_factory=Scopes)

    def live(self, subject: str) -> dict[int, Version]:
        """Return the live versions, newest first."""
        return self.versions(subject, deleted=False)

    def versions(self, subject: str, *, deleted: bool = True) -> dict[int, Version]:
        """Return all versions, or the live ones, newest first."""
        held = self.subjects.get(subject, {})
        return {number: held[number] for number in sorted(held, reverse=True) if deleted or not held[number].deleted}

    def latest(self, subject: str) -> Version | None:
        """Return the newest live version."""
        return next(iter(self.live(subject).values()), None)

    def targets(self, context: str, content: Content) -> list[tuple[str, int]]:
        """Return what a content leans on: a subject without a context is in that of the referrer."""
        return [
            (name.removeprefix(":.:") if name.startswith(":.") or context == DEFAULT else context + name, number)
            for name, number in content.references
        ]

    def owned(self, _subject: str) -> bool:
        """Whether a subject belongs to a resource."""
        return False

    def refuse_bound(self, subject: str, *, last: bool = False) -> None:
        """Raise where a resource uses a subject."""

    def parse(self, subject: str, sent: Sent, *, strict: bool = False) -> Content:
        """Return the content that was sent; new schemas lean on live versions only, by the numbers that they have."""
        if sent.text is None or sent.text.kind == "broken" or (strict and sent.text.kind == "lax"):
            raise Refused(42201)
        asked = Content(sent.text, sent.references)
        references, text = [], sent.text
        targets = self.targets(context_of(subject), asked)
        for (name, wanted), (target, _) in zip(sent.references, targets, strict=True):
            found = self.versions(target, deleted=wanted != -1 and not strict)
            number = next(iter(found), 0) if wanted == -1 else wanted
            if number not in found:
                raise Refused(42201)
            kind = found[number].content.text.kind
            if kind not in _DEFINING.get(text.kind, [kind]):
                raise Refused(42201)
            text = Text("named") if (text.kind, kind) == ("user", "inlined") else text
            references.append((name, number))
        if text.kind in _DEFINING and not references:
            raise Refused(42201)
        return Content(text, tuple(references), sent.metadata or (), sent.rules or ()).settled

    def written_out(self, context: str, content: Content) -> Text:
        """Return the text with what it leans on in place."""
        if content.text.kind not in _DEFINING:
            return content.text.normalized
        target, number = self.targets(context, content)[0]
        return Text("inlined", self.subjects[target][number].content.text.tags)

    def alike(self, subject: str, sent: Content, number: int, held: Content) -> bool:
        """Whether a lookup finds a version that differs in spelling, or in what is written out in place (2.6)."""
        if sent.beside != held.beside or (sent.number and not held.number and sent.number != str(number)):
            return False
        one, other = sent.normalized, held.normalized
        if bool(one.references) != bool(other.references):
            context = context_of(subject)
            return self.written_out(context, sent) == self.written_out(context, held)
        return (one.text, one.references) == (other.text, other.references)

    def find(self, subject: str, content: Content, sent: Sent | None = None, *, deleted: bool = False) -> int | None:
        """Return the newest version with a content, else the newest that is alike; of those that the sender means."""
        held = self.versions(subject, deleted=deleted)
        latest = next(iter(self.live(subject)), None)
        fits = [
            number
            for number, one in held.items()
            if sent is None
            or (
                sent.id in {None, one.id}
                and (sent.version <= 0 or sent.version == number)
                and (sent.version != -1 or number == latest)
            )
        ]
        same = (n for n in fits if held[n].content == content)
        return next(same, next((n for n in fits if self.alike(subject, content, n, held[n].content)), None))

    def within(self, scope: str) -> Iterator[tuple[str, Version]]:
        """Yield the versions of a scope, with their subjects."""
        for subject, versions in self.subjects.items():
            if scope in {subject, context_of(subject), GLOBAL}:
                yield from ((subject, one) for one in versions.values())

    def leaning(self, subject: str, number: int | None, *, live: bool = False) -> bool:
        """Whether anything leans on a version, or from elsewhere on any version of a subject."""
        return any(
            target == subject and number in {None, its}
            for other, one in self.within(GLOBAL)
            if not (live and one.deleted) and not (number is None and other == subject)
            for target, its in self.targets(context_of(other), one.content)
        )

"""A small model of how a registry behaves: section 2 of the facts, for schemas whose text is a symbol.

Symbols stand for Avro primitives: two are compatible when they are equal, so only the level NONE lets another follow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

__all__ = ["Model", "Refused"]

READ_ONLY = {"READONLY", "READONLY_OVERRIDE"}
IMPORTING = {"IMPORT", "FORWARD"}
GLOBAL = ":.__GLOBAL:"


class Refused(Exception):
    """An error code."""


@dataclass(frozen=True)
class Content:
    """What an id stands for: a text, and what its metadata tell: an owner, and the number that was asked for."""

    text: str
    owner: str | None = None
    numbered: int | None = None  #: ``confluent:version``, a part of identity

    def finds(self, stored: Content, number: int) -> bool:
        """Whether a stored content answers: numbers matter only where the stored one has none."""
        same = (self.text, self.owner) == (stored.text, stored.owner)
        return same and (stored.numbered is not None or self.numbered in {None, number})


@dataclass(frozen=True)
class Version:
    """A version of a subject."""

    id: int
    content: Content
    deleted: bool = False


def context_of(subject: str) -> str:
    """Return the context of a subject, as a scope: ``.`` or ``:.eu:``."""
    return subject[: subject.index(":", 1) + 1] if subject.startswith(":.") else "."


@dataclass
class Model:
    """Everything that a registry knows."""

    subjects: dict[str, dict[int, Version]] = field(default_factory=dict)
    owners: dict[tuple[str, int], Content] = field(default_factory=dict)  #: context, id -> its content, for ever
    reused: dict[tuple[str, Content], int] = field(default_factory=dict)  #: the id that new registrations get
    next_id: dict[str, int] = field(default_factory=dict)
    levels: dict[str, str] = field(default_factory=dict)
    modes: dict[str, str] = field(default_factory=dict)

    def live(self, subject: str) -> dict[int, Version]:
        """Return the live versions."""
        return {n: one for n, one in self.subjects.get(subject, {}).items() if not one.deleted}

    def set_for(self, settings: dict[str, str], subject: str, default: str) -> str:
        """Return what is set nearest to a subject."""
        scopes = (subject, context_of(subject), GLOBAL)
        return next((settings[scope] for scope in scopes if scope in settings), default)

    def register(
        self, subject: str, sent: Content, *, schema_id: int | None = None, version: int = 0, force: bool = False
    ) -> tuple[int, int]:
        """Return id and version; 2.4, step by step."""
        known = self.find(subject, sent, schema_id, version)
        if known is not None:
            return known
        mode = self.set_for(self.modes, subject, "READWRITE")
        if mode in READ_ONLY or (schema_id is None) != (mode not in IMPORTING):
            raise Refused(42205)
        if schema_id is not None:
            return self.take_over(subject, sent, schema_id, version)
        live = self.live(subject)
        latest = live[max(live)] if live else None
        owner = latest.content.owner if latest and sent.owner is None else sent.owner
        numbered = latest.content.numbered if latest and sent.owner is None else None
        known = None if version else self.find(subject, Content(sent.text, owner, numbered), None, 0)
        if known is not None:
            return known
        level = self.set_for(self.levels, subject, "BACKWARD")
        if latest and latest.content.text != sent.text and level != "NONE" and not force:
            raise Refused(40901)
        number = max(self.subjects.get(subject, {}), default=0) + 1
        if version not in {0, number}:
            raise Refused(42201)
        content = Content(sent.text, owner, number if version or numbered else None)
        return self.write(subject, number, self.id_for(context_of(subject), content), content)

    def find(self, subject: str, sent: Content, schema_id: int | None, version: int) -> tuple[int, int] | None:
        """Return the newest live version that answers, first as sent, then with the owner of the latest."""
        live = self.live(subject)
        latest = live[max(live)].content if live else sent
        tries = [sent] if sent.owner else [sent, replace(latest, text=sent.text)]
        for content in tries:
            for number in sorted(live, reverse=True):
                one = live[number]
                fits = schema_id in {None, one.id} and version in {0, number}
                if content.finds(one.content, number) and fits:
                    return one.id, number
        return None

    def take_over(self, subject: str, content: Content, schema_id: int, version: int) -> tuple[int, int]:
        """Import under an id: it keeps its content for ever; a number that is taken is not given again."""
        context = context_of(subject)
        versions = self.subjects.get(subject, {})
        taken = versions.get(version)
        if taken is not None and (taken.id, taken.content) != (schema_id, content):
            raise Refused(42205)
        if self.owners.get((context, schema_id), content) != content:
            raise Refused(42205)
        number = version or max(versions, default=0) + 1
        self.reused[context, content] = schema_id
        self.owners[context, schema_id] = content
        self.next_id[context] = max(self.next_id.get(context, 1), schema_id + 1)
        return self.write(subject, number, schema_id, content)

    def id_for(self, context: str, content: Content) -> int:
        """Return the id that a content has in a context, or the next one."""
        found = self.reused.get((context, content))
        if found is None:
            found = self.next_id.get(context, 1)
            self.next_id[context] = found + 1
            self.reused[context, content] = found
            self.owners[context, found] = content
        return found

    def write(self, subject: str, number: int, schema_id: int, content: Content) -> tuple[int, int]:
        """Add a version; soft-deleted ones with the same id give way to it."""
        versions = self.subjects.setdefault(subject, {})
        for other in [n for n, one in versions.items() if one.deleted and one.id == schema_id]:
            del versions[other]
        versions[number] = Version(schema_id, content)
        return schema_id, number

    def lookup(self, subject: str, sent: Content, *, deleted: bool) -> int:
        """Return the newest version that holds a content."""
        versions = self.subjects.get(subject, {}) if deleted else self.live(subject)
        live = self.live(subject)
        latest = live[max(live)].content if live else sent
        for content in (sent, sent if sent.owner else replace(latest, text=sent.text)):
            for number in sorted(versions, reverse=True):
                if content.finds(versions[number].content, number):
                    return number
        raise Refused(40403 if versions else 40401)

    def delete_subject(self, subject: str, *, permanent: bool) -> list[int]:
        """Return the versions that went."""
        versions = self.subjects.get(subject, {})
        self.refuse_deletion(subject, versions)
        live = sorted(self.live(subject))
        if not permanent:
            if not live:
                raise Refused(40404)
            self.hide(subject, live)
            return live
        if live:
            raise Refused(40405)
        gone = sorted(versions)
        self.erase(subject, gone)
        return gone

    def delete_version(self, subject: str, number: int, *, permanent: bool) -> int:
        """Return the version that went."""
        versions = self.subjects.get(subject, {})
        self.refuse_deletion(subject, versions)
        if number not in versions:
            raise Refused(40402)
        if versions[number].deleted != permanent:
            raise Refused(40407 if permanent else 40406)
        (self.erase if permanent else self.hide)(subject, [number])
        return number

    def refuse_deletion(self, subject: str, versions: dict[int, Version]) -> None:
        """Raise where nothing can be deleted."""
        if not versions:
            raise Refused(40401)
        if self.set_for(self.modes, subject, "READWRITE") in READ_ONLY:
            raise Refused(42205)

    def hide(self, subject: str, numbers: list[int]) -> None:
        """Delete softly."""
        for number in numbers:
            self.subjects[subject][number] = replace(self.subjects[subject][number], deleted=True)

    def erase(self, subject: str, numbers: list[int]) -> None:
        """Delete for good; ids that nothing holds any more are not reused, and settings go with the last version."""
        ids = {self.subjects[subject].pop(number).id for number in numbers}
        context = context_of(subject)
        held = {one.id for _, one in self.within(context)}
        self.reused = {key: i for key, i in self.reused.items() if key[0] != context or i not in ids - held}
        if not self.subjects[subject]:
            del self.subjects[subject]
            self.levels.pop(subject, None)
            self.modes.pop(subject, None)

    def within(self, scope: str) -> Iterator[tuple[str, Version]]:
        """Yield the versions of a scope, with their subjects."""
        for subject, versions in self.subjects.items():
            if scope in {subject, context_of(subject), GLOBAL}:
                yield from ((subject, one) for one in versions.values())

    def set_level(self, scope: str, level: str | None) -> None:
        """Set or clear a level."""
        if self.set_for(self.modes, scope, "READWRITE") in READ_ONLY:
            raise Refused(42205)
        _set(self.levels, scope, level)

    def set_mode(self, scope: str, mode: str | None, *, force: bool) -> None:
        """Set or clear a mode; IMPORT begins where nothing is live, and clears what is soft-deleted."""
        if mode == "FORWARD" and scope != GLOBAL:
            raise Refused(42204)
        if mode == "IMPORT" and self.set_for(self.modes, scope, "READWRITE") != "IMPORT" and not force:
            found = list(self.within(scope))
            if any(not one.deleted for _, one in found):
                raise Refused(42205)
            for subject in {subject for subject, _ in found}:
                self.erase(subject, sorted(self.subjects[subject]))
        _set(self.modes, scope, mode)


def _set(settings: dict[str, str], scope: str, value: str | None) -> None:
    if value is None:
        settings.pop(scope, None)
    else:
        settings[scope] = value

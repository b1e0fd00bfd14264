"""Deletion, soft and for good, and the mode that clears: section 2.5 of the facts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from support.registry_model.contents import Refused
from support.registry_model.holding import Holding, Version
from support.registry_model.scopes import DEFAULT, GLOBAL, context_of

__all__ = ["Deleting"]


@dataclass
class Deleting(Holding):
    """Lets versions go."""

    def delete_subject(self, named: str, *, permanent: bool) -> list[int]:
        """Return the versions that went."""
        subject = self.scopes.meant(named)
        versions = self.deletable(subject)
        live = sorted(self.live(subject))
        if bool(live) == permanent:
            raise Refused(40405 if permanent else 40404)
        self.refuse_bound(subject)
        if self.leaning(subject, None, live=not permanent):
            raise Refused(42206)
        gone = sorted(versions) if permanent else live
        self.drop(subject, gone) if permanent else self.hide(subject, gone)
        return gone

    def delete_version(self, named: str, number: int | None, *, permanent: bool) -> int:
        """Return the version that went."""
        subject = self.scopes.meant(named)
        versions = self.deletable(subject)
        if number is None:
            number = next(iter(self.live(subject)), None)
            if number is None:
                raise Refused(40401)
        if number not in versions:
            raise Refused(40402)
        if versions[number].deleted != permanent:
            raise Refused(40407 if permanent else 40406)
        if list(self.live(subject)) == [number]:
            self.refuse_bound(subject, last=True)
        if self.leaning(subject, number, live=not permanent):
            raise Refused(42206)
        self.drop(subject, [number]) if permanent else self.hide(subject, [number])
        return number

    def deletable(self, subject: str) -> dict[int, Version]:
        """Return the versions, or raise where nothing can be deleted."""
        versions = self.versions(subject)
        if not versions:
            raise Refused(40401)
        self.scopes.refuse_read_only(subject)
        return versions

    def hide(self, subject: str, numbers: list[int]) -> None:
        """Delete softly."""
        for number in numbers:
            self.subjects[subject][number] = replace(self.subjects[subject][number], deleted=True)

    def drop(self, subject: str, numbers: list[int]) -> None:
        """Delete for good; settings go with the last version."""
        self.erase(subject, numbers)
        if subject not in self.subjects:
            self.scopes.set.pop(subject, None)

    def erase(self, subject: str, numbers: list[int]) -> None:
        """Let versions go; ids that nothing holds any more are not reused."""
        ids = {self.subjects[subject].pop(number).id for number in numbers}
        context = context_of(subject)
        held = {one.id for _, one in self.within(context)}
        self.reused = {key: i for key, i in self.reused.items() if key[0] != context or i not in ids - held}
        if not self.subjects[subject]:
            del self.subjects[subject]

    def delete_context(self, context: str) -> None:
        """Take a context out of the list; only one without versions goes."""
        if self.scopes.mode(context) != "READWRITE":
            raise Refused(42205)
        if any(self.within(context)):
            raise Refused(42211)
        self.contexts -= {context} - {DEFAULT}

    def set_mode(self, scope: str, mode: str | None, *, force: bool) -> None:
        """Set or clear a mode; IMPORT begins where nothing is live, and clears what is soft-deleted."""
        if mode == "FORWARD" and scope != GLOBAL:
            raise Refused(42204)
        if mode == "IMPORT" and self.scopes.mode(scope) != "IMPORT" and not force:
            self.make_room(scope)
        self.scopes.set_mode(scope, mode)

    def make_room(self, scope: str) -> None:
        """Erase what is soft-deleted, but for what a schema that stays leans on."""
        if any(not one.deleted for _, one in self.within(scope)):
            raise Refused(42205)
        subjects = {subject for subject, _ in self.within(scope)}
        more = True
        while more:
            free = [(s, n) for s in subjects for n in self.versions(s) if not self.leaning(s, n)]
            for subject, number in free:
                self.erase(subject, [number])
            more = bool(free)

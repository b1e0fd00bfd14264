"""The part of the model that knows associations: section 1.9 of the facts."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace

from support.registry_model.contents import Refused
from support.registry_model.holding import Sent
from support.registry_model.model import Model
from support.registry_model.scopes import IMPORTING

__all__ = ["Bound", "Registry", "Wish"]

Key = tuple[str, str]  #: a resource and a type
NAMESPACE = "eu"


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What is asked of one association; None is what the body lacks."""

    operation: str
    type: str = "value"
    subject: str | None = None
    lifecycle: str | None = None
    frozen: bool | None = None
    schema: Sent | None = None
    cascade: bool = False

    def within(self, context: str) -> Wish:
        """Return it with its subject in a context, where the subject names none."""
        plain = self.subject is not None and not self.subject.startswith(":.") and context != "."
        return replace(self, subject=f":{context}:{self.subject}") if plain else self

    def settled(self, default: str) -> Wish:
        """Return it with what is left to the registry, or raise where it contradicts itself."""
        wish = self
        if wish.operation == "CREATE":
            kind = "STRONG" if wish.schema or wish.frozen else "WEAK"
            if wish.schema and (wish.lifecycle == "WEAK" or wish.frozen is False):
                raise Refused(42212)
            lifecycle = wish.lifecycle or kind
            strong = lifecycle == "STRONG" if wish.frozen is None else wish.frozen
            wish = replace(wish, lifecycle=lifecycle, frozen=strong)
            if wish.subject is None and not strong:
                raise Refused(42212)
        weak, strong = wish.lifecycle == "WEAK", wish.lifecycle == "STRONG"
        if (
            (weak and (wish.schema or wish.frozen or wish.subject == default))
            or (strong and wish.frozen is False)
            or (wish.frozen and wish.subject not in {None, default})
        ):
            raise Refused(42212)
        return wish


@dataclass(frozen=True)
class Bound:
    """An association."""

    subject: str
    lifecycle: str

    def refuse_other(self, wish: Wish, subject: str) -> None:
        """Raise where a wish is for anything but what is there."""
        if wish.operation == "CREATE" and (subject, wish.lifecycle) != (self.subject, self.lifecycle):
            raise Refused(40903)
        if wish.operation == "UPSERT":
            strong = self.lifecycle == "STRONG"
            same = wish.subject in {None, self.subject} and wish.frozen in {None, strong}
            if not same or wish.lifecycle not in {None, self.lifecycle} or (wish.schema and not strong):
                raise Refused(42212)


@dataclass
class Registry(Model):
    """Everything that a registry knows."""

    bound: dict[Key, Bound] = field(default_factory=dict)

    def owned(self, subject: str) -> bool:
        """Whether a subject belongs to a resource."""
        return Bound(subject, "STRONG") in self.bound.values()

    def refuse_bound(self, subject: str, *, last: bool = False) -> None:
        """Raise where a resource uses a subject."""
        if any(one.subject == subject for one in self.bound.values()):
            raise Refused(40907 if last else 40904)

    def bind(self, resource: str, wishes: list[Wish], *, rehearsal: bool = False) -> list[tuple[str, str, str]]:
        """Carry out what is asked of a resource, all of it or nothing; return subject, type and lifecycle of each."""
        wishes = [wish if wish.operation == "DELETE" else wish.settled(_default(resource, wish)) for wish in wishes]
        if not wishes or len({wish.type for wish in wishes}) < len(wishes):
            raise Refused(42212)
        if len({wish.frozen for wish in wishes} - {None}) > 1:
            raise Refused(42212)
        for wish in wishes:  # schemas are judged first, and by themselves
            if wish.schema:
                deepcopy(self).register(wish.subject or _default(resource, wish), wish.schema)
        work = deepcopy(self)
        found = [one for wish in wishes for one in work.carry_out(resource, wish)]
        if not rehearsal:
            vars(self).update(vars(work))
        return found

    def carry_out(self, resource: str, wish: Wish) -> list[tuple[str, str, str]]:
        """Carry out one wish."""
        if wish.operation == "DELETE":
            self.unbind(resource, [wish.type], cascade=wish.cascade)
            return []
        key, subject = (resource, wish.type), wish.subject or _default(resource, wish)
        known = self.bound.get(key)
        if known is None:
            self.bound[key] = known = self.bound_anew(resource, wish, subject)
        else:
            known.refuse_other(wish, subject)
            if wish.schema:
                self.register(subject, wish.schema)
        return [(known.subject, wish.type, known.lifecycle)]

    def bound_anew(self, resource: str, wish: Wish, subject: str) -> Bound:
        """Make an association that was not there, with its schema."""
        self.scopes.refuse_read_only(subject)
        importing = self.scopes.mode(subject) in IMPORTING
        lifecycle = wish.lifecycle or ("STRONG" if wish.frozen else "WEAK")
        strong = lifecycle == "STRONG"
        lacking = strong and not wish.schema if wish.operation == "CREATE" else strong or wish.schema
        unlike = any(one.lifecycle != lifecycle for (other, _), one in self.bound.items() if other == resource)
        if (lacking and not importing) or unlike or (not strong and subject == _default(resource, wish)):
            raise Refused(42212)
        if self.owned(subject):
            raise Refused(40905)
        if strong:
            self.refuse_bound(subject)
            if any(self.leaning(subject, number) for number in self.versions(subject)):
                raise Refused(42206)
        if wish.schema:
            self.register(subject, wish.schema)
        if not self.live(subject):
            raise Refused(40907)
        if strong and not importing and len(self.live(subject)) > 1:
            raise Refused(42212)
        return Bound(subject, lifecycle)

    def unbind(self, resource: str, types: list[str], *, cascade: bool) -> None:
        """Remove associations; with ``cascade`` the subjects that the resource owns go with them."""
        found = {key: one for key, one in sorted(self.bound.items()) if key[0] == resource and key[1] in types}
        if not found:
            raise Refused(40410)
        for one in found.values():
            if one.lifecycle == "STRONG" and not cascade:
                raise Refused(40908)
            self.scopes.refuse_read_only(one.subject)
        for key in found:
            del self.bound[key]
        for one in found.values():
            if one.lifecycle == "STRONG" and cascade and self.versions(one.subject):
                if self.live(one.subject):
                    self.delete_subject(one.subject, permanent=False)
                self.delete_subject(one.subject, permanent=True)

    def released(self, resource: str, types: list[str], *, cascade: bool, rehearsal: bool) -> None:
        """Remove associations, all or nothing."""
        work = deepcopy(self)
        work.unbind(resource, types, cascade=cascade)
        if not rehearsal:
            vars(self).update(vars(work))


def _default(resource: str, wish: Wish) -> str:
    return f":.{NAMESPACE}:{resource}-{wish.type}"

"""Registration and lookup, step by step: sections 2.4, 2.6, 2.8 and 12.1 of the facts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from support.registry_model.contents import (
    INVALID,
    NUMBER,
    TAGGED,
    Content,
    Items,
    Refused,
    Text,
    overlaid,
    readable,
    valued,
)
from support.registry_model.deleting import Deleting
from support.registry_model.holding import Sent, Version
from support.registry_model.scopes import ADDED, DEFAULT, IMPORTING, context_of

__all__ = ["Model"]


@dataclass
class Model(Deleting):
    """Registers schemas and finds them again."""

    def completed(self, sent: Sent, subject: str, settings: dict[str, Any], number: int | None = None) -> Sent:
        """Return a draft with all that it takes over from the latest version and from the config (2.4 step 4, 2.8)."""
        latest = self.latest(subject)
        content = latest.content if latest else None
        if sent.text is None:
            if content is None:
                raise Refused(42201)
            sent = replace(sent, text=content.text, references=content.references)
        assert sent.text is not None
        if sent.propagate and content and content.text.tags and sent.text.kind in TAGGED:
            sent = replace(sent, text=sent.text.edited(content.text.tags, ()))
        if sent.add or sent.remove:
            sent = replace(sent, text=(sent.text or Text("broken")).edited(sent.add, sent.remove))
        before: list[Items | None] = [content.metadata or None, content.rules or None] if content else [None, None]
        default, override, default_rules, override_rules = (settings.get(name) for name in ADDED)
        metadata = overlaid(default, before[0] if sent.metadata is None else sent.metadata, override)
        rules = overlaid(default_rules, before[1] if sent.rules is None else sent.rules, override_rules)
        if number is not None and (sent.version or NUMBER in valued(metadata or ())):
            told = str(sent.version if sent.version > 0 else number)
            metadata = overlaid(metadata, ((NUMBER, told),))
        return replace(sent, metadata=metadata, rules=rules)

    def register(self, named: str, sent: Sent) -> tuple[int, int]:
        """Return id and version."""
        if sent.rules == INVALID:
            raise Refused(42210)
        subject = self.scopes.meant(named)
        settings = self.scopes.in_force(subject)
        sent = replace(sent, normalize=sent.normalize or bool(settings.get("normalize")))
        edits, adds = sent.add or sent.remove or sent.propagate, any(name in settings for name in ADDED)
        known = None if edits or adds or sent.text is None else self.known(subject, sent, settings)
        if known is None:
            self.scopes.refuse_read_only(subject)
            importing = self.scopes.mode(subject) in IMPORTING
            if importing != (sent.id is not None):
                raise Refused(42205)
            return self.take_over(subject, sent) if importing else self.follow(subject, sent, settings)
        return self.subjects[subject][known].id, known

    def known(self, subject: str, sent: Sent, settings: dict[str, Any]) -> int | None:
        """Find what was sent, then with what it would take over (step 1)."""
        found = self.find(subject, self.spelled(self.parse(subject, sent), sent), sent)
        if found is not None:
            return found
        whole = replace(self.completed(replace(sent, propagate=False), subject, settings), text=sent.text)
        return self.find(subject, self.spelled(self.parse(subject, whole), sent), sent)

    def spelled(self, content: Content, sent: Sent) -> Content:
        """Return it normalized, where that is asked for."""
        return content.normalized if sent.normalize else content

    def follow(self, subject: str, sent: Sent, settings: dict[str, Any]) -> tuple[int, int]:
        """Register the next version (steps 3 to 11)."""
        number = max(self.subjects.get(subject, {}), default=0) + 1
        draft = self.completed(sent, subject, settings, number)
        content = self.parse(subject, draft, strict=settings.get("validateNewSchemas") is not False)
        content = self.spelled(content, sent)
        self.refuse_strong(subject, content)
        found = self.find(subject, content, sent) if sent.version <= 0 else None
        if found is not None:
            return self.subjects[subject][found].id, found
        if not sent.force and not self.compatible(subject, content, settings):
            raise Refused(40901)
        if sent.version > 0 and sent.version != number:
            raise Refused(42201)
        return self.write(subject, number, self.id_for(context_of(subject), content), content)

    def refuse_strong(self, subject: str, content: Content) -> None:
        """Raise where a content leans on what belongs to a resource (step 6)."""
        if any(self.owned(target) for target, _ in self.targets(context_of(subject), content)):
            raise Refused(42205)

    def compatible(self, subject: str, content: Content, settings: dict[str, Any]) -> bool:
        """Judge against what the level selects, within the group (3.1), and by what is reserved (2.10)."""
        latest = self.latest(subject)
        if settings.get("validateFields") and (
            (latest and latest.content.reserved - content.reserved) or content.reserved & content.fields
        ):
            return False
        level = settings.get("compatibility", "BACKWARD")
        group = ("properties", settings.get("compatibilityGroup", ""))
        mine = valued(content.metadata).get(group)
        history = [one.content for one in self.live(subject).values()]
        history = [one for one in history if not group[1] or valued(one.metadata).get(group) == mine]
        selected = history if level.endswith("_TRANSITIVE") else history[:1]
        return not any(
            (level.startswith(("BACKWARD", "FULL")) and not readable(content, one))
            or (level.startswith(("FORWARD", "FULL")) and not readable(one, content))
            for one in selected
        )

    def take_over(self, subject: str, sent: Sent) -> tuple[int, int]:
        """Import under an id: it keeps its content for ever; a number that is taken is not given again (12.1)."""
        content, schema_id = self.parse(subject, sent), sent.id or 0
        self.refuse_strong(subject, content)
        context, held = context_of(subject), self.versions(subject)
        version = max(sent.version, 0)
        same = [n for n, one in held.items() if (one.id, one.content) == (schema_id, content)]
        live = [n for n in same if not held[n].deleted and version in {0, n}]
        if live:
            return schema_id, live[0]
        if version in held and version not in same:
            raise Refused(42205)
        if self.owners.get((context, schema_id), content) != content:
            raise Refused(42205)
        self.reused[context, content] = schema_id
        self.owners[context, schema_id] = content
        self.next_id[context] = max(self.next_id.get(context, 1), schema_id + 1)
        return self.write(subject, version or max(held, default=0) + 1, schema_id, content)

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
        """Add a version; soft-deleted ones with the same id give way to it, unless something leans on them."""
        versions = self.subjects.setdefault(subject, {})
        older = [n for n, one in versions.items() if one.deleted and one.id == schema_id]
        for other in older:
            if not self.leaning(subject, other):
                del versions[other]
        versions[number] = Version(schema_id, content)
        self.contexts.add(context_of(subject))
        return schema_id, number

    def derive(
        self, named: str, number: int | None, sent: Sent, merged: Items | None, gone: frozenset[str]
    ) -> tuple[int, int]:
        """Register a new version as changes to another one (the tags endpoint)."""
        if sent.rules is not None and (merged is not None or gone):
            raise Refused(42210)
        if INVALID in {sent.rules, merged}:
            raise Refused(42210)
        live = self.live(self.scopes.meant(named))
        if not live:
            raise Refused(40401)
        if number is not None and number not in live:
            raise Refused(40402)
        base = live[next(iter(live)) if number is None else number].content
        rules = sent.rules
        if merged is not None or gone:
            rules = tuple(item for item in overlaid(base.rules, merged) or () if item[0][1] not in gone)
        text = base.text.edited(sent.add, sent.remove) if sent.add or sent.remove else base.text
        return self.register(
            named,
            Sent(
                text=text,
                references=base.references,
                metadata=base.metadata or None if sent.metadata is None else sent.metadata,
                rules=base.rules or None if rules is None else rules,
                version=sent.version,
            ),
        )

    def lookup(self, named: str, sent: Sent, *, deleted: bool) -> tuple[str, int]:
        """Return subject and version; a plain name is looked for in every context."""
        subject = self.scopes.meant(named)
        found = self.under(subject, sent, deleted=deleted)
        if found is not None:
            return subject, found
        others = sorted(context for context in self.contexts if context != DEFAULT) if ":" not in subject else ()
        for other in (context + subject for context in others):
            if self.versions(other, deleted=deleted):
                try:
                    found = self.under(other, sent, deleted=deleted)
                except Refused:
                    continue  # what it leans on is not in that context
                if found is not None:
                    return other, found
        raise Refused(40403 if self.versions(subject, deleted=deleted) else 40401)

    def under(self, subject: str, sent: Sent, *, deleted: bool) -> int | None:
        """Look as it was sent, then with what it would take over; without a text nothing is found."""
        if sent.text is None:
            return None
        settings = self.scopes.in_force(subject)
        sent = replace(sent, normalize=sent.normalize or bool(settings.get("normalize")))
        found = self.find(subject, self.spelled(self.parse(subject, sent), sent), deleted=deleted)
        if found is not None:
            return found
        whole = self.completed(sent, subject, settings)
        return self.find(subject, self.spelled(self.parse(subject, whole), sent), deleted=deleted)

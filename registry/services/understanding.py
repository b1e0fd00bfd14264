"""Drafts and stored schemas, parsed with what they lean on; what was parsed lately is kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any, Final

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.identity import content_hash, guid
from contractlog.compatibility.interning import Bounded, Memo
from contractlog.compatibility.merging import present_metadata, present_rules, unversioned
from contractlog.compatibility.names import Subject
from contractlog.compatibility.parsing import nonconformity, parse, shape, supported
from contractlog.compatibility.schema import ParsedSchema, RegisteredSchema, SchemaDraft, SchemaType
from contractlog.registry.services.references import Resolved, resolve
from contractlog.registry.services.work import current_work
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import Content, Seen, Target

__all__ = ["Understanding", "Understood", "hashes_of"]

_KEPT_BYTES: Final = 8 * 1024 * 1024  #: of schema text; trees are some times larger
_EXPECTED: Final = 0  #: in place of the id, beside a guid in place of the context: not stored yet
_SHAPED_CHARACTERS: Final = 32 * 1024 * 1024  #: of schema text; shapes share what is equal
_SHARED: Final = 100_000  #: entries of each table in the memo, of some hundred bytes


@dataclass(frozen=True, slots=True)
class Understood:
    """A draft that was understood, and what its references lead to."""

    draft: SchemaDraft
    parsed: ParsedSchema
    resolved: Resolved

    @property
    def warning(self) -> str | None:
        """What to tell about a schema that is accepted although its meta-schema rejects it; None where it conforms."""
        problem = nonconformity(self.parsed)
        return None if problem is None else f"{problem.message} (at {problem.facts.get('at') or '/'})"

    def content(self, snapshot: Snapshot, *, normalize: bool) -> Content:
        """Make the content that would be stored."""
        references = tuple(self.resolved.references)
        draft = replace(
            self.draft,
            references=tuple(sorted(set(references))) if normalize else references,
            metadata=present_metadata(self.draft.metadata),
            rule_set=present_rules(self.draft.rule_set),
        )
        text = self.parsed.normalized if normalize else self.parsed.canonical
        hashes = hashes_of(draft, text, self.parsed.normalized)
        return Content(
            text=text,
            submitted=draft.text,
            type=draft.type,
            hash=hashes[0],
            normalized_hash=hashes[1],
            guid=guid(text, draft.references, draft.metadata, draft.rule_set),
            references=draft.references,
            metadata=draft.metadata,
            rule_set=draft.rule_set,
            targets=tuple(_target(snapshot, found) for found in self.resolved.targets),
        )


_Key = tuple[str, int, str]  #: context, id and guid


class Understanding:
    """Parses schemas for the services; may be used from any thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[_Key, ParsedSchema] = OrderedDict()
        self._kept_bytes = 0
        self._lock = threading.Lock()
        self._shapes: Bounded[_Key, Any] = Bounded(_SHAPED_CHARACTERS)
        self.memo = Memo(shapes=_SHARED, verdicts=_SHARED)  #: of all that is judged, one at a time
        self.judging = threading.Lock()  #: held by who uses the memo

    def draft(
        self,
        snapshot: Snapshot,
        subject: Subject,
        draft: SchemaDraft,
        *,
        strict: bool,
        seen: Seen | None = None,
        new: bool = False,
    ) -> Understood:
        """Understand a draft as a schema of this subject.

        Args:
            snapshot: where the schemas are that it leans on.
            subject: whose schema it would be.
            draft: the schema.
            strict: whether the rules for new schemas hold.
            seen: which versions it may lean on; live ones where it is strict, else all.
            new: whether it is to be registered, so that references of another type are refused.

        Raises:
            InvalidSchema: the text is no schema, or a reference cannot be used.
        """
        if not draft.text.strip():
            raise InvalidSchema("Empty schema")
        if draft.type not in supported():
            raise InvalidSchema(f"Invalid schema type {draft.type}")
        try:
            resolved = resolve(snapshot, subject, draft.references, seen or (Seen.LIVE if strict else Seen.ALL))
            if new:
                _require_type(draft.type, resolved)
            draft = replace(draft, references=tuple(resolved.references))
            return Understood(draft, _parse(draft, resolved, strict=strict), resolved)
        except InvalidSchema as error:
            names = [reference.name for reference in draft.references]
            raise InvalidSchema(
                f"Invalid schema {{subject={subject}}} with refs {names} of type {draft.type}, "
                f"details: {error.message}{_where(error)}",
                **error.facts,
            ) from error

    def stored(self, snapshot: Snapshot, held: RegisteredSchema) -> ParsedSchema:
        """Understand a stored schema, without the rules for new ones."""
        subject = held.subject or Subject.parse("")
        key = _key(held)
        with self._lock:
            parsed = self._kept.get(key)
            if parsed is not None:
                self._kept.move_to_end(key)
                return parsed
            parsed = self._kept.get((held.guid or "", _EXPECTED, ""))
        if parsed is None or held.type is not SchemaType.AVRO or held.references or parsed.canonical != held.text:
            parsed = _parse(held.draft, resolve(snapshot, subject, held.references, Seen.ALL), strict=False)
        self._keep(key, parsed)
        return parsed

    def expect(self, content: Content, parsed: ParsedSchema) -> None:
        """Keep what a draft was understood as: once it is stored, its subject's next version is judged against it.

        Of an Avro schema the stored text is understood as the draft's was: all that was left out is white space.
        """
        if content.type is SchemaType.AVRO and content.text == parsed.canonical and not content.references:
            self._keep((content.guid, _EXPECTED, ""), parsed)

    def _keep(self, key: _Key, parsed: ParsedSchema) -> None:
        with self._lock:
            if key not in self._kept:
                self._kept[key] = parsed
                self._kept_bytes += _size(parsed)
            while self._kept_bytes > _KEPT_BYTES:
                self._kept_bytes -= _size(self._kept.popitem(last=False)[1])

    def shape(self, snapshot: Snapshot, held: RegisteredSchema) -> Any:
        """Return what findings about a stored schema depend on; kept when its tree is long gone.

        Whoever asks holds ``judging``.
        """
        key = _key(held)
        found = self._shapes.held.get(key)
        if found is None:
            found = shape(self.stored(snapshot, held), self.memo)
            if found is not None:
                self._shapes.put(key, found, len(held.text))
        return found


def _key(held: RegisteredSchema) -> _Key:
    """Return what a stored schema is cached by: the guid too, as another node may forget a context with its ids."""
    return (held.subject or Subject.parse("")).context, held.schema_id, held.guid or ""


def _where(error: InvalidSchema) -> str:
    """Say where in the text it is, unless the sentence says so itself."""
    at, line, column = (error.facts.get(fact) for fact in ("at", "line", "column"))
    if line is None or f"line {line}, column {column}" in error.message:
        return ""
    return f" ({f'at {at}, ' if at else ''}line {line}, column {column})"


def _require_type(schema_type: SchemaType, resolved: Resolved) -> None:
    """Raise ``InvalidSchema`` for a reference to a schema of another type; schemas that are stored may have some."""
    for reference, target in zip(resolved.references, resolved.targets, strict=True):
        if target.type is not schema_type:
            raise InvalidSchema(
                f'The reference "{reference.name}" leads to a schema of type {target.type} '
                f"(subject {reference.subject}, version {reference.version}); "
                f"a schema of type {schema_type} can only reference schemas of its own type"
            )


def _target(snapshot: Snapshot, found: RegisteredSchema) -> Target:
    subject = found.subject or Subject.parse("")
    return Target(snapshot.state(subject).id or 0, found.version or 0, found.schema_id, subject.context)


def _parse(draft: SchemaDraft, resolved: Resolved, *, strict: bool) -> ParsedSchema:
    current_work.get().parse(len(draft.text) + sum(map(len, resolved.texts.values())))
    try:
        return parse(draft, resolved.texts, strict=strict)
    except RecursionError:
        raise InvalidSchema("The schema is nested too deeply") from None
    except UnicodeError:
        raise InvalidSchema("The schema holds a character that is no text (half of a surrogate pair)") from None


def _size(parsed: ParsedSchema) -> int:
    return parsed.size + sum(map(len, parsed.referenced.values())) + 1_000


def hashes_of(draft: SchemaDraft, text: str, normalized: str) -> tuple[str, str]:
    """Return the hash of a content, and the one that it shares with those that differ in spelling only.

    Args:
        draft: whose type, metadata, rules and references, with numbers in place of "latest", count.
        text: the canonical text.
        normalized: the normalized text.
    """
    references, metadata, rule_set = draft.references, draft.metadata, draft.rule_set
    return (
        content_hash(_typed(draft.type, text), references, metadata, rule_set),
        content_hash(_typed(draft.type, normalized), sorted(set(references)), unversioned(metadata), rule_set),
    )


def _typed(schema_type: SchemaType, text: str) -> str:
    """One text may be a schema of two types, and is not the same content then."""
    return text if schema_type is SchemaType.AVRO else f"{schema_type}\0{text}"

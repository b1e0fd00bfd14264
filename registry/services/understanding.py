"""Parser of drafts and stored schemas with their references, and a cache of parsed schemas."""

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

_KEPT_BYTES: Final = 8 * 1024 * 1024  #: of schema text; parsed trees are several times larger
_EXPECTED: Final = 0  #: id of drafts that are not stored yet, in the cache key (guid, 0, "")
_SHAPED_CHARACTERS: Final = 32 * 1024 * 1024  #: of schema text; shapes share equal parts
_SHARED: Final = 100_000  #: entries of each table in the memo, of some hundred bytes each


@dataclass(frozen=True, slots=True)
class Understood:
    """A parsed draft, with its resolved references."""

    draft: SchemaDraft
    parsed: ParsedSchema
    resolved: Resolved

    @property
    def warning(self) -> str | None:
        """Warning for a schema that is accepted although its meta-schema rejects it; None if it conforms."""
        problem = nonconformity(self.parsed)
        return None if problem is None else f"{problem.message} (at {problem.facts.get('at') or '/'})"

    def content(self, snapshot: Snapshot, *, normalize: bool) -> Content:
        """Return the content to be stored."""
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
    """Parses schemas for the services. Thread-safe."""

    def __init__(self) -> None:
        self._kept: OrderedDict[_Key, ParsedSchema] = OrderedDict()
        self._kept_bytes = 0
        self._lock = threading.Lock()
        self._shapes: Bounded[_Key, Any] = Bounded(_SHAPED_CHARACTERS)
        self.memo = Memo(shapes=_SHARED, verdicts=_SHARED)  #: of all checks, one at a time
        self.judging = threading.Lock()  #: lock of the memo

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
        """Parse a draft as a schema of this subject.

        Args:
            snapshot: contains the referenced schemas.
            subject: subject of the draft.
            draft: the schema.
            strict: apply the rules for new schemas.
            seen: versions that it may reference; by default live ones if ``strict``, else all.
            new: it is to be registered, so references to other types are rejected.

        Raises:
            InvalidSchema: the text is not a schema, or a reference cannot be used.
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
        """Parse a stored schema, without the rules for new ones."""
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
        """Cache a parsed draft that may be stored, for the check of the subject's next version.

        Only Avro drafts are cached whose stored text parses to the same: it lacks nothing but white space.
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
        """Return the facts of a stored schema that findings depend on; cached longer than its parsed tree.

        The caller holds ``judging``.
        """
        key = _key(held)
        found = self._shapes.held.get(key)
        if found is None:
            found = shape(self.stored(snapshot, held), self.memo)
            if found is not None:
                self._shapes.put(key, found, len(held.text))
        return found


def _key(held: RegisteredSchema) -> _Key:
    """Return the cache key of a stored schema.

    It includes the guid, because another node may forget a context, and its ids start again.
    """
    return (held.subject or Subject.parse("")).context, held.schema_id, held.guid or ""


def _where(error: InvalidSchema) -> str:
    """Return the position of an error in the text, unless the message contains it."""
    at, line, column = (error.facts.get(fact) for fact in ("at", "line", "column"))
    if line is None or f"line {line}, column {column}" in error.message:
        return ""
    return f" ({f'at {at}, ' if at else ''}line {line}, column {column})"


def _require_type(schema_type: SchemaType, resolved: Resolved) -> None:
    """Raise ``InvalidSchema`` for a reference to a schema of another type; stored schemas may have some."""
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
    """Return the hash of a content, and the hash shared by contents that differ in spelling only.

    Args:
        draft: its type, metadata, rules and references are hashed, with numbers in place of "latest".
        text: the canonical text.
        normalized: the normalized text.
    """
    references, metadata, rule_set = draft.references, draft.metadata, draft.rule_set
    return (
        content_hash(_typed(draft.type, text), references, metadata, rule_set),
        content_hash(_typed(draft.type, normalized), sorted(set(references)), unversioned(metadata), rule_set),
    )


def _typed(schema_type: SchemaType, text: str) -> str:
    """Return the text, marked with its type unless it is Avro.

    Equal texts of two types are different contents.
    """
    return text if schema_type is SchemaType.AVRO else f"{schema_type}\0{text}"

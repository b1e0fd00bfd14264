"""Parser of drafts and stored schemas with their references, and a cache of parsed schemas."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any, Final

from contractlog.compatibility.bounded_cache import BoundedCache
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import FORMATS, build_shape, find_nonconformity, parse_schema, supported_types
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.memo import Memo
from contractlog.compatibility.schema import ParsedSchema, RegisteredSchema, SchemaDraft, SchemaType
from contractlog.registry.execution.work_limits import current_work
from contractlog.registry.registration.references import ResolvedReferences, resolve_references
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import Content, DeletedFilter, ScopeSettings

__all__ = ["ParsedDraft", "SchemaParser"]

_CACHE_BYTES: Final = 8 * 1024 * 1024  #: of schema text; parsed trees are several times larger
_EXPECTED_ID: Final = 0  #: id of drafts that are not stored yet, in the cache key (guid, 0, "")
_SHAPE_CHARACTERS: Final = 32 * 1024 * 1024  #: of schema text; shapes share equal parts
_MEMO_ENTRIES: Final = 100_000  #: entries of each table in the memo, of some hundred bytes each


@dataclass(frozen=True, slots=True)
class ParsedDraft:
    """A parsed draft, with its resolved references."""

    draft: SchemaDraft
    parsed: ParsedSchema
    resolved: ResolvedReferences

    @property
    def warning(self) -> str | None:
        """Warning for a schema that is accepted although its meta-schema rejects it; None if it conforms."""
        problem = find_nonconformity(self.parsed)
        return None if problem is None else f"{problem.message} (at {problem.facts.get('at') or '/'})"


_CacheKey = tuple[str, int, str]  #: context, id and guid


class SchemaParser:
    """Parses schemas for the services. Thread-safe."""

    def __init__(self) -> None:
        self._cache: BoundedCache[_CacheKey, ParsedSchema] = BoundedCache(_CACHE_BYTES, _size)
        self._shapes: BoundedCache[_CacheKey, Any] = BoundedCache(_SHAPE_CHARACTERS)
        self.memo = Memo(shapes=_MEMO_ENTRIES, verdicts=_MEMO_ENTRIES)  #: of all checks, one at a time
        self.memo_lock = threading.Lock()  #: lock of the memo

    def parse_draft(
        self,
        snapshot: Snapshot,
        subject: Subject,
        draft: SchemaDraft,
        *,
        strict: bool,
        deleted: DeletedFilter | None = None,
        new: bool = False,
    ) -> ParsedDraft:
        """Parse a draft as a schema of this subject.

        Args:
            snapshot: contains the referenced schemas.
            subject: subject of the draft.
            draft: the schema.
            strict: apply the rules for new schemas.
            deleted: versions that it may reference; by default live ones if ``strict``, else all.
            new: it is to be registered, so references to other types are rejected.

        Raises:
            InvalidSchema: the text is not a schema, or a reference cannot be used.
        """
        if not draft.text.strip():
            raise InvalidSchema("Empty schema")
        if draft.type not in supported_types():
            raise InvalidSchema(f"Invalid schema type {draft.type}")
        try:
            resolved = resolve_references(
                snapshot,
                subject,
                draft.references,
                deleted or (DeletedFilter.EXCLUDED if strict else DeletedFilter.INCLUDED),
            )
            if new:
                _require_same_type(draft.type, resolved)
            draft = replace(draft, references=tuple(resolved.references))
            return ParsedDraft(draft, _parse(draft, resolved, strict=strict), resolved)
        except InvalidSchema as error:
            names = [reference.name for reference in draft.references]
            raise InvalidSchema(
                f"Invalid schema {{subject={subject}}} with refs {names} of type {draft.type}, "
                f"details: {error.message}{_describe_position(error)}",
                **error.facts,
            ) from error

    def parse_new(
        self, snapshot: Snapshot, subject: Subject, draft: SchemaDraft, configured: ScopeSettings
    ) -> ParsedDraft:
        """Parse a draft by the rules for new schemas, unless the subject's config switches them off.

        Raises:
            InvalidSchema: the text is not a schema, or a reference cannot be used.
        """
        strict = configured.validate_new_schemas is not False
        return self.parse_draft(snapshot, subject, draft, strict=strict, deleted=DeletedFilter.EXCLUDED, new=True)

    def parse_stored(self, snapshot: Snapshot, schema: RegisteredSchema) -> ParsedSchema:
        """Parse a stored schema, without the rules for new ones."""
        subject = schema.subject or Subject.parse("")
        key = _cache_key(schema)
        parsed = self._cache.touch(key)
        if parsed is not None:
            return parsed
        parsed = self._cache.get((schema.guid or "", _EXPECTED_ID, ""))
        if parsed is None or not _parses_canonical_alike(schema) or parsed.canonical != schema.text:
            parsed = _parse(
                schema.draft,
                resolve_references(snapshot, subject, schema.references, DeletedFilter.INCLUDED),
                strict=False,
            )
        return self._cache.put(key, parsed)

    def cache_expected(self, content: Content, parsed: ParsedSchema) -> None:
        """Cache a parsed draft that may be stored, for the check of the subject's next version.

        Only drafts are cached whose stored text parses to the same: it lacks nothing but white space.
        """
        if content.text == parsed.canonical and _parses_canonical_alike(content):
            self._cache.put((content.guid, _EXPECTED_ID, ""), parsed)

    def shape(self, snapshot: Snapshot, schema: RegisteredSchema) -> Any:
        """Return the facts of a stored schema that findings depend on; cached longer than its parsed tree.

        The caller holds ``memo_lock``.
        """
        key = _cache_key(schema)
        cached_shape = self._shapes.get(key)
        if cached_shape is None:
            cached_shape = build_shape(self.parse_stored(snapshot, schema), self.memo)
            if cached_shape is not None:
                self._shapes.put(key, cached_shape, len(schema.text))
        return cached_shape


def _cache_key(schema: RegisteredSchema) -> _CacheKey:
    """Return the cache key of a stored schema.

    It includes the guid, because another node may forget a context, and its ids start again.
    """
    return (schema.subject or Subject.parse("")).context, schema.schema_id, schema.guid or ""


def _describe_position(error: InvalidSchema) -> str:
    """Return the position of an error in the text, unless the message contains it."""
    at, line, column = (error.facts.get(fact) for fact in ("at", "line", "column"))
    if line is None or f"line {line}, column {column}" in error.message:
        return ""
    return f" ({f'at {at}, ' if at else ''}line {line}, column {column})"


def _require_same_type(schema_type: SchemaType, resolved: ResolvedReferences) -> None:
    """Raise ``InvalidSchema`` for a reference to a schema of another type; stored schemas may have some."""
    for reference, target in zip(resolved.references, resolved.targets, strict=True):
        if target.type is not schema_type:
            raise InvalidSchema(
                f'The reference "{reference.name}" leads to a schema of type {target.type} '
                f"(subject {reference.subject}, version {reference.version}); "
                f"a schema of type {schema_type} can only reference schemas of its own type"
            )


def _parse(draft: SchemaDraft, resolved: ResolvedReferences, *, strict: bool) -> ParsedSchema:
    current_work.get().parse(len(draft.text) + sum(map(len, resolved.texts.values())))
    try:
        return parse_schema(draft, resolved.texts, strict=strict)
    except RecursionError:
        raise InvalidSchema("The schema is nested too deeply") from None
    except UnicodeError:
        raise InvalidSchema("The schema contains a character that is not text (half of a surrogate pair)") from None


def _size(parsed: ParsedSchema) -> int:
    return parsed.size + sum(map(len, parsed.referenced.values())) + 1_000


def _parses_canonical_alike(schema: RegisteredSchema | Content) -> bool:
    """Return True if a draft with this text and no more has the tree of the stored schema."""
    return schema.type in FORMATS and FORMATS[schema.type].parses_canonical_alike and not schema.references

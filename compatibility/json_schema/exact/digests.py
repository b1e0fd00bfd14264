"""Digests of schemas that are equal if the schemas have the same constraints, references included."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, Final

from contractlog.compatibility.json_schema.reference_resolver import Documents, ResolutionContext, SchemaPosition
from contractlog.compatibility.json_schema.vocabulary import (
    ASSERTING_KEYWORDS,
    DEFINITION_KEYWORDS,
    DYNAMIC_REFERENCES,
    SCHEMA_KEYWORDS,
    SCHEMA_LIST_KEYWORDS,
    SCHEMA_MAP_KEYWORDS,
    list_subschemas,
)
from contractlog.compatibility.json_text import Number, format_decimal

__all__ = ["SchemaDigests"]

_MAX_CLOSURE: Final = 64
_SUBSCHEMA_KEYWORDS: Final = SCHEMA_KEYWORDS | SCHEMA_LIST_KEYWORDS | SCHEMA_MAP_KEYWORDS

Hash = tuple[bytes, frozenset[str]]  #: of a schema's own content, and the locations that it references


class SchemaDigests:
    """Digests of the schemas of one side, computed on demand.

    Args:
        documents: the schema and its dependencies.
        formats: ``format`` is a constraint.
    """

    def __init__(self, documents: Documents, *, formats: bool) -> None:
        self._documents = documents
        self._ignored_keywords = frozenset(DEFINITION_KEYWORDS if formats else (*DEFINITION_KEYWORDS, "format"))
        self._hashes: dict[int, Hash] = {}
        self._targets: dict[str, SchemaPosition] = {}  #: of references, by location
        self._hash_of_all = b""

    def digest(self, position: SchemaPosition) -> bytes:
        """Return the digest of a schema."""
        text, references = self._hash(position.contents, position.context)
        closure: dict[str, bytes] = {}
        pending = list(references)
        while pending:
            location = pending.pop()
            if location in closure:
                continue
            if len(closure) >= _MAX_CLOSURE:
                closure = {"": self._hash_everything()}  # larger closures are equal only if all texts are equal
                break
            target = self._targets[location]
            closure[location], referenced = self._hash(target.contents, target.context)
            pending.extend(referenced)
        content = b"".join(f"{location}\0".encode() + text for location, text in sorted(closure.items()))
        return blake2b(position.context.draft.name.encode() + text + content, digest_size=16).digest()

    def _hash_everything(self) -> bytes:
        if not self._hash_of_all:
            text = _write_equal(self._documents.values())
            self._hash_of_all = blake2b(text.encode(), digest_size=16).digest()
        return self._hash_of_all

    def _hash(self, value: Any, context: ResolutionContext) -> Hash:
        if not isinstance(value, dict):
            return repr(value).encode(), frozenset()
        if id(value) not in self._hashes:
            self._hashes[id(value)] = self._hash_keywords(value, self._documents.context_within(value, context))
        return self._hashes[id(value)]

    def _hash_keywords(self, value: dict[str, Any], context: ResolutionContext) -> Hash:
        content, references = blake2b(digest_size=16), set[str]()
        is_ref_only = context.draft.up_to_7 and "$ref" in value
        for keyword in ["$ref"] if is_ref_only else sorted(set(value) - self._ignored_keywords):
            body = value[keyword]
            subschemas = list(list_subschemas(keyword, body))
            if keyword == "$ref" and isinstance(body, str) and (target := self._documents.follow(body, context)):
                self._targets[target.location] = target
                references.add(target.location)
                content.update(f"{keyword}\0{target.location}\0".encode())
            elif keyword in DYNAMIC_REFERENCES:
                content.update(f"{keyword}\0".encode() + self._hash_everything())
            elif subschemas or keyword in _SUBSCHEMA_KEYWORDS:
                content.update(f"{keyword}\0{len(subschemas)}\0".encode())
                for tokens, subschema in subschemas:
                    text, referenced = self._hash(subschema, context)
                    references |= referenced
                    content.update(f"{tokens[1:]}\0".encode() + text)
                if isinstance(body, dict):
                    content.update(_write_equal({k: v for k, v in body.items() if isinstance(v, list)}).encode())
            elif keyword in ASSERTING_KEYWORDS or keyword == "items":
                content.update(f"{keyword}\0{_write_equal(body)}\0".encode())
        return content.digest(), frozenset(references)


def _write_equal(value: Any) -> str:
    """Write a value so that equal values have equal texts, faster than ``canonical_value``."""
    match value:
        case dict():
            return "{" + ",".join(f"{name!r}:{_write_equal(value[name])}" for name in sorted(value)) + "}"
        case list():
            return "[" + ",".join(map(_write_equal, value)) + "]"
        case Number():
            # integers without trailing zeros are in this form already; a list may have a hundred thousand of them
            is_plain = value.text.isdecimal() and not value.text.endswith("0")
            return value.text if is_plain else format_decimal(value.decimal)
        case _:
            return repr(value)

"""Resolution of references between the texts of one side, by base URL and anchor; nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final
from urllib.parse import unquote

from contractlog.compatibility.json_schema.parser import Draft, JsonSchema, detect_draft
from contractlog.compatibility.json_schema.urls import urldefrag, urljoin
from contractlog.compatibility.json_text import Number, format_decimal, join_pointer, parse_json, parse_pointer

__all__ = ["SCHEMA_KEYWORDS", "SCHEMA_LIST_KEYWORDS", "SCHEMA_MAP_KEYWORDS", "DocumentIndex", "SchemaPosition"]

SCHEMA_KEYWORDS: Final = frozenset({
    "additionalItems", "additionalProperties", "contains", "else", "if", "not", "propertyNames", "then",
    "unevaluatedItems", "unevaluatedProperties",
})  # fmt: skip
SCHEMA_LIST_KEYWORDS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
SCHEMA_MAP_KEYWORDS: Final = frozenset(
    {"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)
_ASSERTING_KEYWORDS: Final = frozenset({
    "$dynamicRef", "$recursiveRef", "$ref", "const", "dependentRequired", "enum", "exclusiveMaximum",
    "exclusiveMinimum", "format", "maxContains", "maxItems", "maxLength", "maxProperties", "maximum", "minContains",
    "minItems", "minLength", "minProperties", "minimum", "multipleOf", "pattern", "required", "type", "uniqueItems",
})  # fmt: skip
_MAX_CLOSURE: Final = 64
_DEFINITION_KEYWORDS: Final = frozenset({"$defs", "definitions"})
_DRAFTS_UP_TO_7: Final = frozenset({"draft-04", "draft-06", "draft-07"})


@dataclass(frozen=True, slots=True)
class SchemaPosition:
    """The position of a schema in the texts."""

    document: str  #: name of the referenced schema; empty for the schema itself
    at: str
    base: str
    draft: Draft

    @property
    def pointer(self) -> str:
        """The position as a JSON Pointer in findings."""
        return f"{self.document}#{self.at}" if self.document else self.at


class DocumentIndex:
    """A schema and the texts of all its dependencies."""

    def __init__(self, schema: JsonSchema, referenced: Mapping[str, str]) -> None:
        self.values: dict[str, Any] = {"": schema.value}
        self._ignored_keywords = _DEFINITION_KEYWORDS
        self.dynamic: set[str] = set()  #: anchors that occur at more than one position
        self._addresses: dict[str, SchemaPosition] = {}
        self._anchors: dict[tuple[str, str], SchemaPosition] = {}
        self._dynamic_anchors: dict[str, int] = {}
        self._hashes: dict[int, tuple[bytes, frozenset[str]]] = {}
        self._target_hashes: dict[str, tuple[bytes, frozenset[str]]] = {}  #: hashes of reference targets
        self._hash_of_all: bytes | None = None
        self._indexed: dict[tuple[str, str], Any] = {}  #: schemas by document and JSON Pointer
        self.has_several_resources = False  #: True if there is more than one resource with its own URL
        root_base = _id_of(schema.value, schema.draft) or ""
        self.root = SchemaPosition("", "", root_base, schema.draft)
        self._index(schema.value, self.root)
        self._addresses.setdefault("", self.root)
        for name, text in referenced.items():
            value = parse_json(text)
            draft = detect_draft(value)
            self.values[name] = value
            position = SchemaPosition(name, "", _id_of(value, draft) or urljoin(root_base, name), draft)
            for address in (name, f"./{name}", urljoin(root_base, name), position.base):
                self._addresses.setdefault(address, position)
            self._index(value, position)
        self.dynamic = {name for name, count in self._dynamic_anchors.items() if count > 1}
        self.has_several_resources = (
            len(self.values) > 1 or len({position.at for position in self._addresses.values()}) > 1
        )

    def value(self, position: SchemaPosition) -> Any:
        """Return the JSON value at a position."""
        key = (position.document, position.at)
        if key not in self._indexed:
            self._indexed[key], _ = self._walk(*key)
        return self._indexed[key]

    def below(self, position: SchemaPosition, *tokens: str | int) -> SchemaPosition:
        """Return the position of a subschema."""
        value = self.value(position)
        for token in tokens:
            value = value[token]
        own_id = _id_of(value, position.draft)
        base = urljoin(position.base, own_id) if own_id else position.base
        return SchemaPosition(position.document, join_pointer(position.at, *tokens), base, position.draft)

    def find_target(self, reference: str, position: SchemaPosition) -> SchemaPosition | None:
        """Return the target of a reference; None if it cannot be resolved."""
        for candidate in (reference, *_swap_definition_keywords(reference)):
            address, fragment = urldefrag(
                urljoin(position.base, candidate) if position.base or not candidate.startswith("#") else candidate
            )
            if candidate.startswith("#"):
                address = urldefrag(position.base).url
            start = self._find_document(address, position)
            target = start and self._find_in_document(start, unquote(fragment))
            if target:
                return target
        return None

    def _find_document(self, address: str, position: SchemaPosition) -> SchemaPosition | None:
        if not address or (address == urldefrag(position.base).url and address not in self._addresses):
            return SchemaPosition(position.document, "", position.base, self._draft(position.document))
        return self._addresses.get(address) or self._addresses.get(address.rstrip("#"))

    def _draft(self, document: str) -> Draft:
        return self.root.draft if not document else detect_draft(self.values[document])

    def _find_in_document(self, start: SchemaPosition, fragment: str) -> SchemaPosition | None:
        if not fragment:
            return start
        if not fragment.startswith("/"):
            return self._anchors.get((start.base, fragment))
        value, base = self._walk(start.document, start.at + fragment)
        if not isinstance(value, (dict, bool)):
            return None
        return SchemaPosition(start.document, start.at + fragment, base, start.draft)

    def _walk(self, document: str, at: str) -> tuple[Any, str]:
        """Return the value at a JSON Pointer, and its base URL."""
        draft = self._draft(document)
        value = self.values[document]
        base = _id_of(value, draft) or (self._addresses[document].base if document else "")
        for token in parse_pointer(at):
            if isinstance(value, dict) and token in value:
                value = value[token]
            elif isinstance(value, list) and token.isdecimal() and int(token) < len(value):
                value = value[int(token)]
            else:
                return None, base
            base = urljoin(base, _id_of(value, draft) or "")
        return value, base

    def _index(self, value: Any, position: SchemaPosition) -> None:
        pending = [(value, position)]
        while pending:
            schema, schema_position = pending.pop()
            self._indexed[schema_position.document, schema_position.at] = schema
            if not isinstance(schema, dict):
                continue
            if _id_of(schema, schema_position.draft):
                self._addresses.setdefault(urldefrag(schema_position.base).url, schema_position)
            for keyword in ("$anchor", "$dynamicAnchor"):
                if isinstance(schema.get(keyword), str):
                    self._anchors.setdefault((schema_position.base, schema[keyword]), schema_position)
            plain_id = schema.get("id" if schema_position.draft.name == "draft-04" else "$id")
            if isinstance(plain_id, str) and plain_id.startswith("#") and schema_position.draft.name in _DRAFTS_UP_TO_7:
                self._anchors.setdefault((schema_position.base, plain_id[1:]), schema_position)
            if isinstance(schema.get("$dynamicAnchor"), str):
                name = schema["$dynamicAnchor"]
                self._dynamic_anchors[name] = self._dynamic_anchors.get(name, 0) + 1
            for tokens, subschema in iterate_subschemas(schema):
                inner_id = _id_of(subschema, schema_position.draft)
                base = urljoin(schema_position.base, inner_id) if inner_id else schema_position.base
                pending.append(
                    (
                        subschema,
                        SchemaPosition(
                            schema_position.document,
                            join_pointer(schema_position.at, *tokens),
                            base,
                            schema_position.draft,
                        ),
                    )
                )

    def digest(self, position: SchemaPosition, *, formats: bool = True) -> bytes:
        """Return a digest that is equal for schemas with the same demands, references included.

        A ``DocumentIndex`` must always be called with the same value of ``formats``.
        """
        self._ignored_keywords = _DEFINITION_KEYWORDS if formats else _DEFINITION_KEYWORDS | {"format"}
        text, references = self._hash(self.value(position), position)
        closure: dict[str, bytes] = {}
        pending = list(references)
        while pending:
            target = pending.pop()
            if target in closure:
                continue
            if len(closure) >= _MAX_CLOSURE:
                closure = {"": self._hash_everything()}  # larger closures are equal only if all texts are equal
                break
            closure[target], referenced = self._target_hashes.get(target) or self._hash_target(target)
            pending.extend(referenced)
        content = b"".join(f"{target}\0".encode() + text for target, text in sorted(closure.items()))
        return blake2b(position.draft.name.encode() + text + content, digest_size=16).digest()

    def _hash_target(self, target: str) -> tuple[bytes, frozenset[str]]:
        document, _, at = target.partition("#")
        value, base = self._walk(document, at)
        hashed = self._target_hashes[target] = self._hash(
            value, SchemaPosition(document, at, base, self._draft(document))
        )
        return hashed

    def _hash_everything(self) -> bytes:
        if self._hash_of_all is None:
            self._hash_of_all = blake2b(equal_text(self.values).encode(), digest_size=16).digest()
        return self._hash_of_all

    def _hash(self, value: Any, position: SchemaPosition) -> tuple[bytes, frozenset[str]]:
        """Return the hash of a schema's own content, and the positions that it references."""
        if not isinstance(value, dict):
            return repr(value).encode(), frozenset()
        if id(value) not in self._hashes:
            self._hashes[id(value)] = self._hash_keywords(value, position)
        return self._hashes[id(value)]

    def _hash_keywords(self, value: dict[str, Any], position: SchemaPosition) -> tuple[bytes, frozenset[str]]:
        content, references = blake2b(digest_size=16), set[str]()
        is_ref_only = position.draft.name in _DRAFTS_UP_TO_7 and "$ref" in value
        for keyword in ["$ref"] if is_ref_only else sorted(set(value) - self._ignored_keywords):
            body = value[keyword]
            subschemas = list(_subschemas_of_keyword(keyword, body))
            if keyword == "$ref" and isinstance(body, str) and (target := self.find_target(body, position)):
                references.add(f"{target.document}#{target.at}")
                content.update(f"{keyword}\0{target.document}#{target.at}\0".encode())
            elif keyword in {"$dynamicRef", "$recursiveRef"}:
                content.update(f"{keyword}\0".encode() + self._hash_everything())
            elif (
                subschemas
                or keyword in SCHEMA_KEYWORDS
                or keyword in SCHEMA_LIST_KEYWORDS
                or keyword in SCHEMA_MAP_KEYWORDS
            ):
                content.update(f"{keyword}\0{len(subschemas)}\0".encode())
                for tokens, subschema in subschemas:
                    inner_id = _id_of(subschema, position.draft)
                    text, referenced = self._hash(
                        subschema, replace(position, base=urljoin(position.base, inner_id)) if inner_id else position
                    )
                    references |= referenced
                    content.update(f"{tokens[1:]}\0".encode() + text)
                if isinstance(body, dict):
                    content.update(equal_text({k: v for k, v in body.items() if isinstance(v, list)}).encode())
            elif keyword in _ASSERTING_KEYWORDS or keyword == "items":
                content.update(f"{keyword}\0{equal_text(body)}\0".encode())
        return content.digest(), frozenset(references)


def iterate_subschemas(value: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield every direct subschema with its pointer tokens."""
    for keyword, body in value.items():
        yield from _subschemas_of_keyword(keyword, body)


def _subschemas_of_keyword(keyword: str, body: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if keyword in SCHEMA_KEYWORDS or (keyword == "items" and not isinstance(body, list)):
        if isinstance(body, (dict, bool)):
            yield (keyword,), body
    elif (keyword in SCHEMA_LIST_KEYWORDS or keyword == "items") and isinstance(body, list):
        yield from (((keyword, index), schema) for index, schema in enumerate(body) if isinstance(schema, (dict, bool)))
    elif keyword in SCHEMA_MAP_KEYWORDS and isinstance(body, dict):
        yield from (((keyword, name), schema) for name, schema in body.items() if isinstance(schema, (dict, bool)))


def equal_text(value: Any) -> str:
    """Write a value so that equal values have equal texts."""
    match value:
        case dict():
            return "{" + ",".join(f"{name!r}:{equal_text(value[name])}" for name in sorted(value)) + "}"
        case list():
            return "[" + ",".join(map(equal_text, value)) + "]"
        case Number():
            # integers without trailing zeros are in this form already; a list may have a hundred thousand of them
            is_plain = value.text.isdecimal() and not value.text.endswith("0")
            return value.text if is_plain else format_decimal(value.decimal)
        case _:
            return repr(value)


def _id_of(value: Any, draft: Draft) -> str | None:
    if not isinstance(value, dict) or (draft.name in _DRAFTS_UP_TO_7 and "$ref" in value):
        return None
    schema_id = value.get("id" if draft.name == "draft-04" else "$id")
    return schema_id if isinstance(schema_id, str) and not schema_id.startswith("#") else None


def _swap_definition_keywords(reference: str) -> Iterator[str]:
    for prefix, replacement in (("#/definitions/", "#/$defs/"), ("#/$defs/", "#/definitions/")):
        if prefix in reference:
            yield reference.replace(prefix, replacement, 1)

"""Resolution of references between the texts of one side, by base URL and anchor; nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final
from urllib.parse import unquote

from contractlog.compatibility.json_schema.addresses import urldefrag, urljoin
from contractlog.compatibility.json_schema.parse import Draft, JsonSchema, draft_of
from contractlog.compatibility.json_text import Number, figure, pointer, read

__all__ = ["LISTS", "MAPS", "ONE", "Documents", "Place"]

ONE: Final = frozenset({
    "additionalItems", "additionalProperties", "contains", "else", "if", "not", "propertyNames", "then",
    "unevaluatedItems", "unevaluatedProperties",
})  # fmt: skip
LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
MAPS: Final = frozenset({"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"})
_ASSERTING: Final = frozenset({
    "$dynamicRef", "$recursiveRef", "$ref", "const", "dependentRequired", "enum", "exclusiveMaximum",
    "exclusiveMinimum", "format", "maxContains", "maxItems", "maxLength", "maxProperties", "maximum", "minContains",
    "minItems", "minLength", "minProperties", "minimum", "multipleOf", "pattern", "required", "type", "uniqueItems",
})  # fmt: skip
_LARGEST_CLOSURE: Final = 64
_NAMED: Final = frozenset({"$defs", "definitions"})
_OLD: Final = frozenset({"draft-04", "draft-06", "draft-07"})


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a schema in the texts."""

    document: str  #: name of the referenced schema; empty for the schema itself
    at: str
    base: str
    draft: Draft

    @property
    def pointer(self) -> str:
        """The position as a JSON Pointer in findings."""
        return f"{self.document}#{self.at}" if self.document else self.at


class Documents:
    """A schema and the texts of all its dependencies."""

    def __init__(self, schema: JsonSchema, referenced: Mapping[str, str]) -> None:
        self.values: dict[str, Any] = {"": schema.value}
        self._ignored = _NAMED
        self.dynamic: set[str] = set()  #: anchors that occur at more than one position
        self._addresses: dict[str, Place] = {}
        self._anchors: dict[tuple[str, str], Place] = {}
        self._dynamic_anchors: dict[str, int] = {}
        self._hashes: dict[int, tuple[bytes, frozenset[str]]] = {}
        self._targets: dict[str, tuple[bytes, frozenset[str]]] = {}  #: hashes of reference targets
        self._all: bytes | None = None
        self.several = False  #: True if there is more than one resource with its own URL
        root_base = _id_of(schema.value, schema.draft) or ""
        self.root = Place("", "", root_base, schema.draft)
        self._index(schema.value, self.root)
        self._addresses.setdefault("", self.root)
        for name, text in referenced.items():
            value = read(text)
            draft = draft_of(value)
            self.values[name] = value
            place = Place(name, "", _id_of(value, draft) or urljoin(root_base, name), draft)
            for address in (name, f"./{name}", urljoin(root_base, name), place.base):
                self._addresses.setdefault(address, place)
            self._index(value, place)
        self.dynamic = {name for name, count in self._dynamic_anchors.items() if count > 1}
        self.several = len(self.values) > 1 or len({place.at for place in self._addresses.values()}) > 1

    def value(self, place: Place) -> Any:
        """Return the JSON value at a position."""
        found, _ = self._walk(place.document, place.at)
        return found

    def below(self, place: Place, *tokens: str | int) -> Place:
        """Return the position of a subschema."""
        value = self.value(place)
        for token in tokens:
            value = value[token]
        named = _id_of(value, place.draft)
        base = urljoin(place.base, named) if named else place.base
        return Place(place.document, pointer(place.at, *tokens), base, place.draft)

    def find(self, reference: str, place: Place) -> Place | None:
        """Return the target of a reference; None if it cannot be resolved."""
        for one in (reference, *_bridged(reference)):
            address, fragment = urldefrag(urljoin(place.base, one) if place.base or not one.startswith("#") else one)
            if one.startswith("#"):
                address = urldefrag(place.base).url
            start = self._start(address, place)
            found = start and self._inside(start, unquote(fragment))
            if found:
                return found
        return None

    def _start(self, address: str, place: Place) -> Place | None:
        if not address or (address == urldefrag(place.base).url and address not in self._addresses):
            return Place(place.document, "", place.base, self._draft(place.document))
        return self._addresses.get(address) or self._addresses.get(address.rstrip("#"))

    def _draft(self, document: str) -> Draft:
        return self.root.draft if not document else draft_of(self.values[document])

    def _inside(self, start: Place, fragment: str) -> Place | None:
        if not fragment:
            return start
        if not fragment.startswith("/"):
            return self._anchors.get((start.base, fragment))
        found, base = self._walk(start.document, start.at + fragment)
        if not isinstance(found, (dict, bool)):
            return None
        return Place(start.document, start.at + fragment, base, start.draft)

    def _walk(self, document: str, at: str) -> tuple[Any, str]:
        """Return the value at a JSON Pointer, and its base URL."""
        draft = self._draft(document)
        value = self.values[document]
        base = _id_of(value, draft) or (self._addresses[document].base if document else "")
        for raw in at.split("/")[1:]:
            token = raw.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and token in value:
                value = value[token]
            elif isinstance(value, list) and token.isdecimal() and int(token) < len(value):
                value = value[int(token)]
            else:
                return None, base
            base = urljoin(base, _id_of(value, draft) or "")
        return value, base

    def _index(self, value: Any, place: Place) -> None:
        waiting = [(value, place)]
        while waiting:
            here, at = waiting.pop()
            if not isinstance(here, dict):
                continue
            if _id_of(here, at.draft):
                self._addresses.setdefault(urldefrag(at.base).url, at)
            for word in ("$anchor", "$dynamicAnchor"):
                if isinstance(here.get(word), str):
                    self._anchors.setdefault((at.base, here[word]), at)
            plain = here.get("id" if at.draft.name == "draft-04" else "$id")
            if isinstance(plain, str) and plain.startswith("#") and at.draft.name in _OLD:
                self._anchors.setdefault((at.base, plain[1:]), at)
            if isinstance(here.get("$dynamicAnchor"), str):
                name = here["$dynamicAnchor"]
                self._dynamic_anchors[name] = self._dynamic_anchors.get(name, 0) + 1
            for tokens, inner in inner_schemas(here):
                named = _id_of(inner, at.draft)
                base = urljoin(at.base, named) if named else at.base
                waiting.append((inner, Place(at.document, pointer(at.at, *tokens), base, at.draft)))

    def digest(self, place: Place, *, formats: bool = True) -> bytes:
        """Return a digest that is equal for schemas with the same demands, references included.

        A ``Documents`` object must always be called with the same value of ``formats``.
        """
        self._ignored = _NAMED if formats else _NAMED | {"format"}
        text, references = self._hash(self.value(place), place)
        closure: dict[str, bytes] = {}
        waiting = list(references)
        while waiting:
            target = waiting.pop()
            if target in closure:
                continue
            if len(closure) >= _LARGEST_CLOSURE:
                closure = {"": self._everything()}  # larger closures are equal only if all texts are equal
                break
            closure[target], further = self._targets.get(target) or self._hash_target(target)
            waiting.extend(further)
        content = b"".join(f"{target}\0".encode() + text for target, text in sorted(closure.items()))
        return blake2b(place.draft.name.encode() + text + content, digest_size=16).digest()

    def _hash_target(self, target: str) -> tuple[bytes, frozenset[str]]:
        document, _, at = target.partition("#")
        value, base = self._walk(document, at)
        found = self._targets[target] = self._hash(value, Place(document, at, base, self._draft(document)))
        return found

    def _everything(self) -> bytes:
        if self._all is None:
            self._all = blake2b(data_text(self.values).encode(), digest_size=16).digest()
        return self._all

    def _hash(self, value: Any, place: Place) -> tuple[bytes, frozenset[str]]:
        """Return the hash of a schema's own content, and the positions that it references."""
        if not isinstance(value, dict):
            return repr(value).encode(), frozenset()
        if id(value) not in self._hashes:
            self._hashes[id(value)] = self._hash_words(value, place)
        return self._hashes[id(value)]

    def _hash_words(self, value: dict[str, Any], place: Place) -> tuple[bytes, frozenset[str]]:
        content, references = blake2b(digest_size=16), set[str]()
        alone = place.draft.name in _OLD and "$ref" in value
        for word in ["$ref"] if alone else sorted(set(value) - self._ignored):
            body = value[word]
            inner = list(_inner(word, body))
            if word == "$ref" and isinstance(body, str) and (found := self.find(body, place)):
                references.add(f"{found.document}#{found.at}")
                content.update(f"{word}\0{found.document}#{found.at}\0".encode())
            elif word in {"$dynamicRef", "$recursiveRef"}:
                content.update(f"{word}\0".encode() + self._everything())
            elif inner or word in ONE or word in LISTS or word in MAPS:
                content.update(f"{word}\0{len(inner)}\0".encode())
                for tokens, below in inner:
                    named = _id_of(below, place.draft)
                    text, further = self._hash(
                        below, replace(place, base=urljoin(place.base, named)) if named else place
                    )
                    references |= further
                    content.update(f"{tokens[1:]}\0".encode() + text)
                if isinstance(body, dict):
                    content.update(data_text({k: v for k, v in body.items() if isinstance(v, list)}).encode())
            elif word in _ASSERTING or word == "items":
                content.update(f"{word}\0{data_text(body)}\0".encode())
        return content.digest(), frozenset(references)


def inner_schemas(value: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield every direct subschema with its pointer tokens."""
    for word, body in value.items():
        yield from _inner(word, body)


def _inner(word: str, body: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if word in ONE or (word == "items" and not isinstance(body, list)):
        if isinstance(body, (dict, bool)):
            yield (word,), body
    elif (word in LISTS or word == "items") and isinstance(body, list):
        yield from (((word, index), one) for index, one in enumerate(body) if isinstance(one, (dict, bool)))
    elif word in MAPS and isinstance(body, dict):
        yield from (((word, name), one) for name, one in body.items() if isinstance(one, (dict, bool)))


def data_text(value: Any) -> str:
    """Write a value so that equal values have equal texts."""
    match value:
        case dict():
            return "{" + ",".join(f"{name!r}:{data_text(value[name])}" for name in sorted(value)) + "}"
        case list():
            return "[" + ",".join(map(data_text, value)) + "]"
        case Number():
            return figure(value.decimal)
        case _:
            return repr(value)


def _id_of(value: Any, draft: Draft) -> str | None:
    if not isinstance(value, dict) or (draft.name in _OLD and "$ref" in value):
        return None
    named = value.get("id" if draft.name == "draft-04" else "$id")
    return named if isinstance(named, str) and not named.startswith("#") else None


def _bridged(reference: str) -> Iterator[str]:
    for one, other in (("#/definitions/", "#/$defs/"), ("#/$defs/", "#/definitions/")):
        if one in reference:
            yield reference.replace(one, other, 1)

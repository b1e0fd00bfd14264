"""Random JSON schemas of every draft, versions of them and documents, generated from one ``Random``.

``Schemas`` makes a schema, ``Versions`` edits it (``evolved``: anything; ``widened``: by construction everything that
was valid stays so), and ``Instances`` makes documents that are likely to be valid.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

import jsonschema_rs

URIS: Final = {
    4: "http://json-schema.org/draft-04/schema#",
    6: "http://json-schema.org/draft-06/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    2019: "https://json-schema.org/draft/2019-09/schema",
    2020: "https://json-schema.org/draft/2020-12/schema",
}
_VALIDATORS: Final[dict[int, type[jsonschema_rs.Validator]]] = {
    4: jsonschema_rs.Draft4Validator,
    6: jsonschema_rs.Draft6Validator,
    7: jsonschema_rs.Draft7Validator,
    2019: jsonschema_rs.Draft201909Validator,
    2020: jsonschema_rs.Draft202012Validator,
}
#: patterns, with texts that match
PATTERNS: Final[dict[str, list[str]]] = {
    "^a": ["a", "ab", "a1"],
    "^[a-c]+$": ["a", "abc", "cab"],
    "b$": ["b", "ab", "xb"],
    "^x-": ["x-", "x-1"],
    "^[0-9]{2,4}$": ["12", "1234"],
    "^(EWR|JFK)$": ["EWR", "JFK"],
    "\\d": ["1", "a1"],
}
NAMES: Final = ["a", "b", "c", "d", "x-1", "EWR"]
WORDS: Final = ["", "a", "b", "ab", "abc", "EWR", "JFK", "LGA", "12", "x-1", "a longer text"]
TYPES: Final = ["null", "boolean", "integer", "number", "string", "array", "object"]
_FORMATS: Final = ["date", "date-time", "uuid", "email"]


def validator(schema: Any, draft: int) -> jsonschema_rs.Validator:
    """Return what documents are held against; nothing is fetched, formats are not asserted."""
    return _VALIDATORS[draft](schema, offline=True, validate_formats=False)


def chance(random: Random, share: float) -> bool:
    """Say yes to a share of all questions."""
    return random.random() < share


class JsonSchemaGenerator:
    """Makes schemas of one draft."""

    def __init__(self, random: Random, draft: int = 7) -> None:
        self.random = random
        self.draft = draft
        self.container = "definitions" if draft < 2019 else "$defs"
        self.defined: list[str] = []

    def schema(self, depth: int = 3) -> dict[str, Any]:
        """Make a schema with its draft, and with definitions that may lead back to themselves."""
        self.defined = [f"d{number}" for number in range(self.random.choice([0, 0, 1, 2]))]
        named = {
            name: self.of_type(self.random.choice(["object", "array", "string"]), depth - 1) for name in self.defined
        }
        root = self.of_type(self.random.choice(["object"] * 6 + TYPES), depth)
        return {"$schema": URIS[self.draft]} | root | ({self.container: named} if named else {})

    def node(self, depth: int) -> Any:  # noqa: PLR0911 - one for each kind of schema
        """Make a schema for a place inside another one."""
        random = self.random
        if chance(random, 0.04):
            return {} if self.draft == 4 else random.choice([True, True, {}, False])
        if self.defined and chance(random, 0.12):
            return {"$ref": f"#/{self.container}/{random.choice(self.defined)}"}
        kinds = ["simple"] * 5 + ["values"] + (["nested"] * 5 + ["combined", "several"] if depth > 0 else [])
        match random.choice(kinds):
            case "nested":
                return self.of_type(random.choice(["object", "object", "array"]), depth - 1)
            case "combined":
                return self.create_combination(depth - 1)
            case "several":
                return {"type": random.sample(TYPES, random.randint(1, 3))}
            case "values":
                return self.values()
            case _:
                return self.of_type(
                    random.choice(["null", "boolean", "integer", "integer", "number", "string", "string"]), 0
                )

    def values(self) -> dict[str, Any]:
        """Make an ``enum`` or a ``const``."""
        pool = [*WORDS, 0, 1, 2.5, -3, None, True]
        if self.draft > 4 and chance(self.random, 0.4):
            return {"const": self.random.choice(pool)}
        values = list(dict.fromkeys(self.random.sample(WORDS, self.random.randint(1, 4))))
        return {"enum": [*values, *self.random.sample([0, 2.5, None], self.random.choice([0, 0, 1]))]}

    def of_type(self, name: str, depth: int) -> dict[str, Any]:
        """Make a schema with a type (now and then without saying so) and the words of this type."""
        words: dict[str, Any] = {"type": name}
        match name:
            case "integer" | "number":
                words |= self.numeric()
            case "string":
                words |= self.string()
            case "array":
                words |= self.array(depth)
            case "object":
                words |= self.object(depth)
        if len(words) > 1 and chance(self.random, 0.06):
            del words["type"]
        if chance(self.random, 0.05):
            words["title"] = self.random.choice(WORDS)
        if depth > 0 and chance(self.random, 0.08):
            words |= self.create_combination(depth - 1)
        return words

    def numeric(self) -> dict[str, Any]:
        random = self.random
        words: dict[str, Any] = {}
        if chance(random, 0.35):
            words["minimum"] = random.choice([-5, 0, 0.5, 1, 3])
        if chance(random, 0.3):
            words["maximum"] = random.choice([5, 7.5, 10, 100])
        for word in ("Minimum", "Maximum"):
            if chance(random, 0.1):
                bound = word.lower()
                if self.draft > 4:
                    words[f"exclusive{word}"] = (
                        random.choice([-1, 0, 2]) if word == "Minimum" else random.choice([6, 50])
                    )
                elif bound in words:
                    words[f"exclusive{word}"] = True
        if chance(random, 0.15):
            words["multipleOf"] = random.choice([1, 2, 3, 0.5, 0.1, 5])
        return words

    def string(self) -> dict[str, Any]:
        random = self.random
        words: dict[str, Any] = {}
        if chance(random, 0.25):
            words["minLength"] = random.randint(0, 3)
        if chance(random, 0.25):
            words["maxLength"] = random.randint(3, 8)
        if chance(random, 0.15):
            words["pattern"] = random.choice(list(PATTERNS))
        if chance(random, 0.06):
            words["format"] = random.choice(_FORMATS)
        return words

    def object(self, depth: int) -> dict[str, Any]:  # noqa: C901 - one for each word
        random = self.random
        words: dict[str, Any] = {}
        names = random.sample(NAMES[:5], random.randint(0, 4))
        if names:
            words["properties"] = {name: self.node(depth) for name in names}
        if chance(random, 0.5):
            required = [name for name in NAMES[:5] if chance(random, 0.5 if name in names else 0.05)]
            if required or self.draft > 4:
                words["required"] = required
        if chance(random, 0.4):
            words["additionalProperties"] = False if chance(random, 0.6) else self.node(depth - 1)
        if chance(random, 0.12):
            words["patternProperties"] = {random.choice(list(PATTERNS)): self.node(depth - 1)}
        if chance(random, 0.08):
            words["maxProperties"] = random.randint(2, 5)
        if chance(random, 0.08):
            words["minProperties"] = random.randint(0, 2)
        if self.draft > 4 and chance(random, 0.08):
            words["propertyNames"] = self.string()
        if chance(random, 0.08):
            words |= self.dependent(depth)
        if self.draft >= 2019 and chance(random, 0.08) and "additionalProperties" not in words:
            words["unevaluatedProperties"] = False if chance(random, 0.7) else self.node(depth - 1)
        return words

    def dependent(self, depth: int) -> dict[str, Any]:
        name, other_name = self.random.sample(NAMES[:4], 2)
        kinds = [("dependentRequired", [other_name]), ("dependentSchemas", self.node(depth - 1))]
        word, body = self.random.choice(kinds)
        return {word if self.draft >= 2019 else "dependencies": {name: body}}

    def array(self, depth: int) -> dict[str, Any]:
        random = self.random
        words: dict[str, Any] = {}
        listed, rest = ("prefixItems", "items") if self.draft == 2020 else ("items", "additionalItems")
        if chance(random, 0.25):
            words[listed] = [self.node(depth) for _ in range(random.randint(1, 3))]
            if chance(random, 0.5):
                words[rest] = False if self.draft > 4 and chance(random, 0.6) else self.node(depth - 1)
        elif chance(random, 0.85):
            words["items"] = self.node(depth)
        if chance(random, 0.2):
            words["minItems"] = random.randint(0, 2)
        if chance(random, 0.2):
            words["maxItems"] = random.randint(2, 5)
        if chance(random, 0.1):
            words["uniqueItems"] = True
        if self.draft > 4 and chance(random, 0.1):
            words["contains"] = self.node(depth - 1)
            if self.draft >= 2019 and chance(random, 0.4):
                words |= random.choice([{"minContains": 2}, {"maxContains": 2}, {"minContains": 0, "maxContains": 3}])
        if self.draft >= 2019 and chance(random, 0.06):
            words["unevaluatedItems"] = False
        return words

    def create_combination(self, depth: int) -> dict[str, Any]:
        random = self.random
        match random.choice(["allOf", "anyOf", "anyOf", "oneOf", "oneOf", "not", "if"]):
            case "not":
                return {"not": self.node(depth)}
            case "if" if self.draft >= 7:
                words = {"if": self.node(depth), "then": self.node(depth), "else": self.node(depth)}
                if chance(random, 0.4):
                    del words[random.choice(["then", "else"])]
                return words
            case "if":
                return {"anyOf": [self.node(depth), self.node(depth)]}
            case word:
                return {word: [self.node(depth) for _ in range(random.randint(1, 3))]}


_ONE: Final = ("additionalProperties", "propertyNames", "contains", "additionalItems", "not", "if", "then", "else",
               "unevaluatedProperties", "unevaluatedItems")  # fmt: skip
_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAPS: Final = ("properties", "patternProperties", "dependentSchemas", "definitions", "$defs", "dependencies")


def iterate_inner_schemas(schema: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield (keyword, container, key) of each schema directly inside."""
    if not isinstance(schema, dict):
        return
    for word, body in schema.items():
        if word in _ONE or (word == "items" and not isinstance(body, list)):
            yield word, schema, word
        elif word in _LISTS or word == "items":
            yield from ((word, body, index) for index in range(len(body)))
        elif word in _MAPS:
            yield from ((word, body, key) for key in body if not isinstance(body[key], list))


class VersionGenerator:
    """Generator of the next version of a schema."""

    def __init__(self, random: Random, draft: int = 7) -> None:
        self.random = random
        self.draft = draft
        self.schemas = JsonSchemaGenerator(random, draft)

    def evolve(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return a copy with one to three changes."""
        changed = copy.deepcopy(schema)
        self._collect_definitions(changed)
        for _ in range(self.random.choice([1, 1, 1, 2, 3])):
            self._edit(changed)
        return changed

    def widen(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return a copy that accepts all valid documents; each step widens it by construction."""
        changed = copy.deepcopy(schema)
        self._collect_definitions(changed)
        for _ in range(self.random.choice([1, 1, 2, 3])):
            widenings = list(self._widening(changed, root=True))
            if widenings:
                self.random.choice(widenings)()
        return changed

    def _collect_definitions(self, schema: dict[str, Any]) -> None:
        self.schemas.defined = list(schema.get(self.schemas.container, {}))

    def _edit(self, schema: dict[str, Any]) -> None:
        random = self.random
        locations = list(_iterate_locations(schema))
        holder, key = random.choice(locations)
        node = holder[key] if holder is not None else schema
        if holder is not None and chance(random, 0.2):
            holder[key] = self.schemas.node(1)
        elif isinstance(node, dict):
            self._edit_words(node)

    def _edit_words(self, node: dict[str, Any]) -> None:
        random = self.random
        words = [word for word in node if word not in {"$schema", self.schemas.container, "$ref"}]
        match random.choice(["drop", "word", "type", "number", "required"]):
            case "drop" if words:
                del node[random.choice(words)]
            case "type" if "type" in node:
                node["type"] = random.choice([random.choice(TYPES), random.sample(TYPES, 2)])
            case "number" if number_keywords := [word for word in words if type(node[word]) in {int, float}]:
                word = random.choice(number_keywords)
                node[word] = abs(node[word] + random.choice([-1, 1, 2])) or 1
            case "required":
                required = set(node.get("required", ())) ^ {random.choice(NAMES[:5])}
                node["required"] = sorted(required)
            case _:
                name = node.get("type")
                new = self.schemas.of_type(name if isinstance(name, str) else random.choice(TYPES), 1)
                node.update(new)
        if self.draft == 4:
            _mend_draft_4(node)

    def _widening(self, node: Any, *, root: bool = False) -> Iterator[Callable[[], object]]:
        """Yield everything that can be done to widen a schema, here or below."""
        if not isinstance(node, dict):
            return
        if "$ref" in node and self.draft < 2019:
            return
        yield from self._here(node)
        free = not _has_unevaluated(node)
        for word, holder, key in iterate_inner_schemas(node):
            if word in {"not", "if", "oneOf", "definitions", "$defs"} or (word == "contains" and "maxContains" in node):
                continue
            if not free and word in {"unevaluatedProperties", "unevaluatedItems", "contains"}:
                continue
            yield from self._widening(holder[key])
            if not root or chance(self.random, 0.3):
                yield lambda holder=holder, key=key: self._or(holder, key)
        if "not" in node:
            yield lambda: node.__setitem__("not", {"allOf": [node["not"], self.schemas.node(0)]})

    def _or(self, holder: Any, key: Any) -> None:
        subschema = {"not": {}} if self.draft == 4 and holder[key] is False else holder[key]
        holder[key] = {"anyOf": [subschema, self.schemas.node(1)]}

    def _here(self, node: dict[str, Any]) -> Iterator[Callable[[], object]]:  # noqa: C901 - one for each way
        random = self.random
        for word, body in node.items():
            if word in {"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"} and body is not True:
                lower = body - random.choice([1, 2]) if "imum" in word else max(0, body - 1)
                yield lambda word=word, lower=lower: node.__setitem__(word, lower)
            elif word in {"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"} and body is not True:
                yield lambda word=word, body=body: node.__setitem__(word, body + random.choice([1, 2, 10]))
            elif word == "multipleOf":
                yield lambda body=body: node.__setitem__("multipleOf", body / 2 if isinstance(body, float) else 1)
            elif word == "required" and len(body) > 1:
                yield lambda body=body: node.__setitem__("required", random.sample(body, len(body) - 1))
            elif word == "enum":
                yield lambda body=body: node.__setitem__("enum", [*body, f"new {len(body)}"])
            elif word == "type":
                yield lambda body=body: node.__setitem__("type", _add_type(body, random))
            elif word == "anyOf":
                yield lambda body=body: body.append(self.schemas.node(1))
        for word in self._removable(node):
            yield lambda word=word: node.pop(word, None)
        if "const" in node and "enum" not in node:
            yield lambda: node.__setitem__("enum", [node.pop("const", "a"), "another"])
        if "oneOf" in node and "anyOf" not in node and not _has_unevaluated(node):
            yield lambda: node.__setitem__("anyOf", node.pop("oneOf", [{}]))
        if node.get("additionalProperties") is False and "patternProperties" not in node:
            yield lambda: node.setdefault("properties", {}).setdefault("added", self.schemas.node(1))

    def _removable(self, node: dict[str, Any]) -> Iterator[str]:
        plain = {"pattern", "uniqueItems", "multipleOf", "maxLength", "minItems", "maxItems", "not", "propertyNames",
                 "dependentRequired", "maxProperties", "unevaluatedProperties", "unevaluatedItems", "required",
                 "enum", "format"}  # fmt: skip
        if self.draft > 4:
            plain |= {"minimum", "maximum"}
        if not _has_unevaluated(node):
            plain |= {
                "then",
                "else",
                "allOf",
                "anyOf",
                "oneOf",
                "dependencies",
                "additionalProperties",
                "additionalItems",
            }
            if "maxContains" not in node and "minContains" not in node:
                plain |= {"contains"}
        yield from sorted(word for word in plain if word in node)


def _add_type(body: Any, random: Random) -> Any:
    type_names = [body] if isinstance(body, str) else list(body)
    if "integer" in type_names and chance(random, 0.5):
        return ["number" if name == "integer" else name for name in type_names if name != "number"]
    return list(dict.fromkeys([*type_names, random.choice(TYPES)]))


def _has_unevaluated(node: dict[str, Any]) -> bool:
    """Return whether removing keywords could leave more properties or items unevaluated."""
    return "unevaluatedProperties" in node or "unevaluatedItems" in node


def _iterate_locations(schema: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    yield None, None
    waiting = [schema]
    while waiting:
        for _, holder, key in iterate_inner_schemas(waiting.pop()):
            yield holder, key
            waiting.append(holder[key])


def _mend_draft_4(node: dict[str, Any]) -> None:
    for word in ("minimum", "maximum"):
        exclusive = f"exclusive{word.capitalize()}"
        if exclusive in node and word not in node:
            del node[exclusive]
    if node.get("required") == []:
        del node["required"]


class DocumentGenerator:
    """Makes documents for a schema; most are valid, some are near to it."""

    def __init__(self, random: Random, schema: Any) -> None:
        self.random = random
        self.root = schema

    def instance(self) -> Any:
        """Make a document."""
        return self.of(self.root, 5)

    def of(self, schema: Any, depth: int) -> Any:
        """Make a value for a part of the schema."""
        random = self.random
        if not isinstance(schema, dict) or not schema or depth < 0 or chance(random, 0.03):
            return self.anything(depth)
        merged = self._flat(schema, 8)
        if "const" in merged:
            return copy.deepcopy(merged["const"])
        if merged.get("enum"):
            return copy.deepcopy(random.choice(merged["enum"]))
        name = merged.get("type") or _guess_type(merged) or random.choice(TYPES)
        return self._of_type(random.choice(name) if isinstance(name, list) else name, merged, depth)

    def anything(self, depth: int = 1) -> Any:
        """Make a value that no schema asked for."""
        random = self.random
        match random.randint(0, 6 if depth > 0 else 4):
            case 0:
                return None
            case 1:
                return random.choice([True, False])
            case 2:
                return random.choice(WORDS)
            case 3 | 4:
                return random.choice([0, 1, -1, 2, 3, 5, 10, 0.5, 1.0, 2.5, 1e3, -7])
            case 5:
                return [self.anything(depth - 1) for _ in range(random.randint(0, 3))]
            case _:
                return {name: self.anything(depth - 1) for name in random.sample(NAMES, random.randint(0, 3))}

    def _flat(self, schema: Any, depth: int) -> dict[str, Any]:
        """Lay one way through references and combinations over each other."""
        if not isinstance(schema, dict) or depth < 0:
            return {}
        random = self.random
        merged = {**schema, "properties": dict(schema.get("properties", {}))}
        parts = list(schema.get("allOf", ()))
        parts += [random.choice(schema[word]) for word in ("anyOf", "oneOf") if schema.get(word)]
        if "$ref" in schema:
            parts.append(self._target(schema["$ref"]))
        if "if" in schema:
            parts += [schema["if"], schema.get("then", {})] if chance(random, 0.5) else [schema.get("else", {})]
        for body in schema.get("dependentSchemas", schema.get("dependencies", {})).values():
            parts += [body] if isinstance(body, dict) and chance(random, 0.5) else []
        for part in parts:
            other = self._flat(part, depth - 1)
            merged["properties"] |= other.pop("properties", {})
            required = [*merged.get("required", ()), *other.get("required", ())]
            merged |= {word: body for word, body in other.items() if word not in merged or chance(random, 0.5)}
            if required:
                merged["required"] = required
        return merged

    def _target(self, reference: str) -> Any:
        target = self.root
        for token in reference.removeprefix("#").split("/")[1:]:
            target = target.get(token, {})
        return target

    def _of_type(self, name: str, words: dict[str, Any], depth: int) -> Any:
        match name:
            case "null":
                return None
            case "boolean":
                return chance(self.random, 0.5)
            case "integer" | "number":
                return self._number(words, integer=name == "integer")
            case "string":
                return self._string(words)
            case "array":
                return self._array(words, depth)
            case _:
                return self._object(words, depth)

    def _number(self, words: dict[str, Any], *, integer: bool) -> Any:
        random = self.random
        bounds = [words[word] for word in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
                  if type(words.get(word)) in {int, float}]  # fmt: skip
        near = random.choice([*bounds, 0, 3]) + random.choice([0, 0, 1, -1, 0.5, 2, -2, 4])
        step = words.get("multipleOf")
        if step and chance(random, 0.8):
            near = round(near / step) * step
        if integer or chance(random, 0.3):
            return random.choice([round(near), float(round(near))]) if chance(random, 0.2) else round(near)
        return near

    def _string(self, words: dict[str, Any]) -> str:
        random = self.random
        text = random.choice(PATTERNS.get(words.get("pattern", ""), WORDS))
        lengths = range(words.get("minLength", 0), words.get("maxLength", 12) + 1)
        if chance(random, 0.6) and lengths and len(text) not in lengths:
            text = (text + random.choice(["a", "b", "1"]) * 20)[: random.choice(lengths)]
        return text

    def _array(self, words: dict[str, Any], depth: int) -> list[Any]:
        random = self.random
        listed = words.get("prefixItems", words["items"] if isinstance(words.get("items"), list) else [])
        rest = words.get("items") if not isinstance(words.get("items"), list) else words.get("additionalItems")
        least, most = words.get("minItems", 0), words.get("maxItems", 4)
        length = random.randint(least, max(least, most))
        if rest is False:
            length = min(length, len(listed))
        items = [self.of(listed[at] if at < len(listed) else rest, depth - 1) for at in range(length)]
        if "contains" in words and chance(random, 0.8):
            for at in range(words.get("minContains", 1)):
                items[at : at + 1] = [self.of(words["contains"], depth - 1)]
        return items

    def _object(self, words: dict[str, Any], depth: int) -> dict[str, Any]:
        random = self.random
        properties: dict[str, Any] = words.get("properties", {})
        names = list(words.get("required", ()))
        few = depth < 2
        names += [name for name in properties if chance(random, 0.2 if few else 0.6)]
        rest = words.get("additionalProperties", words.get("unevaluatedProperties", {}))
        if chance(random, 0.03 if rest is False else 0.4):
            names += random.sample([*NAMES, "added"], random.randint(1, 2))
        for pattern in words.get("patternProperties", {}):
            names += [random.choice(PATTERNS.get(pattern, WORDS))] if chance(random, 0.6) else []
        if "maxProperties" in words and chance(random, 0.8):
            names = names[: words["maxProperties"]]
        return {
            name: self.of(properties.get(name, self._matching(words, name, rest)), depth - 1)
            for name in dict.fromkeys(names)
        }

    def _matching(self, words: dict[str, Any], name: str, rest: Any) -> Any:
        for pattern, body in words.get("patternProperties", {}).items():
            if name in PATTERNS.get(pattern, ()):
                return body
        return rest


def _guess_type(words: dict[str, Any]) -> str | None:
    for name, telling in (
        ("object", ("required", "additionalProperties", "patternProperties", "minProperties")),
        ("array", ("items", "prefixItems", "contains", "minItems", "maxItems")),
        ("string", ("pattern", "minLength", "maxLength")),
        ("number", ("minimum", "maximum", "multipleOf")),
    ):
        if any(word in words for word in telling):
            return name
    return "object" if words.get("properties") else None

"""Texts of schemas to fuzz with: made, mutated as structures, and mutated as characters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from random import Random
from typing import Any

from contractlog.compatibility.schema import SchemaType

from support.avro_schemas import AvroSchemaGenerator, evolve_schema

KEPT = 300  #: texts that were accepted, from which more are made
NAMES = ("one", "two.json", "http://x/three", "four")  #: by which a text may lean on others
WORDS: dict[SchemaType, list[Any]] = {
    SchemaType.AVRO: [
        "type", "name", "namespace", "fields", "items", "values", "symbols", "size", "aliases", "default", "doc",
        "order", "logicalType", "record", "error", "enum", "fixed", "array", "map", "null", "boolean", "int", "long",
        "float", "double", "bytes", "string", "decimal", "T1", "T2", "a.b.T1", ".T1", "é", "", "NaN", "a", "b",
    ],
    SchemaType.JSON: [
        "type", "properties", "required", "additionalProperties", "patternProperties", "items", "additionalItems",
        "prefixItems", "contains", "oneOf", "anyOf", "allOf", "not", "if", "then", "else", "$ref", "#",
        "#/definitions/a",
        "#/$defs/b", "definitions", "$defs", "$id", "$schema", "$anchor", "$dynamicRef", "enum", "const", "minimum",
        "maximum", "exclusiveMinimum", "multipleOf", "minLength", "pattern", "^(a+)+$", "[", "propertyNames", "format",
        "dependencies", "dependentRequired", "unevaluatedProperties", "object", "array", "string", "integer", "number",
        "null", "boolean", "http://json-schema.org/draft-04/schema#", "https://json-schema.org/draft/2020-12/schema",
        "http://x/", "one", "two.json#", "three#/definitions/a", "two.json#/$defs/b", "default", "title", "a", "b", "",
        "é",
    ],
}  # fmt: skip
ATOMS: list[Any] = [None, True, False, 0, 1, -1, 1.5, 1e300, 2**63, 10**40, [], {}, "", [[]], [{}], "\u0000", "😀"]
SEEDS: dict[SchemaType, list[Any]] = {
    SchemaType.AVRO: [
        {"type": "record", "name": "R", "fields": [{"name": "a", "type": ["null", "R"], "default": None}]},
        {"type": "enum", "name": "E", "symbols": ["A", "B"], "default": "A"},
        {"type": "map", "values": {"type": "fixed", "name": "F", "size": 4, "logicalType": "decimal"}},
        ["null", {"type": "record", "name": "a.R", "aliases": ["b.S"], "fields": [{"name": "x", "type": "int"}]}],
    ],
    SchemaType.JSON: [
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"], "additionalProperties": False},
        {"definitions": {"a": {"type": ["string", "null"]}}, "oneOf": [{"$ref": "#/definitions/a"}, {"maxLength": 5}]},
        {"type": "array", "items": [{"const": 1}, {"enum": [1, "a", None]}], "additionalItems": {"minimum": 0}},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"b": {"$anchor": "x"}}, "$ref": "#x"},
        {"if": {"type": "string"}, "then": {"pattern": "^a"}, "else": {"not": {"multipleOf": 0.5}}},
        {"allOf": [{"properties": {"a": True}}, {"patternProperties": {"^b": False}}], "unevaluatedProperties": False},
    ],
}  # fmt: skip


def iterate_members(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container with a key or index of it."""
    waiting = [value]
    while waiting:
        here = waiting.pop()
        members = here.items() if isinstance(here, dict) else enumerate(here) if isinstance(here, list) else ()
        for key, member in list(members):
            yield here, key
            waiting.append(member)


@dataclass
class Texts:
    """Generator of texts from texts that were accepted before."""

    random: Random
    type: SchemaType
    accepted_texts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.accepted_texts = [json.dumps(seed) for seed in SEEDS[self.type]]

    def text(self) -> str:
        """Make a text: a new schema, a mutated one, or one with mutated bytes."""
        choice = self.random.random()
        if choice < 0.1 and self.type is SchemaType.AVRO:
            return json.dumps(AvroSchemaGenerator(self.random).schema())
        text = self.random.choice(self.accepted_texts)
        if choice < 0.8:
            try:
                return json.dumps(self.mutate(json.loads(text)))
            except (ValueError, RecursionError):
                pass
        return self.mutate_characters(text)

    def mutate(self, value: Any) -> Any:
        """Change some members of a structure."""
        random = self.random
        if self.type is SchemaType.AVRO and random.random() < 0.3:
            try:
                return evolve_schema(value, random, 1)
            except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
                pass
        for _ in range(random.choice([1, 1, 1, 2, 5])):
            members = list(islice(iterate_members(value), 2_000))
            if not members:
                return random.choice([*SEEDS[self.type], *WORDS[self.type], *ATOMS])
            self.change(*random.choice(members), *random.choice(members))
        return value

    def change(self, container: Any, key: Any, other_container: Any, other_key: Any) -> None:
        """Change a member, possibly to a copy of another one."""
        random, words = self.random, WORDS[self.type]
        match random.randrange(8):
            case 0:
                container[key] = random.choice(ATOMS)
            case 1:
                container[key] = random.choice(words)
            case 2:
                container[key] = json.loads(json.dumps(other_container[other_key]))
            case 3:
                del container[key]
            case 4 if isinstance(container, dict):
                container[random.choice(words)] = random.choice([container[key], *ATOMS, *words])
            case 5 if isinstance(container, list):
                container.insert(
                    random.randrange(len(container) + 1), json.loads(json.dumps(other_container[other_key]))
                )
            case 6:
                container[key] = json.loads(random.choice(self.accepted_texts))
            case _:
                container[key] = [container[key]]

    def mutate_characters(self, text: str) -> str:
        """Change some characters."""
        random, characters = self.random, list(text)
        for _ in range(random.choice([1, 1, 2, 8])):
            at = random.randrange(len(characters) + 1)
            match random.randrange(4):
                case 0:
                    characters[at:at] = random.choice('{}[]",:\\/#.0e-+\u0000\ud800é😀 \n')
                case 1:
                    del characters[at : at + random.choice([1, 1, 10])]
                case 2:
                    end = min(len(characters), at + random.choice([1, 5, 50]))
                    characters[at:at] = characters[at:end] * random.choice([1, 2, 100])
                case _:
                    characters[at : at + 1] = random.choice(["/*", "*/", "//", "\\u0000", "\\ud800", "1e999", "NaN"])
        return "".join(characters)[:20_000]

    def references(self) -> dict[str, str]:
        """Create texts to reference, by name; mostly none."""
        if self.random.random() < 0.6:
            return {}
        names = NAMES[: self.random.choice([1, 1, 2, 4])]
        return {name: self.random.choice([self.random.choice(self.accepted_texts), self.text()]) for name in names}

    def add_accepted(self, text: str) -> None:
        """Add an accepted text, from which further texts are made."""
        if len(text) < 4_000:
            self.accepted_texts.append(text)
            if len(self.accepted_texts) > KEPT:
                del self.accepted_texts[self.random.randrange(len(SEEDS[self.type]), len(self.accepted_texts))]

"""Random single changes of JSON schemas, after which old documents may be invalid."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from support.json_schemas import JsonSchemaGenerator, iterate_inner_schemas

Node = dict[str, Any]
Mutation = Callable[[Node, Random], bool]  #: narrows a schema in its place; False where it does not fit there

DRAFTS = (4, 6, 7, 2019, 2020)


def of_type(node: Node, *names: str) -> bool:
    return node.get("type") in names


def is_open(node: Node) -> bool:
    words = ("additionalProperties", "unevaluatedProperties", "patternProperties")
    return of_type(node, "object") and all(node.get(word, True) is True for word in words)


def limit(word: str, *types: str) -> Mutation:
    """Set a limit where there is none, by which the words ``max…`` and ``min…`` tell the direction."""

    def mutate(node: Node, random: Random) -> bool:
        if word in node or not of_type(node, *types):
            return False
        node[word] = random.randint(1, 3) if word.startswith("min") else random.randint(20, 40)
        return True

    return mutate


def narrow(word: str) -> Mutation:
    """Make a limit that is there narrower."""

    def mutate(node: Node, random: Random) -> bool:
        if not isinstance(node.get(word), int) or isinstance(node[word], bool):
            return False
        by = random.randint(1, 4)
        node[word] += by if "min" in word.lower() else -by
        return node[word] >= 0

    return mutate


def add_pattern(node: Node, random: Random) -> bool:
    fits = of_type(node, "string") and "pattern" not in node
    if fits:
        node["pattern"] = random.choice(["^[a-z]+$", "x", "^(JFK|EWR)$"])
    return fits


def change_pattern(node: Node, _random: Random) -> bool:
    fits = of_type(node, "string") and "pattern" in node
    if fits:
        node["pattern"] += "?"
    return fits


def add_date_format(node: Node, _random: Random) -> bool:
    fits = of_type(node, "string") and "format" not in node
    if fits:
        node["format"] = "date"
    return fits


def require(node: Node, random: Random) -> bool:
    names = [
        name
        for name, schema in node.get("properties", {}).items()
        if name not in node.get("required", []) and isinstance(schema, dict) and "default" not in schema
    ]
    if names:
        node.setdefault("required", []).append(random.choice(names))
    return bool(names) and of_type(node, "object")


def create_property_addition(*, required: bool, to_open: bool) -> Mutation:
    def mutate(node: Node, random: Random) -> bool:
        if not of_type(node, "object") or is_open(node) != to_open or "patternProperties" in node:
            return False
        if not to_open and node.get("additionalProperties") is not False:
            return False
        name = random.choice(["added", "gate", "x"])
        node.setdefault("properties", {})[name] = random.choice(
            [{"type": "string"}, {"enum": ["a"]}, {"type": "object"}]
        )
        if required:
            node.setdefault("required", []).insert(0, name)
        return True

    return mutate


def drop_property(node: Node, random: Random) -> bool:
    names = [name for name, schema in node.get("properties", {}).items() if schema is not False]
    fits = node.get("additionalProperties") is False and bool(names) and "patternProperties" not in node
    if fits:
        name = random.choice(names)
        del node["properties"][name]
        node["required"] = [other for other in node.get("required", []) if other != name]
        if not node["required"]:
            del node["required"]
    return fits


def close(node: Node, _random: Random) -> bool:
    fits = is_open(node)
    if fits:
        node["additionalProperties"] = False
    return fits


def narrow_others(node: Node, random: Random) -> bool:
    fits = is_open(node)
    if fits:
        node["additionalProperties"] = random.choice([{"type": "string"}, {"minimum": 1}])
    return fits


def integral(node: Node, _random: Random) -> bool:
    fits = of_type(node, "number") and not any(isinstance(value, float) for value in node.values())
    if fits:
        node["type"] = "integer"
    return fits


def retype(node: Node, random: Random) -> bool:
    names = ["string", "integer", "boolean", "array", "object"]
    if not of_type(node, *names):
        return False
    new = random.choice([name for name in names if name != node["type"]])
    node.clear()
    node["type"] = new
    return True


def drop_value(node: Node, random: Random) -> bool:
    fits = len(node.get("enum", [])) > 1
    if fits:
        node["enum"].pop(random.randrange(len(node["enum"])))
    return fits


def replace_value(node: Node, random: Random) -> bool:
    fits = bool(node.get("enum"))
    if fits:
        node["enum"][random.randrange(len(node["enum"]))] = "another one"
    return fits


def multiple(node: Node, random: Random) -> bool:
    fits = of_type(node, "number", "integer") and "multipleOf" not in node
    if fits:
        node["multipleOf"] = random.choice([2, 5])
    return fits


def drop_branch(node: Node, random: Random) -> bool:
    word = next((word for word in ("oneOf", "anyOf") if len(node.get(word, [])) > 2), None)
    if word is not None:
        node[word].pop(random.randrange(len(node[word])))
    return word is not None


def unique(node: Node, _random: Random) -> bool:
    fits = of_type(node, "array") and not node.get("uniqueItems")
    if fits:
        node["uniqueItems"] = True
    return fits


NARROWING: dict[str, list[Mutation]] = {
    "JSON_REQUIRED_ATTRIBUTE_ADDED": [require],
    "JSON_OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": [create_property_addition(required=False, to_open=True)],
    "JSON_REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": [create_property_addition(required=True, to_open=True)],
    "JSON_REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL": [create_property_addition(required=True, to_open=False)],
    "JSON_PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL": [drop_property],
    "JSON_TYPE_NARROWED": [integral],
    "JSON_TYPE_CHANGED": [retype],
    "JSON_MAXIMUM_ADDED": [limit("maximum", "integer", "number")],
    "JSON_MAXIMUM_DECREASED": [narrow("maximum")],
    "JSON_MINIMUM_ADDED": [limit("minimum", "integer", "number")],
    "JSON_MINIMUM_INCREASED": [narrow("minimum")],
    "JSON_MAX_LENGTH_ADDED": [limit("maxLength", "string")],
    "JSON_MAX_LENGTH_DECREASED": [narrow("maxLength")],
    "JSON_MIN_LENGTH_ADDED": [limit("minLength", "string")],
    "JSON_MIN_LENGTH_INCREASED": [narrow("minLength")],
    "JSON_MAX_ITEMS_ADDED": [limit("maxItems", "array")],
    "JSON_MIN_ITEMS_ADDED": [limit("minItems", "array")],
    "JSON_MAX_PROPERTIES_ADDED": [limit("maxProperties", "object")],
    "JSON_MIN_PROPERTIES_ADDED": [limit("minProperties", "object")],
    "JSON_UNIQUE_ITEMS_ADDED": [unique],
    "JSON_PATTERN_ADDED": [add_pattern],
    "JSON_PATTERN_CHANGED": [change_pattern],
    "JSON_MULTIPLE_OF_ADDED": [multiple],
    "JSON_ENUM_ARRAY_NARROWED": [drop_value],
    "JSON_ENUM_ARRAY_CHANGED": [replace_value],
    "JSON_ADDITIONAL_PROPERTIES_REMOVED": [close],
    "JSON_ADDITIONAL_PROPERTIES_NARROWED": [narrow_others],
    "JSON_SUM_TYPE_NARROWED": [drop_branch],
}

EXACT: dict[str, list[Mutation]] = {
    "JSON_EXACT_TYPE": [retype, integral],
    "JSON_EXACT_VALUE": [drop_value, replace_value],
    "JSON_EXACT_BOUND": [
        *(limit(word, "integer", "number") for word in ("maximum", "minimum")),
        *(limit(word, "string") for word in ("maxLength", "minLength")),
        *(narrow(word) for word in ("maximum", "minimum", "maxLength", "minLength", "maxItems", "minItems")),
        multiple,
    ],
    "JSON_EXACT_PATTERN": [add_pattern, change_pattern],
    "JSON_EXACT_REQUIRED": [require],
    "JSON_EXACT_FORBIDDEN": [drop_property, close],
    "JSON_EXACT_ITEMS": [unique],
    "JSON_EXACT_COMBINED": [drop_branch],
    "JSON_EXACT_FORMAT": [add_date_format],
}
"""Under the policy EXACT; undecided changes have no fix, since the cause is unknown."""


def iterate_nodes(schema: Node) -> Iterator[Node]:
    waiting: list[Any] = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting.extend(holder[key] for _, holder, key in iterate_inner_schemas(node))


def generate_mutations(mutations: list[Mutation], random: Random) -> Iterator[tuple[Any, Any]]:
    """Yield pairs of a schema and its mutation, without end."""
    while True:
        schema = JsonSchemaGenerator(random, random.choice(DRAFTS)).schema()
        changed = copy.deepcopy(schema)
        nodes = list(iterate_nodes(changed))
        random.shuffle(nodes)
        if any(random.choice(mutations)(node, random) for node in nodes) and changed != schema:
            yield schema, changed

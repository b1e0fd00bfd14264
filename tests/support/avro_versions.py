"""Random Avro schemas with all features, and versions of them with the names of their changes.

A schema here is a list of values, of which each may lean on those before it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

from support.avro_schemas import (
    PRIMITIVES,
    VALUES,
    AvroSchemaGenerator,
    get_branch_name,
    give_default,
    is_named,
    iterate_nodes,
)

__all__ = ["FEATURES", "RichSchemas", "create_version", "find_features"]

FEATURES: Final = ("alias", "array", "enum", "enum default", "field default", "fixed", "leans on", "logical", "map")
FEATURES += ("named twice", "namespace", "recursive", "union")
LOGICAL: Final[dict[str, list[dict[str, Any]]]] = {
    "int": [{"logicalType": "date"}, {"logicalType": "time-millis"}],
    "long": [{"logicalType": name} for name in ("timestamp-millis", "timestamp-micros", "time-micros")],
    "string": [{"logicalType": "uuid"}, {"logicalType": "of-ours"}],
    "bytes": [{"logicalType": "decimal", "precision": 4, "scale": 2}, {"logicalType": "decimal", "precision": 4}],
    "fixed": [{"logicalType": "decimal", "precision": 2}, {"logicalType": "decimal", "precision": 2, "scale": 1}],
}
WIDER: Final = {"int": ("long", "float", "double"), "long": ("float", "double"), "float": ("double",)}
WIDER.update({"string": ("bytes",), "bytes": ("string",)})
Tags = set[str]


class RichSchemas(AvroSchemaGenerator):
    """Generator of schemas with all features of Avro, including references."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.spaces = [""]

    def schemas(self) -> list[Any]:
        """Return the dependencies, then the schema that references them."""
        self.defined, self.count = [], 0
        leaned_on = [self.record(1) for _ in range(self.random.choice([0, 0, 0, 1, 2]))]
        return [*leaned_on, self.record(3)]

    def type(self, depth: int, *, union: bool = True) -> Any:
        schema = (
            self.nest_collections(depth)
            if depth > 0 and self.random.random() < 0.08
            else super().type(depth, union=union)
        )
        if isinstance(schema, str) and "." not in schema and schema not in VALUES and self.spaces[-1]:
            return "long"  # a name without a namespace means another type here
        if isinstance(schema, str) and schema in LOGICAL and self.random.random() < 0.25:
            return {"type": schema, **self.random.choice(LOGICAL[schema])}
        return schema

    def nest_collections(self, depth: int) -> dict[str, Any]:
        """Nest a type in several arrays and maps, so that paths lead through several of them."""
        schema: Any = self.union(depth - 1) if self.random.random() < 0.6 else self.type(depth - 1, union=False)
        for _ in range(self.random.randint(1, 3)):
            schema = self.random.choice([{"type": "array", "items": schema}, {"type": "map", "values": schema}])
        return schema if isinstance(schema, dict) else {"type": "array", "items": schema}

    def define_type(self, value: dict[str, Any]) -> dict[str, Any]:
        self.node(value)
        if value["type"] == "fixed" and value["size"] and self.random.random() < 0.3:
            value.update(self.random.choice(LOGICAL["fixed"]))
        self.defined.append(self.full_name(value))
        return value

    def node(self, value: dict[str, Any]) -> None:
        """Give a name, in a namespace or in the one around it."""
        value["name"] = self.name()
        match self.random.random():
            case luck if luck < 0.15:
                value["name"] = f"{self.random.choice('mn')}.{value['name']}"
            case luck if luck < 0.3:
                value["namespace"] = self.random.choice(["m", "n", ""])
        if self.random.random() < 0.15:
            value["aliases"] = [f"A{self.random.randint(1, 9)}"]
        if self.random.random() < 0.15:
            value["doc"] = self.random.choice(["", "said"])
        if self.random.random() < 0.1:
            value["owner"] = self.random.choice([1, "x", [1.5], None])

    def full_name(self, value: dict[str, Any]) -> str:
        space = value.get("namespace", self.spaces[-1])
        return value["name"] if "." in value["name"] or not space else f"{space}.{value['name']}"

    def record(self, depth: int) -> dict[str, Any]:
        value: dict[str, Any] = {"type": "record"}
        self.node(value)
        full = self.full_name(value)
        self.defined.append(full)
        self.spaces.append(full.rpartition(".")[0])
        value["fields"] = [self.field(name, depth) for name in "abcd"[: self.random.randint(0, 4)]]
        self.spaces.pop()
        return value

    def field(self, name: str, depth: int) -> dict[str, Any]:
        field = super().field(name, depth)
        if isinstance(field["type"], dict) and "default" not in field and self.random.random() < 0.3:
            give_default(field, self.random)
        if self.random.random() < 0.1:
            field["doc"] = "said"
        if self.random.random() < 0.1:
            field["order"] = self.random.choice(["ascending", "descending", "ignore"])
        if self.random.random() < 0.1:
            field["aliases"] = [name + "z"]
        return field


def find_features(schemas: list[Any]) -> Tags:
    """Say what a schema has."""
    tags: Tags = {"leans on"} if len(schemas) > 1 else set()
    uses: list[str] = []
    for schema in schemas:
        tags |= {tag for node in iterate_nodes(schema) for tag in _find_features(node)}
        uses += list(_uses(schema))
        tags |= {"recursive"} if _recursive(schema, ()) else set()
    return tags | ({"named twice"} if len(uses) > len(set(uses)) else set())


def create_version(schemas: list[Any], random: Random) -> tuple[list[Any], Tags]:
    """Return another version of a schema, and the names of what was changed."""
    changed = copy.deepcopy(schemas)
    tags: Tags = set()
    wanted = random.choice([1, 1, 1, 2, 3])
    for _ in range(20 * wanted):
        node = random.choice(list(iterate_nodes(random.choice(changed))))
        change = random.choice(CHANGES)
        if len(tags) < wanted and change(node, random):
            tags.add(change.__name__.lstrip("_").replace("_", " "))
    return changed, tags


def _find_features(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        yield "union"
        return
    kind = node.get("type")
    if is_named(node):
        named = ("enum", "fixed")
        yield from (name for name in named if name == kind)
        if kind == "enum" and "default" in node:
            yield "enum default"
        if "." in node["name"] or node.get("namespace"):
            yield "namespace"
    elif "name" in node and "default" in node:
        yield "field default"
    yield from (word for word, has in (("array", "items"), ("map", "values")) if has in node)
    yield from (word for word, has in (("alias", "aliases"), ("logical", "logicalType")) if has in node)


def _uses(node: Any) -> Iterator[str]:
    match node:
        case str() if node not in VALUES:
            yield node
        case list():
            for branch in node:
                yield from _uses(branch)
        case dict():
            for field in node.get("fields", ()):
                yield from _uses(field["type"])
            for word in ("items", "values"):
                yield from _uses(node.get(word, "null"))


def _recursive(node: Any, open_names: tuple[str, ...]) -> bool:
    match node:
        case str():
            return node.rpartition(".")[2] in open_names
        case list():
            return any(_recursive(branch, open_names) for branch in node)
        case {"type": "record", "name": name, "fields": fields}:
            inside = (*open_names, name.rpartition(".")[2])
            return any(_recursive(field["type"], inside) for field in fields)
        case _:
            return any(_recursive(node[word], open_names) for word in ("items", "values") if word in node)


def _is_record(node: Any) -> bool:
    return isinstance(node, dict) and node.get("type") == "record" and "fields" in node


def _is_field(node: Any) -> bool:
    return isinstance(node, dict) and "name" in node and not is_named(node)


def _field_added(node: Any, random: Random) -> bool:
    return _add_field(node, random, with_default=False)


def _field_with_default_added(node: Any, random: Random) -> bool:
    return _add_field(node, random, with_default=True)


def _add_field(node: Any, random: Random, *, with_default: bool) -> bool:
    if not _is_record(node):
        return False
    name = random.choice([name for name in "efgh" if name not in {field["name"] for field in node["fields"]}] or [""])
    field: dict[str, Any] = {"name": name, "type": random.choice([["null", "int"], "int", "string", ["int", "null"]])}
    if with_default:
        give_default(field, random)
    node["fields"].insert(random.randint(0, len(node["fields"])), field)
    return bool(name) or not node["fields"].remove(field)


def _field_removed(node: Any, random: Random) -> bool:
    simple = [field for field in node["fields"] if isinstance(field["type"], str)] if _is_record(node) else []
    if simple:
        node["fields"].remove(random.choice(simple))
    return bool(simple)


def _fields_reordered(node: Any, random: Random) -> bool:
    if not _is_record(node) or len(node["fields"]) < 2:
        return False
    simple = [field for field in node["fields"] if isinstance(field["type"], str) and field["type"] in VALUES]
    for field in simple:
        node["fields"].remove(field)
        node["fields"].insert(random.randint(0, len(node["fields"])), field)
    return bool(simple)


def _field_renamed(node: Any, _: Random) -> bool:
    if _is_field(node):
        node["name"] += "y"
    return _is_field(node)


def _field_renamed_with_alias(node: Any, random: Random) -> bool:
    name = node["name"] if _is_field(node) else ""
    if name:
        node["aliases"] = [*node.get("aliases", ()), name]
    return _field_renamed(node, random)


def _field_alias_of_another(node: Any, _: Random) -> bool:
    if not _is_record(node) or len(node["fields"]) < 2:
        return False
    first, second = node["fields"][:2]
    first["aliases"] = [second["name"]]
    return True


def _field_default_changed(node: Any, random: Random) -> bool:
    if not _is_field(node) or "default" not in node:
        return False
    if random.random() < 0.4:
        del node["default"]
    elif isinstance(node["default"], (int, float, str)) and not isinstance(node["default"], bool):
        node["default"] = node["default"] * 2
    return True


def _doc_changed(node: Any, random: Random) -> bool:
    if not isinstance(node, dict) or "name" not in node:
        return False
    node["doc"] = random.choice(["new", "other", ""])
    return True


def _type_widened(node: Any, random: Random) -> bool:
    return _retype(node, lambda kind: random.choice(WIDER[kind]) if kind in WIDER else None)


def _type_narrowed(node: Any, random: Random) -> bool:
    narrower = {wide: kind for kind, wides in WIDER.items() for wide in wides if random.random() < 0.7}
    return _retype(node, narrower.get)


def _type_changed(node: Any, random: Random) -> bool:
    return _retype(node, lambda kind: random.choice(PRIMITIVES) if kind in VALUES else None)


def _retype(node: Any, to: Callable[[str], str | None]) -> bool:
    word = next((word for word in ("items", "values", "type") if isinstance(node, dict) and word in node), None)
    kind = node[word] if word else None
    new = to(kind) if isinstance(kind, str) and (word != "type" or _is_field(node)) else None
    if new is None or new == kind:
        return False
    node[word] = new
    if "default" in node:
        node["default"] = VALUES[new]
    return True


def _made_nullable(node: Any, _: Random) -> bool:
    if not _is_field(node) or not isinstance(node["type"], str) or node["type"] == "null":
        return False
    node["type"] = ["null", node["type"]]
    return True


def _union_made_single(node: Any, random: Random) -> bool:
    """Replace a union by one of its branches, in a field, an array or a map."""
    word = _holding(node, list)
    if word is None or not node[word]:
        return False
    node[word] = random.choice(node[word])
    node.pop("default", None)
    return True


def _single_made_union(node: Any, random: Random) -> bool:
    """Put what an array or a map holds into a union."""
    word = _holding(node, (str, dict))
    if word is None or word == "type" or node[word] == "null":
        return False
    node[word] = random.sample(["null", node[word]], 2)
    return True


def _holding(node: Any, kinds: type | tuple[type, ...]) -> str | None:
    """Return the word under which a field, an array or a map holds a type of one of these kinds."""
    words = ("items", "values", "type") if isinstance(node, dict) else ()
    return next((word for word in words if isinstance(node.get(word), kinds)), None)


def _branch_added(node: Any, random: Random) -> bool:
    free = [kind for kind in PRIMITIVES if kind not in map(get_branch_name, node)] if isinstance(node, list) else []
    if free:
        node.insert(random.randint(0, len(node)), random.choice(free))
    return bool(free)


def _branch_removed(node: Any, random: Random) -> bool:
    simple = [branch for branch in node if isinstance(branch, str)] if isinstance(node, list) else []
    if simple:
        node.remove(random.choice(simple))
    return bool(simple)


def _branches_reordered(node: Any, random: Random) -> bool:
    if isinstance(node, list):
        node.sort(key=lambda branch: (not isinstance(branch, dict), random.random()))
    return isinstance(node, list) and len(node) > 1


def _symbols_added(node: Any, _: Random) -> bool:
    if not isinstance(node, dict) or "symbols" not in node:
        return False
    node["symbols"] = [*node["symbols"], *(symbol for symbol in ("E", "F") if symbol not in node["symbols"])]
    return True


def _enum_default_set(node: Any, _: Random) -> bool:
    if not isinstance(node, dict) or not node.get("symbols"):
        return False
    node["default"] = node["symbols"][0]
    return True


def _symbols_removed(node: Any, random: Random) -> bool:
    if not isinstance(node, dict) or len(node.get("symbols", ())) < 2:
        return False
    removed = node["symbols"].pop(random.randrange(len(node["symbols"])))
    if node.get("default") == removed or random.random() < 0.5:
        node["default"] = node["symbols"][0]
    return True


def _size_changed(node: Any, _: Random) -> bool:
    if not isinstance(node, dict) or "size" not in node:
        return False
    node["size"] += 1
    return True


def _definition_renamed(node: Any, _: Random) -> bool:
    if not isinstance(node, dict) or not is_named(node):
        return False
    node["name"] += "x"
    return True


def _definition_renamed_with_alias(node: Any, random: Random) -> bool:
    if isinstance(node, dict) and is_named(node):
        node["aliases"] = [*node.get("aliases", ()), node["name"]]
    return _definition_renamed(node, random)


def _namespace_changed(node: Any, random: Random) -> bool:
    if not isinstance(node, dict) or not is_named(node) or "." in node["name"]:
        return False
    node["namespace"] = random.choice(["m", "n", "o", ""])
    return True


def _logical_type_changed(node: Any, random: Random) -> bool:
    if not isinstance(node, dict) or "logicalType" not in node or node["type"] not in LOGICAL:
        return False
    for word in ("logicalType", "precision", "scale"):
        node.pop(word, None)
    node.update(random.choice([*LOGICAL[node["type"]], {}]))
    return True


CHANGES: Final[tuple[Callable[[Any, Random], bool], ...]] = (
    *(_field_added, _field_with_default_added, _field_removed, _fields_reordered, _field_renamed),
    *(_field_renamed_with_alias, _field_alias_of_another, _field_default_changed, _doc_changed),
    *(_type_widened, _type_narrowed, _type_changed, _made_nullable),
    *(_branch_added, _branch_removed, _branches_reordered, _union_made_single, _union_made_single, _single_made_union),
    *(_symbols_added, _symbols_added, _symbols_added, _symbols_removed, _symbols_removed, _enum_default_set),
    *(_size_changed, _size_changed, _logical_type_changed, _logical_type_changed, _logical_type_changed),
    *(
        _definition_renamed,
        _definition_renamed_with_alias,
        _definition_renamed_with_alias,
        _namespace_changed,
        _logical_type_changed,
    ),
)

"""Random Avro schemas, versions of them and values, generated from one ``Random``."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

PRIMITIVES = ["null", "boolean", "int", "long", "float", "double", "bytes", "string"]
VALUES: dict[str, Any] = {
    "null": None, "boolean": True, "int": 3, "long": 4, "float": 1.5, "double": 2.5, "bytes": "b", "string": "s",
}  # fmt: skip


class AvroSchemaGenerator:
    """Generator of schemas that use types by name, optionally recursively."""

    def __init__(self, random: Random, *, recursive: bool = True) -> None:
        self.random = random
        self.recursive = recursive
        self.defined: list[str] = []
        self.count = 0

    def schema(self, depth: int = 3) -> Any:
        self.defined, self.count = [], 0
        return self.record(depth)

    def type(self, depth: int, *, union: bool = True) -> Any:  # noqa: PLR0911 - one for each kind of type
        kinds = ["primitive"] * 3 + ["name"]
        if depth > 0:
            kinds += ["record", "record", "enum", "fixed", "array", "map"] + ["union"] * (2 if union else 0)
        match self.random.choice(kinds):
            case "record":
                return self.record(depth - 1)
            case "enum":
                return self.enum()
            case "fixed":
                return self.define_type({"type": "fixed", "size": self.random.randint(0, 3)})
            case "array":
                return {"type": "array", "items": self.type(depth - 1)}
            case "map":
                return {"type": "map", "values": self.type(depth - 1)}
            case "union":
                return self.union(depth - 1)
            case "name" if self.defined:
                return self.random.choice(self.defined)
            case _:
                return self.random.choice(PRIMITIVES)

    def name(self) -> str:
        self.count += 1
        return f"T{self.count}"

    def define_type(self, value: dict[str, Any]) -> dict[str, Any]:
        value["name"] = self.name()
        if self.random.random() < 0.2:
            value["aliases"] = [f"T{self.random.randint(1, 6)}x"]
        self.defined.append(value["name"])
        return value

    def enum(self) -> dict[str, Any]:
        symbols = self.random.sample(["A", "B", "C", "D"], self.random.randint(1, 4))
        value = self.define_type({"type": "enum", "symbols": symbols})
        if self.random.random() < 0.3:
            value["default"] = symbols[0]
        return value

    def record(self, depth: int) -> dict[str, Any]:
        value: dict[str, Any] = {"type": "record", "name": self.name()}
        if self.recursive:
            self.defined.append(value["name"])
        value["fields"] = [self.field(name, depth) for name in "abcd"[: self.random.randint(0, 4)]]
        if not self.recursive:
            self.defined.append(value["name"])
        return value

    def field(self, name: str, depth: int) -> dict[str, Any]:
        field = {"name": name, "type": self.type(depth)}
        if self.random.random() < 0.4:
            give_default(field, self.random)
        return field

    def union(self, depth: int) -> list[Any]:
        branches: dict[str, Any] = {}
        for _ in range(self.random.randint(1, 4)):
            defined_count = len(self.defined)
            branch = self.type(depth, union=False)
            if branches.setdefault(get_branch_name(branch), branch) is not branch:
                del self.defined[defined_count:]  # the branch is left out, and what it defined with it
        return list(branches.values())


def get_branch_name(branch: Any) -> str:
    return branch if isinstance(branch, str) else branch.get("name", branch["type"])


def give_default(field: dict[str, Any], random: Random) -> None:
    """Add a default to a field if its type has a simple one."""
    kind = field["type"]
    if isinstance(kind, list) and kind:
        kind = random.choice(kind)
    if isinstance(kind, str) and kind in VALUES:
        field["default"] = VALUES[kind]
    elif isinstance(kind, dict) and kind["type"] in ("array", "map"):
        field["default"] = [] if kind["type"] == "array" else {}
    elif isinstance(kind, dict) and kind["type"] == "enum":
        field["default"] = kind["symbols"][0]


def evolve_schema(schema: Any, random: Random, changes: int) -> Any:
    """Return another version of a schema."""
    schema = copy.deepcopy(schema)
    for _ in range(changes):
        node = random.choice(list(iterate_nodes(schema)))
        change_node(node, random)
    return schema


def iterate_nodes(node: Any) -> Any:
    """Yield every object and every union of a schema."""
    if isinstance(node, dict):
        yield node
        for field in node.get("fields", ()):
            yield field
            yield from iterate_nodes(field["type"])
        for word in ("items", "values"):
            if word in node:
                yield from iterate_nodes(node[word])
    elif isinstance(node, list):
        yield node
        for branch in node:
            yield from iterate_nodes(branch)


def change_node(node: Any, random: Random) -> None:
    """Change a node as people do."""
    match node:
        case list():
            change_union(node, random)
        case {"type": "record", "fields": list() as fields}:
            change_record(node, fields, random)
        case {"type": "enum", "symbols": list() as symbols}:
            change_enum(node, symbols, random)
        case {"type": "fixed"}:
            if random.random() < 0.3:
                node["size"] += 1
            else:
                rename_definition(node, random)
        case {"items": str() as kind} | {"values": str() as kind} if kind in VALUES:
            node["items" if "items" in node else "values"] = random.choice(PRIMITIVES)
        case {"name": str(), "type": _}:
            change_field(node, random)
        case _:
            pass


def rename_definition(definition: dict[str, Any], random: Random) -> None:
    """Rename a definition; if the name is used elsewhere, the schema may become invalid."""
    old_name = definition["name"]
    definition["name"] = random.choice([old_name + "x", "ns." + old_name, old_name])
    if random.random() < 0.6:
        definition["aliases"] = [random.choice([old_name, "ns." + old_name])]


def change_union(union: list[Any], random: Random) -> None:
    if random.random() < 0.5 and union:
        union.remove(random.choice(union))
        return
    taken = {get_branch_name(branch) for branch in union}
    free = [kind for kind in PRIMITIVES if kind not in taken]
    if free:
        union.insert(random.randint(0, len(union)), random.choice(free))


def change_record(record: dict[str, Any], fields: list[Any], random: Random) -> None:
    match random.choice(["add", "add", "remove", "order", "rename"]):
        case "add":
            name = random.choice("efgh")
            if all(field["name"] != name for field in fields):
                field = {"name": name, "type": random.choice([["null", "int"], "int", "string"])}
                if random.random() < 0.7:
                    give_default(field, random)
                fields.insert(random.randint(0, len(fields)), field)
        case "remove" if fields and isinstance(fields[0]["type"], str):
            fields.pop(0)
        case "order":
            fields.reverse()
        case _:
            rename_definition(record, random)


def change_enum(enum: dict[str, Any], symbols: list[str], random: Random) -> None:
    if random.random() < 0.4 and len(symbols) > 1:
        removed = symbols.pop()
        if enum.get("default") == removed:
            del enum["default"]
    elif random.random() < 0.5:
        enum["symbols"] = [*symbols, *({"E", "F"} - set(symbols))]
    else:
        rename_definition(enum, random)


def change_field(field: dict[str, Any], random: Random) -> None:
    match random.choice(["type", "default", "rename", "nullable"]):
        case "type" if isinstance(field["type"], str) and field["type"] in VALUES:
            field["type"] = random.choice(PRIMITIVES)
            field.pop("default", None)
        case "default":
            give_default(field, random)
        case "rename":
            field["aliases"] = [field["name"]] if random.random() < 0.7 else []
            field["name"] += "y"
        case "nullable" if isinstance(field["type"], str) and field["type"] != "null":
            field["type"] = ["null", field["type"]]
            field.pop("default", None)
        case _:
            pass


def create_value(schema: Any, random: Random, types: dict[str, Any] | None = None) -> Any:  # noqa: PLR0911 - by kind
    """Return a value of a schema without recursion; a union's value names its branch."""
    if types is None:
        types = {node["name"]: node for node in iterate_nodes(schema) if isinstance(node, dict) and is_named(node)}
    match types.get(schema, schema) if isinstance(schema, str) else schema:
        case list():
            branch = random.choice(schema)
            value = create_value(branch, random, types)
            return (
                (get_branch_name(branch), value)
                if get_branch_kind(branch, types) in ("record", "enum", "fixed")
                else value
            )
        case {"type": "record", "fields": fields}:
            return {field["name"]: create_value(field["type"], random, types) for field in fields}
        case {"type": "enum", "symbols": symbols}:
            return random.choice(symbols)
        case {"type": "fixed", "size": size}:
            return random.randbytes(size)
        case {"items": items}:
            return [create_value(items, random, types) for _ in range(random.randint(1, 3))]
        case {"values": values}:
            return {"k": create_value(values, random, types)}
        case kind:
            return create_primitive(kind, random)


def is_named(node: dict[str, Any]) -> bool:
    """Return whether a node defines a named type; fields have names, too."""
    return node.get("type") == "record" or "symbols" in node or "size" in node


def get_branch_kind(branch: Any, types: dict[str, Any]) -> str:
    branch = types.get(branch, branch) if isinstance(branch, str) else branch
    return branch if isinstance(branch, str) else branch["type"]


def create_primitive(kind: str, random: Random) -> Any:
    numbers = {"int": random.randint(-(2**31), 2**31 - 1), "long": random.randint(-(2**63), 2**63 - 1)}
    texts = {"string": random.choice(["", "text", "é"]), "bytes": random.choice([b"", b"text"])}
    return {**VALUES, **numbers, **texts}[kind]

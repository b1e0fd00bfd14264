"""Random Avro schemas, versions of them, and data: from one ``Random``, so hypothesis and scripts can drive it."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

PRIMITIVES = ["null", "boolean", "int", "long", "float", "double", "bytes", "string"]
VALUES: dict[str, Any] = {
    "null": None, "boolean": True, "int": 3, "long": 4, "float": 1.5, "double": 2.5, "bytes": "b", "string": "s",
}  # fmt: skip


class Schemas:
    """Makes a schema whose names are used again, recursively where that is wanted."""

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
                return self.named({"type": "fixed", "size": self.random.randint(0, 3)})
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

    def named(self, value: dict[str, Any]) -> dict[str, Any]:
        value["name"] = self.name()
        if self.random.random() < 0.2:
            value["aliases"] = [f"T{self.random.randint(1, 6)}x"]
        self.defined.append(value["name"])
        return value

    def enum(self) -> dict[str, Any]:
        symbols = self.random.sample(["A", "B", "C", "D"], self.random.randint(1, 4))
        value = self.named({"type": "enum", "symbols": symbols})
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
            known = len(self.defined)
            branch = self.type(depth, union=False)
            if branches.setdefault(branch_name(branch), branch) is not branch:
                del self.defined[known:]  # the branch is left out, and what it defined with it
        return list(branches.values())


def branch_name(branch: Any) -> str:
    return branch if isinstance(branch, str) else branch.get("name", branch["type"])


def give_default(field: dict[str, Any], random: Random) -> None:
    """Give a field a default where that is simple."""
    kind = field["type"]
    if isinstance(kind, list) and kind:
        kind = random.choice(kind)
    if isinstance(kind, str) and kind in VALUES:
        field["default"] = VALUES[kind]
    elif isinstance(kind, dict) and kind["type"] in ("array", "map"):
        field["default"] = [] if kind["type"] == "array" else {}
    elif isinstance(kind, dict) and kind["type"] == "enum":
        field["default"] = kind["symbols"][0]


def evolved(schema: Any, random: Random, changes: int) -> Any:
    """Return another version of a schema."""
    schema = copy.deepcopy(schema)
    for _ in range(changes):
        place = random.choice(list(places(schema)))
        change(place, random)
    return schema


def places(node: Any) -> Any:
    """Yield every object and every union of a schema."""
    if isinstance(node, dict):
        yield node
        for field in node.get("fields", ()):
            yield field
            yield from places(field["type"])
        for word in ("items", "values"):
            if word in node:
                yield from places(node[word])
    elif isinstance(node, list):
        yield node
        for branch in node:
            yield from places(branch)


def change(place: Any, random: Random) -> None:
    """Change one place as people do."""
    match place:
        case list():
            change_union(place, random)
        case {"type": "record", "fields": list() as fields}:
            change_record(place, fields, random)
        case {"type": "enum", "symbols": list() as symbols}:
            change_enum(place, symbols, random)
        case {"type": "fixed"}:
            if random.random() < 0.3:
                place["size"] += 1
            else:
                rename(place, random)
        case {"items": str() as kind} | {"values": str() as kind} if kind in VALUES:
            place["items" if "items" in place else "values"] = random.choice(PRIMITIVES)
        case {"name": str(), "type": _}:
            change_field(place, random)
        case _:
            pass


def rename(place: dict[str, Any], random: Random) -> None:
    """Rename a definition; where the name is used elsewhere, the schema may not parse, and is left out."""
    old = place["name"]
    place["name"] = random.choice([old + "x", "ns." + old, old])
    if random.random() < 0.6:
        place["aliases"] = [random.choice([old, "ns." + old])]


def change_union(place: list[Any], random: Random) -> None:
    if random.random() < 0.5 and place:
        place.remove(random.choice(place))
        return
    taken = {branch_name(branch) for branch in place}
    free = [kind for kind in PRIMITIVES if kind not in taken]
    if free:
        place.insert(random.randint(0, len(place)), random.choice(free))


def change_record(place: dict[str, Any], fields: list[Any], random: Random) -> None:
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
            rename(place, random)


def change_enum(place: dict[str, Any], symbols: list[str], random: Random) -> None:
    if random.random() < 0.4 and len(symbols) > 1:
        removed = symbols.pop()
        if place.get("default") == removed:
            del place["default"]
    elif random.random() < 0.5:
        place["symbols"] = [*symbols, *({"E", "F"} - set(symbols))]
    else:
        rename(place, random)


def change_field(place: dict[str, Any], random: Random) -> None:
    match random.choice(["type", "default", "rename", "nullable"]):
        case "type" if isinstance(place["type"], str) and place["type"] in VALUES:
            place["type"] = random.choice(PRIMITIVES)
            place.pop("default", None)
        case "default":
            give_default(place, random)
        case "rename":
            place["aliases"] = [place["name"]] if random.random() < 0.7 else []
            place["name"] += "y"
        case "nullable" if isinstance(place["type"], str) and place["type"] != "null":
            place["type"] = ["null", place["type"]]
            place.pop("default", None)
        case _:
            pass


def datum(schema: Any, random: Random, types: dict[str, Any] | None = None) -> Any:  # noqa: PLR0911 - by kind
    """Return a value that a schema without recursion can write; a union's value names its branch."""
    if types is None:
        types = {place["name"]: place for place in places(schema) if isinstance(place, dict) and is_named(place)}
    match types.get(schema, schema) if isinstance(schema, str) else schema:
        case list():
            branch = random.choice(schema)
            value = datum(branch, random, types)
            return (branch_name(branch), value) if branch_kind(branch, types) in ("record", "enum", "fixed") else value
        case {"type": "record", "fields": fields}:
            return {field["name"]: datum(field["type"], random, types) for field in fields}
        case {"type": "enum", "symbols": symbols}:
            return random.choice(symbols)
        case {"type": "fixed", "size": size}:
            return random.randbytes(size)
        case {"items": items}:
            return [datum(items, random, types) for _ in range(random.randint(1, 3))]
        case {"values": values}:
            return {"k": datum(values, random, types)}
        case kind:
            return written(kind, random)


def is_named(place: dict[str, Any]) -> bool:
    """Whether a place defines a type; a field has a name, too."""
    return place.get("type") == "record" or "symbols" in place or "size" in place


def branch_kind(branch: Any, types: dict[str, Any]) -> str:
    branch = types.get(branch, branch) if isinstance(branch, str) else branch
    return branch if isinstance(branch, str) else branch["type"]


def written(kind: str, random: Random) -> Any:
    figures = {"int": random.randint(-(2**31), 2**31 - 1), "long": random.randint(-(2**63), 2**63 - 1)}
    texts = {"string": random.choice(["", "text", "é"]), "bytes": random.choice([b"", b"text"])}
    return {**VALUES, **figures, **texts}[kind]

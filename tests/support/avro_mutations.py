"""Changes of Avro schemas that a check refuses, as people make them: one place of a random schema at a time."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from support.avro_schemas import PRIMITIVES, Schemas, branch_name, is_named, places

Mutation = Callable[[Any, Random], bool]  #: changes a schema in its place; False where it has none to change

UNREADABLE = {
    "null": ["int", "string"], "boolean": ["int", "string"], "int": ["boolean", "string"], "long": ["int", "string"],
    "float": ["int", "boolean"], "double": ["float", "long"], "bytes": ["int", "null"], "string": ["int", "null"],
}  # fmt: skip


def definitions(schema: Any, kind: str) -> list[dict[str, Any]]:
    return [place for place in places(schema) if isinstance(place, dict) and is_named(place) and place["type"] == kind]


def unions(schema: Any) -> list[list[Any]]:
    return [place for place in places(schema) if isinstance(place, list) and place]


def fields(schema: Any) -> list[dict[str, Any]]:
    return [field for record in definitions(schema, "record") for field in record["fields"]]


def rename(schema: Any, random: Random) -> bool:
    """Rename a type, and every use of it."""
    place = random.choice([place for kind in ("record", "enum", "fixed") for place in definitions(schema, kind)])
    old, new = place["name"], random.choice(["Renamed", "V2", place["name"] + "New"])
    place["name"] = new

    def renamed(value: Any) -> Any:
        return new if value == old else value

    for other in places(schema):
        if isinstance(other, list):
            other[:] = [renamed(branch) for branch in other]
            continue
        for word in ("items", "values"):
            if word in other:
                other[word] = renamed(other[word])
    for field in fields(schema):
        field["type"] = renamed(field["type"])
    return True


def resize(schema: Any, random: Random) -> bool:
    found = definitions(schema, "fixed")
    if found:
        random.choice(found)["size"] += random.randint(1, 40)
    return bool(found)


def drop_symbol(schema: Any, random: Random) -> bool:
    found = [place for place in definitions(schema, "enum") if "default" not in place and len(place["symbols"]) > 1]
    if found:
        place = random.choice(found)
        place["symbols"].remove(random.choice(place["symbols"]))
    return bool(found)


def replace_symbol(schema: Any, random: Random) -> bool:
    found = [place for place in definitions(schema, "enum") if "default" not in place]
    if found:
        symbols = random.choice(found)["symbols"]
        symbols[random.randrange(len(symbols))] = "OTHER_THAN_BEFORE"
    return bool(found)


def add_symbol(schema: Any, random: Random) -> bool:
    found = [place for place in definitions(schema, "enum") if "default" not in place]
    if found:
        symbols = random.choice(found)["symbols"]
        symbols.insert(random.randint(0, len(symbols)), "ADDED")
    return bool(found)


def add_field(schema: Any, random: Random) -> bool:
    record = random.choice(definitions(schema, "record"))
    maker = Schemas(random)
    maker.count = 50
    kind = maker.type(random.randint(0, 1))
    record["fields"].insert(random.randint(0, len(record["fields"])), {"name": "added", "type": kind})
    return True


def rename_field(schema: Any, random: Random) -> bool:
    found = [field for field in fields(schema) if "default" not in field]
    if found:
        random.choice(found)["name"] += random.choice(["_new", "2", "_of_the_order"])
    return bool(found)


def drop_field(schema: Any, random: Random) -> bool:
    found = [record for record in definitions(schema, "record") if record["fields"]]
    if found:
        record = random.choice(found)
        record["fields"].pop(random.randrange(len(record["fields"])))
    return bool(found)


def add_alias(schema: Any, random: Random) -> bool:
    found = [record for record in definitions(schema, "record") if len(record["fields"]) > 1]
    if found:
        one, other = random.sample(random.choice(found)["fields"], 2)
        one.setdefault("aliases", []).append(other["name"])
    return bool(found)


def add_aliased_field(schema: Any, random: Random) -> bool:
    """Add a field that another one has as an alias already."""
    found = [
        (record, field["aliases"][-1])
        for record in definitions(schema, "record")
        for field in record["fields"]
        if field.get("aliases")
    ]
    if found:
        record, name = random.choice(found)
        record["fields"].insert(random.randint(0, len(record["fields"])), {"name": name, "type": "int"})
    return bool(found)


def retype(schema: Any, random: Random) -> bool:
    """Give a field, an item or a value a type that cannot be read, or that cannot read."""
    slots = [(field, "type") for field in fields(schema)]
    slots += [
        (place, word)
        for place in places(schema)
        if isinstance(place, dict)
        for word in ("items", "values")
        if word in place
    ]
    slots = [(place, word) for place, word in slots if not isinstance(place[word], list)]
    if not slots:
        return False
    place, word = random.choice(slots)
    place.pop("default", None)
    known = place[word]
    simple = known if isinstance(known, str) and known in PRIMITIVES else None
    place[word] = random.choice(
        [*UNREADABLE.get(simple or "", ["int"]), {"type": "array", "items": "int"}, {"type": "map", "values": "string"}]
    )
    return True


def make_optional(schema: Any, random: Random) -> bool:
    """Make a field a union with null; whoever read it before cannot read null."""
    found = [field for field in fields(schema) if not isinstance(field["type"], list) and field["type"] != "null"]
    if found:
        field = random.choice(found)
        field["type"] = ["null", field["type"]]
        field["default"] = None
    return bool(found)


def drop_branch(schema: Any, random: Random) -> bool:
    found = [union for union in unions(schema) if len(union) > 1]
    if found:
        union = random.choice(found)
        union.pop(random.randrange(len(union)))
    return bool(found)


def add_branch(schema: Any, random: Random) -> bool:
    found = unions(schema)
    free = []
    if found:
        union = random.choice(found)
        taken = {branch_name(branch) for branch in union}
        free = [kind for kind in [*PRIMITIVES, "array"] if kind not in taken]
    if free:
        kind = random.choice(free)
        branch = {"type": "array", "items": "int"} if kind == "array" else kind
        union.insert(random.randint(0, len(union)), branch)
    return bool(free)


def change_meaning(schema: Any, random: Random) -> bool:
    found = [
        field["type"] for field in fields(schema) if isinstance(field["type"], dict) and "logicalType" in field["type"]
    ]
    if found:
        kind = random.choice(found)
        if random.random() < 0.5:
            kind["logicalType"] = "timestamp-micros"
        else:
            del kind["logicalType"]
    return bool(found)


def change_default(schema: Any, random: Random) -> bool:
    found = [field for field in fields(schema) if isinstance(field.get("default"), (int, str))]
    if found:
        field = random.choice(found)
        if random.random() < 0.5:
            del field["default"]
        elif not isinstance(field["default"], str) and not isinstance(field["default"], bool):
            field["default"] += 1
    return bool(found)


def lose_doc(schema: Any, random: Random) -> bool:
    found = [field for field in fields(schema) if "doc" in field]
    if found:
        del random.choice(found)["doc"]
    return bool(found)


def change_symbols(schema: Any, random: Random) -> bool:
    found = definitions(schema, "enum")
    if found:
        place = random.choice(found)
        place["symbols"] = [*place["symbols"], "ADDED", "ADDED_TOO"]
        place.pop("default", None)
    return bool(found)


def rename_default_field(schema: Any, random: Random) -> bool:
    found = [field for field in fields(schema) if "default" in field]
    if found:
        random.choice(found)["name"] = "renamed"
    return bool(found)


def prepare(schema: Any, mutations: list[Mutation], random: Random) -> None:
    """Give a schema what a mutation needs and random schemas do not have."""
    if not fields(schema):
        return
    field = random.choice(fields(schema))
    if mutations == [add_aliased_field]:
        field["aliases"] = ["formerly"]
    elif mutations == [change_meaning]:
        field["type"] = {"type": "long", "logicalType": "timestamp-millis"}
        field.pop("default", None)
    elif mutations == [lose_doc]:
        field["doc"] = "what it is about"


BACKWARD: dict[str, list[Mutation]] = {
    "AVRO_NAME_CHANGED": [rename],
    "AVRO_FIXED_SIZE_CHANGED": [resize],
    "AVRO_ENUM_SYMBOLS_MISSING": [drop_symbol, replace_symbol],
    "AVRO_FIELD_DEFAULT_MISSING": [add_field, rename_field],
    "AVRO_FIELD_AMBIGUOUS": [add_alias],
    "AVRO_TYPE_CHANGED": [retype],
    "AVRO_UNION_BRANCH_MISSING": [drop_branch],
    "AVRO_LOGICAL_TYPE_CHANGED": [change_meaning],
    "AVRO_DEFAULT_CHANGED": [change_default],
    "AVRO_DOC_LOST": [lose_doc],
    "AVRO_ENUM_DEFAULT_MISSING": [change_symbols],
    "AVRO_FIELD_RENAMED": [rename_default_field],
}  #: changes of a reader
FORWARD: dict[str, list[Mutation]] = {
    "AVRO_NAME_CHANGED": [rename],
    "AVRO_FIXED_SIZE_CHANGED": [resize],
    "AVRO_ENUM_SYMBOLS_MISSING": [add_symbol, replace_symbol],
    "AVRO_FIELD_DEFAULT_MISSING": [drop_field, rename_field],
    "AVRO_FIELD_AMBIGUOUS": [add_aliased_field],
    "AVRO_TYPE_CHANGED": [retype, make_optional],
    "AVRO_UNION_BRANCH_MISSING": [add_branch],
    "AVRO_LOGICAL_TYPE_CHANGED": [change_meaning],
}  #: changes of a writer


def mutated(mutations: list[Mutation], random: Random) -> Iterator[tuple[Any, Any]]:
    """Yield schemas and what one mutation made of them, for ever."""
    while True:
        schema = Schemas(random).schema(depth=4)
        prepare(schema, mutations, random)
        changed = copy.deepcopy(schema)
        if random.choice(mutations)(changed, random) and changed != schema:
            yield schema, changed

"""Random single changes of Avro schemas, each of which violates a check."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from support.avro_schemas import PRIMITIVES, AvroSchemaGenerator, get_branch_name, is_named, iterate_nodes

Mutation = Callable[[Any, Random], bool]  #: changes a schema in place; returns False if there is nothing to change

UNREADABLE = {
    "null": ["int", "string"], "boolean": ["int", "string"], "int": ["boolean", "string"], "long": ["int", "string"],
    "float": ["int", "boolean"], "double": ["float", "long"], "bytes": ["int", "null"], "string": ["int", "null"],
}  # fmt: skip


def list_definitions(schema: Any, kind: str) -> list[dict[str, Any]]:
    return [
        node for node in iterate_nodes(schema) if isinstance(node, dict) and is_named(node) and node["type"] == kind
    ]


def list_unions(schema: Any) -> list[list[Any]]:
    return [node for node in iterate_nodes(schema) if isinstance(node, list) and node]


def list_fields(schema: Any) -> list[dict[str, Any]]:
    return [field for record in list_definitions(schema, "record") for field in record["fields"]]


def rename_type(schema: Any, random: Random) -> bool:
    """Rename a type and all its uses."""
    definition = random.choice(
        [definition for kind in ("record", "enum", "fixed") for definition in list_definitions(schema, kind)]
    )
    old_name, new_name = definition["name"], random.choice(["Renamed", "V2", definition["name"] + "New"])
    definition["name"] = new_name

    def replace_name(value: Any) -> Any:
        return new_name if value == old_name else value

    for node in iterate_nodes(schema):
        if isinstance(node, list):
            node[:] = [replace_name(branch) for branch in node]
            continue
        for keyword in ("items", "values"):
            if keyword in node:
                node[keyword] = replace_name(node[keyword])
    for field in list_fields(schema):
        field["type"] = replace_name(field["type"])
    return True


def change_size(schema: Any, random: Random) -> bool:
    candidates = list_definitions(schema, "fixed")
    if candidates:
        random.choice(candidates)["size"] += random.randint(1, 40)
    return bool(candidates)


def drop_symbol(schema: Any, random: Random) -> bool:
    candidates = [
        enum for enum in list_definitions(schema, "enum") if "default" not in enum and len(enum["symbols"]) > 1
    ]
    if candidates:
        enum = random.choice(candidates)
        enum["symbols"].remove(random.choice(enum["symbols"]))
    return bool(candidates)


def replace_symbol(schema: Any, random: Random) -> bool:
    candidates = [enum for enum in list_definitions(schema, "enum") if "default" not in enum]
    if candidates:
        symbols = random.choice(candidates)["symbols"]
        symbols[random.randrange(len(symbols))] = "OTHER_THAN_BEFORE"
    return bool(candidates)


def add_symbol(schema: Any, random: Random) -> bool:
    candidates = [enum for enum in list_definitions(schema, "enum") if "default" not in enum]
    if candidates:
        symbols = random.choice(candidates)["symbols"]
        symbols.insert(random.randint(0, len(symbols)), "ADDED")
    return bool(candidates)


def add_field(schema: Any, random: Random) -> bool:
    record = random.choice(list_definitions(schema, "record"))
    maker = AvroSchemaGenerator(random)
    maker.count = 50
    kind = maker.type(random.randint(0, 1))
    record["fields"].insert(random.randint(0, len(record["fields"])), {"name": "added", "type": kind})
    return True


def rename_field(schema: Any, random: Random) -> bool:
    candidates = [field for field in list_fields(schema) if "default" not in field]
    if candidates:
        random.choice(candidates)["name"] += random.choice(["_new", "2", "_of_the_order"])
    return bool(candidates)


def drop_field(schema: Any, random: Random) -> bool:
    candidates = [record for record in list_definitions(schema, "record") if record["fields"]]
    if candidates:
        record = random.choice(candidates)
        record["fields"].pop(random.randrange(len(record["fields"])))
    return bool(candidates)


def add_alias(schema: Any, random: Random) -> bool:
    candidates = [record for record in list_definitions(schema, "record") if len(record["fields"]) > 1]
    if candidates:
        field, other_field = random.sample(random.choice(candidates)["fields"], 2)
        field.setdefault("aliases", []).append(other_field["name"])
    return bool(candidates)


def add_aliased_field(schema: Any, random: Random) -> bool:
    """Add a field whose name is already an alias of another field."""
    candidates = [
        (record, field["aliases"][-1])
        for record in list_definitions(schema, "record")
        for field in record["fields"]
        if field.get("aliases")
    ]
    if candidates:
        record, name = random.choice(candidates)
        record["fields"].insert(random.randint(0, len(record["fields"])), {"name": name, "type": "int"})
    return bool(candidates)


def change_type(schema: Any, random: Random) -> bool:
    """Change the type of a field, item or value to an incompatible one."""
    slots = [(field, "type") for field in list_fields(schema)]
    slots += [
        (node, keyword)
        for node in iterate_nodes(schema)
        if isinstance(node, dict)
        for keyword in ("items", "values")
        if keyword in node
    ]
    slots = [(node, keyword) for node, keyword in slots if not isinstance(node[keyword], list)]
    if not slots:
        return False
    node, keyword = random.choice(slots)
    node.pop("default", None)
    old_type = node[keyword]
    primitive = old_type if isinstance(old_type, str) and old_type in PRIMITIVES else None
    node[keyword] = random.choice(
        [
            *UNREADABLE.get(primitive or "", ["int"]),
            {"type": "array", "items": "int"},
            {"type": "map", "values": "string"},
        ]
    )
    return True


def make_optional(schema: Any, random: Random) -> bool:
    """Make a field a union with null, which earlier readers cannot read."""
    candidates = [
        field for field in list_fields(schema) if not isinstance(field["type"], list) and field["type"] != "null"
    ]
    if candidates:
        field = random.choice(candidates)
        field["type"] = ["null", field["type"]]
        field["default"] = None
    return bool(candidates)


def drop_branch(schema: Any, random: Random) -> bool:
    candidates = [union for union in list_unions(schema) if len(union) > 1]
    if candidates:
        union = random.choice(candidates)
        union.pop(random.randrange(len(union)))
    return bool(candidates)


def add_branch(schema: Any, random: Random) -> bool:
    candidates = list_unions(schema)
    free = []
    if candidates:
        union = random.choice(candidates)
        taken = {get_branch_name(branch) for branch in union}
        free = [kind for kind in [*PRIMITIVES, "array"] if kind not in taken]
    if free:
        kind = random.choice(free)
        branch = {"type": "array", "items": "int"} if kind == "array" else kind
        union.insert(random.randint(0, len(union)), branch)
    return bool(free)


def change_meaning(schema: Any, random: Random) -> bool:
    candidates = [
        field["type"]
        for field in list_fields(schema)
        if isinstance(field["type"], dict) and "logicalType" in field["type"]
    ]
    if candidates:
        kind = random.choice(candidates)
        if random.random() < 0.5:
            kind["logicalType"] = "timestamp-micros"
        else:
            del kind["logicalType"]
    return bool(candidates)


def change_default(schema: Any, random: Random) -> bool:
    candidates = [field for field in list_fields(schema) if isinstance(field.get("default"), (int, str))]
    if candidates:
        field = random.choice(candidates)
        if random.random() < 0.5:
            del field["default"]
        elif not isinstance(field["default"], str) and not isinstance(field["default"], bool):
            field["default"] += 1
    return bool(candidates)


def drop_doc(schema: Any, random: Random) -> bool:
    candidates = [field for field in list_fields(schema) if "doc" in field]
    if candidates:
        del random.choice(candidates)["doc"]
    return bool(candidates)


def change_symbols(schema: Any, random: Random) -> bool:
    candidates = list_definitions(schema, "enum")
    if candidates:
        enum = random.choice(candidates)
        enum["symbols"] = [*enum["symbols"], "ADDED", "ADDED_TOO"]
        enum.pop("default", None)
    return bool(candidates)


def drop_symbol_with_default(schema: Any, random: Random) -> bool:
    candidates = [enum for enum in list_definitions(schema, "enum") if len(enum["symbols"]) > 1]
    if candidates:
        enum = random.choice(candidates)
        removed = random.choice([symbol for symbol in enum["symbols"] if symbol != enum.get("default")])
        enum["symbols"].remove(removed)
        enum.setdefault("default", enum["symbols"][0])
    return bool(candidates)


def rename_default_field(schema: Any, random: Random) -> bool:
    candidates = [field for field in list_fields(schema) if "default" in field]
    if candidates:
        random.choice(candidates)["name"] = "renamed"
    return bool(candidates)


def prepare_schema(schema: Any, mutations: list[Mutation], random: Random) -> None:
    """Add members that a mutation needs and random schemas lack."""
    if not list_fields(schema):
        return
    field = random.choice(list_fields(schema))
    if mutations == [add_aliased_field]:
        field["aliases"] = ["formerly"]
    elif mutations == [change_meaning]:
        field["type"] = {"type": "long", "logicalType": "timestamp-millis"}
        field.pop("default", None)
    elif mutations == [drop_doc]:
        field["doc"] = "what it is about"


BACKWARD: dict[str, list[Mutation]] = {
    "AVRO_NAME_CHANGED": [rename_type],
    "AVRO_FIXED_SIZE_CHANGED": [change_size],
    "AVRO_ENUM_SYMBOLS_MISSING": [drop_symbol, replace_symbol],
    "AVRO_FIELD_DEFAULT_MISSING": [add_field, rename_field],
    "AVRO_FIELD_AMBIGUOUS": [add_alias],
    "AVRO_TYPE_CHANGED": [change_type],
    "AVRO_UNION_BRANCH_MISSING": [drop_branch],
    "AVRO_LOGICAL_TYPE_CHANGED": [change_meaning],
    "AVRO_DEFAULT_CHANGED": [change_default],
    "AVRO_DOC_LOST": [drop_doc],
    "AVRO_ENUM_DEFAULT_MISSING": [change_symbols],
    "AVRO_ENUM_SYMBOLS_REMOVED": [drop_symbol_with_default],
    "AVRO_FIELD_RENAMED": [rename_default_field],
}  #: changes of a reader
FORWARD: dict[str, list[Mutation]] = {
    "AVRO_NAME_CHANGED": [rename_type],
    "AVRO_FIXED_SIZE_CHANGED": [change_size],
    "AVRO_ENUM_SYMBOLS_MISSING": [add_symbol, replace_symbol],
    "AVRO_FIELD_DEFAULT_MISSING": [drop_field, rename_field],
    "AVRO_FIELD_AMBIGUOUS": [add_aliased_field],
    "AVRO_TYPE_CHANGED": [change_type, make_optional],
    "AVRO_UNION_BRANCH_MISSING": [add_branch],
    "AVRO_LOGICAL_TYPE_CHANGED": [change_meaning],
}  #: changes of a writer


def generate_mutations(mutations: list[Mutation], random: Random) -> Iterator[tuple[Any, Any]]:
    """Yield pairs of a schema and its mutation, without end."""
    while True:
        schema = AvroSchemaGenerator(random).schema(depth=4)
        prepare_schema(schema, mutations, random)
        changed = copy.deepcopy(schema)
        if random.choice(mutations)(changed, random) and changed != schema:
            yield schema, changed

"""Random annotations of Avro schemas: properties, documentation, aliases, order of members, defaults."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from support.avro_schemas import is_named, iterate_nodes

__all__ = ["add_annotations"]

PROPERTY_NAMES: Final = (
    "zeta",
    "alpha",
    "Beta",
    "_x",
    "\uffee",
    "\U0001f600",
    "é",
    "connect.name",
    "avro.java.string",
    "owner",
)
PROPERTY_VALUES: Final[tuple[Any, ...]] = (
    *(1, 0, 1.5, -0.0, 1e20, "x", "", 'é\u2028"/', None, True, {}, []),
    *([1, "b", {"z": 1, "a": [2]}], {"b": 1, "a": {"d": 2, "c": None}}, {"\U0001f600": 1, "\uffee": 2}),
)
LOGICAL_TYPES: Final[tuple[Any, ...]] = (
    *("decimal", "decimal", "decimal", "big-decimal", "date", "time-millis", "time-micros", "time-nanos", "of-ours", 1),
    *("timestamp-millis", "timestamp-micros", "local-timestamp-millis", "local-timestamp-micros"),
)  # without uuid, duration and nanos: Avro 1.11 in the jar differs from the reference's 1.12
PRECISIONS: Final[tuple[Any, ...]] = (4, 4, 4, 1, 0, 0, "0", 4.0, 99)


def add_annotations(schema: Any, random: Random) -> Any:
    """Add properties, documentation, aliases and defaults to a schema, and reorder its members."""
    for node in [node for node in iterate_nodes(schema) if isinstance(node, dict)]:
        defines_type = is_named(node)
        for _ in range(random.choice([0, 0, 1, 2, 3])):
            node.setdefault(random.choice(PROPERTY_NAMES), random.choice(PROPERTY_VALUES))
        if random.random() < 0.3:
            node["logicalType"] = random.choice(LOGICAL_TYPES)
            for keyword in ("precision", "scale"):
                if random.random() < 0.6:
                    node[keyword] = random.choice(PRECISIONS)
        if "name" in node and random.random() < 0.3:
            node["doc"] = random.choice(["", "said", "é"])
        if "name" in node and random.random() < 0.2:
            names = ["zz", "aa", "Mm", "_q", *(["m.b", "n.a"] if defines_type else [])]
            node["aliases"] = random.sample(names, random.randint(1, 4))
        if not defines_type and "name" in node and random.random() < 0.3:
            node.update(_create_default(node["type"], random))
        if random.random() < 0.3:
            members = random.sample(list(node.items()), len(node))
            node.clear()
            node.update(members)
    return schema


def _create_default(kind: Any, random: Random) -> dict[str, Any]:
    """Return a default that can be written in several ways, if the type has one."""
    number = random.choice([4, 16777217, 1.1, -0.0, 1e20, 1e-5, 0.001, 1e300])
    match kind:
        case "float" | "double" | ["float" | "double", *_]:
            return {"default": number}
        case {"type": "array", "items": "float" | "double" | ["float" | "double", *_]}:
            return {"default": [number, 1]}
        case {"type": "map", "values": "float" | "double" | ["float" | "double", *_]}:
            return {"default": {"b": number, "a": 1}}
        case {"type": "record", "fields": list() as fields}:
            return {"default": {field["name"]: 1 for field in fields if field["type"] in ("float", "double", "int")}}
        case _:
            return {}

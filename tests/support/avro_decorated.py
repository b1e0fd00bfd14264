"""Random Avro schemas with what a text may say in several ways: properties, documentation, aliases, order, defaults."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from support.avro_schemas import is_named, places

__all__ = ["decorated"]

WORDS: Final = ("zeta", "alpha", "Beta", "_x", "\uffee", "\U0001f600", "é", "connect.name", "avro.java.string", "owner")
VALUES: Final[tuple[Any, ...]] = (
    *(1, 0, 1.5, -0.0, 1e20, "x", "", 'é\u2028"/', None, True, {}, []),
    *([1, "b", {"z": 1, "a": [2]}], {"b": 1, "a": {"d": 2, "c": None}}, {"\U0001f600": 1, "\uffee": 2}),
)
LOGICAL: Final[tuple[Any, ...]] = (
    *("decimal", "decimal", "decimal", "big-decimal", "date", "time-millis", "time-micros", "time-nanos", "of-ours", 1),
    *("timestamp-millis", "timestamp-micros", "local-timestamp-millis", "local-timestamp-micros"),
)  # not those in which Avro 1.11, which the jar brings, differs from the 1.12 of the reference: uuid, duration, nanos
FIGURES: Final[tuple[Any, ...]] = (4, 4, 4, 1, 0, 0, "0", 4.0, 99)


def decorated(schema: Any, random: Random) -> Any:
    """Put properties, documentation and aliases on every place of a schema, and its words out of order."""
    for place in [place for place in places(schema) if isinstance(place, dict)]:
        named = is_named(place)
        for _ in range(random.choice([0, 0, 1, 2, 3])):
            place.setdefault(random.choice(WORDS), random.choice(VALUES))
        if random.random() < 0.3:
            place["logicalType"] = random.choice(LOGICAL)
            for word in ("precision", "scale"):
                if random.random() < 0.6:
                    place[word] = random.choice(FIGURES)
        if "name" in place and random.random() < 0.3:
            place["doc"] = random.choice(["", "said", "é"])
        if "name" in place and random.random() < 0.2:
            wanted = ["zz", "aa", "Mm", "_q", *(["m.b", "n.a"] if named else [])]
            place["aliases"] = random.sample(wanted, random.randint(1, 4))
        if not named and "name" in place and random.random() < 0.3:
            place.update(_default(place["type"], random))
        if random.random() < 0.3:
            words = random.sample(list(place.items()), len(place))
            place.clear()
            place.update(words)
    return schema


def _default(kind: Any, random: Random) -> dict[str, Any]:
    """Return a default that has several ways of being written, where the type has one."""
    figure = random.choice([4, 16777217, 1.1, -0.0, 1e20, 1e-5, 0.001, 1e300])
    match kind:
        case "float" | "double" | ["float" | "double", *_]:
            return {"default": figure}
        case {"type": "array", "items": "float" | "double" | ["float" | "double", *_]}:
            return {"default": [figure, 1]}
        case {"type": "map", "values": "float" | "double" | ["float" | "double", *_]}:
            return {"default": {"b": figure, "a": 1}}
        case {"type": "record", "fields": list() as fields}:
            return {"default": {field["name"]: 1 for field in fields if field["type"] in ("float", "double", "int")}}
        case _:
            return {}

"""Random Avro schemas with all that Avro has, and other versions of them, each told by the names of its changes.

A schema here is a list of values, of which each may lean on those before it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

from support.avro_schemas import PRIMITIVES, VALUES, Schemas, branch_name, give_default, is_named, places

__all__ = ["FEATURES", "RichSchemas", "features", "version"]

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


class RichSchemas(Schemas):
    """Schemas with namespaces, logical types, documentation, properties, order, and other schemas to lean on."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.spaces = [""]

    def schemas(self) -> list[Any]:
        """Return the dependencies, then the schema that references them."""
        self.defined, self.count = [], 0
        leaned_on = [self.record(1) for _ in range(self.random.choice([0, 0, 0, 1, 2]))]
        return [*leaned_on, self.record(3)]

    def type(self, depth: int, *, union: bool = True) -> Any:
        made = self.nested(depth) if depth > 0 and self.random.random() < 0.08 else super().type(depth, union=union)
        if isinstance(made, str) and "." not in made and made not in VALUES and self.spaces[-1]:
            return "long"  # a name without a namespace means another type here
        if isinstance(made, str) and made in LOGICAL and self.random.random() < 0.25:
            return {"type": made, **self.random.choice(LOGICAL[made])}
        return made

    def nested(self, depth: int) -> dict[str, Any]:
        """Make arrays and maps of each other around a type, so that paths lead through several of them."""
        made: Any = self.union(depth - 1) if self.random.random() < 0.6 else self.type(depth - 1, union=False)
        for _ in range(self.random.randint(1, 3)):
            made = self.random.choice([{"type": "array", "items": made}, {"type": "map", "values": made}])
        return made if isinstance(made, dict) else {"type": "array", "items": made}

    def named(self, value: dict[str, Any]) -> dict[str, Any]:
        self.place(value)
        if value["type"] == "fixed" and value["size"] and self.random.random() < 0.3:
            value.update(self.random.choice(LOGICAL["fixed"]))
        self.defined.append(self.full_name(value))
        return value

    def place(self, value: dict[str, Any]) -> None:
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
        self.place(value)
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


def features(schemas: list[Any]) -> Tags:
    """Say what a schema has."""
    found: Tags = {"leans on"} if len(schemas) > 1 else set()
    uses: list[str] = []
    for schema in schemas:
        found |= {tag for place in places(schema) for tag in _features(place)}
        uses += list(_uses(schema))
        found |= {"recursive"} if _recursive(schema, ()) else set()
    return found | ({"named twice"} if len(uses) > len(set(uses)) else set())


def version(schemas: list[Any], random: Random) -> tuple[list[Any], Tags]:
    """Return another version of a schema, and the names of what was changed."""
    changed = copy.deepcopy(schemas)
    tags: Tags = set()
    wanted = random.choice([1, 1, 1, 2, 3])
    for _ in range(20 * wanted):
        place = random.choice(list(places(random.choice(changed))))
        change = random.choice(CHANGES)
        if len(tags) < wanted and change(place, random):
            tags.add(change.__name__.lstrip("_").replace("_", " "))
    return changed, tags


def _features(place: Any) -> Iterator[str]:
    if isinstance(place, list):
        yield "union"
        return
    kind = place.get("type")
    if is_named(place):
        named = ("enum", "fixed")
        yield from (name for name in named if name == kind)
        if kind == "enum" and "default" in place:
            yield "enum default"
        if "." in place["name"] or place.get("namespace"):
            yield "namespace"
    elif "name" in place and "default" in place:
        yield "field default"
    yield from (word for word, has in (("array", "items"), ("map", "values")) if has in place)
    yield from (word for word, has in (("alias", "aliases"), ("logical", "logicalType")) if has in place)


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


def _is_record(place: Any) -> bool:
    return isinstance(place, dict) and place.get("type") == "record" and "fields" in place


def _is_field(place: Any) -> bool:
    return isinstance(place, dict) and "name" in place and not is_named(place)


def _field_added(place: Any, random: Random) -> bool:
    return _add_field(place, random, with_default=False)


def _field_with_default_added(place: Any, random: Random) -> bool:
    return _add_field(place, random, with_default=True)


def _add_field(place: Any, random: Random, *, with_default: bool) -> bool:
    if not _is_record(place):
        return False
    name = random.choice([name for name in "efgh" if name not in {field["name"] for field in place["fields"]}] or [""])
    field: dict[str, Any] = {"name": name, "type": random.choice([["null", "int"], "int", "string", ["int", "null"]])}
    if with_default:
        give_default(field, random)
    place["fields"].insert(random.randint(0, len(place["fields"])), field)
    return bool(name) or not place["fields"].remove(field)


def _field_removed(place: Any, random: Random) -> bool:
    simple = [field for field in place["fields"] if isinstance(field["type"], str)] if _is_record(place) else []
    if simple:
        place["fields"].remove(random.choice(simple))
    return bool(simple)


def _fields_reordered(place: Any, random: Random) -> bool:
    if not _is_record(place) or len(place["fields"]) < 2:
        return False
    simple = [field for field in place["fields"] if isinstance(field["type"], str) and field["type"] in VALUES]
    for field in simple:
        place["fields"].remove(field)
        place["fields"].insert(random.randint(0, len(place["fields"])), field)
    return bool(simple)


def _field_renamed(place: Any, _: Random) -> bool:
    if _is_field(place):
        place["name"] += "y"
    return _is_field(place)


def _field_renamed_with_alias(place: Any, random: Random) -> bool:
    name = place["name"] if _is_field(place) else ""
    if name:
        place["aliases"] = [*place.get("aliases", ()), name]
    return _field_renamed(place, random)


def _field_alias_of_another(place: Any, _: Random) -> bool:
    if not _is_record(place) or len(place["fields"]) < 2:
        return False
    first, second = place["fields"][:2]
    first["aliases"] = [second["name"]]
    return True


def _field_default_changed(place: Any, random: Random) -> bool:
    if not _is_field(place) or "default" not in place:
        return False
    if random.random() < 0.4:
        del place["default"]
    elif isinstance(place["default"], (int, float, str)) and not isinstance(place["default"], bool):
        place["default"] = place["default"] * 2
    return True


def _doc_changed(place: Any, random: Random) -> bool:
    if not isinstance(place, dict) or "name" not in place:
        return False
    place["doc"] = random.choice(["new", "other", ""])
    return True


def _type_widened(place: Any, random: Random) -> bool:
    return _retype(place, lambda kind: random.choice(WIDER[kind]) if kind in WIDER else None)


def _type_narrowed(place: Any, random: Random) -> bool:
    narrower = {wide: kind for kind, wides in WIDER.items() for wide in wides if random.random() < 0.7}
    return _retype(place, narrower.get)


def _type_changed(place: Any, random: Random) -> bool:
    return _retype(place, lambda kind: random.choice(PRIMITIVES) if kind in VALUES else None)


def _retype(place: Any, to: Callable[[str], str | None]) -> bool:
    word = next((word for word in ("items", "values", "type") if isinstance(place, dict) and word in place), None)
    kind = place[word] if word else None
    new = to(kind) if isinstance(kind, str) and (word != "type" or _is_field(place)) else None
    if new is None or new == kind:
        return False
    place[word] = new
    if "default" in place:
        place["default"] = VALUES[new]
    return True


def _made_nullable(place: Any, _: Random) -> bool:
    if not _is_field(place) or not isinstance(place["type"], str) or place["type"] == "null":
        return False
    place["type"] = ["null", place["type"]]
    return True


def _union_made_single(place: Any, random: Random) -> bool:
    """Replace a union by one of its branches, in a field, an array or a map."""
    word = _holding(place, list)
    if word is None or not place[word]:
        return False
    place[word] = random.choice(place[word])
    place.pop("default", None)
    return True


def _single_made_union(place: Any, random: Random) -> bool:
    """Put what an array or a map holds into a union."""
    word = _holding(place, (str, dict))
    if word is None or word == "type" or place[word] == "null":
        return False
    place[word] = random.sample(["null", place[word]], 2)
    return True


def _holding(place: Any, kinds: type | tuple[type, ...]) -> str | None:
    """Return the word under which a field, an array or a map holds a type of one of these kinds."""
    words = ("items", "values", "type") if isinstance(place, dict) else ()
    return next((word for word in words if isinstance(place.get(word), kinds)), None)


def _branch_added(place: Any, random: Random) -> bool:
    free = [kind for kind in PRIMITIVES if kind not in map(branch_name, place)] if isinstance(place, list) else []
    if free:
        place.insert(random.randint(0, len(place)), random.choice(free))
    return bool(free)


def _branch_removed(place: Any, random: Random) -> bool:
    simple = [branch for branch in place if isinstance(branch, str)] if isinstance(place, list) else []
    if simple:
        place.remove(random.choice(simple))
    return bool(simple)


def _branches_reordered(place: Any, random: Random) -> bool:
    if isinstance(place, list):
        place.sort(key=lambda branch: (not isinstance(branch, dict), random.random()))
    return isinstance(place, list) and len(place) > 1


def _symbols_added(place: Any, _: Random) -> bool:
    if not isinstance(place, dict) or "symbols" not in place:
        return False
    place["symbols"] = [*place["symbols"], *(one for one in ("E", "F") if one not in place["symbols"])]
    return True


def _enum_default_set(place: Any, _: Random) -> bool:
    if not isinstance(place, dict) or not place.get("symbols"):
        return False
    place["default"] = place["symbols"][0]
    return True


def _symbols_removed(place: Any, random: Random) -> bool:
    if not isinstance(place, dict) or len(place.get("symbols", ())) < 2:
        return False
    removed = place["symbols"].pop(random.randrange(len(place["symbols"])))
    if place.get("default") == removed or random.random() < 0.5:
        place["default"] = place["symbols"][0]
    return True


def _size_changed(place: Any, _: Random) -> bool:
    if not isinstance(place, dict) or "size" not in place:
        return False
    place["size"] += 1
    return True


def _renamed(place: Any, _: Random) -> bool:
    if not isinstance(place, dict) or not is_named(place):
        return False
    place["name"] += "x"
    return True


def _renamed_with_alias(place: Any, random: Random) -> bool:
    if isinstance(place, dict) and is_named(place):
        place["aliases"] = [*place.get("aliases", ()), place["name"]]
    return _renamed(place, random)


def _namespace_changed(place: Any, random: Random) -> bool:
    if not isinstance(place, dict) or not is_named(place) or "." in place["name"]:
        return False
    place["namespace"] = random.choice(["m", "n", "o", ""])
    return True


def _logical_type_changed(place: Any, random: Random) -> bool:
    if not isinstance(place, dict) or "logicalType" not in place or place["type"] not in LOGICAL:
        return False
    for word in ("logicalType", "precision", "scale"):
        place.pop(word, None)
    place.update(random.choice([*LOGICAL[place["type"]], {}]))
    return True


CHANGES: Final[tuple[Callable[[Any, Random], bool], ...]] = (
    *(_field_added, _field_with_default_added, _field_removed, _fields_reordered, _field_renamed),
    *(_field_renamed_with_alias, _field_alias_of_another, _field_default_changed, _doc_changed),
    *(_type_widened, _type_narrowed, _type_changed, _made_nullable),
    *(_branch_added, _branch_removed, _branches_reordered, _union_made_single, _union_made_single, _single_made_union),
    *(_symbols_added, _symbols_added, _symbols_added, _symbols_removed, _symbols_removed, _enum_default_set),
    *(_size_changed, _size_changed, _logical_type_changed, _logical_type_changed, _logical_type_changed),
    *(_renamed, _renamed_with_alias, _renamed_with_alias, _namespace_changed, _logical_type_changed),
)

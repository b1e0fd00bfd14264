"""Avro schemas with small errors, some of which are still valid."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any, Final

from support.avro_schemas import is_named, iterate_nodes

__all__ = ["corrupt_schema"]

VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    0,
    -1,
    1,
    1.5,
    2**31,
    2**63,
    "",
    "b",
    "A",
    "NaN",
    [],
    {},
    [1],
    ["A"],
    {"a": 1},
)
NAMES: Final = (
    "1a",
    "a-b",
    "",
    "int",
    "a..b",
    "é",
    ".a",
    "a.",
    "a.b",
    "record",
    "x.int",
    "a b",
    "_",
    "a.1",
    "null",
    "T1",
)
KEYWORDS: Final = ("type", "name", "namespace", "fields", "items", "values", "symbols", "size", "aliases", "default")
KEYWORDS += ("doc", "order", "logicalType", "precision", "scale")
Corruption = Callable[[Any, Random], None]


def corrupt_schema(schema: Any, random: Random) -> str:
    """Return the text of a schema with one or two errors."""
    schema = copy.deepcopy(schema)
    for node in random.choices(list(iterate_nodes(schema)), k=random.choice([1, 1, 1, 2])):
        random.choice(CORRUPTIONS)(node, random)
    text = json.dumps(schema, ensure_ascii=random.random() < 0.5)
    return random.choice(TEXT_CORRUPTIONS)(text, random) if random.random() < 0.1 else text


def _drop_member(node: Any, random: Random) -> None:
    if isinstance(node, dict) and node:
        node.pop(random.choice(list(node)))


def _replace_value(node: Any, random: Random) -> None:
    if isinstance(node, dict) and node:
        node[random.choice(list(node))] = random.choice(VALUES)


def _add_member(node: Any, random: Random) -> None:
    if isinstance(node, dict):
        node[random.choice(KEYWORDS)] = random.choice(VALUES)


def _change_name(node: Any, random: Random) -> None:
    if isinstance(node, dict) and "name" in node:
        word = random.choice(["name", "name", "namespace", "aliases"])
        name = random.choice(NAMES)
        node[word] = [name] if word == "aliases" else name


def _change_symbol(node: Any, random: Random) -> None:
    if isinstance(node, dict) and isinstance(node.get("symbols"), list):
        node["symbols"] = [*node["symbols"], random.choice([*NAMES, *node["symbols"]])]


def _change_default(node: Any, random: Random) -> None:
    if isinstance(node, dict) and "name" in node:
        node["default"] = random.choice(VALUES)


def _repeat_item(node: Any, random: Random) -> None:
    items = node if isinstance(node, list) else node.get("fields", node.get("symbols"))
    if items and isinstance(items, list):
        items.insert(random.randint(0, len(items)), copy.deepcopy(random.choice(items)))


def _change_order(node: Any, random: Random) -> None:
    if isinstance(node, dict) and "name" in node and not is_named(node):
        node["order"] = random.choice(["ASCENDING", "Ignore", "up", "", None, 1])


def _change_size(node: Any, random: Random) -> None:
    if isinstance(node, dict) and "size" in node:
        node["size"] = random.choice([-1, "4", 4.0, 1e2, 2**31, 2**31 - 1, None, 0, True])


def _change_type(node: Any, random: Random) -> None:
    kinds = [
        "Int",
        "T9",
        "T1",
        "m.T1",
        {"type": "int"},
        {"type": {"type": "int"}},
        {"type": ["int"]},
        [["int"]],
        [],
        {},
    ]
    kind = random.choice([*kinds, ["int", "int"], ["int", {"type": "int"}], {"type": "T1"}, {"type": "array"}])
    if isinstance(node, list):
        node.insert(random.randint(0, len(node)), kind)
    else:
        node[random.choice([word for word in ("type", "items", "values") if word in node] or ["type"])] = kind


def _define_type_twice(node: Any, random: Random) -> None:
    if isinstance(node, dict) and isinstance(node.get("fields"), list):
        named = [field for field in node["fields"] if isinstance(field, dict) and isinstance(field.get("type"), dict)]
        for field in named[:1]:
            again = copy.deepcopy(field["type"])
            if random.random() < 0.5:
                again[random.choice(["doc", "aliases", "p", "size", "symbols"])] = random.choice([["Z"], "d", 3])
            node["fields"].append({"name": "again", "type": again})


def _change_logical_type(node: Any, random: Random) -> None:
    if isinstance(node, dict):
        node["logicalType"] = random.choice(["decimal", "date", "uuid", "duration", "nonsense", 1, None])
        node["precision"] = random.choice([-1, 0, 2, 100, "2", None])
        node["scale"] = random.choice([-1, 0, 3, "1"])


def _add_comment(text: str, random: Random) -> str:
    return random.choice(["/* a */ {}", "// a\n{}", "{} ", "\n\t{}"]).replace("{}", text)


def _break_syntax(text: str, random: Random) -> str:
    node = random.randrange(len(text))
    return random.choice([text[:node], text[:node] + random.choice(',}]":x') + text[node:], text.replace('"', "'")])


def _repeat_member(text: str, random: Random) -> str:
    return text.replace('"name": ', random.choice(['"name": "Q", "name": ', '"doc": "d", "doc": "e", "name": ']), 1)


CORRUPTIONS: Final[tuple[Corruption, ...]] = (
    *(_drop_member, _replace_value, _add_member, _change_name, _change_symbol, _change_default, _repeat_item),
    *(_change_order, _change_size, _change_type, _define_type_twice, _change_logical_type, lambda _, __: None),
)
TEXT_CORRUPTIONS: Final[tuple[Callable[[str, Random], str], ...]] = (_add_comment, _break_syntax, _repeat_member)

"""Avro schemas that are spoiled a little: most are no schemas any more, and some still are."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any, Final

from support.avro_schemas import is_named, places

__all__ = ["spoiled_text"]

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
WORDS: Final = ("type", "name", "namespace", "fields", "items", "values", "symbols", "size", "aliases", "default")
WORDS += ("doc", "order", "logicalType", "precision", "scale")
Spoil = Callable[[Any, Random], None]


def spoiled_text(schema: Any, random: Random) -> str:
    """Return the text of a schema with one thing spoiled, or two."""
    schema = copy.deepcopy(schema)
    for place in random.choices(list(places(schema)), k=random.choice([1, 1, 1, 2])):
        random.choice(SPOILS)(place, random)
    text = json.dumps(schema, ensure_ascii=random.random() < 0.5)
    return random.choice(TEXTS)(text, random) if random.random() < 0.1 else text


def _word_dropped(place: Any, random: Random) -> None:
    if isinstance(place, dict) and place:
        place.pop(random.choice(list(place)))


def _value_replaced(place: Any, random: Random) -> None:
    if isinstance(place, dict) and place:
        place[random.choice(list(place))] = random.choice(VALUES)


def _word_added(place: Any, random: Random) -> None:
    if isinstance(place, dict):
        place[random.choice(WORDS)] = random.choice(VALUES)


def _name_spoiled(place: Any, random: Random) -> None:
    if isinstance(place, dict) and "name" in place:
        word = random.choice(["name", "name", "namespace", "aliases"])
        name = random.choice(NAMES)
        place[word] = [name] if word == "aliases" else name


def _symbol_spoiled(place: Any, random: Random) -> None:
    if isinstance(place, dict) and isinstance(place.get("symbols"), list):
        place["symbols"] = [*place["symbols"], random.choice([*NAMES, *place["symbols"]])]


def _default_spoiled(place: Any, random: Random) -> None:
    if isinstance(place, dict) and "name" in place:
        place["default"] = random.choice(VALUES)


def _item_repeated(place: Any, random: Random) -> None:
    items = place if isinstance(place, list) else place.get("fields", place.get("symbols"))
    if items and isinstance(items, list):
        items.insert(random.randint(0, len(items)), copy.deepcopy(random.choice(items)))


def _order_spoiled(place: Any, random: Random) -> None:
    if isinstance(place, dict) and "name" in place and not is_named(place):
        place["order"] = random.choice(["ASCENDING", "Ignore", "up", "", None, 1])


def _size_spoiled(place: Any, random: Random) -> None:
    if isinstance(place, dict) and "size" in place:
        place["size"] = random.choice([-1, "4", 4.0, 1e2, 2**31, 2**31 - 1, None, 0, True])


def _type_spoiled(place: Any, random: Random) -> None:
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
    if isinstance(place, list):
        place.insert(random.randint(0, len(place)), kind)
    else:
        place[random.choice([word for word in ("type", "items", "values") if word in place] or ["type"])] = kind


def _type_defined_twice(place: Any, random: Random) -> None:
    if isinstance(place, dict) and isinstance(place.get("fields"), list):
        named = [field for field in place["fields"] if isinstance(field, dict) and isinstance(field.get("type"), dict)]
        for field in named[:1]:
            again = copy.deepcopy(field["type"])
            if random.random() < 0.5:
                again[random.choice(["doc", "aliases", "p", "size", "symbols"])] = random.choice([["Z"], "d", 3])
            place["fields"].append({"name": "again", "type": again})


def _logical_spoiled(place: Any, random: Random) -> None:
    if isinstance(place, dict):
        place["logicalType"] = random.choice(["decimal", "date", "uuid", "duration", "nonsense", 1, None])
        place["precision"] = random.choice([-1, 0, 2, 100, "2", None])
        place["scale"] = random.choice([-1, 0, 3, "1"])


def _commented(text: str, random: Random) -> str:
    return random.choice(["/* a */ {}", "// a\n{}", "{} ", "\n\t{}"]).replace("{}", text)


def _broken(text: str, random: Random) -> str:
    place = random.randrange(len(text))
    return random.choice([text[:place], text[:place] + random.choice(',}]":x') + text[place:], text.replace('"', "'")])


def _with_a_word_twice(text: str, random: Random) -> str:
    return text.replace('"name": ', random.choice(['"name": "Q", "name": ', '"doc": "d", "doc": "e", "name": ']), 1)


SPOILS: Final[tuple[Spoil, ...]] = (
    *(_word_dropped, _value_replaced, _word_added, _name_spoiled, _symbol_spoiled, _default_spoiled, _item_repeated),
    *(_order_spoiled, _size_spoiled, _type_spoiled, _type_defined_twice, _logical_spoiled, lambda _, __: None),
)
TEXTS: Final[tuple[Callable[[str, Random], str], ...]] = (_commented, _broken, _with_a_word_twice)

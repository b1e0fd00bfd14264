"""Schemas whose records are fuzzed: each shape that Avro has, as written and read by another version."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from contractlog.compatibility.avro.types import AvroSchema
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft
from contractlog.serdes.avro.interpreter.interpreter import InterpretedWriter

from support.avro_datums import Datums, NoFiniteValueError
from support.avro_plans import parsed, record
from support.avro_schemas import places
from support.avro_versions import RichSchemas, version

__all__ = ["Subject", "corpus"]

RANDOM: Final = 40  #: schemas that are made up, beside those below
EVOLVED: Final = 30  #: of them read by another version
RECORDS: Final = 30  #: of each schema
NEVER_ENDING: Final = 10_000


@dataclass(frozen=True)
class Subject:
    """A writer, perhaps a reader, and valid bodies."""

    name: str
    writer: list[str]
    reader: list[str] | None
    bodies: list[bytes]

    def schemas(self) -> tuple[ParsedSchema, ParsedSchema | None]:
        """Return both, understood."""
        return _understood(self.writer), None if self.reader is None else _understood(self.reader)


def array(items: Any) -> Any:
    return {"type": "array", "items": items}


def mapped(values: Any) -> Any:
    return {"type": "map", "values": values}


def fixed(name: str, size: int, **more: Any) -> Any:
    return {"type": "fixed", "name": name, "size": size, **more}


def enum(name: str, *symbols: str, **more: Any) -> Any:
    return {"type": "enum", "name": name, "symbols": list(symbols), **more}


def logical(kind: str, name: str, **more: Any) -> Any:
    return {"type": kind, "logicalType": name, **more}


ALIKE: Final = {
    *("field with default added", "field removed", "fields reordered", "type widened", "made nullable"),
    *("branch added", "branch removed", "branches reordered", "symbols added", "symbols removed", "enum default set"),
}
"""Changes that Java follows as we do."""
SCALARS: Final = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
LEG = record(("carrier", "string"), ("minutes", "int"), ("delayed", "boolean"), name="Leg")
ORDER = record(
    ("id", "long"), ("at", logical("long", "timestamp-millis")), ("state", enum("State", "NEW", "PAID", "SENT")),
    ("customer", ["null", "string"]), ("legs", array(LEG)),
    ("price", logical("bytes", "decimal", precision=9, scale=2)),
    ("tags", mapped("string")), ("ratio", "double"), ("token", logical("string", "uuid")), ("note", ["null", "string"]),
    name="Order",
)  # fmt: skip
NEWER = record(
    ("note", ["null", "string", "long"]), ("id", "double"), ("state", enum("State", "NEW", "PAID", default="NEW")),
    ("customer", ["null", "bytes"]), ("legs", array(record(("delayed", "boolean"), ("minutes", "long"), name="Leg"))),
    ("added", array("int"), [1, 2]), ("tags", mapped("string")), ("at", logical("long", "timestamp-millis")),
    name="Order",
)  # fmt: skip
UUID_BYTES = fixed("U", 16, logicalType="uuid")
TREE = record(("value", "int"), ("left", ["null", "Tree"]), ("right", ["null", "Tree"]), name="Tree")
CHAIN = record(("value", "int"), ("next", ["null", "Chain"]), name="Chain")
SHAPES: Final[dict[str, tuple[Any, Any]]] = {
    "scalars": (record(*((f"f{index}", kind) for index, kind in enumerate(SCALARS))), None),
    "ints": (record(*((f"f{index}", ("int", "long")[index % 2]) for index in range(20))), None),
    "text": (record(("a", "string"), ("b", "bytes"), ("c", array("string")), ("d", mapped("string"))), None),
    "an order": (ORDER, None),
    "an order as a newer version": (ORDER, NEWER),
    "unions": (record(*((f"f{index}", list(SCALARS)) for index in range(6))), None),
    "unions of records": (array([LEG, TREE, enum("E", "A", "B"), fixed("F", 3), mapped("int")]), None),
    "tree": (TREE, None),
    "tree with wider values": (TREE, json.loads(json.dumps(TREE).replace('"int"', '"long"'))),
    "chain": (CHAIN, None),
    "nested arrays": (array(array(array("int"))), None),
    "nested maps": (mapped(mapped(array("string"))), None),
    "items that take no bytes": (record(("a", array("null")), ("b", array(fixed("F", 0))), ("c", "int")), None),
    "records that take no bytes": (array(record(*((f"f{index}", "null") for index in range(5)))), None),
    "empty record": (record(("a", record(name="Empty")), ("b", array("Empty")), ("c", "string")), None),
    "enums": (array(enum("E", *(f"S{index}" for index in range(70)))), None),
    "enums, of which the reader knows few": (array(enum("E", "A", "B", "C")), array(enum("E", "A", "C", default="A"))),
    "fixeds": (record(("a", fixed("F", 16)), ("b", array(fixed("G", 1))), ("c", ["null", UUID_BYTES])), None),
    "days and times": (
        record(
            ("a", logical("int", "date")), ("b", logical("int", "time-millis")), ("c", logical("long", "time-micros")),
            ("d", logical("long", "timestamp-micros")), ("e", logical("long", "timestamp-nanos")),
            ("f", logical("long", "local-timestamp-millis")), ("g", logical("long", "local-timestamp-micros")),
        ),
        None,
    ),
    "decimals": (
        record(
            ("a", logical("bytes", "decimal", precision=4, scale=2)),
            ("b", array(fixed("F", 4, logicalType="decimal", precision=9))),
            ("c", mapped(logical("bytes", "decimal", precision=30, scale=10))),
        ),
        None,
    ),
    "numbers, wider": (
        record(("a", "int"), ("b", "int"), ("c", "long"), ("d", "float"), ("e", array("int"))),
        record(("a", "long"), ("b", "float"), ("c", "double"), ("d", "double"), ("e", array("double"))),
    ),
    "fields that went": (
        record(("a", "string"), ("b", array(LEG)), ("c", mapped("bytes")), ("d", TREE), ("z", "int")),
        record(("z", "int"), ("y", "string", "none")),
    ),
    "branches that went": (
        record(*((f"f{index}", ["null", "string", "int"]) for index in range(4))),
        record(*((f"f{index}", ["null", "long"]) for index in range(4))),
    ),
}  # fmt: skip


def corpus(random: Random) -> list[Subject]:
    """Return the shapes, and schemas that are made up."""
    shapes = [_subject(name, [json.dumps(pair[0])], _texts(pair[1]), random) for name, pair in SHAPES.items()]
    shapes += [
        Subject("deep chain", [json.dumps(CHAIN)], None, [b"\x02\x02" * deep + b"\x02\x00" for deep in (100, 126)])
    ]
    made_up, evolved = _made_up(random, evolved=False), _made_up(random, evolved=True)
    return [*shapes, *(next(made_up) for _ in range(RANDOM)), *(next(evolved) for _ in range(EVOLVED))]


def _made_up(random: Random, *, evolved: bool) -> Iterator[Subject]:
    for number in range(NEVER_ENDING):
        schemas = RichSchemas(random).schemas()
        writer, reader = [*map(json.dumps, schemas)], None
        if evolved:
            newer, changes = version(schemas, random)
            reader = [*map(json.dumps, newer)]
            if not changes or changes - ALIKE or _is_read_otherwise(schemas, newer):
                continue
        try:
            subject = _subject(f"{'evolved' if evolved else 'made up'} {number}", writer, reader, random)
        except (InvalidSchema, NoFiniteValueError):
            continue
        if max(map(len, subject.bodies)) > 10:
            yield subject


def _is_read_otherwise(writer: list[Any], reader: list[Any]) -> bool:
    """Whether Java may read in another way: aliases, defaults of unions, bytes as text."""
    found = [place for schema in reader for place in places(schema) if isinstance(place, dict)]
    if json.dumps(writer).count('"bytes"') != json.dumps(reader).count('"bytes"'):
        return True
    return any("aliases" in one or ("default" in one and isinstance(one.get("type"), list)) for one in found)


def _texts(schema: Any) -> list[str] | None:
    return None if schema is None else [json.dumps(schema)]


def _subject(name: str, writer: list[str], reader: list[str] | None, random: Random) -> Subject:
    understood = _understood(writer)
    root: AvroSchema = understood.root
    datums, encode = Datums(root, random), InterpretedWriter(understood).encode
    if datums.endless():  # a record that holds itself: Java cannot read what may hold it, even where it does not
        raise NoFiniteValueError
    return Subject(name, writer, reader, [encode(datums.pair()[0]) for _ in range(RECORDS)])


def _understood(texts: list[str]) -> ParsedSchema:
    leaned_on = {f"r{index}": text for index, text in enumerate(texts[:-1])}
    return parse_schema(SchemaDraft(texts[-1]), leaned_on, strict=False) if leaned_on else parsed(json.loads(texts[-1]))

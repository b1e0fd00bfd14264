"""Schemas whose records are fuzzed: all types of Avro, as written and as read by another version."""

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

from support.avro_codecs import parse, record
from support.avro_schemas import iterate_nodes
from support.avro_values import NoFiniteValueError, ValueGenerator
from support.avro_versions import RichSchemas, create_version

__all__ = ["Subject", "create_corpus"]

RANDOM: Final = 40  #: schemas that are made up, beside those below
EVOLVED: Final = 30  #: of them read by another version
RECORDS: Final = 30  #: of each schema
NEVER_ENDING: Final = 10_000


@dataclass(frozen=True)
class Subject:
    """A writer schema, an optional reader schema, and valid bodies."""

    name: str
    writer: list[str]
    reader: list[str] | None
    bodies: list[bytes]

    def schemas(self) -> tuple[ParsedSchema, ParsedSchema | None]:
        """Return the parsed schemas."""
        return _parse(self.writer), None if self.reader is None else _parse(self.reader)


def array_of(items: Any) -> Any:
    return {"type": "array", "items": items}


def map_of(values: Any) -> Any:
    return {"type": "map", "values": values}


def fixed_of(name: str, size: int, **more: Any) -> Any:
    return {"type": "fixed", "name": name, "size": size, **more}


def enum(name: str, *symbols: str, **more: Any) -> Any:
    return {"type": "enum", "name": name, "symbols": list(symbols), **more}


def logical(kind: str, name: str, **more: Any) -> Any:
    return {"type": kind, "logicalType": name, **more}


JAVA_COMPATIBLE_CHANGES: Final = {
    *("field with default added", "field removed", "fields reordered", "type widened", "made nullable"),
    *("branch added", "branch removed", "branches reordered", "symbols added", "symbols removed", "enum default set"),
}
"""Changes for which Java resolves schemas as contractlog does."""
SCALARS: Final = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
LEG = record(("carrier", "string"), ("minutes", "int"), ("delayed", "boolean"), name="Leg")
ORDER = record(
    ("id", "long"), ("at", logical("long", "timestamp-millis")), ("state", enum("State", "NEW", "PAID", "SENT")),
    ("customer", ["null", "string"]), ("legs", array_of(LEG)),
    ("price", logical("bytes", "decimal", precision=9, scale=2)),
    ("tags", map_of("string")), ("ratio", "double"), ("token", logical("string", "uuid")), ("note", ["null", "string"]),
    name="Order",
)  # fmt: skip
NEWER = record(
    ("note", ["null", "string", "long"]), ("id", "double"), ("state", enum("State", "NEW", "PAID", default="NEW")),
    ("customer", ["null", "bytes"]),
    ("legs", array_of(record(("delayed", "boolean"), ("minutes", "long"), name="Leg"))),
    ("added", array_of("int"), [1, 2]), ("tags", map_of("string")), ("at", logical("long", "timestamp-millis")),
    name="Order",
)  # fmt: skip
UUID_BYTES = fixed_of("U", 16, logicalType="uuid")
TREE = record(("value", "int"), ("left", ["null", "Tree"]), ("right", ["null", "Tree"]), name="Tree")
CHAIN = record(("value", "int"), ("next", ["null", "Chain"]), name="Chain")
SHAPES: Final[dict[str, tuple[Any, Any]]] = {
    "scalars": (record(*((f"f{index}", kind) for index, kind in enumerate(SCALARS))), None),
    "ints": (record(*((f"f{index}", ("int", "long")[index % 2]) for index in range(20))), None),
    "text": (record(("a", "string"), ("b", "bytes"), ("c", array_of("string")), ("d", map_of("string"))), None),
    "an order": (ORDER, None),
    "an order as a newer version": (ORDER, NEWER),
    "unions": (record(*((f"f{index}", list(SCALARS)) for index in range(6))), None),
    "unions of records": (array_of([LEG, TREE, enum("E", "A", "B"), fixed_of("F", 3), map_of("int")]), None),
    "tree": (TREE, None),
    "tree with wider values": (TREE, json.loads(json.dumps(TREE).replace('"int"', '"long"'))),
    "chain": (CHAIN, None),
    "nested arrays": (array_of(array_of(array_of("int"))), None),
    "nested maps": (map_of(map_of(array_of("string"))), None),
    "items without bytes": (record(("a", array_of("null")), ("b", array_of(fixed_of("F", 0))), ("c", "int")), None),
    "records that take no bytes": (array_of(record(*((f"f{index}", "null") for index in range(5)))), None),
    "empty record": (record(("a", record(name="Empty")), ("b", array_of("Empty")), ("c", "string")), None),
    "enums": (array_of(enum("E", *(f"S{index}" for index in range(70)))), None),
    "enums, of which the reader knows few": (
        array_of(enum("E", "A", "B", "C")),
        array_of(enum("E", "A", "C", default="A")),
    ),
    "fixeds": (record(("a", fixed_of("F", 16)), ("b", array_of(fixed_of("G", 1))), ("c", ["null", UUID_BYTES])), None),
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
            ("b", array_of(fixed_of("F", 4, logicalType="decimal", precision=9))),
            ("c", map_of(logical("bytes", "decimal", precision=30, scale=10))),
        ),
        None,
    ),
    "numbers, wider": (
        record(("a", "int"), ("b", "int"), ("c", "long"), ("d", "float"), ("e", array_of("int"))),
        record(("a", "long"), ("b", "float"), ("c", "double"), ("d", "double"), ("e", array_of("double"))),
    ),
    "fields that went": (
        record(("a", "string"), ("b", array_of(LEG)), ("c", map_of("bytes")), ("d", TREE), ("z", "int")),
        record(("z", "int"), ("y", "string", "none")),
    ),
    "branches that went": (
        record(*((f"f{index}", ["null", "string", "int"]) for index in range(4))),
        record(*((f"f{index}", ["null", "long"]) for index in range(4))),
    ),
}  # fmt: skip


def create_corpus(random: Random) -> list[Subject]:
    """Return the fixed shapes and random schemas."""
    shapes = [
        _create_subject(name, [json.dumps(pair[0])], _format_texts(pair[1]), random) for name, pair in SHAPES.items()
    ]
    shapes += [
        Subject("deep chain", [json.dumps(CHAIN)], None, [b"\x02\x02" * deep + b"\x02\x00" for deep in (100, 126)])
    ]
    made_up, evolved = _generate_subjects(random, evolved=False), _generate_subjects(random, evolved=True)
    return [*shapes, *(next(made_up) for _ in range(RANDOM)), *(next(evolved) for _ in range(EVOLVED))]


def _generate_subjects(random: Random, *, evolved: bool) -> Iterator[Subject]:
    for number in range(NEVER_ENDING):
        schemas = RichSchemas(random).schemas()
        writer, reader = [*map(json.dumps, schemas)], None
        if evolved:
            newer, changes = create_version(schemas, random)
            reader = [*map(json.dumps, newer)]
            if not changes or changes - JAVA_COMPATIBLE_CHANGES or _is_read_otherwise(schemas, newer):
                continue
        try:
            subject = _create_subject(f"{'evolved' if evolved else 'made up'} {number}", writer, reader, random)
        except (InvalidSchema, NoFiniteValueError):
            continue
        if max(map(len, subject.bodies)) > 10:
            yield subject


def _is_read_otherwise(writer: list[Any], reader: list[Any]) -> bool:
    """Return whether Java may read differently: aliases, defaults of unions, bytes as text."""
    nodes = [node for schema in reader for node in iterate_nodes(schema) if isinstance(node, dict)]
    if json.dumps(writer).count('"bytes"') != json.dumps(reader).count('"bytes"'):
        return True
    return any(
        "aliases" in inner_node or ("default" in inner_node and isinstance(inner_node.get("type"), list))
        for inner_node in nodes
    )


def _format_texts(schema: Any) -> list[str] | None:
    return None if schema is None else [json.dumps(schema)]


def _create_subject(name: str, writer: list[str], reader: list[str] | None, random: Random) -> Subject:
    parsed = _parse(writer)
    root: AvroSchema = parsed.root
    generator, encode = ValueGenerator(root, random), InterpretedWriter(parsed).encode
    if (
        generator.has_endless_type()
    ):  # a record that holds itself: Java cannot read what may hold it, even where it does not
        raise NoFiniteValueError
    return Subject(name, writer, reader, [encode(generator.pair()[0]) for _ in range(RECORDS)])


def _parse(texts: list[str]) -> ParsedSchema:
    references = {f"r{index}": text for index, text in enumerate(texts[:-1])}
    return (
        parse_schema(SchemaDraft(texts[-1]), references, strict=False) if references else parse(json.loads(texts[-1]))
    )

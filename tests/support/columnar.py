"""Random Avro schemas and data, with the columns expected for that data."""

from __future__ import annotations

import io
import json
import struct
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa

from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.identifiers import SchemaId
from contractlog.compatibility.schema import SchemaDraft
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.spark_validation.columnar.avro_validator import AvroValidator
from contractlog.spark_validation.columnar.column_validation import ColumnOutcomes, FieldColumn, validate_column
from contractlog.spark_validation.columnar.limits import ValidationLimits

Schema = Any
ID = SchemaId(7)
MANY = 10**9

_LEAVES = ["boolean", "int", "long", "float", "double", "bytes", "string", "null", "enum", "fixed"]
_LOGICAL: list[Schema] = [
    {"type": "long", "logicalType": "timestamp-millis"},
    {"type": "long", "logicalType": "timestamp-micros"},
    {"type": "int", "logicalType": "date"},
    {"type": "int", "logicalType": "time-millis"},
    {"type": "long", "logicalType": "time-micros"},
    {"type": "string", "logicalType": "uuid"},
    {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2},
    {"type": "bytes", "logicalType": "decimal", "precision": 45, "scale": 0},
]
_TEXTS = ["", "a", "order", "é", "日本語", "😀 mixed", "x" * 70, "ß" * 40]


def encode_varint(number: int) -> bytes:
    """Encode an integer in its shortest form."""
    raw = (number << 1) ^ (number >> 63) if number < 0 else number << 1
    raw &= (1 << 70) - 1
    groups = [raw & 0x7F]
    while raw := raw >> 7:
        groups.append(raw & 0x7F)
    return bytes([group | 0x80 for group in groups[:-1]] + groups[-1:])


def encode_text(value: str | bytes) -> bytes:
    """Encode a string."""
    content = value.encode() if isinstance(value, str) else value
    return encode_varint(len(content)) + content


def encode_frame(body: bytes, schema_id: int = ID) -> bytes:
    """Add a frame to a body."""
    return b"\0" + struct.pack(">I", schema_id) + body


def create_validator(schema: Schema, limits: ValidationLimits | None = None, *, scalar_rows: int = 0) -> AvroValidator:
    """Return a validator; ``scalar_rows=0`` disables the scalar walker, ``MANY`` uses only it."""
    parsed = parse_schema(SchemaDraft(json.dumps(schema)), strict=False)
    return AvroValidator(parsed.root, limits or ValidationLimits(), scalar_rows=scalar_rows)


def validate_bodies(
    bodies: Sequence[bytes | None], validator: AvroValidator, *, columns: bool = False
) -> ColumnOutcomes:
    """Validate framed bodies with one schema."""
    records = [None if body is None else encode_frame(body) for body in bodies]
    return validate_column(pa.array(records, pa.binary()), {ID: validator}, None, columns=columns)


def list_outcomes(checked: ColumnOutcomes) -> list[tuple[str, str, str]]:
    """Return outcome, pointer and field of each record."""
    return [
        (Outcome(code).name, *(checked.path_table[path_index] if path_index >= 0 else ("", "")))
        for code, path_index in zip(checked.codes.tolist(), checked.paths.tolist(), strict=True)
    ]


class RandomAvro:
    """Generator of schemas and of their values."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311
        self.names = 0

    def name(self) -> str:
        self.names += 1
        return f"N{self.names}"

    def record(self, depth: int = 3) -> Schema:
        """Return a record; in some, a field refers to the record itself."""
        name = self.name()
        fields = [
            {"name": f"f{nth}", "type": self.schema(depth - 1)}
            for nth in range(self.random.randint(0 if depth < 3 else 1, 5))
        ]
        if self.random.random() < 0.15:
            fields.append({"name": "self", "type": ["null", name]})
        if self.random.random() < 0.1:
            fields.append({"name": "selves", "type": {"type": "array", "items": name}})
        return {"type": "record", "name": name, "fields": fields}

    def schema(self, depth: int) -> Schema:
        """Return any schema except a union."""
        choice = self.random.random()
        if depth <= 0 or choice < 0.35:
            return self.leaf()
        if choice < 0.5:
            return self.union(depth)
        if choice < 0.65:
            return {"type": "array", "items": self.schema(depth - 1)}
        if choice < 0.8:
            return {"type": "map", "values": self.schema(depth - 1)}
        return self.record(depth)

    def leaf(self) -> Schema:
        if self.random.random() < 0.25:
            return dict(self.random.choice(_LOGICAL))
        kind = self.random.choice(_LEAVES)
        if kind == "enum":
            return {"type": "enum", "name": self.name(), "symbols": ["A", "B", "C"]}
        if kind == "fixed":
            return {"type": "fixed", "name": self.name(), "size": self.random.choice([0, 1, 5])}
        return kind

    def union(self, depth: int) -> Schema:
        """Return a union whose branches can be distinguished by their data."""
        branches: list[Schema] = ["null"]
        branches += [self.random.choice(["long", "string", "boolean"])]
        if self.random.random() < 0.5:
            branches += [self.record(depth - 1), self.record(depth - 1)]
        if self.random.random() < 0.2:
            branches.append({"type": "array", "items": self.schema(depth - 1)})
        self.random.shuffle(branches)
        return branches

    def value(self, schema: Schema, named: dict[str, Schema], depth: int = 0) -> Any:  # noqa: PLR0911
        """Return a value; unions as (branch, value)."""
        random = self.random
        if isinstance(schema, list):
            branch = schema.index("null") if depth > 6 and "null" in schema else random.randrange(len(schema))
            return (branch, self.value(schema[branch], named, depth + 1))
        if isinstance(schema, str) and schema in named:
            return self.value(named[schema], named, depth + 1)
        kind = schema if isinstance(schema, str) else schema["type"]
        if kind == "record":
            named[schema["name"]] = schema
            return {member["name"]: self.value(member["type"], named, depth + 1) for member in schema["fields"]}
        size = 0 if depth > 6 else random.choice([0, 0, 1, 2, 3, random.randint(0, 12)])
        match kind:
            case "array":
                return [self.value(schema["items"], named, depth + 1) for _ in range(size)]
            case "map":
                keys = [random.choice(_TEXTS) + str(nth) for nth in range(size)]
                return {key: self.value(schema["values"], named, depth + 1) for key in keys}
            case "enum":
                return random.choice(schema["symbols"])
            case "fixed":
                return random.randbytes(schema["size"])
        return self.plain(kind, schema.get("logicalType") if isinstance(schema, dict) else None, schema)

    def plain(self, kind: str, logical: str | None, schema: Schema) -> Any:
        """Return a value of a primitive or fixed type."""
        random = self.random
        bits = random.choice([1, 6, 7, 13, 14, 20, 27, 31] if kind == "int" else [1, 7, 8, 27, 34, 48, 55, 62, 63])
        generators: dict[str, Callable[[], Any]] = {
            "uuid": lambda: str(uuid.UUID(int=random.getrandbits(128))),
            "time-millis": lambda: random.randrange(86_400_000),
            "time-micros": lambda: random.randrange(86_400_000_000),
            "decimal": lambda: self.decimal(schema["precision"]),
            "timestamp-millis": lambda: random.randint(-(2**50), 2**50),
            "null": lambda: None,
            "boolean": lambda: random.random() < 0.5,
            "int": lambda: random.randint(-(2**bits), 2**bits - 1),
            "long": lambda: random.randint(-(2**bits), 2**bits - 1),
            "float": lambda: float(np.float32(random.uniform(-1e9, 1e9))),
            "double": lambda: random.uniform(-1e300, 1e300),
            "bytes": lambda: random.randbytes(random.choice([0, 1, 3, 80])),
            "string": lambda: random.choice(_TEXTS),
        }
        return generators[logical if logical in generators else kind]()

    def decimal(self, precision: int) -> bytes:
        """Return a number within the precision, with more bytes than necessary."""
        most = 10**precision - 1
        number = self.random.choice([0, most, -most, self.random.randint(-most, most)])
        return number.to_bytes(self.random.randint(0, 3) + number.bit_length() // 8 + 1, "big", signed=True)


def strip_logical_types(schema: Schema) -> Schema:
    """Return the schema without logical types, which do not affect the encoding."""
    if isinstance(schema, list):
        return [strip_logical_types(branch) for branch in schema]
    if isinstance(schema, dict):
        return {
            key: strip_logical_types(value)
            for key, value in schema.items()
            if key not in {"logicalType", "precision", "scale"}
        }
    return schema


def encode(schema: Schema, value: Any) -> bytes:
    """Encode a value, whose unions name their branches."""
    return b"".join(_encode(schema, value, {}))


def _encode(schema: Schema, value: Any, named: dict[str, Schema]) -> Iterator[bytes]:
    """Encode unions and containers here, so that blocks can differ, and leaves with fastavro."""
    if isinstance(schema, list):
        branch, inner = value
        yield encode_varint(branch)
        yield from _encode(schema[branch], inner, named)
        return
    if isinstance(schema, str) and schema in named:
        schema = named[schema]
    kind = schema if isinstance(schema, str) else schema["type"]
    if kind == "record":
        named[schema["name"]] = schema
        for member in schema["fields"]:
            yield from _encode(member["type"], value[member["name"]], named)
    elif kind in {"array", "map"}:
        items = (
            [b"".join(_encode(schema["items"], item, named)) for item in value]
            if kind == "array"
            else [encode_text(key) + b"".join(_encode(schema["values"], item, named)) for key, item in value.items()]
        )
        yield from _blocks(items)
    else:
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, fastavro.parse_schema(strip_logical_types(schema)), value)
        yield stream.getvalue()


def _blocks(items: list[bytes]) -> Iterator[bytes]:
    """Encode items in one or several blocks, some of which state their size."""
    step = (1, 3, 1000)[len(items) % 3]
    for start in range(0, len(items), step):
        block = items[start : start + step]
        content = b"".join(block)
        yield (
            encode_varint(-len(block)) + encode_varint(len(content)) if len(content) % 2 else encode_varint(len(block))
        )
        yield content
    yield b"\0"


def expected_columns(schema: Schema, values: Iterable[Any]) -> dict[tuple[str, str], list[tuple[int, Any]]]:
    """Return rows and values of each leaf by field and type, without recursive and empty ones."""
    columns: dict[tuple[str, str], list[tuple[int, int, Any]]] = defaultdict(list)
    order = 0
    for row, value in enumerate(values):
        for field, kind, leaf in _leaves(schema, value, "", {}, ()):
            columns[field, kind].append((row, order := order + 1, leaf))
    for field, kind in list(columns):
        whole = columns.get((field, "int64"), [])
        if kind == "double" and all(abs(number) <= 2**53 for _, _, number in whole):
            columns[field, kind] = sorted(columns[field, kind] + columns.pop((field, "int64"), []))
    return {key: [(row, leaf) for row, _, leaf in leaves] for key, leaves in columns.items()}


def _leaves(  # noqa: C901
    schema: Schema, value: Any, path: str, named: dict[str, Schema], opened: tuple[str, ...]
) -> Iterator[tuple[str, str, Any]]:
    if isinstance(schema, list):
        branch, inner = value
        yield from _leaves(schema[branch], inner, path, named, opened)
        return
    if isinstance(schema, str) and schema in named:
        schema = named[schema]
    kind = schema if isinstance(schema, str) else schema["type"]
    match kind:
        case "record":
            named[schema["name"]] = schema
            if schema["name"] in opened or _is_empty(schema, named):
                return
            opened = (*opened, schema["name"])
            for member in schema["fields"]:
                below = f"{path}.{member['name']}" if path else member["name"]
                yield from _leaves(member["type"], value[member["name"]], below, named, opened)
        case "array":
            for item in [] if _is_empty(schema["items"], named) else value:
                yield from _leaves(schema["items"], item, f"{path}[]", named, opened)
        case "map":
            for item in value.values():
                yield from _leaves(schema["values"], item, f"{path}{{}}", named, opened)
        case "null":
            yield path, "null", None
        case "fixed" if not schema["size"]:
            return
        case _:
            yield path, *_convert_leaf(kind, schema, value)


def _convert_leaf(kind: str, schema: Schema, value: Any) -> tuple[str, Any]:
    logical = schema.get("logicalType") if isinstance(schema, dict) else None
    match logical:
        case "timestamp-millis":
            return "timestamp[us, tz=UTC]", value * 1000
        case "timestamp-micros":
            return "timestamp[us, tz=UTC]", value
        case "date":
            return "date32[day]", value
        case "decimal":
            wide = 128 if schema["precision"] <= 38 else 256
            number = int.from_bytes(value, "big", signed=True)
            return f"decimal{wide}({schema['precision']}, {schema['scale']})", number
    return {
        "boolean": "bool",
        "int": "int64",
        "long": "int64",
        "float": "double",
        "double": "double",
        "bytes": "binary",
        "fixed": "binary",
        "string": "string",
        "enum": "large_string",
    }[kind], value


def _is_empty(schema: Schema, named: dict[str, Schema]) -> bool:
    """Return true if values of a schema take no bytes."""
    schema = named.get(schema, schema) if isinstance(schema, str) else schema
    match schema if isinstance(schema, str) else schema.get("type") if isinstance(schema, dict) else "union":
        case "null":
            return True
        case "fixed":
            return not schema["size"]
        case "record":
            inner = {**named, schema["name"]: "string"}  # a record that contains itself is not empty
            return all(_is_empty(member["type"], inner) for member in schema["fields"])
    return False


def collect_columns(columns: Iterable[FieldColumn]) -> dict[tuple[str, str], list[tuple[int, Any]]]:
    """Return columns in the form of ``expected_columns``."""
    columns_by_field = {}
    for column in columns:
        values: Any = column.values
        kind = values.type
        values.validate(full=True)
        if pa.types.is_timestamp(kind):
            values = values.cast(pa.int64())
        elif pa.types.is_date32(kind):
            values = values.cast(pa.int32())
        plain = ["NaN" if value != value else value for value in values.to_pylist()]  # noqa: PLR0124
        if pa.types.is_decimal(kind):
            plain = [int(value.scaleb(kind.scale)) if kind.scale else int(value) for value in plain]
        columns_by_field[column.field, str(kind)] = list(zip(column.rows.tolist(), plain, strict=True))
    return columns_by_field

# ruff: noqa: S311 -- tests repeat
"""Generated code and the interpreter agree on bytes, values and errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.compatibility.avro.types import AvroType
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import ParsedSchema, Reference, SchemaDraft
from contractlog.serdes.avro.codegen.compiler import compile_source
from contractlog.serdes.avro.codegen.read_emitter import generate_reader
from contractlog.serdes.avro.codegen.write_emitter import generate_writer
from contractlog.serdes.avro.interpreter.binary import ByteCursor
from contractlog.serdes.avro.interpreter.codec_builder import CodecBuilder
from contractlog.serdes.avro.interpreter.codecs import BytesCodec, Codec, IntCodec, LongCodec, StringCodec
from contractlog.serdes.avro.interpreter.decimal_and_uuid import DecimalCodec, LogicalCodec, UuidCodec
from contractlog.serdes.avro.interpreter.interpreter import InterpretedReader, InterpretedWriter
from contractlog.serdes.avro.interpreter.resolved_readers import ConvertedReader
from contractlog.serdes.avro.interpreter.times import (
    DateCodec,
    LocalTimestampCodec,
    NanosCodec,
    TimeCodec,
    TimestampCodec,
)
from contractlog.serdes.avro.limits import DEFAULT_LIMITS, Limits
from contractlog.serdes.avro.readers_and_writers import AvroReader, AvroWriter
from contractlog.serdes.errors import DecodeError, EncodeError, SerializationError

from support.avro_codecs import parse, record, run_both
from support.avro_strategies import schemas, values
from support.avro_values import NoFiniteValueError, ValueGenerator
from support.avro_versions import RichSchemas, create_version

MANY = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SEEDS = st.integers(0, 2**40)
ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    2**31,
    2**63,
    1.5,
    "x",
    "\ud800",
    b"x",
    [],
    (),
    {},
    {"f0": 1},
    Decimal(1),
    ("int", 1),
)
REFUSED = "refused"


def outcome(call: Callable[..., Any], *arguments: Any) -> str:
    """What a call returns, told apart by type; or that it refused."""
    try:
        return repr(call(*arguments))
    except Exception:  # noqa: BLE001 -- generated code may raise anything
        return REFUSED


def exact(call: Callable[..., Any], *arguments: Any) -> str:
    """What the interpreter returns; it raises nothing but errors with a place."""
    try:
        return repr(call(*arguments))
    except SerializationError:
        return REFUSED


def bare(value: Any, random: Random) -> Any:
    """Take names of branches away here and there, so that the branch has to be found."""
    if isinstance(value, tuple) and random.random() < 0.7:
        return bare(value[1], random)
    if isinstance(value, tuple):
        return value[0], bare(value[1], random)
    if isinstance(value, dict):
        return {key: bare(member, random) for key, member in value.items()}
    return [bare(item, random) for item in value] if isinstance(value, list) else value


def spoiled(value: Any, random: Random) -> Any:
    """Put something odd in some place, or leave something out."""
    if random.random() < 0.15 or not value:
        return random.choice(ODD)
    if isinstance(value, dict):
        key = random.choice(list(value))
        changed = {name: member for name, member in value.items() if name != key or random.random() < 0.8}
        return changed | {key: spoiled(value[key], random)} if key in changed else changed
    if isinstance(value, list):
        at = random.randrange(len(value))
        return [*value[:at], spoiled(value[at], random), *value[at + 1 :]]
    return (value[0], spoiled(value[1], random)) if isinstance(value, tuple) else random.choice(ODD)


def damaged(body: bytes, random: Random) -> bytes:
    """Change bytes here and there."""
    data = bytearray(body)
    for _ in range(random.randint(0, 3)):
        at = random.randint(0, len(data))
        data[at : at + random.choice([0, 1, 1, 1, 4])] = random.choice(
            [b"", b"\x00", b"\x01", b"\xff", random.randbytes(2)]
        )
    return bytes(data)


def rich(random: Random) -> tuple[ParsedSchema, ParsedSchema]:
    """A schema with all that Avro has, and another version of it."""
    while True:
        texts = RichSchemas(random).schemas()
        others = texts
        for _ in range(random.randint(1, 3)):
            others, _ = create_version(others, random)
        if len(texts) == 1:
            try:
                return parse(texts[0]), parse(others[0])
            except InvalidSchema:
                continue


@MANY
@given(SEEDS)
def test_generated_writers_agree_with_the_interpreter(seed: int) -> None:
    writing_agrees(seed)


@MANY
@given(SEEDS)
def test_generated_readers_agree_with_the_interpreter(seed: int) -> None:
    reading_agrees(seed)


@pytest.mark.slow
def test_generated_code_and_interpreter_agree_on_thousands_of_schemas_and_versions() -> None:
    for seed in range(3_000):
        writing_agrees(seed)
        reading_agrees(seed)


def writing_agrees(seed: int) -> None:
    """Write values of a random schema, whole and spoiled, in both ways."""
    random = Random(seed)
    schema, _ = rich(random)
    interpreted = InterpretedWriter(schema)
    write = compile_source(generate_writer(interpreted.codec, DEFAULT_LIMITS))
    for _ in range(12):
        try:
            value, _ = ValueGenerator(schema.root, random).pair()
        except NoFiniteValueError:
            return
        for given_ in (value, bare(value, random), spoiled(value, random), spoiled(bare(value, random), random)):
            expected = exact(interpreted.encode, given_, b"id")
            assert outcome(write, given_, b"id") in {expected, REFUSED}


def reading_agrees(seed: int) -> None:
    """Read records of a random schema, whole and damaged, as it and as another version, in both ways."""
    random = Random(seed)
    schema, wanted = rich(random)
    writer = InterpretedWriter(schema)
    for reader in (InterpretedReader(schema), InterpretedReader(schema, wanted, named_records=True)):
        read = compile_source(generate_reader(reader.reader, DEFAULT_LIMITS))
        for _ in range(6):
            try:
                body = b"\x00head" + writer.encode(ValueGenerator(schema.root, random).pair()[0])
            except NoFiniteValueError:
                return
            for mutant in (body, *(b"\x00head" + damaged(body[5:], random) for _ in range(6))):
                assert outcome(read, mutant, 5) in {exact(reader.decode, mutant, 5), REFUSED}


@MANY
@given(st.data())
def test_plain_values_are_left_to_no_interpreter(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    value = data.draw(values(schema))
    writer, reader = InterpretedWriter(parse(schema)), InterpretedReader(parse(schema))
    body = writer.encode(value)
    assert outcome(compile_source(generate_writer(writer.codec, DEFAULT_LIMITS)), value, b"") == repr(body)
    if not has_items_of_no_bytes(schema):
        read = compile_source(generate_reader(reader.reader, DEFAULT_LIMITS))
        assert outcome(read, body, 0) == repr(reader.decode(body))


@MANY
@given(st.data())
def test_plain_records_read_as_a_newer_version_are_left_to_no_interpreter(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    body = InterpretedWriter(parse(schema)).encode(data.draw(values(schema)))
    news = [{"name": f"new{index}", "type": kind, "default": default} for index, (kind, default) in enumerate(DEFAULTS)]
    reader = InterpretedReader(parse(schema), parse(schema | {"fields": [*news, *reversed(schema["fields"])]}))
    if not has_items_of_no_bytes(schema):
        read = compile_source(generate_reader(reader.reader, DEFAULT_LIMITS))
        assert outcome(read, body, 0) == repr(reader.decode(body))
        assert read(body, 0)["new0"] is not read(body, 0)["new0"]


DEFAULTS: tuple[tuple[Any, Any], ...] = (
    ({"type": "array", "items": "int"}, []),
    ({"type": "map", "values": {"type": "array", "items": "string"}}, {"k": ["v"]}),
    (["null", "string"], None),
    (["double", "null"], 1.5),
    ({"type": "int", "logicalType": "date"}, 3),
    ({"type": "record", "name": "space.New", "fields": [{"name": "a", "type": "boolean", "default": True}]}, {}),
)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_body_is_read_from_any_place_of_any_bytes(kind: Callable[[bytes], Any]) -> None:
    schema = parse(record(("s", "string"), ("n", ["null", "long"])))
    body = InterpretedWriter(schema).encode({"s": "x", "n": 7}, b"\x00head")
    assert run_both(lambda first: AvroReader(schema, interpreted_first=first).decode(kind(body), 5)) == {
        "s": "x",
        "n": 7,
    }
    for start in (len(body), len(body) + 9):
        with pytest.raises(DecodeError):
            run_both(lambda first, start=start: AvroReader(schema, interpreted_first=first).decode(kind(body), start))


def test_leniency_is_the_same_with_generated_code() -> None:
    schema = parse(record(("i", "int"), ("d", ["null", "double"])))
    for value in ({"i": 1.7, "d": 1}, {"i": 1, "d": 1.5}, {"i": True}, {"i": 2**31, "d": None}):
        run_both(lambda first, value=value: AvroWriter(schema, lenient=True, interpreted_first=first).encode(value))
    with pytest.raises(EncodeError):
        run_both(lambda first: AvroWriter(schema, lenient=True, interpreted_first=first).encode({"i": "1"}))


def has_items_of_no_bytes(schema: Any) -> bool:
    """Whether there may be an array that the interpreter has to count."""
    text = json.dumps(schema)
    return '"array"' in text and any(word in text for word in ('"null"', '"size": 0', '"fields": []'))


LIST = {
    "type": "record",
    "name": "R",
    "fields": [{"name": "v", "type": "int"}, {"name": "next", "type": ["null", "R"]}],
}


@pytest.mark.parametrize("depth", [1, 2, 127, 128, 129, 5_000])
def test_levels_are_counted_by_generated_code_as_by_the_interpreter(depth: int) -> None:
    schema = parse(LIST)
    writer, reader = InterpretedWriter(schema), InterpretedReader(schema)
    value: Any = None
    for number in range(depth):
        value = {"v": number, "next": value}
    body = b"".join(b"\x02\x02" for _ in range(depth - 1)) + b"\x02\x00"
    write = compile_source(generate_writer(writer.codec, DEFAULT_LIMITS))
    read = compile_source(generate_reader(reader.reader, DEFAULT_LIMITS))
    fits = depth <= DEFAULT_LIMITS.max_depth
    assert (outcome(write, value, b"") != REFUSED) is fits
    assert (outcome(read, body, 0) != REFUSED) is fits
    assert outcome(read, body, 0) == exact(reader.decode, body)


@pytest.mark.parametrize("limit", range(1, 6))
def test_a_schema_that_is_higher_than_the_limit_is_counted_too(limit: int) -> None:
    schema: Any = "int"
    for _ in range(4):
        schema = {"type": "array", "items": schema}
    writer, reader = InterpretedWriter(parse(schema), Limits(max_depth=limit)), parse(schema)
    read = InterpretedReader(reader, limits=Limits(max_depth=limit))
    value: Any = [[[[1, 2], []], []], []]
    assert outcome(compile_source(generate_writer(writer.codec, Limits(max_depth=limit))), value, b"") == exact(
        writer.encode, value
    )
    body = InterpretedWriter(parse(schema)).encode(value)
    assert outcome(compile_source(generate_reader(read.reader, Limits(max_depth=limit))), body, 0) == exact(
        read.decode, body
    )


def test_records_inside_each_other_become_functions_before_python_has_enough_of_them() -> None:
    texts, name = {}, "int"
    for number in range(9):
        inner: Any = name
        for level in range(25):
            inner = record(("f", inner), name=f"R{number}x{level}")
        name = inner["name"]
        texts[name] = json.dumps(inner)
    draft = SchemaDraft(json.dumps(record(("f", name), name="Root")), references=(Reference(name, "s", 1),))
    schema, limits = parse_schema(draft, texts), Limits(max_depth=1_000)
    writer, reader = InterpretedWriter(schema, limits), InterpretedReader(schema, limits=limits)
    value: Any = 7
    for _ in range(9 * 25 + 1):
        value = {"f": value}
    assert compile_source(generate_writer(writer.codec, limits))(value, b"") == b"\x0e"
    assert compile_source(generate_reader(reader.reader, limits))(b"\x0e", 0) == value


def test_a_schema_of_many_levels_becomes_many_functions() -> None:
    schema: Any = record(("f", "string"), name="Last")
    for number in range(20):
        inner = {"type": "array", "items": {"type": "map", "values": schema}}
        schema = record(("f", ["null", inner]), name=f"R{number}")
    schema = parse_schema(SchemaDraft(json.dumps(schema)), strict=True)
    limits = Limits(max_depth=64)
    writer, reader = InterpretedWriter(schema, limits), InterpretedReader(schema, limits=limits)
    value: Any = {"f": "x"}
    for _ in range(20):
        value = {"f": [{"k": value}]}
    body = compile_source(generate_writer(writer.codec, limits))(value, b"")
    assert body == writer.encode(value)
    assert compile_source(generate_reader(reader.reader, limits))(body, 0) == value


def mark_values(codec: LogicalCodec) -> LogicalCodec:
    """Return a codec of a subclass whose values are marked."""

    class Marked(type(codec)):  # type: ignore[misc]
        def to_logical(self, raw: Any) -> Any:
            return "marked", super().to_logical(raw)

    marked: LogicalCodec = object.__new__(Marked)
    marked.__dict__.update(vars(codec))
    return marked


LOGICAL_VALUES: tuple[tuple[LogicalCodec, bytes], ...] = (
    (DateCodec(IntCodec()), b"\x80\x80\x02"),
    (TimestampCodec(LongCodec(), 1_000), b"\x80\x80\x80\x80\x80\x40"),
    (LocalTimestampCodec(LongCodec(), 1_000_000), b"\x80\x80\x80\x80\x80\x40"),
    (NanosCodec(LongCodec(), local=False), b"\x02"),
    (TimeCodec(IntCodec(), 1_000), b"\x02"),
    (DecimalCodec(BytesCodec(), 4, 2), b"\x04\x01\x02"),
    (UuidCodec(StringCodec()), b"\x48a0a0a0a0-b1b1-4c2c-8d3d-e4e4e4e4e4e4"),
)


@pytest.mark.parametrize(("codec", "body"), LOGICAL_VALUES, ids=lambda case: type(case).__name__)
def test_generated_code_converts_values_as_a_subclass_of_a_logical_type_does(codec: LogicalCodec, body: bytes) -> None:
    marked = mark_values(codec)
    value = codec.read(ByteCursor(body), 9)
    for node in (marked, ConvertedReader(codec.raw, marked.to_logical)):
        read = compile_source(generate_reader(node, DEFAULT_LIMITS))
        assert read(body, 0) == node.read(ByteCursor(body), 9) == ("marked", value)


def test_a_reader_schema_has_the_logical_types_of_its_codec_builder(monkeypatch: pytest.MonkeyPatch) -> None:
    add_logical_type = CodecBuilder.add_logical_type

    def add_marked(builder: CodecBuilder, node: AvroType, raw: Codec) -> Codec:
        codec = add_logical_type(builder, node, raw)
        return mark_values(codec) if isinstance(codec, LogicalCodec) else codec

    monkeypatch.setattr(CodecBuilder, "add_logical_type", add_marked)
    schema = parse({"type": "long", "logicalType": "timestamp-millis"})
    for reader in (InterpretedReader(schema), InterpretedReader(schema, schema)):
        read = compile_source(generate_reader(reader.reader, DEFAULT_LIMITS))  # the cache of functions is not involved
        assert reader.decode(b"\x00")[0] == read(b"\x00", 0)[0] == "marked"

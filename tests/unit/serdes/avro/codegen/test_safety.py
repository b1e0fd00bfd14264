"""Generated source contains no text of a schema, and its syntax tree is checked."""

from __future__ import annotations

import ast
import gc
from random import Random
from threading import Barrier, Event, Thread
from typing import Any

import pytest

from contractlog.compatibility.avro import types
from contractlog.serdes.avro.codegen import InterpreterNeeded
from contractlog.serdes.avro.codegen.codec_analysis import MAX_FIELDS, NotGenerated
from contractlog.serdes.avro.codegen.compiler import (
    SyntaxNotAllowed,
    check_tree,
    compile_source,
    generate_read_function,
    generate_write_function,
)
from contractlog.serdes.avro.codegen.function_cache import FUNCTION_CACHE, FunctionCache
from contractlog.serdes.avro.codegen.read_emitter import generate_reader
from contractlog.serdes.avro.codegen.source_text import SourceText
from contractlog.serdes.avro.codegen.write_emitter import generate_writer
from contractlog.serdes.avro.interpreter.codec_builder import CodecBuilder
from contractlog.serdes.avro.interpreter.interpreter import InterpretedReader, InterpretedWriter
from contractlog.serdes.avro.interpreter.resolver import Resolver
from contractlog.serdes.avro.limits import DEFAULT_LIMITS
from contractlog.serdes.avro.readers_and_writers import INTERPRETED_FIRST, AvroReader, AvroWriter
from contractlog.serdes.errors import DecodeError

from support.avro_codecs import parse, record
from support.deadlines import WAIT_SECONDS

EVIL = (
    "x']; import os; os._exit(1)  # ",
    '"); __import__("os")._exit(1); ("',
    "\\",
    "'\n raise SystemExit\n'",
    "k1",
    "s1",
    "f0",
    "d",
    "{0.__class__}",
    "\ud800",
    "\x00",
    "é",
)
HOSTILE = (
    "def f0(x, h):\n import os",
    "def f0(x, h):\n from os import path",
    "def f0(x, h):\n return x.__class__",
    "def f0(x, h):\n return __import__",
    "def f0(x, h):\n return eval",
    "def f0(x, h):\n return open",
    "def f0(x, h):\n return k9",
    "def f0(x, h):\n return s9",
    "def f0(x, h):\n return 'text'",
    "def f0(x, h):\n return 1.5",
    "def f0(x, h):\n return ...",
    "def f0(x, h):\n return lambda: x",
    "def f0(x, h):\n return [v for v in x]",
    "def f0(x, h):\n return (yield x)",
    "def f0(x, h):\n return f'{x}'",
    "def f0(x, h):\n return k1(*x)",
    "def f0(x, h):\n return k1(x, key=h)",
    "def f0(x, h):\n x.y = h",
    "def f0(x, h):\n x.append = h",
    "def f0(x, h):\n k1 = h",
    "def f0(k1, h):\n pass",
    "def f0(x, h):\n global d",
    "def f0(x, h):\n del x",
    "def f0(x, h):\n with x:\n  pass",
    "def f0(x, h):\n try:\n  pass\n finally:\n  pass",
    "def f0(x, h):\n assert x",
    "def f0(x, h):\n return x ** h",
    "def f0(x, h):\n return x * h",
    "def f0(x, h=k1):\n pass",
    "def f0(x, *h):\n pass",
    "@k1\ndef f0(x, h):\n pass",
    "def g(x, h):\n pass",
    "class f0:\n pass",
    "async def f0(x, h):\n pass",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_tree_with_anything_else_in_it_is_refused(text: str) -> None:
    source = SourceText()
    source.constant(len)
    source.lines = text.split("\n")
    with pytest.raises(SyntaxNotAllowed):
        compile_source(source)


def test_the_list_admits_what_it_is_for() -> None:
    source = SourceText()
    name = source.constant(len)
    source.lines = ["def f0(x, h):", f" return {name}(x) + {name}(h)"]
    assert compile_source(source)([1], [2, 3]) == 3


def test_a_literal_stands_where_its_name_stood() -> None:
    source = SourceText()
    for text in EVIL:
        source.literal(text)
    source.lines = ["def f0(x, h):", f" return [{', '.join(source.literal(text) for text in EVIL)}]"]
    assert compile_source(source)(None, None) == list(EVIL)


def test_names_symbols_defaults_and_docs_that_look_like_code_stay_texts() -> None:

    # no parser lets such names pass, so the tree is made by hand
    text, null = types.Primitive("", {}, "string"), types.Primitive("", {}, "null")
    union = types.Union("", {}, (null, text))
    fields = tuple(types.Field(name, union, "", {}, None, name, "ascending", (name,)) for name in EVIL)
    enum = types.Enum("", {}, "E", (), EVIL[1], EVIL, EVIL[0])
    more = (types.Field("e", enum, "", {}), types.Field("defaulted", text, "", {}, EVIL[0]))
    root = types.Record("", {}, EVIL[0], (), EVIL[3], (*fields, *more), is_error=False)
    schema = types.AvroSchema(root, {EVIL[0]: root, "E": enum})

    codec = CodecBuilder(schema, named_records=True).codec(root)
    writer, reader = generate_writer(codec, DEFAULT_LIMITS), generate_reader(codec, DEFAULT_LIMITS)
    evolved = generate_reader(Resolver(schema, schema).reader(), DEFAULT_LIMITS)
    for source in (writer, reader, evolved):
        assert not [text for text in EVIL if len(text) > 2 and text in source.text]
        assert set(source.text) <= set("abcdefghijklmnopqrstuvwxyz0123456789_()[]{},.:=<>!&+-/ \nINFT")
    value = dict.fromkeys(EVIL[:-3], "v") | {EVIL[-2]: None, EVIL[-3]: None, EVIL[-1]: "w", "e": EVIL[2]}
    body = compile_source(writer)(value, b"")
    for source in (reader, evolved):
        assert compile_source(source)(body, 0) == value | {"defaulted": EVIL[0]}


def test_the_text_is_the_same_whatever_names_are() -> None:
    def texts(name: str) -> list[str]:
        schema = parse(record((name, "string", f"default of {name}"), (f"{name}2", ["null", "int"])))
        codec = InterpretedWriter(schema).codec
        return [generate_writer(codec, DEFAULT_LIMITS).text, generate_reader(codec, DEFAULT_LIMITS).text]

    assert texts("a") == texts("import_os")


def test_every_text_of_the_generators_passes_the_check_as_it_is_written() -> None:
    source = generate_reader(InterpretedReader(parse(record(("a", "int"), ("b", "string")))).reader, DEFAULT_LIMITS)
    tree = ast.parse(source.text)
    check_tree(tree, source.constants, source.literals)
    found = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert found == ["a", "b"]


def test_above_500_fields_the_interpreter_serves() -> None:
    def wide(number: int) -> dict[str, Any]:
        return record(*((f"f{index}", "int") for index in range(number)))

    for number, written in ((MAX_FIELDS, True), (MAX_FIELDS + 1, False)):
        schema = parse(wide(number))
        if written:
            generate_writer(InterpretedWriter(schema).codec, DEFAULT_LIMITS)
        else:
            with pytest.raises(NotGenerated):
                generate_reader(InterpretedReader(schema).reader, DEFAULT_LIMITS)
        value = {f"f{index}": index for index in range(number)}
        body = AvroWriter(schema, interpreted_first=0).encode(value)
        assert AvroReader(schema, interpreted_first=0).decode(body) == value


def test_fields_are_counted_over_the_whole_schema() -> None:
    half = [(f"f{index}", "int") for index in range(MAX_FIELDS // 2)]
    schema = record(("a", record(*half, name="A")), ("b", record(*half, name="B")))
    with pytest.raises(NotGenerated):
        generate_writer(InterpretedWriter(parse(schema)).codec, DEFAULT_LIMITS)


class Holder:
    released = 0

    def release(self) -> None:
        self.released += 1


def test_a_shelf_keeps_so_many_functions_and_tells_who_held_the_others() -> None:
    shelf, holders, made = FunctionCache(2), [Holder() for _ in range(4)], []

    def write(key: int) -> Any:
        made.append(key)
        return lambda: key

    for key, holder in ((1, holders[0]), (1, holders[1]), (2, holders[2]), (3, holders[3])):
        taken = shelf.get_or_generate(key, holder, lambda key=key: write(key))
        assert taken is not None
        assert taken() == key
    assert (made, len(shelf)) == ([1, 2, 3], 2)
    assert [holder.released for holder in holders] == [1, 1, 0, 0]


def test_plans_of_equal_schemas_share_their_code_and_let_go_of_it() -> None:
    schema = record(("shared", "int"), ("by", "string"))
    value = {"shared": 1, "by": "x"}
    first, second = (AvroWriter(parse(schema), interpreted_first=0) for _ in range(2))
    assert first.encode(value) == second.encode(value) == b"\x02\x02x"
    assert first._run is second._run
    run = first._run
    first.release()
    assert first._run is not run
    assert first.encode(value) == b"\x02\x02x"
    assert first._run is run


def test_many_schemas_do_not_take_more_and_more_room() -> None:
    for number in range(300):
        writer = AvroWriter(parse(record((f"f{number}", "int"))), interpreted_first=0)
        assert writer.encode({f"f{number}": number}) == AvroWriter(parse("int")).encode(number)
    gc.collect()
    assert len(FUNCTION_CACHE) <= 256


def test_code_is_written_when_a_schema_is_used_often() -> None:
    schema = parse(record(("used", "int"), ("often", "int")))
    writer, reader = AvroWriter(schema), AvroReader(schema)
    before = len(FUNCTION_CACHE)
    for _ in range(INTERPRETED_FIRST):
        assert reader.decode(writer.encode({"used": 1, "often": 2})) == {"used": 1, "often": 2}
    assert len(FUNCTION_CACHE) == before
    for _ in range(3):
        assert reader.decode(writer.encode({"used": 1, "often": 2})) == {"used": 1, "often": 2}
    assert len(FUNCTION_CACHE) == before + 2 or len(FUNCTION_CACHE) == 256


def test_threads_that_meet_a_schema_at_once_all_get_its_bytes() -> None:
    schema = parse(record(("n", "int"), ("s", ["null", "string"])))
    writer, reader = AvroWriter(schema, interpreted_first=5), AvroReader(schema, interpreted_first=5)
    wrong: list[Any] = []

    def work(seed: int) -> None:
        random = Random(seed)  # noqa: S311 -- repeats
        for _ in range(50):
            value = {"n": random.randint(-1000, 1000), "s": random.choice([None, "x", "é" * 80])}
            if reader.decode(writer.encode(value)) != value:
                wrong.append(value)

    threads = [Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_one_thread_writes_a_function_while_the_others_go_on_without_it() -> None:
    shelf, writing, written, made = FunctionCache(2), Event(), Event(), []

    def write() -> Any:
        made.append(1)
        writing.set()
        assert written.wait(WAIT_SECONDS)
        return len

    holders = [Holder() for _ in range(9)]
    first = Thread(target=shelf.get_or_generate, args=("key", holders[0], write))
    first.start()
    assert writing.wait(WAIT_SECONDS)
    assert [shelf.get_or_generate("key", holder, write) for holder in holders] == [None] * 9
    assert shelf.get_or_generate("another", holders[0], lambda: repr) is repr
    written.set()
    first.join()
    assert [shelf.get_or_generate("key", holder, write) for holder in holders] == [len] * 9
    assert made == [1]


def test_a_function_that_could_not_be_written_may_be_tried_again() -> None:
    shelf, holder = FunctionCache(2), Holder()
    with pytest.raises(ZeroDivisionError):
        shelf.get_or_generate("key", holder, lambda: divmod(1, 0))  # type: ignore[arg-type, return-value]
    assert shelf.get_or_generate("key", holder, lambda: len) is len


def test_threads_that_reach_the_hundredth_record_at_once_have_its_code_written_once() -> None:
    class Counting(AvroWriter):
        def _generate(self) -> Any:
            made.append(1)
            return super()._generate()

    made: list[int] = []
    writer = Counting(parse(record(*((f"at_once_{index}", "int") for index in range(200)))), interpreted_first=0)
    value, gate, bodies = {f"at_once_{index}": index for index in range(200)}, Barrier(32), set()

    def work() -> None:
        gate.wait()
        bodies.add(writer.encode(value))

    threads = [Thread(target=work) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (made, len(bodies)) == ([1], 1)


RECURSIVE = {"type": "record", "name": "T", "fields": [{"name": "l", "type": {"type": "array", "items": "T"}}]}


@pytest.mark.parametrize("interpreted_first", [0, 10**9])
@pytest.mark.parametrize("depth", [10, 60, 64, 65, 5_000, 200_000])
def test_recursion_of_any_depth_ends_in_a_value_or_a_typed_error(depth: int, interpreted_first: int) -> None:
    reader = AvroReader(parse(RECURSIVE), interpreted_first=interpreted_first)
    body = b"\x02" * depth + b"\x00" * (depth + 1)
    if depth < 64:
        reader.decode(body)
    else:
        with pytest.raises(DecodeError):
            reader.decode(body)


def test_functions_of_making_leave_to_the_interpreter_what_they_do_not_know() -> None:
    wide = parse(record(*((f"f{index}", "int") for index in range(MAX_FIELDS + 1))))
    with pytest.raises(InterpreterNeeded):
        generate_write_function(InterpretedWriter(wide).codec, DEFAULT_LIMITS)({}, b"")
    with pytest.raises(InterpreterNeeded):
        generate_read_function(InterpretedReader(wide).reader, DEFAULT_LIMITS)(b"", 0)

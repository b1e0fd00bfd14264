"""Nothing of a schema becomes code, and what is compiled is held against a list."""

from __future__ import annotations

import ast
import gc
from random import Random
from threading import Barrier, Event, Thread
from typing import Any

import pytest

from contractlog.compatibility.avro import nodes
from contractlog.serdes.avro.generated import Otherwise
from contractlog.serdes.avro.generated.compiling import NotAllowed, checked, compiled
from contractlog.serdes.avro.generated.graph import MAX_FIELDS, Unfit
from contractlog.serdes.avro.generated.making import read_function, write_function
from contractlog.serdes.avro.generated.reading import reading
from contractlog.serdes.avro.generated.shelf import SHELF, Shelf
from contractlog.serdes.avro.generated.source import Source
from contractlog.serdes.avro.generated.writing import writing
from contractlog.serdes.avro.interpret import Builder
from contractlog.serdes.avro.interpreted import InterpretedReader, InterpretedWriter
from contractlog.serdes.avro.limits import DEFAULT_LIMITS
from contractlog.serdes.avro.plan import INTERPRETED_FIRST, AvroReader, AvroWriter
from contractlog.serdes.avro.resolve import Resolver
from contractlog.serdes.errors import DecodeError

from support.avro_plans import parsed, record

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
    source = Source()
    source.constant(len)
    source.lines = text.split("\n")
    with pytest.raises(NotAllowed):
        compiled(source)


def test_the_list_admits_what_it_is_for() -> None:
    source = Source()
    name = source.constant(len)
    source.lines = ["def f0(x, h):", f" return {name}(x) + {name}(h)"]
    assert compiled(source)([1], [2, 3]) == 3


def test_a_literal_stands_where_its_name_stood() -> None:
    source = Source()
    for text in EVIL:
        source.literal(text)
    source.lines = ["def f0(x, h):", f" return [{', '.join(source.literal(text) for text in EVIL)}]"]
    assert compiled(source)(None, None) == list(EVIL)


def test_names_symbols_defaults_and_docs_that_look_like_code_stay_texts() -> None:

    # no parser lets such names pass, so the tree is made by hand
    text, null = nodes.Primitive("", {}, "string"), nodes.Primitive("", {}, "null")
    union = nodes.Union("", {}, (null, text))
    fields = tuple(nodes.Field(name, union, "", {}, None, name, "ascending", (name,)) for name in EVIL)
    enum = nodes.Enum("", {}, "E", (), EVIL[1], EVIL, EVIL[0])
    more = (nodes.Field("e", enum, "", {}), nodes.Field("defaulted", text, "", {}, EVIL[0]))
    root = nodes.Record("", {}, EVIL[0], (), EVIL[3], (*fields, *more), is_error=False)
    schema = nodes.Schema(root, {EVIL[0]: root, "E": enum})

    codec = Builder(schema, named_records=True).codec(root)
    writer, reader = writing(codec, DEFAULT_LIMITS), reading(codec, DEFAULT_LIMITS)
    evolved = reading(Resolver(schema, schema).reader(), DEFAULT_LIMITS)
    for source in (writer, reader, evolved):
        assert not [text for text in EVIL if len(text) > 2 and text in source.text]
        assert set(source.text) <= set("abcdefghijklmnopqrstuvwxyz0123456789_()[]{},.:=<>!&+-/ \nINFT")
    value = dict.fromkeys(EVIL[:-3], "v") | {EVIL[-2]: None, EVIL[-3]: None, EVIL[-1]: "w", "e": EVIL[2]}
    body = compiled(writer)(value, b"")
    for source in (reader, evolved):
        assert compiled(source)(body, 0) == value | {"defaulted": EVIL[0]}


def test_the_text_is_the_same_whatever_names_are() -> None:
    def texts(name: str) -> list[str]:
        schema = parsed(record((name, "string", f"default of {name}"), (f"{name}2", ["null", "int"])))
        codec = InterpretedWriter(schema).codec
        return [writing(codec, DEFAULT_LIMITS).text, reading(codec, DEFAULT_LIMITS).text]

    assert texts("a") == texts("import_os")


def test_every_text_of_the_generators_passes_the_check_as_it_is_written() -> None:
    source = reading(InterpretedReader(parsed(record(("a", "int"), ("b", "string")))).reader, DEFAULT_LIMITS)
    tree = ast.parse(source.text)
    checked(tree, source.constants, source.literals)
    found = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert found == ["a", "b"]


def test_above_500_fields_the_interpreter_serves() -> None:
    def wide(number: int) -> dict[str, Any]:
        return record(*((f"f{index}", "int") for index in range(number)))

    for number, written in ((MAX_FIELDS, True), (MAX_FIELDS + 1, False)):
        schema = parsed(wide(number))
        if written:
            writing(InterpretedWriter(schema).codec, DEFAULT_LIMITS)
        else:
            with pytest.raises(Unfit):
                reading(InterpretedReader(schema).reader, DEFAULT_LIMITS)
        value = {f"f{index}": index for index in range(number)}
        body = AvroWriter(schema, interpreted_first=0).encode(value)
        assert AvroReader(schema, interpreted_first=0).decode(body) == value


def test_fields_are_counted_over_the_whole_schema() -> None:
    half = [(f"f{index}", "int") for index in range(MAX_FIELDS // 2)]
    schema = record(("a", record(*half, name="A")), ("b", record(*half, name="B")))
    with pytest.raises(Unfit):
        writing(InterpretedWriter(parsed(schema)).codec, DEFAULT_LIMITS)


class Holder:
    released = 0

    def release(self) -> None:
        self.released += 1


def test_a_shelf_keeps_so_many_functions_and_tells_who_held_the_others() -> None:
    shelf, holders, made = Shelf(2), [Holder() for _ in range(4)], []

    def write(key: int) -> Any:
        made.append(key)
        return lambda: key

    for key, holder in ((1, holders[0]), (1, holders[1]), (2, holders[2]), (3, holders[3])):
        taken = shelf.take(key, holder, lambda key=key: write(key))
        assert taken is not None
        assert taken() == key
    assert (made, len(shelf)) == ([1, 2, 3], 2)
    assert [holder.released for holder in holders] == [1, 1, 0, 0]


def test_plans_of_equal_schemas_share_their_code_and_let_go_of_it() -> None:
    schema = record(("shared", "int"), ("by", "string"))
    value = {"shared": 1, "by": "x"}
    first, second = (AvroWriter(parsed(schema), interpreted_first=0) for _ in range(2))
    assert first.encode(value) == second.encode(value) == b"\x02\x02x"
    assert first._run is second._run
    run = first._run
    first.release()
    assert first._run is not run
    assert first.encode(value) == b"\x02\x02x"
    assert first._run is run


def test_many_schemas_do_not_take_more_and_more_room() -> None:
    for number in range(300):
        writer = AvroWriter(parsed(record((f"f{number}", "int"))), interpreted_first=0)
        assert writer.encode({f"f{number}": number}) == AvroWriter(parsed("int")).encode(number)
    gc.collect()
    assert len(SHELF) <= 256


def test_code_is_written_when_a_schema_is_used_often() -> None:
    schema = parsed(record(("used", "int"), ("often", "int")))
    writer, reader = AvroWriter(schema), AvroReader(schema)
    before = len(SHELF)
    for _ in range(INTERPRETED_FIRST):
        assert reader.decode(writer.encode({"used": 1, "often": 2})) == {"used": 1, "often": 2}
    assert len(SHELF) == before
    for _ in range(3):
        assert reader.decode(writer.encode({"used": 1, "often": 2})) == {"used": 1, "often": 2}
    assert len(SHELF) == before + 2 or len(SHELF) == 256


def test_threads_that_meet_a_schema_at_once_all_get_its_bytes() -> None:
    schema = parsed(record(("n", "int"), ("s", ["null", "string"])))
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
    shelf, writing, written, made = Shelf(2), Event(), Event(), []

    def write() -> Any:
        made.append(1)
        writing.set()
        assert written.wait(10)
        return len

    holders = [Holder() for _ in range(9)]
    first = Thread(target=shelf.take, args=("key", holders[0], write))
    first.start()
    assert writing.wait(10)
    assert [shelf.take("key", holder, write) for holder in holders] == [None] * 9
    assert shelf.take("another", holders[0], lambda: repr) is repr
    written.set()
    first.join()
    assert [shelf.take("key", holder, write) for holder in holders] == [len] * 9
    assert made == [1]


def test_a_function_that_could_not_be_written_may_be_tried_again() -> None:
    shelf, holder = Shelf(2), Holder()
    with pytest.raises(ZeroDivisionError):
        shelf.take("key", holder, lambda: divmod(1, 0))  # type: ignore[arg-type, return-value]
    assert shelf.take("key", holder, lambda: len) is len


def test_threads_that_reach_the_hundredth_record_at_once_have_its_code_written_once() -> None:
    class Counting(AvroWriter):
        def _written(self) -> Any:
            made.append(1)
            return super()._written()

    made: list[int] = []
    writer = Counting(parsed(record(*((f"at_once_{index}", "int") for index in range(200)))), interpreted_first=0)
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
    reader = AvroReader(parsed(RECURSIVE), interpreted_first=interpreted_first)
    body = b"\x02" * depth + b"\x00" * (depth + 1)
    if depth < 64:
        reader.decode(body)
    else:
        with pytest.raises(DecodeError):
            reader.decode(body)


def test_functions_of_making_leave_to_the_interpreter_what_they_do_not_know() -> None:
    wide = parsed(record(*((f"f{index}", "int") for index in range(MAX_FIELDS + 1))))
    with pytest.raises(Otherwise):
        write_function(InterpretedWriter(wide).codec, DEFAULT_LIMITS)({}, b"")
    with pytest.raises(Otherwise):
        read_function(InterpretedReader(wide).reader, DEFAULT_LIMITS)(b"", 0)

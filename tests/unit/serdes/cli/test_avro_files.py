"""Avro object container files are exchanged with fastavro; damage is one message."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import fastavro
import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import SchemaDraft
from contractlog.serdes.cli.avro_blocks import MAX_BLOCK_BYTES
from contractlog.serdes.cli.avro_files import AvroFileReader, AvroFileWriter

ORDER: dict[str, Any] = {
    "type": "record",
    "name": "acme.Order",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "note", "type": ["null", "string"], "default": None},
    ],
}
ORDERS: list[dict[str, Any]] = [
    {
        "id": number,
        "price": Decimal("1.50"),
        "at": datetime(2013, 7, 1, tzinfo=UTC),
        "note": None if number % 2 else "n",
    }
    for number in range(1000)
]


def written(schema: Any, values: list[Any], codec: str = "deflate") -> bytes:
    out = io.BytesIO()
    fastavro.writer(out, schema, values, codec=codec, sync_interval=500)
    return out.getvalue()


def values(data: bytes, wanted: str | None = None) -> list[Any]:
    file = AvroFileReader(io.BytesIO(data), "orders.avro")
    reader = None if wanted is None else parse_schema(SchemaDraft(wanted), {})
    return [value for _, value in file.values(reader)]


@pytest.mark.parametrize("codec", ["null", "deflate", "bzip2", "xz"])
def test_files_written_by_fastavro_are_read(codec: str) -> None:
    assert values(written(ORDER, ORDERS, codec)) == ORDERS


@pytest.mark.parametrize("schema", [ORDER, "bytes", {"type": "array", "items": ["int", "string"]}])
def test_written_files_are_read_by_fastavro(schema: Any) -> None:
    given = {"acme.Order": ORDERS, "bytes": [b"", b"abc"]}.get(str(schema if schema == "bytes" else ""))
    given = ORDERS if schema is ORDER else given or [[1, "a"], []]
    out = io.BytesIO()
    writer = AvroFileWriter(out, parse_schema(SchemaDraft(json.dumps(schema)), {}))
    for value in given:
        writer.write(value)
    writer.flush()
    assert list(fastavro.reader(io.BytesIO(out.getvalue()))) == given
    assert values(out.getvalue()) == given


def test_references_are_written_out() -> None:
    line = '{"type": "record", "name": "acme.Line", "fields": [{"name": "n", "type": "int"}]}'
    fields = [{"name": "a", "type": "Line"}, {"name": "b", "type": "Line"}]
    order = json.dumps({"type": "record", "name": "acme.Lines", "fields": fields})
    out = io.BytesIO()
    writer = AvroFileWriter(out, parse_schema(SchemaDraft(order), {"acme.Line": line}))
    writer.write({"a": {"n": 1}, "b": {"n": 2}})
    writer.flush()
    assert list(fastavro.reader(io.BytesIO(out.getvalue()))) == [{"a": {"n": 1}, "b": {"n": 2}}]


def test_values_are_read_as_another_schema_wants_them() -> None:
    wanted = json.dumps(
        ORDER | {"fields": [{"name": "id", "type": "long"}, {"name": "new", "type": "int", "default": 3}]}
    )
    assert values(written(ORDER, ORDERS[:2]), wanted) == [{"id": 0, "new": 3}, {"id": 1, "new": 3}]
    with pytest.raises(UsageError, match=r"^record 1 of `orders.avro`: "):
        values(written(ORDER, ORDERS[:2]), json.dumps(ORDER | {"fields": [{"name": "other", "type": "int"}]}))


def test_damage_is_told_by_the_record_or_the_block() -> None:
    whole = written('"int"'.strip('"'), [1, 2, 3], "null")
    for data, told in (
        (b"", "is not an Avro object container file"),
        (b'{"id": 1}\n', "is not an Avro object container file"),
        (whole[:-20], "cannot be read to its end"),
        (whole.replace(b"\x06\x06\x02\x04\x06", b"\x06\x06\x02\x04\x80"), r"^record 3 of `orders.avro`: TRUNCATED"),
        (whole.replace(b"\x06\x06\x02\x04\x06", b"\x04\x06\x02\x04\x06"), "bytes are left"),
    ):
        with pytest.raises(UsageError, match=told):
            values(data)


@pytest.mark.parametrize("codec", ["null", "deflate", "bzip2", "xz"])
def test_a_block_is_not_decompressed_beyond_its_limit(codec: str) -> None:
    with pytest.raises(UsageError, match="a block is larger than 64 MiB: write the file again, with smaller blocks"):
        values(written("bytes", [bytes(MAX_BLOCK_BYTES)], codec))
    assert values(written("bytes", [bytes(1_000_000)] * 3, codec)) == [bytes(1_000_000)] * 3


def test_a_codec_that_cannot_be_bounded_is_rejected() -> None:
    data = written("int", [1], "null").replace(b"avro.codec\x08null", b"avro.codec\x0csnappy")
    with pytest.raises(UsageError, match="codec `snappy` is not supported, only null, deflate, bzip2, xz"):
        values(data)


@pytest.mark.parametrize("rest", [b"\xff" * 9 + b"\x01", b"\x02" + b"\xfe" * 8 + b"\x01", b"\xff" * 99])
def test_a_header_with_wrong_lengths_is_rejected(rest: bytes) -> None:
    with pytest.raises(UsageError, match="is not an Avro object container file"):
        values(b"Obj\x01" + rest)


def test_a_recursive_schema_with_a_deep_value_ends_in_an_error() -> None:
    tree = {"type": "record", "name": "T", "fields": [{"name": "t", "type": ["null", "T"]}]}
    out = io.BytesIO()
    fastavro.writer(out, tree, [{"t": None}], codec="null")
    head, _, _ = out.getvalue().rpartition(b"\x02\x02\x00")
    sync = out.getvalue()[-16:]
    body = b"\x02" * 4700 + b"\x00"
    size = len(body) << 1
    data = head + b"\x02" + bytes((size & 0x7F | 0x80, size >> 7)) + body + sync
    with pytest.raises(UsageError, match=r"record 1 of .*TOO_DEEP"):
        values(data)


def test_without_fastavro_the_command_that_installs_it_is_told() -> None:
    code = (
        "import sys; sys.modules['fastavro'] = None\n"
        "from contractlog.clients.cli.main import main\n"
        "sys.exit(main(['consume', 't', '--format', 'avro', '--bootstrap-servers', '127.0.0.1:9']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, "pip install 'contractlog[avro]'" in done.stderr) == (2, True), done.stderr


def test_a_block_of_records_without_bytes_counts_for_their_fields() -> None:
    kind = {"type": "record", "name": "R", "fields": [{"name": f"f{index}", "type": "null"} for index in range(1_009)]}
    empty = dict.fromkeys(f"f{index}" for index in range(1_009))
    assert len(values(written(kind, [empty] * 1_000, "null"))) == 1_000
    with pytest.raises(UsageError, match="claims 1,001 records"):
        values(written(kind, [empty] * 1_001, "null"))

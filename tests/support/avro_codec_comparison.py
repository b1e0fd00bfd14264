"""Comparison of interpreter, generated code and Java Avro on random schemas and values.

``python -m support.avro_codec_comparison 20000`` prints the counts.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

from contractlog.compatibility.avro.types import AvroSchema, AvroType, Field, Record, Union
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import compare_schemas, parse_schema
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.codegen.codec_analysis import NotGenerated
from contractlog.serdes.avro.codegen.compiler import compile_source
from contractlog.serdes.avro.codegen.read_emitter import generate_reader
from contractlog.serdes.avro.codegen.source_text import SourceText
from contractlog.serdes.avro.codegen.write_emitter import generate_writer
from contractlog.serdes.avro.interpreter.defaults import make_default
from contractlog.serdes.avro.interpreter.failure import CodecFailure
from contractlog.serdes.avro.interpreter.interpreter import InterpretedReader, InterpretedWriter
from contractlog.serdes.avro.limits import DEFAULT_LIMITS
from contractlog.serdes.errors import SerializationError

from support.avro_schemas import is_named, iterate_nodes
from support.avro_values import NoFiniteValueError, ValueGenerator
from support.avro_versions import RichSchemas, create_version
from support.java_avro import JavaProcess, start_java_avro
from support.java_value_comparison import describe_difference, encode_value

__all__ = ["KNOWN_DIFFERENCES", "CodecComparison", "compare_codecs"]

KNOWN_DIFFERENCES: Final[Mapping[str, str]] = {
    "moment that Python has no type for": r"^reading: a number for Java's (date|instant|local)",
    "bytes that are no text": r"^we do not read: BAD_UTF8",
    "raw value that breaks the reader's logical type": r"^we do not read: LOGICAL_TYPE",
    "branch under another namespace": r"^Java does not read: .*Found (?:\w+\.)?(\w+), expecting union\[.*\b\1\b",
    "name or alias that Java's decoder takes in another way": (
        r"^ambiguous: |^aliased: "
        r"|^Java does not read: .*(Found (\w+\.)?T\d+x*, expecting (\w+\.)?T\d+x*(, missing|$)|Duplicate field)"
    ),
    "default of a later branch": (
        r"^later branch: "
        r"|^Java does not read: .*(default value|Not a|nvalid default|Schema fields|enum value)"
    ),
    "endless default": r"^Java does not read: .*StackOverflowError",
    "recursive type that Java's decoder cannot follow": (
        r"^as written: java.lang.(StackOverflowError|NullPointerException: Cannot read field \"kind\")"
    ),
    "schema that only one side parses": r"^Java does not parse: ",
}
"""Documented differences from Java Avro, and the patterns that identify them; ``docs/serdes.md`` has the reasons."""

VALUES_PER_PAIR: Final = 4  #: for each pair of schemas
PAIRS_PER_REQUEST: Final = 100  #: pairs of schemas in one batch of requests to Java
Texts = list[str]


@dataclass
class CodecComparison:
    """Counts of agreements and differences, and the smallest case of each difference."""

    counts: Counter[str] = dataclasses.field(default_factory=Counter)
    smallest: dict[str, Any] = dataclasses.field(default_factory=dict)

    def disagree(self, shows: str, *case: Any) -> None:
        """Count a difference under its name; an unknown difference is a failure."""
        name = next(
            (name for name, sign in KNOWN_DIFFERENCES.items() if re.search(sign, shows)), f"UNASSIGNED {shows[:300]}"
        )
        self.counts[name] += 1
        if name not in self.smallest or len(str(case)) < len(str(self.smallest[name])):
            self.smallest[name] = (shows, *case)

    @property
    def unassigned(self) -> dict[str, Any]:
        """Differences that are not documented."""
        return {name: case for name, case in self.smallest.items() if name not in KNOWN_DIFFERENCES}


@dataclass
class Pair:
    """A writer, a reader, and values of the writer."""

    texts: tuple[Texts, Texts]
    parsed: tuple[ParsedSchema, ParsedSchema]
    values: list[Any]
    encoded_values: list[Any]

    def create_fates_request(self, bodies: Sequence[bytes]) -> dict[str, Any]:
        """Return the request that makes Java decode these bodies."""
        writer, reader = self.texts
        return {"op": "fates", "writer": writer, "reader": reader, "bodies": [body.hex() for body in bodies]}


def compare_codecs(java: JavaProcess, random: Random, count: int) -> CodecComparison:
    """Compare bytes, values and errors for this many triples of writer, reader and value."""
    proof = CodecComparison()
    pairs = _pairs(random)
    while proof.counts["pairs"] < count:
        some = [next(pairs) for _ in range(PAIRS_PER_REQUEST)]
        theirs = java.ask([{"op": "write", "writer": pair.texts[0], "values": pair.encoded_values} for pair in some])
        written = [(pair, _compare_written(proof, pair, answer)) for pair, answer in zip(some, theirs, strict=True)]
        for (pair, bodies), answer in zip(
            written, java.ask([pair.create_fates_request(bodies) for pair, bodies in written]), strict=True
        ):
            if "error" in answer:
                proof.disagree(f"Java does not parse: {answer['error']}", *pair.texts)
                continue
            read = _compare_read(proof, pair, bodies)
            for body, ours, fate in zip(bodies, read, answer["fates"], strict=True):
                _compare_fate(proof, pair, body, ours, fate)
    return proof


def _pairs(random: Random) -> Iterator[Pair]:
    while True:
        first = _with_logical_types(RichSchemas(random).schemas(), random)
        second, _ = create_version(first, random)
        for writer, reader in ((first, second), (second, first)):
            texts = ([*map(json.dumps, writer)], [*map(json.dumps, reader)])
            parsed = tuple(_parse(text) for text in texts)
            if parsed[0] is None or parsed[1] is None:
                continue
            datums = ValueGenerator(parsed[0].root, random)
            try:
                value_pairs = [datums.pair() for _ in range(VALUES_PER_PAIR)]
            except NoFiniteValueError:
                continue
            yield Pair(
                texts, (parsed[0], parsed[1]), [ours for ours, _ in value_pairs], [other for _, other in value_pairs]
            )


TIMESTAMP_TYPES: Final = tuple(
    f"{local}timestamp-{unit}" for local in ("", "local-") for unit in ("millis", "micros", "nanos")
)


def _with_logical_types(schemas: list[Any], random: Random) -> list[Any]:
    """Give some longs a logical type that other comparisons do not use."""
    changed = copy.deepcopy(schemas)
    for node in [node for schema in changed for node in iterate_nodes(schema)]:
        if isinstance(node, dict) and not is_named(node):
            for keyword in ("type", "items", "values"):
                if node.get(keyword) == "long" and random.random() < 0.4 and (keyword != "type" or "name" in node):
                    node[keyword] = {"type": "long", "logicalType": random.choice(TIMESTAMP_TYPES)}
    return changed


def _parse(texts: Texts) -> ParsedSchema | None:
    references = {f"r{index}": text for index, text in enumerate(texts[:-1])}
    try:
        return parse_schema(SchemaDraft(texts[-1]), references, strict=False)
    except InvalidSchema:
        return None


def _compare_written(proof: CodecComparison, pair: Pair, answer: Mapping[str, Any]) -> list[bytes]:
    """Return the bytes of a pair's values; compare them with Java's."""
    exact = InterpretedWriter(pair.parsed[0])
    code = _compile(lambda: generate_writer(exact.codec, DEFAULT_LIMITS))
    bodies = [exact.encode(value) for value in pair.values]
    for value, body in zip(pair.values, bodies, strict=True):
        served, generated = _call_generated(code, value, b"")
        proof.counts["written by generated code"] += served
        if served and generated != body:
            proof.disagree("writing: generated code writes other bytes", pair.texts[0], value, body.hex())
    if "error" in answer:
        proof.disagree(f"Java does not parse: {answer['error']}", *pair.texts)
        return bodies
    for value, ours, theirs in zip(pair.values, bodies, answer["bodies"], strict=True):
        proof.counts["same bytes"] += ours.hex() == theirs
        if ours.hex() != theirs:
            proof.disagree("writing: other bytes", pair.texts[0], value, ours.hex(), theirs)
    return bodies


def _compare_read(proof: CodecComparison, pair: Pair, bodies: list[bytes]) -> list[Any]:
    """Return the values read from a pair's bytes, or errors; compare interpreter and generated code."""
    exact = InterpretedReader(*pair.parsed)
    code = _compile(lambda: generate_reader(exact.reader, DEFAULT_LIMITS))
    answers = [_decode(exact.decode, body) for body in bodies]
    for body, ours in zip(bodies, answers, strict=True):
        served, generated = _call_generated(code, body, 0)
        proof.counts["read by generated code"] += served
        if served and (isinstance(ours, SerializationError) or encode_value(generated) != ours):
            proof.disagree("reading: generated code reads otherwise", *pair.texts, body.hex(), ours)
    return answers


def _compile(write: Callable[[], SourceText]) -> Callable[..., Any] | None:
    try:
        return compile_source(write())
    except NotGenerated:
        return None


def _decode(decode: Callable[[bytes], Any], body: bytes) -> Any:
    try:
        return encode_value(decode(body))
    except SerializationError as error:
        return error


def _call_generated(code: Callable[..., Any] | None, *arguments: Any) -> tuple[bool, Any]:
    if code is None:
        return False, None
    try:
        return True, code(*arguments)
    except Exception:  # noqa: BLE001 -- then the interpreter is used
        return False, None


def _compare_fate(proof: CodecComparison, pair: Pair, body: bytes, ours: Any, fate: Sequence[Any]) -> None:
    problem, position, broken, mismatch, value = fate
    proof.counts["pairs"] += 1
    if problem is not None or broken not in ([], ["LOGICAL_TYPE"]) or position != len(body):
        proof.disagree(f"as written: {problem} {broken}", pair.texts[0], body.hex())
        return
    if isinstance(ours, SerializationError):
        if ours.outcome is Outcome.LOGICAL_TYPE and not broken and mismatch is None:
            proof.disagree(f"logical type that Java knows to be kept: {ours}", *pair.texts, body.hex(), value)
        elif mismatch is None:
            proof.disagree(f"we do not read: {ours}", *pair.texts, body.hex(), value)
        else:
            proof.counts["read by neither"] += 1
        return
    if broken:
        proof.disagree("logical type that we take to be kept", *pair.texts, body.hex(), ours)
        return
    if mismatch is not None:
        field = re.search(r'Field "(\w+)"', mismatch)
        sign = (
            "ambiguous: "
            if _is_ambiguous(*pair.parsed)
            else _describe_field(field[1] if field else "", pair.parsed[1].root)
        )
        proof.disagree(f"{sign}Java does not read: {mismatch}", *pair.texts, body.hex(), ours)
        return
    differs = describe_difference(ours, value)
    proof.counts["same value"] += differs is None
    if differs is not None:
        proof.disagree(f"{_describe_field(differs, pair.parsed[1].root)}reading: {differs}", *pair.texts, body.hex())


def _describe_field(differs: str, reader: AvroSchema) -> str:
    """Describe a special property of the reader's field in which a value or an error differs."""
    field = differs.partition(":")[0]
    if field in _later_defaults(reader):
        return "later branch: "
    return (
        "aliased: "
        if any(reader_field.name == field and reader_field.aliases for reader_field in _iterate_fields(reader))
        else ""
    )


def _is_ambiguous(writer: ParsedSchema, reader: ParsedSchema) -> bool:
    return any(finding.check == "AVRO_FIELD_AMBIGUOUS" for finding in compare_schemas(reader, writer))


def _later_defaults(schema: AvroSchema) -> set[str]:
    """Return the names of fields whose default belongs to a later branch of their union."""
    return {
        field.name
        for field in _iterate_fields(schema)
        if isinstance(field.type, Union)
        and field.has_default
        and not _fits_branch(schema, field, field.type.branches[0])
    }


def _iterate_fields(schema: AvroSchema) -> Iterator[Field]:
    records = (node for node in schema.types.values() if isinstance(node, Record))
    return (field for record in records for field in record.fields)


def _fits_branch(schema: AvroSchema, field: Field, branch: AvroType) -> bool:
    try:
        make_default(schema, replace(field, type=branch))()
    except CodecFailure:
        return False
    return True


def main() -> None:
    """Print the counts and the smallest cases."""
    with start_java_avro() as java:
        proof = compare_codecs(java, Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1), int(sys.argv[1]))  # noqa: S311
    for name, times in sorted(proof.counts.items()):
        print(f"{times:8d}  {name}")  # noqa: T201 - a table for people
    for name, case in proof.smallest.items():
        print(f"smallest of {name}:", *case, sep="\n    ")  # noqa: T201


if __name__ == "__main__":
    main()

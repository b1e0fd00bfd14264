"""Java Avro, which Spark brings along, judges the parser, the canonical text and the engine."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.parsing import check, parse
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft

from support.avro_schemas import Schemas, evolved

pytestmark = [pytest.mark.integration, pytest.mark.spark]

JAVA_STUMBLES = "Schema fields not set yet"  # at a default for a union that holds the record being read
GOLDEN = Path(__file__).parents[2] / "unit" / "compatibility" / "cases" / "canonical" / "avro.json"


class JavaAvro:
    """The reference's parser and checker."""

    def __init__(self, spark: SparkSession) -> None:
        self.refusal = ""
        self.avro = spark.sparkContext._jvm.org.apache.avro

    def schema(self, text: str) -> Any | None:
        self.refusal = ""
        try:
            return self.avro.Schema.Parser(self.avro.NameValidator.STRICT_VALIDATOR).parse(text)
        except Py4JJavaError as refusal:
            self.refusal = str(refusal.java_exception)
            return None

    def findings(self, reader: str, writer: str) -> list[tuple[str, str, str]]:
        pair = self.avro.SchemaCompatibility.checkReaderWriterCompatibility(self.schema(reader), self.schema(writer))
        found = pair.getResult().getIncompatibilities()
        return [(one.getType().toString(), one.getLocation(), one.getMessage()) for one in found]


@pytest.fixture(scope="module")
def java(spark: SparkSession) -> JavaAvro:
    return JavaAvro(spark)


def ours(text: str) -> ParsedSchema | None:
    try:
        return parse(SchemaDraft(text))
    except InvalidSchema:
        return None


@pytest.mark.parametrize("golden", json.loads(GOLDEN.read_text(encoding="utf-8")))
def test_the_golden_texts_are_javas(java: JavaAvro, golden: dict[str, str]) -> None:
    schema = java.schema(golden["text"])
    assert schema is not None
    assert schema.toString() == golden["canonical"]


def test_random_schemas_are_accepted_and_written_as_java_does(java: JavaAvro) -> None:
    random, compared = Random(20130101), 0  # noqa: S311 - the same schemas in every run
    for _ in range(150):
        text = json.dumps(evolved(Schemas(random).schema(), random, 2))
        theirs, parsed = java.schema(text), ours(text)
        if JAVA_STUMBLES in java.refusal:
            continue
        assert (theirs is None) == (parsed is None), text
        if theirs is not None and parsed is not None:
            compared += 1
            assert parsed.canonical == theirs.toString()
    assert compared > 100


def test_random_pairs_have_javas_verdict_and_its_first_finding(java: JavaAvro) -> None:
    random, refused = Random(20130701), 0  # noqa: S311 - the same schemas in every run
    for _ in range(300):
        writer = Schemas(random).schema()
        texts = [json.dumps(evolved(writer, random, random.randint(1, 3))), json.dumps(writer)]
        reader, old = map(ours, texts)
        if reader is None or old is None or any(java.schema(text) is None for text in texts):
            continue
        messages = [finding.message.format(reader="new", writer="old") for finding in check(reader, old)]
        theirs = java.findings(*texts)
        assert bool(messages) == bool(theirs), texts
        if theirs:
            refused += 1
            kind, location, info = theirs[0]
            assert messages[0].startswith(f"{{errorType:'{kind}'"), texts
            assert f"path '{location}'" in messages[0], texts
            assert messages[0].endswith(f"additionalInfo:'{info}'}}"), texts
    assert refused > 50

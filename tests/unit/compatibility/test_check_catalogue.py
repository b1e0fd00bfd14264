"""The catalogue contains every check of a finding."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contractlog.compatibility.check_description import CheckDescription
from contractlog.compatibility.engine import DIFFERENT_TYPE, ParsedVersion, check_compatibility
from contractlog.compatibility.formats import CATALOGUE, parse_schema
from contractlog.compatibility.level import Level
from contractlog.compatibility.pair_walk import work_limit_exceeded
from contractlog.compatibility.schema import SchemaDraft, SchemaType


@pytest.mark.parametrize("spec", CATALOGUE.values(), ids=CATALOGUE)
def test_an_entry_is_found_by_its_id_and_explains_itself(spec: CheckDescription) -> None:
    assert CATALOGUE[spec.id] is spec
    assert spec.id.isupper()
    assert not spec.title.endswith(".")
    assert spec.explanation.endswith(".")
    assert (spec.bad is None) == (spec.good is None)


def test_findings_that_no_check_makes_are_in_the_catalogue_too() -> None:
    for finding in (DIFFERENT_TYPE, work_limit_exceeded(1)):
        assert finding.check in CATALOGUE
        assert finding.fix
        assert finding.message.format(reader="new", writer="old") == finding.message


CASES = Path(__file__).parent / "cases"
WITHOUT_A_PAIR = {
    "DATA_UNREADABLE": "about records of a topic; tests of contractlog check have it",
    "LATEST_VERSION_UNKNOWN": "about the registry and the folder; test_known_versions has it",
    "WORK_LIMIT_EXCEEDED": "no small pair is too much work; test_hostile_schemas has large ones",
    "JSON_SCHEMA_NONCONFORMING": "about one schema, not a pair; test_acceptance shows it",
    "JSON_RESERVED_PROPERTY_REMOVED": "told from metadata, by the check of reserved fields",
    "JSON_RESERVED_PROPERTY_CONFLICTS_WITH_PROPERTY": "told from metadata, by the check of reserved fields",
    "JSON_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": "the reference names it and never uses it",
}


def test_every_check_is_shown_with_and_without_its_finding() -> None:
    """By its case file, or by its examples, which the tests of its engine hold true."""
    shown = {one: {True, False} for one, spec in CATALOGUE.items() if spec.bad and spec.good}
    for path in (*CASES.glob("avro/*.json"), *CASES.glob("json/*.json")):
        for case in json.loads(path.read_text("utf-8")):
            found = {finding.split(" ")[0] for finding in case["findings"]}
            shown.setdefault(path.stem, set()).add(path.stem in found)
    assert {one for one in CATALOGUE if shown.get(one) != {True, False}} == WITHOUT_A_PAIR.keys()


def test_the_examples_of_another_type_are_true() -> None:
    spec = CATALOGUE["SCHEMA_TYPE_CHANGED"]
    assert spec.bad
    assert spec.good
    reader = parse_schema(SchemaDraft(spec.bad.reader))
    other, same = (
        parse_schema(SchemaDraft(spec.bad.writer, SchemaType.JSON)),
        parse_schema(SchemaDraft(spec.good.writer)),
    )
    assert [one.check for one in check_compatibility(reader, [ParsedVersion(1, other)], Level.FULL).findings] == [
        spec.id
    ]
    assert check_compatibility(reader, [ParsedVersion(1, same)], Level.FULL).compatible

"""Stored JSON schemas that are invalid in their draft have a verdict under every policy."""

from __future__ import annotations

import pytest

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import SchemaDraft, SchemaType

INVALID = [
    '{"items":{"$id":{"$id":"x"}}}',
    '{"oneOf":null}',
    '{"required":5}',
    '{"maximum":"a"}',
    '{"properties":[]}',
    '{"$ref":1}',
    '{"enum":{}}',
]


@pytest.mark.parametrize("text", INVALID)
def test_unknown_keywords_are_undecided_under_exact(text: str) -> None:
    new = parse_schema(SchemaDraft("{}", SchemaType.JSON))
    stored = parse_schema(SchemaDraft(text, SchemaType.JSON), strict=False)
    verdict = check_compatibility(new, [ParsedVersion(1, stored)], Level.BACKWARD, policy=Policy.EXACT)
    assert [finding.check for finding in verdict.findings] == ["JSON_UNDECIDED"]
    for policy in (Policy.STRICT, Policy.LENIENT):
        assert check_compatibility(stored, [ParsedVersion(1, stored)], Level.FULL, policy=policy).compatible

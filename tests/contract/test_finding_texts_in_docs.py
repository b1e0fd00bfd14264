"""Documents that show the text of a finding show the one that the checks give."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import SchemaDraft

ROOT = Path(__file__).parents[2]


def detail_of_a_missing_default(field: str, name: str) -> str:
    """Return the text of the finding about a new field without a default in a record."""
    new, old = (
        parse_schema(SchemaDraft(json.dumps({"type": "record", "name": name, "fields": fields})))
        for fields in ([{"name": field, "type": "double"}], [])
    )
    (finding,) = check_compatibility(new, [ParsedVersion(1, old)], Level.BACKWARD).findings
    return finding.detail


@pytest.mark.parametrize(
    ("page", "field", "name"),
    [("README.md", "gate", "contractlog.flights.Departure"), ("docs/ci.md", "total", "Order")],
)
def test_each_shown_text_of_a_missing_default_is_the_one_of_the_check(page: str, field: str, name: str) -> None:
    text = (ROOT / page).read_text("utf-8").replace('\\"', '"')
    lines = [line for line in text.splitlines() if re.search(r"cannot read what .* wrote", line) and field in line]
    detail = detail_of_a_missing_default(field, name)
    assert lines
    assert [line for line in lines if detail not in line] == []

"""The catalogue names everything that a finding can be."""

from __future__ import annotations

import pytest

from contractlog.compatibility.checks import CATALOGUE, CheckSpec
from contractlog.compatibility.judge import DIFFERENT_TYPE
from contractlog.compatibility.walk import work_limit_exceeded


@pytest.mark.parametrize("spec", CATALOGUE.values(), ids=CATALOGUE)
def test_an_entry_is_found_by_its_id_and_explains_itself(spec: CheckSpec) -> None:
    assert CATALOGUE[spec.id] is spec
    assert spec.id.isupper()
    assert not spec.title.endswith(".")
    assert spec.explanation.endswith(".")
    assert (spec.bad is None) == (spec.good is None)


def test_findings_that_no_check_makes_are_in_the_catalogue_too() -> None:
    for finding in (DIFFERENT_TYPE, work_limit_exceeded(1)):
        assert finding.check in CATALOGUE
        assert finding.mend
        assert finding.message.format(reader="new", writer="old") == finding.message

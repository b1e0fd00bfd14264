"""The examples of ``docs/testing.md`` run, and the names in it exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from contractlog.registry import testing

pytest_plugins = ["pytester"]
PAGE = (Path(__file__).parents[2] / "docs" / "testing.md").read_text("utf-8")


def test_the_page_names_every_fixture() -> None:
    named = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    assert named == set(testing.__all__) - {"Registries", "SchemaGate"}


def test_the_examples_pass(pytester: pytest.Pytester) -> None:
    examples = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    source = "\n".join(examples)
    pytester.makepyfile(source)
    result = pytester.runpytest_subprocess("-q", "-W", "error", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=source.count("\ndef test_"))

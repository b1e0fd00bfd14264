"""The examples in docstrings of the product work."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("clients", "compatibility", "contracts", "migrations", "registry", "serdes")


def modules_with_examples(part: str) -> list[str]:
    return sorted(
        ".".join(("contractlog", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        for path in (ROOT / part).rglob("*.py")
        if ">>> " in path.read_text(encoding="utf-8")
    )


@pytest.mark.parametrize("name", [name for part in PARTS for name in modules_with_examples(part)])
def test_examples_of_docstrings_do_what_they_say(name: str) -> None:
    done = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)
    assert done.attempted
    assert not done.failed


def test_there_are_examples_of_the_public_parts() -> None:
    for part in ("clients", "compatibility", "registry", "serdes"):
        assert modules_with_examples(part)

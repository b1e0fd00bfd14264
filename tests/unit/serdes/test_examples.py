"""Examples in docstrings and in the serializers' page do what they say."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "serdes.md"
OPTIONS = doctest.ELLIPSIS


def modules() -> list[str]:
    """Every module of the public surface."""
    names: list[str] = []
    for package in ("contractlog.clients", "contractlog.serdes"):
        found = import_module(package)
        names += [package, *(module.name for module in walk_packages(found.__path__, f"{package}."))]
    return names


EXAMPLES = [name for name in modules() if ">>> " in Path(str(import_module(name).__file__)).read_text(encoding="utf-8")]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_docstrings_do_what_they_say(name: str) -> None:
    done = doctest.testmod(import_module(name), optionflags=OPTIONS)
    assert done.attempted
    assert not done.failed


def test_there_are_examples_of_both_parts() -> None:
    assert {name.split(".")[1] for name in EXAMPLES} == {"clients", "serdes"}


def test_the_page_of_the_serializers_does_what_it_says() -> None:
    done = doctest.testfile(str(PAGE), module_relative=False, optionflags=OPTIONS)
    assert done.attempted > 20
    assert not done.failed

"""The examples of ``docs/serdes.md`` work."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "serdes.md"
OPTIONS = doctest.ELLIPSIS


def test_the_page_of_the_serializers_does_what_it_says() -> None:
    done = doctest.testfile(str(PAGE), module_relative=False, optionflags=OPTIONS)
    assert done.attempted > 20
    assert not done.failed

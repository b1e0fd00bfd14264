"""The examples of ``docs/clients.md`` work, and its list of differences is complete."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "clients.md"


def test_the_page_of_the_clients_does_what_it_says() -> None:
    done = doctest.testfile(str(PAGE), module_relative=False)
    assert done.attempted > 20
    assert not done.failed

"""``docs/compatibility.md`` names a test for each quirk, step of a registration and code."""

from __future__ import annotations

import re
from pathlib import Path

from contractlog.compatibility.errors import RegistryError

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "compatibility.md").read_text()
SECTION = PAGE.partition("## Registry: quirks, steps and codes with their tests")[2].partition("\n## ")[0]
ROWS = [line for line in SECTION.splitlines() if line.startswith("| ") and not line.startswith("|---")]
#: Rows. The reference's own sources call 19 places odd, by our count; some are told as two.
QUIRKS = 39
STEPS = 12
OWN = range(80, 90)  #: the last two digits of codes of our own
#: Why no request meets them is told below the table.
NEVER = {40370, 40902, 42207, 42209, 50003, 50004, 50005, 406, 409, 500}
#: Answers of the layer that asks who is calling; ``tests/unit/registry/access`` has them.
ACCESS = {401, 403}


def rows(columns: int) -> list[list[str]]:
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in ROWS]
    return [one for one in cells if len(one) == columns and one[-1].startswith("`test_")]


def test_every_row_names_a_test_that_is_there() -> None:
    defined = set(
        re.findall(r"def (test_\w+)\(", "\n".join(p.read_text() for p in (ROOT / "tests").rglob("test_*.py")))
    )
    named = {row[-1].strip("`") for columns in (2, 3) for row in rows(columns)}
    assert named - defined == set()


def test_every_quirk_and_every_step_has_its_row() -> None:
    steps = [row for row in rows(3) if row[0].isdigit()]
    assert [int(row[0]) for row in steps] == list(range(STEPS))
    assert len(rows(3)) - len(steps) == QUIRKS


def test_every_code_that_a_request_can_provoke_has_its_row() -> None:
    codes = set(RegistryError.catalogue())
    told = {int(row[0]) for row in rows(2)}
    provoked = {code for code in codes if code % 100 not in OWN or code < 1_000} - NEVER - ACCESS
    assert provoked - told == set()
    assert told <= codes

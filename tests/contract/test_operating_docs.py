"""``docs/operating.md`` lists every setting with its default."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

from contractlog.registry.settings import Settings

PAGE = (Path(__file__).parent.parent.parent / "docs" / "operating.md").read_text("utf-8")
UNITS = {"GiB": 1024**3, "MiB": 1024**2}


def shown(default: Any) -> str:
    """Write a default as the table does.

    >>> shown(64 * 1024 * 1024), shown(False), shown(""), shown(2.0), shown(2_000_000)
    ('64 MiB', 'false', 'none', '2', '2000000')
    """
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, str):
        return str(default) or "none"
    unit = next((name for name, size in UNITS.items() if default >= size and default % size == 0), None)
    return f"{default:.0f}" if unit is None else f"{default // UNITS[unit]} {unit}"


def test_each_setting_has_its_row_with_its_default() -> None:
    table = PAGE.partition("## Settings")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| `?([^|`]+)`? \|", table, re.MULTILINE))
    assert rows == {one.name: shown(one.default) for one in fields(Settings)}

"""The report with which the next one is compared: what is damaged is not silently absent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contractlog.spark_validation.jobs.former_report import read_former_report
from contractlog.spark_validation.jobs.result_folder import REPORT

from support.reports import part, report

GOOD = report(part("orders"))


def test_a_report_is_read(tmp_path: Path) -> None:
    (tmp_path / REPORT).write_text(json.dumps(GOOD))
    lines: list[str] = []
    assert read_former_report(tmp_path, print_line=lines.append) == GOOD
    assert lines == []


def test_a_missing_report_is_none(tmp_path: Path) -> None:
    lines: list[str] = []
    assert read_former_report(tmp_path, print_line=lines.append) is None
    assert lines == []


@pytest.mark.parametrize("content", ["", "{", '{"format": "other"}', "[]"])
def test_a_damaged_report_is_not_compared_and_that_is_said(tmp_path: Path, content: str) -> None:
    (tmp_path / REPORT).write_text(content)
    lines: list[str] = []
    assert read_former_report(tmp_path, print_line=lines.append) is None
    (line,) = lines
    assert line.startswith(f"nothing is compared with the former report, {tmp_path / REPORT}: ")
    assert read_former_report(tmp_path) is None

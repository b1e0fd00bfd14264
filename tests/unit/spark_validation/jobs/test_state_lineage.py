"""``contractlog impact --state`` infers lineage from the state of an audit."""

from __future__ import annotations

from pathlib import Path

import pytest

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.spark_validation.state.state_files import write_state

from support.sampled_topics import Record, sample_topics

START = 1_700_000_000_000
ORDERS: list[Record] = [
    (START + number * 60_000, {"id": f"order {number}", "total": number * 37 % 1009}) for number in range(900)
]
LATE: list[Record] = [
    (time + 2000, {"order": value["id"], "total": value["total"]}) for time, value in ORDERS if value["total"] > 300
]


@pytest.mark.parametrize("name", ["", "state"])
def test_a_change_reaches_what_values_prove(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_state(sample_topics({"orders": ORDERS, "late": LATE}), tmp_path / "state")
    assert main(["impact", "orders-value:id", "--state", str(tmp_path / name)]) == exit_codes.CLEAN
    assert capsys.readouterr().out.splitlines()[2].split() == [
        "1",
        "late",
        "order",
        "orders",
        "id",
        "copy",
        "values",
        "1.00",
    ]


def test_the_fields_that_were_sampled_are_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_state(sample_topics({"orders": ORDERS}), tmp_path / "state")
    assert main(["impact", "orders:totl", "--state", str(tmp_path)]) == exit_codes.USAGE
    assert "did you mean `total`?" in capsys.readouterr().err


def test_a_folder_without_a_state_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["impact", "orders", "--state", str(tmp_path)]) == exit_codes.USAGE
    assert capsys.readouterr().err.startswith("contractlog: ")

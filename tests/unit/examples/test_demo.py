from __future__ import annotations

import pytest

import demo


@pytest.mark.parametrize("number", ["0", "-1", "many"])
def test_a_number_of_records_is_one_or_more(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        demo.parse_arguments([f"--records={number}"])
    assert ended.value.code == 2
    assert f"{number} is not a number of records" in capsys.readouterr().err

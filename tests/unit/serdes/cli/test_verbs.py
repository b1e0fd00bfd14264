from __future__ import annotations

from argparse import ArgumentParser

import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.serdes.cli.produce import produce


@pytest.mark.parametrize(
    "argv",
    [
        ["orders", "--schema", "x.avsc", "orders.jsonl"],
        ["--schema", "x.avsc", "orders", "orders.jsonl"],
        ["orders", "orders.jsonl", "--schema", "x.avsc"],
        ["orders", "--schema", "x.avsc"],
    ],
)
def test_options_may_stand_anywhere(argv: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONTRACTLOG_BOOTSTRAP_SERVERS", raising=False)
    with pytest.raises(UsageError, match="name the broker"):  # the arguments were understood
        produce(ArgumentParser(), argv)

"""A folder with a contract, and the verb run in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from contractlog.clients.cli.main import main

AVRO = """{
  "type": "record", "name": "Order", "namespace": "shop", "doc": "An order.",
  "fields": [
    {"name": "id", "type": "string"},
    {"name": "email", "type": ["null", "string"], "default": null, "confluent:tags": ["PII"]}
  ]
}
"""


class Ran(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


RunContract = Callable[..., Ran]


@pytest.fixture
def contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunContract:
    """Return a function that runs ``contractlog contract``, in a folder with a schema; no registry can be reached."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL", "http://127.0.0.1:9")
    (tmp_path / "orders-value.avsc").write_text(AVRO)

    def run(*arguments: str) -> Ran:
        code = main(["contract", *arguments])
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return run

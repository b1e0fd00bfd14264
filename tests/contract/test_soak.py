"""``make soak`` runs all fuzzers."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_make_soak_runs_every_fuzzer() -> None:
    fuzzers = {path.name for path in (ROOT / "tests" / "fuzz").glob("*.py") if not path.name.startswith("test_")}
    soak = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nsoak:")[2].partition("\n\n")[0]
    assert {name for name in fuzzers if f"tests/fuzz/{name} " in soak} == fuzzers - {"__init__.py"}

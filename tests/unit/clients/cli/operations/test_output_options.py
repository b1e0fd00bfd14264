"""``--quiet``, ``--verbose`` and ``--color`` of every verb of the command line's own package."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.clients.cli.verbs import VERBS
from contractlog.contracts.odcs.contract_text import write_contract
from contractlog.contracts.odcs.document import build_contract

from support.operations import NOTE, Run, order

ARGUMENTS: Final = {
    "register": ["schemas"],
    "check": ["schemas"],
    "plan": ["schemas"],
    "apply": ["schemas"],
    "promote": ["dev", "prod", "--manifest", "schemas/contractlog.toml"],
    "diff": ["subject:orders-value:1", "file:schemas/orders-value.avsc"],
    "lint": ["schemas", "--fail-on", "error"],
    "contract init": ["orders-value", "--out", "empty/orders.contract.yaml"],
    "contract lint": ["orders.contract.yaml"],
    "contract diff": ["orders.contract.yaml", "orders.contract.yaml"],
    "contract import": ["orders.contract.yaml", "--out", "empty"],
    "contract export": ["orders-value"],
    "contract test": ["orders.contract.yaml"],
    "contract put": ["orders.contract.yaml"],
    "contract get": ["orders"],
    "contract docs": ["orders.contract.yaml"],
    "change open": ["orders-value", "--level", "FULL", "--reason", "r"],
    "change list": [],
    "changes": [],
    "journal head": [],
    "journal verify": [],
    "journal export": [],
    "impact": ["orders", "--lineage", "lineage.json"],
    "init": ["empty"],
    "pull": ["orders-value", "--out", "empty"],
    "subjects": ["--long"],
    "versions": ["orders-value"],
    "show": ["orders-value"],
    "compat": ["orders-value", "schemas/orders-value.avsc"],
    "config get": ["orders-value"],
    "config set": ["orders-value", "--level", "FULL"],
    "config unset": ["orders-value"],
    "mode get": ["orders-value"],
    "mode set": ["orders-value", "READONLY"],
    "mode unset": ["orders-value"],
    "delete": ["lines-value", "--yes"],
    "undelete": ["orders-value"],
    "contexts": [],
    "whoami": ["orders-value"],
}
NO_REQUESTS: Final = {"init", "lint", "impact"} | {f"contract {name}" for name in ("lint", "diff", "import", "docs")}
SCRIPTS: Final = {"completion"}  #: prints a script and nothing else
MANIFEST = '[environments.dev]\nregistry = "http://a"\n[environments.prod]\nregistry = "http://b"\ncontext = ".prod"\n'


@pytest.fixture
def folder(orders: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with the first version of a subject of the registry."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL", "http://a")  # the manifest has no environment `default`
    for name in ("schemas", "empty"):
        (tmp_path / name).mkdir()
    (tmp_path / "schemas" / "contractlog.toml").write_text(MANIFEST)
    (tmp_path / "schemas" / "orders-value.avsc").write_text(order().text)
    contract, _ = build_contract("orders", order(NOTE))
    (tmp_path / "orders.contract.yaml").write_text(write_contract(contract))
    orders.put_contract("orders", contract)
    (tmp_path / "lineage.json").write_text('{"topics": [{"topic": "orders"}], "lineage": []}')
    return tmp_path


def test_every_verb_of_the_package_is_tried() -> None:
    own = {name for name, verb in VERBS.items() if verb.target.startswith("contractlog.clients.cli.")}
    assert {name.partition(" ")[0] for name in ARGUMENTS} == own - SCRIPTS


@pytest.mark.parametrize("verb", ARGUMENTS)
def test_help_has_the_options(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*verb.split(), "--help"]) == exit_codes.CLEAN
    printed = capsys.readouterr().out
    assert all(option in printed for option in ("-q, --quiet", "-v, --verbose", "--color {auto,always,never}"))


@pytest.mark.parametrize("verb", ARGUMENTS)
def test_verbose_prints_the_requests(verb: str, folder: Path, run: Run) -> None:
    ran = run(*verb.split(), *ARGUMENTS[verb], "-v", "--color", "never")
    assert ran.code == exit_codes.CLEAN, ran.err
    assert (" ms)" in ran.err) is (verb not in NO_REQUESTS)


@pytest.mark.parametrize("verb", ARGUMENTS)
def test_quiet_prints_no_messages(verb: str, folder: Path, run: Run) -> None:
    ran = run(*verb.split(), *ARGUMENTS[verb], "--quiet", "--color", "always")
    assert (ran.code, ran.err) == (exit_codes.CLEAN, "")


def test_quiet_keeps_results_and_what_prevents_a_deletion(folder: Path, run: Run) -> None:
    assert run("subjects", "lines", "-q").out == "lines-value\n"
    ran = run("delete", "orders-value:1", "--quiet", "--yes")
    assert ran.code == exit_codes.FINDINGS
    assert "is referenced by version 1 of `lines-value`" in ran.err

"""Protected subjects: `check` and `plan` say who approves, and `apply` writes nothing that it cannot finish."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from contractlog.clients import Security
from contractlog.clients.cli import exit_codes
from contractlog.clients.transport import ASGIApp
from contractlog.compatibility.schema import SchemaDraft
from contractlog.contracts.odcs.contract_text import write_contract
from contractlog.contracts.odcs.document import build_contract
from contractlog.registry.testing import Registries

from support.operations import Run, runner
from support.protected_registry import connect_as, create_protected_app

OWNERS = """
[owners."orders-*"]
owners = ["alice"]
protect = "all"

[owners."notes-*"]
owners = ["alice"]
"""
MANIFEST = '[[subjects]]\nname = "*-value"\n'


@pytest.fixture
def app(registries: Registries, tmp_path: Path) -> Iterator[FastAPI]:
    service = create_protected_app(registries, tmp_path, OWNERS, "ci", "alice")
    yield service
    service.state.close()


@pytest.fixture
def run(app: ASGIApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run verbs as `ci`, in a folder that lacks two registered subjects and has two new ones."""
    folder = tmp_path / "schemas"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "contractlog.toml").write_text(MANIFEST)
    (folder / "orders-value.avsc").write_text('"long"')
    (folder / "free-value.avsc").write_text('"long"')
    with connect_as(app, "ci") as registry:
        registry.register("notes-value", SchemaDraft('"long"'))
        registry.register("gone-value", SchemaDraft('"long"'))
    return runner(app, monkeypatch, capsys, security=Security(user="ci", password="ci"))  # noqa: S106 - in memory


def test_a_plan_says_who_approves_and_how_to_request_it(run: Run) -> None:
    ran = run("plan", ".", "--prune")
    assert ran.code == exit_codes.REFUSED
    assert "protected: registration of `orders-value`: needs 1 approval by its owners (alice)" in ran.out
    assert "protected: deletion of `notes-value`: needs 1 approval by its owners (alice)" in ran.out
    assert "gone-value`:" not in ran.out
    protected = run("plan", ".", "--prune", "--format", "json").body["protected"]
    assert [(each["subject"], each["kind"], each["permitted"]) for each in protected] == [
        ("orders-value", "registration", False),
        ("notes-value", "deletion", False),
    ]


def test_apply_writes_nothing_if_a_step_needs_approvals(run: Run) -> None:
    ran = run("apply", ".", "--prune", "--allow-delete")
    assert ran.code == exit_codes.REFUSED
    assert "nothing was applied" in ran.err
    assert run("subjects").out.split() == ["gone-value", "notes-value"]


def test_a_contract_of_a_protected_topic_needs_approvals(run: Run) -> None:
    contract, _ = build_contract("orders", SchemaDraft('"long"'), version=1)
    Path("orders.contract.yaml").write_text(write_contract(contract))
    ran = run("plan", ".")
    assert "protected: contract of orders: needs 1 approval by its owners (alice)" in ran.out
    assert "contractlog change waive --kind=contract --reason=REASON orders-value" in ran.out
    assert "2 changes need approvals" in ran.err


def test_apply_can_skip_protected_steps(run: Run) -> None:
    ran = run("apply", ".", "--prune", "--allow-delete", "--skip-protected")
    assert ran.code == exit_codes.REFUSED
    assert "2 changes skipped" in ran.err
    assert run("subjects").out.split() == ["free-value", "notes-value"]


def test_check_ends_with_a_command_that_opens_the_change_request(run: Run) -> None:
    ran = run("check", "orders-value.avsc")
    assert ran.code == exit_codes.CLEAN
    assert "can be registered" not in ran.err
    command = shlex.split(ran.err.splitlines()[-1].partition(": ")[2])
    assert command[:3] == ["contractlog", "change", "open"]
    assert run(*command[1:]).code == exit_codes.CLEAN
    assert "open change request 1" in run("plan", ".").out


def test_check_notes_the_protection_from_breaking_changes(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "schemas" / "notes-value.avsc"
    file.write_text('"long"\n')
    assert "protected" not in run("check", "notes-value.avsc").out
    file.write_text('"string"')
    ran = run("check", "notes-value.avsc")
    assert ran.code == exit_codes.FINDINGS
    assert "protected: a new version needs 1 approval by its owners (alice)" in ran.out
    assert "or ask the owners to approve the change: contractlog change open" in ran.err


def test_a_waiver_permits_the_step(app: ASGIApp, run: Run) -> None:
    run("change", "waive", "orders-value", "--kind", "registration", "--reason", "r")
    with connect_as(app, "alice") as alice:
        alice.approve_change_request(1, 1)
    assert run("change", "merge", "1").code == exit_codes.CLEAN
    assert "registration of `orders-value`: permitted by a waiver until" in run("plan", ".").out
    assert "can be registered" in run("check", "orders-value.avsc").err
    assert run("apply", ".").code == exit_codes.CLEAN

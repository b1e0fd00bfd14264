"""Deletion of the subjects that the manifest owns and no file has."""

from __future__ import annotations

import json
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.clients.cli.plan_and_apply.registration import Registration
from contractlog.clients.cli.plan_and_apply.steps import DeleteSubject
from contractlog.clients.cli.schema_folder.resolver import FileResolver
from contractlog.compatibility.schema import Reference, SchemaDraft
from contractlog.registry.testing import Registries

MONEY = json.dumps({"type": "record", "name": "Money", "fields": [{"name": "amount", "type": "long"}]})
ORDER = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "total", "type": "Money"}]})
MANIFEST = """
[environments.prod]
registry = "http://prod:8081"
context = ".prod"

[[subjects]]
name = "orders-*"

[[subjects]]
name = "Money"
"""


@pytest.fixture
def folder(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder whose manifest owns two subjects; the registry has them in two contexts, and others."""
    for module in ("plan_and_apply", "check"):
        monkeypatch.setattr(f"contractlog.clients.cli.{module}.runner.connect", lambda _: nullcontext(registry))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "contractlog.toml").write_text(MANIFEST)
    (tmp_path / "new-value.avsc").write_text('"int"')
    for context in ("", ":.prod:"):
        registry.register(f"{context}Money", SchemaDraft(MONEY))
        reference = Reference("Money", f"{context}Money", 1)
        registry.register(f"{context}orders-value", SchemaDraft(ORDER, references=(reference,)))
    registry.register("foreign-value", SchemaDraft('"long"'))
    return tmp_path


def test_only_subjects_of_the_manifest_are_deleted_users_first(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "--prune"]) == exit_codes.CLEAN
    lines = [line for line in capsys.readouterr().out.splitlines() if "soft-delete" in line]
    assert [line.split("`")[1] for line in lines] == ["orders-value", "Money"]
    assert main(["apply", ".", "--prune", "--allow-delete", "--format", "json"]) == exit_codes.CLEAN
    assert json.loads(capsys.readouterr().out)["deleted"] == ["orders-value", "Money"]
    assert registry.subjects() == [":.prod:Money", ":.prod:orders-value", "foreign-value", "new-value"]
    assert main(["plan", ".", "--prune", "--exit-code"]) == exit_codes.CLEAN


@pytest.mark.parametrize("permanent", [False, True])
def test_a_subject_that_was_deleted_meanwhile_is_no_error(registry: Registry, *, permanent: bool) -> None:
    registry.register("gone-value", SchemaDraft('"long"'))
    registry.delete_subject("gone-value")
    if permanent:
        registry.delete_subject("gone-value", permanent=True)
    DeleteSubject("gone-value", (1,)).apply(Registration(registry, FileResolver(registry), {}))


def test_an_environment_deletes_in_its_context(registry: Registry, folder: Path) -> None:
    assert main(["apply", "--environment", "prod", "--prune", "--allow-delete"]) == exit_codes.CLEAN
    assert registry.subjects() == [":.prod:new-value", "Money", "foreign-value", "orders-value"]


def test_nothing_is_deleted_without_permission(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", ".", "--prune", "--out", "plan.json"]) == exit_codes.CLEAN
    for arguments in ([".", "--prune"], ["--plan", "plan.json"]):
        assert main(["apply", *arguments]) == exit_codes.USAGE
        assert "2 subjects would be soft-deleted, which needs --allow-delete" in capsys.readouterr().err
    assert "new-value" not in registry.subjects()
    assert main(["apply", ".", "--allow-delete"]) == exit_codes.CLEAN
    assert "Money" in registry.subjects()


def test_a_saved_plan_with_deletions_is_completed(registry: Registry, folder: Path) -> None:
    main(["plan", "--prune", "--out", "plan.json"])
    registry.delete_subject("orders-value")
    assert main(["apply", "--plan", "plan.json", "--allow-delete"]) == exit_codes.CLEAN
    assert main(["apply", "--plan", "plan.json", "--allow-delete"]) == exit_codes.CLEAN
    assert "Money" not in registry.subjects()


def test_a_saved_plan_is_refused_if_a_deletion_is_new(registry: Registry, folder: Path) -> None:
    main(["plan", "--prune", "--out", "plan.json"])
    registry.register("orders-key", SchemaDraft('"long"'))
    assert main(["apply", "--plan", "plan.json", "--allow-delete"]) == exit_codes.FINDINGS
    assert "orders-key" in registry.subjects()


def test_a_referenced_subject_is_refused(registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = SchemaDraft(ORDER, references=(Reference("Money", "Money", 1),))
    registry.register("bills-value", other)
    for arguments in (["plan", "--prune", "--out", "plan.json"], ["apply", "--prune", "--allow-delete"]):
        assert main(arguments) == exit_codes.FINDINGS
        output = capsys.readouterr().out
        assert "`Money` has no file, and cannot be deleted: it is referenced by version 1 of `bills-value`" in output
    assert "orders-value" in registry.subjects()
    assert not (folder / "plan.json").exists()


def test_a_file_that_references_a_subject_keeps_it(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (folder / "contractlog.toml").open("a") as manifest:
        manifest.write('[[files]]\npath = "bills-value.avsc"\n[files.references]\nMoney = "Money:1"\n')
    (folder / "bills-value.avsc").write_text(ORDER)
    assert main(["plan", "--prune"]) == exit_codes.FINDINGS
    assert "it is referenced by bills-value.avsc" in capsys.readouterr().out


def test_owned_subjects_without_a_file_are_drift(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["apply"]) == exit_codes.CLEAN
    capsys.readouterr()
    assert main(["plan"]) == exit_codes.CLEAN
    output = capsys.readouterr()
    assert (
        "drift: `orders-value`: it matches [[subjects]] `orders-*` and has no file; "
        "add it: contractlog pull --out=. orders-value, or delete it with --prune"
    ) in output.out
    assert "foreign-value" not in output.out
    assert "nothing to change; the registry has drifted from the files" in output.err
    assert main(["plan", "--exit-code", "--format", "json", "--report", "markdown=plan.md"]) == exit_codes.FINDINGS
    body = json.loads(capsys.readouterr().out)
    assert (body["steps"], body["drift"]) == ([], [])
    assert body["without_file"] == [
        {"subject": "Money", "rule": "Money"},
        {"subject": "orders-value", "rule": "orders-*"},
    ]
    text = (folder / "plan.md").read_text()
    assert "##### Subjects without a file" in text
    assert "| `orders-value` | `orders-*` |" in text or "| orders-value | `orders-*` |" in text


def test_a_rule_for_all_subjects_owns_those_of_the_context(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "contractlog.toml").write_text(MANIFEST.replace("orders-*", "*"))
    for environment, expected in (
        ([], ["Money", "foreign-value", "orders-value"]),
        (["--environment", "prod"], [":.prod:Money", ":.prod:orders-value"]),
    ):
        main(["plan", *environment, "--format", "json"])
        assert [each["subject"] for each in json.loads(capsys.readouterr().out)["without_file"]] == expected


def test_a_part_of_the_folder_has_no_subjects_without_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["apply", "."])
    capsys.readouterr()
    assert main(["plan", "new-value.avsc", "--exit-code", "--format", "json"]) == exit_codes.CLEAN
    assert "without_file" not in json.loads(capsys.readouterr().out)
    (folder / "contractlog.toml").write_text("")
    assert main(["plan", ".", "--exit-code", "--format", "json"]) == exit_codes.CLEAN
    assert "without_file" not in json.loads(capsys.readouterr().out)


def test_a_note_says_that_subjects_cannot_be_listed(
    registries: Registries, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = registries.make({})

    async def refuse_to_list(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] == "/subjects":
            await send({"type": "http.response.start", "status": 403, "headers": []})
            await send({"type": "http.response.body", "body": b'{"error_code": 40301, "message": "no"}'})
        else:
            await app(scope, receive, send)

    with closing(app.state), Registry(app=refuse_to_list) as refusing:
        monkeypatch.setattr("contractlog.clients.cli.plan_and_apply.runner.connect", lambda _: nullcontext(refusing))
        assert main(["plan", "."]) == exit_codes.CLEAN
        assert "note: subjects without a file are not shown, because listing" in capsys.readouterr().err
        assert main(["plan", ".", "--prune"]) == exit_codes.REFUSED


@pytest.mark.parametrize("arguments", [["new-value.avsc"], [".", "--subject", "new-value"], ["inner"]])
def test_a_part_of_the_folder_is_not_pruned(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    (folder / "inner").mkdir()
    (folder / "inner" / "other-value.avsc").write_text('"int"')
    assert main(["apply", *arguments, "--prune", "--allow-delete"]) == exit_codes.USAGE
    assert "--prune compares the whole folder" in capsys.readouterr().err
    assert "Money" in registry.subjects()


def test_pruning_needs_a_manifest(registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "contractlog.toml").unlink()
    assert main(["plan", ".", "--prune"]) == exit_codes.USAGE
    assert "--prune needs a manifest" in capsys.readouterr().err


@pytest.mark.parametrize("text", ['{"$schema": "http://json-schema.org/draft-07/schema#",}', "<<<<<<< HEAD\n{}\n"])
def test_a_file_that_cannot_be_read_blocks_every_deletion(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    before = registry.subjects()
    (folder / "orders-value.json").write_text(text)
    assert main(["check", "."]) == exit_codes.USAGE
    assert main(["plan", "--prune", "--out", "plan.json"]) == exit_codes.USAGE
    assert not Path("plan.json").exists()
    assert main(["apply", "--prune", "--allow-delete"]) == exit_codes.USAGE
    assert "orders-value.json:1:" in capsys.readouterr().err
    assert registry.subjects() == before

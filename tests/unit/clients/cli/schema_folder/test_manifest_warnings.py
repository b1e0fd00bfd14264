"""Warnings about entries of the manifest that apply to nothing in its folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.transport import ASGIApp
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.testing import Registries

from support.ci_formats import read_workflow_command
from support.operations import Run, runner

ORDER = '{"type":"record","name":"Order","fields":[]}'
FILES = '[[files]]\npath = "{path}"\nsubjects = ["{{name}}s"]\n'
SUBJECTS = '[[subjects]]\nname = "{name}"\nowner = "ana"\n'
CHECKS = '[[checks]]\ncheck = "AVRO_DOC_LOST"\nseverity = "note"\nreason = "docs"\nsubject = "{subject}"\n'
LINT = '[[lint]]\nrule = "LINT_AVRO_RECORD_EMPTY"\nseverity = "off"\nreason = "a marker"\npath = "{path}"\n'
WAIVER = '[[waivers]]\nsubject = "*"\ncheck = "{check}"\nreason = "agreed"\nby = "ana"\nuntil = 2999-01-01\n'


@pytest.fixture
def app(registries: Registries) -> Iterator[ASGIApp]:
    app = registries.make({})
    yield app
    app.state.close()


@pytest.fixture
def run(app: ASGIApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("order.avsc").write_text(ORDER)
    Path("note-value.avsc").write_text('"string"')
    return runner(app, monkeypatch, capsys)


def warnings(run: Run, *arguments: str) -> list[str]:
    return [line for line in run(*arguments).err.splitlines() if line.startswith("warning: ")]


@pytest.mark.parametrize("verb", ["check", "plan"])
@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (FILES.format(path="order.avsc") + FILES.format(path="*.avsc"), ""),  # the second one is for another file
        (
            FILES.format(path="order.avsc") + FILES.format(path="events/**"),
            "contractlog.toml:4: `events/**` in [[files]] applies to no file: correct or remove it",
        ),
        (
            FILES.format(path="**") + FILES.format(path="order.avsc"),  # no file is left for it
            "contractlog.toml:4: `order.avsc` in [[files]] applies to no file: correct or remove it",
        ),
        (
            FILES.format(path="order.avsc") + SUBJECTS.format(name="order-*"),
            "contractlog.toml:4: `order-*` in [[subjects]] applies to no file's subject: correct or remove it",
        ),
        (
            FILES.format(path="order.avsc") + CHECKS.format(subject="order-*"),
            "contractlog.toml:4: the entry for AVRO_DOC_LOST applies to no file: correct or remove it",
        ),
        (
            FILES.format(path="order.avsc") + WAIVER.format(check="AVRO_TYPE_CHANGED"),
            "contractlog.toml:4: the waiver of AVRO_TYPE_CHANGED for `*` covers no finding: it can be removed",
        ),
        (FILES.format(path="order.avsc") + CHECKS.format(subject="order*") + LINT.format(path="x"), ""),
        (FILES.format(path="order.avsc") + WAIVER.format(check="LINT_AVRO_RECORD_EMPTY"), ""),  # of another verb
    ],
)
def test_each_entry_that_applies_to_nothing_has_one_warning(run: Run, verb: str, manifest: str, message: str) -> None:
    Path("contractlog.toml").write_text(manifest)
    ran = run(verb, ".", "--format", "json")
    assert ran.code == exit_codes.CLEAN
    expected = [f"warning: {message}"] if message else []
    assert [line for line in ran.err.splitlines() if line.startswith("warning: ")] == expected
    assert [f"warning: {each['file']}:{each['line']}: {each['message']}" for each in ran.body["manifest_warnings"]] == (
        expected
    )


@pytest.mark.parametrize("verb", ["check", "plan"])
def test_a_part_of_the_folder_shows_no_unused_entry(run: Run, verb: str) -> None:
    Path("contractlog.toml").write_text(
        FILES.format(path="order.avsc") + FILES.format(path="x") + SUBJECTS.format(name="x")
    )
    assert len(warnings(run, verb, ".")) == 2
    assert warnings(run, verb, "note-value.avsc") == []
    assert warnings(run, verb, ".", "--subject", "x") == []
    Path("broken-value.avsc").write_text("{")
    assert warnings(run, verb, ".") == []


def test_a_rule_for_subjects_without_files_is_used_if_the_registry_has_them(app: ASGIApp, run: Run) -> None:
    Path("contractlog.toml").write_text(FILES.format(path="order.avsc") + SUBJECTS.format(name="old-*"))
    Registry(app=app).register("old-value", SchemaDraft('"int"'))
    assert warnings(run, "plan", ".") == []
    assert warnings(run, "plan", ".", "--prune") == []


def test_another_environment_may_need_a_waiver(run: Run) -> None:
    environments = "".join(f'[environments.{name}]\nregistry = "http://127.0.0.1:1"\n' for name in ("dev", "prod"))
    Path("contractlog.toml").write_text(
        environments + FILES.format(path="order.avsc") + WAIVER.format(check="AVRO_TYPE_CHANGED")
    )
    (warning,) = warnings(run, "check", ".", "--environment", "dev")
    assert warning.endswith("it can be removed, unless another environment needs it")


def test_a_comparison_with_files_says_nothing_about_waivers(run: Run, tmp_path: Path) -> None:
    Path("contractlog.toml").write_text(FILES.format(path="order.avsc") + WAIVER.format(check="AVRO_TYPE_CHANGED"))
    assert warnings(run, "check", ".", "--against", ".") == []


def test_reports_have_the_warnings_at_their_lines(run: Run) -> None:
    Path("contractlog.toml").write_text(FILES.format(path="order.avsc") + SUBJECTS.format(name="x"))
    for verb in ("check", "plan"):
        commands = filter(None, map(read_workflow_command, run(verb, ".", "--format", "github").out.splitlines()))
        (warning,) = [each for each in commands if each.properties.get("file") == "contractlog.toml"]
        assert (warning.name, warning.properties["line"]) == ("warning", "4")


def test_lint_warns_of_its_own_entries(run: Run) -> None:
    manifest = FILES.format(path="x") + LINT.format(path="x") + WAIVER.format(check="LINT_AVRO_FIELD_DOC_MISSING")
    Path("contractlog.toml").write_text(manifest + WAIVER.format(check="AVRO_TYPE_CHANGED"))
    entry, unused = warnings(run, "lint", ".")
    assert entry.endswith(
        "contractlog.toml:4: the entry for LINT_AVRO_RECORD_EMPTY applies to no file: correct or remove it"
    )
    assert (
        "contractlog.toml:9: the waiver of LINT_AVRO_FIELD_DOC_MISSING for `*` covers no finding: it can be removed"
        in unused
    )
    assert len(run("lint", ".", "--format", "json").body["manifest_warnings"]) == 2
    assert warnings(run, "lint", "order.avsc", "--manifest", "contractlog.toml") == []
    assert warnings(run, "lint", ".", "--only", "LINT_AVRO_ENUM_EMPTY") == []

"""The verb ``pull``: the files of subjects, and none that was edited is lost."""

from __future__ import annotations

import json
from argparse import Namespace
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.clients.cli.schema_folder.manifest import MANIFEST, Environment, load_manifest
from contractlog.clients.lock_file import LOCK
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import Reference, SchemaDraft


@pytest.fixture
def registry_of_pull(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Registry:
    """Return the registry of this process, which the verb meets."""
    monkeypatch.setattr("contractlog.clients.cli.pull.runner.connect", lambda _: nullcontext(registry))
    return registry


def test_files_are_new_then_unchanged_and_kept_once_edited(
    registry_of_pull: Registry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registry_of_pull.register("a-value", SchemaDraft('"string"'))

    def pull(*arguments: str) -> tuple[int, str]:
        code = main(["pull", "a-value", "--out", str(tmp_path), "--format", "json", *arguments])
        return code, json.loads(capsys.readouterr().out)["files"][0]["outcome"]

    assert pull() == (exit_codes.CLEAN, "new")
    assert pull() == (exit_codes.CLEAN, "unchanged")
    (tmp_path / "a-value.avsc").write_text('"long"', encoding="utf-8")
    assert pull() == (exit_codes.FINDINGS, "edited")
    assert (tmp_path / "a-value.avsc").read_text(encoding="utf-8") == '"long"'
    assert pull("--force") == (exit_codes.CLEAN, "changed")
    (tmp_path / "a-value.avsc").write_text(' "string"\n\n', encoding="utf-8")
    assert pull() == (exit_codes.CLEAN, "unchanged"), "a file with the registered value and a formatting of its own"
    assert (tmp_path / "a-value.avsc").read_text(encoding="utf-8") == ' "string"\n\n'
    assert pull("--force") == (exit_codes.CLEAN, "changed")


def test_a_first_pull_writes_a_manifest_with_subjects_and_levels(
    registry_of_pull: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL", "http://me:secret@registry:8081")
    for subject in ("a-value", "odd[*]", "../../x"):
        registry_of_pull.register(subject, SchemaDraft('"string"'))
    registry_of_pull.set_level("FULL", "odd[*]")
    assert main(["pull", "--all", "--out", "out"]) == exit_codes.CLEAN
    path = tmp_path / "out" / MANIFEST
    assert "secret" not in path.read_text()
    manifest = load_manifest(path)
    assert manifest.environments == {"default": Environment("http://registry:8081")}
    assert [(rule.path, rule.subjects) for rule in manifest.files] == [
        ("..%2F..%2Fx.avsc", ("../../x",)),
        ("odd%5B%2A%5D.avsc", ("odd[*]",)),
    ]
    assert [manifest.find_level(subject) for subject in registry_of_pull.subjects()] == [None, None, Level.FULL]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out"], "no name leads out of the folder"
    path.write_text("# mine")
    assert main(["pull", "--all", "--out", "out"]) == exit_codes.CLEAN
    assert path.read_text() == "# mine"


def test_a_reference_shows_its_name_if_that_is_not_the_subject(
    registry_of_pull: Registry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = '{"type": "record", "name": "%s", "fields": [%s]}'
    registry_of_pull.register("A", SchemaDraft(record % ("A", "")))
    registry_of_pull.register("b-value", SchemaDraft(record % ("B", "")))
    fields = '{"name": "a", "type": "A"}, {"name": "b", "type": "B"}'
    references = (Reference("A", "A", 1), Reference("B", "b-value", 1))
    registry_of_pull.register("c-value", SchemaDraft(record % ("C", fields), references=references))
    assert main(["pull", "c-value", "--out", str(tmp_path)]) == exit_codes.CLEAN
    output = capsys.readouterr().out
    assert "    refers to version 1 of `A`\n    refers to version 1 of `b-value` as `B`\n" in output


def test_a_manifest_of_the_working_directory_is_enough(
    registry_of_pull: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    registry_of_pull.register("a-value", SchemaDraft('"string"'))
    (tmp_path / MANIFEST).write_text("")
    assert main(["pull", "--all", "--out", "out"]) == exit_codes.CLEAN
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == ["a-value.avsc", LOCK]


def test_a_pulled_environment_has_its_context_left_out(
    registry_of_pull: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for subject in ("a-value", ":.prod:a-value", ":.prod:b-value"):
        registry_of_pull.register(subject, SchemaDraft('"string"'))
    (tmp_path / MANIFEST).write_text('[environments.prod]\nregistry = "http://x"\ncontext = ".prod"\n')
    assert main(["pull", "b-value", "--environment", "prod", "--out", "one"]) == exit_codes.CLEAN
    assert main(["pull", "--all", "--environment", "prod", "--out", "out"]) == exit_codes.CLEAN
    assert "check them: contractlog check --environment=prod out\n" in capsys.readouterr().err
    lock = json.loads((tmp_path / "out" / LOCK).read_text())
    assert lock["context"] == ".prod"
    assert [each["subject"] for each in lock["schemas"]] == ["a-value", "b-value"]
    assert {each.name for each in (tmp_path / "one").iterdir()} == {"b-value.avsc", LOCK}
    capsys.readouterr()
    assert main(["pull", "--all", "--out", "out"]) == exit_codes.USAGE
    assert "a pull of the context `.prod`, not of all contexts: pull into another folder" in capsys.readouterr().err


def test_standard_output_is_no_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pull", "--all", "--out", "-"]) == exit_codes.USAGE
    assert "`-` is not a folder" in capsys.readouterr().err


def test_a_subject_whose_alias_has_no_versions_is_left_out_and_the_others_are_pulled(
    registry_of_pull: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for subject in ("a-value", "b-value", "c-value"):
        registry_of_pull.register(subject, SchemaDraft('"string"'))
    registry_of_pull.set_config({"alias": "nowhere"}, "b-value")
    assert main(["pull", "--all", "--out", "out", "--format", "json"]) == exit_codes.FINDINGS
    body = json.loads(capsys.readouterr().out)
    assert [file["subject"] for file in body["files"]] == ["a-value", "c-value"]
    assert body["left_out"] == [{"subject": "b-value", "message": "Subject 'nowhere' not found."}]
    assert (tmp_path / "out" / LOCK).exists()
    assert main(["pull", "b-value", "--out", "other"]) == exit_codes.USAGE


def test_a_file_with_a_formatting_of_its_own_keeps_it_in_every_pull(
    registry_of_pull: Registry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registry_of_pull.register("a-value", SchemaDraft('{"type":"fixed","name":"F","size":1}'))
    text = '{ "type":"fixed", "name":"F",\n "size":1 }'
    (tmp_path / "a-value.avsc").write_text(text)
    for _ in range(3):
        assert main(["pull", "a-value", "--out", str(tmp_path), "--format", "json"]) == exit_codes.CLEAN
        assert json.loads(capsys.readouterr().out)["files"][0]["outcome"] == "unchanged"
        assert (tmp_path / "a-value.avsc").read_text() == text


def test_a_subject_that_only_another_context_has_is_not_pulled(
    registry_of_pull: Registry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registry_of_pull.register(":.prod:a-value", SchemaDraft('"string"'))
    assert main(["pull", "a-value", "--out", str(tmp_path)]) == exit_codes.USAGE
    assert "`a-value` does not exist, but `:.prod:a-value` does" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_alias_to_another_context_does_not_stop_the_pull_of_all_subjects(
    registry_of_pull: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for subject in ("a-value", "b-value", ":.other:x"):
        registry_of_pull.register(subject, SchemaDraft('"string"'))
    registry_of_pull.set_config({"alias": ":.other:x"}, "a-value")
    assert main(["pull", "--all", "--out", "out", "--format", "json"]) == exit_codes.FINDINGS
    body = json.loads(capsys.readouterr().out)
    assert {file["subject"] for file in body["files"]} >= {"b-value", ":.other:x"}
    assert (tmp_path / "out" / LOCK).exists()


def test_without_a_url_the_default_environment_of_the_manifest_is_pulled(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("CONTRACTLOG_REGISTRY_URL", "SCHEMA_REGISTRY_URL"):
        monkeypatch.delenv(name, raising=False)
    urls: list[str] = []

    def connect(options: Namespace) -> AbstractContextManager[Registry]:
        urls.append(options.registry)
        return nullcontext(registry)

    monkeypatch.setattr("contractlog.clients.cli.pull.runner.connect", connect)
    registry.register("a-value", SchemaDraft('"string"'))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / MANIFEST).write_text('[environments.default]\nregistry = "http://ours:8081"\n')
    assert main(["pull", "a-value", "--out", "out"]) == exit_codes.CLEAN
    assert main(["pull", "a-value", "--out", "out", "--registry", "http://other:8081"]) == exit_codes.CLEAN
    assert urls == ["http://ours:8081", "http://other:8081"]

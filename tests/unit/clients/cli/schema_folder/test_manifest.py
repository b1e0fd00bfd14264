"""The manifest of a folder of schemas."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients.cli.schema_folder.collection import collect_files
from contractlog.clients.cli.schema_folder.manifest import MANIFEST, load_manifest
from contractlog.compatibility.errors import UsageError

LINT = '[[lint]]\nrule = "LINT_AVRO_ENUM_EMPTY"\nseverity = "off"\n'
RECORD = json.dumps({"type": "record", "name": "a.Order", "fields": []})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def subjects(folder: Path, manifest: str, *names: str, text: str = RECORD, **more: Any) -> dict[str, list[str]]:
    """Write the manifest and files; return the files of each subject."""
    (folder / MANIFEST).write_text(manifest)
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    groups = collect_files(["."], manifest=load_manifest(Path(MANIFEST)), **more)
    return {subject: [str(file.path) for file in files] for subject, files in groups.items()}


def test_a_file_has_the_subjects_of_the_first_rule_that_matches(folder: Path) -> None:
    manifest = """
        [[files]]
        path = "events/*.avsc"
        subjects = ["{type}", "{name}-events"]
        [[files]]
        path = "**"
        subjects = ["all-{name}"]
    """
    assert subjects(folder, manifest, "events/placed.avsc", "other/x.avsc", "events/deep/y.avsc") == {
        "a.Order": ["events/placed.avsc"],
        "placed-events": ["events/placed.avsc"],
        "all-y": ["events/deep/y.avsc"],
        "all-x": ["other/x.avsc"],
    }


def test_references_of_a_rule_are_those_of_its_files(folder: Path) -> None:
    (folder / MANIFEST).write_text(
        '[[files]]\npath = "a-value.avsc"\n[files.references]\n"a.Money" = "money:3"\n"b" = "x:y:latest"\n'
    )
    (folder / "a-value.avsc").write_text(RECORD)
    [[file]] = collect_files(["."], manifest=load_manifest(folder / MANIFEST)).values()
    assert [(each.name, each.subject, each.version) for each in file.draft.references] == [
        ("a.Money", "money", 3),
        ("b", "x:y", -1),
    ]


def test_a_context_is_part_of_every_subject(folder: Path) -> None:
    files = ("a-value.avsc", "%3A.other%3Ab-value.avsc")
    assert subjects(folder, "", *files, context=".prod") == {
        ":.other:b-value": ["%3A.other%3Ab-value.avsc"],
        ":.prod:a-value": ["a-value.avsc"],
    }


def test_an_environment_is_chosen_by_name(folder: Path) -> None:
    text = '[environments.prod]\nregistry = "https://registry.acme.com"\ncontext = ".p"\n'
    (folder / MANIFEST).write_text(text)
    manifest = load_manifest(folder / MANIFEST)
    assert manifest.environment("prod").context == ".p"
    with pytest.raises(UsageError, match=r"has no environment `dev`; it has prod"):
        manifest.environment("dev")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[files]\n", r"contractlog.toml:1:8: the text is not TOML: "),
        ('[[files]]\npath = "a"\nsubject = "x"\n', r"contractlog.toml:3:1: .*'subject' was unexpected"),
        ("\n[other]\n", r"contractlog.toml:2:1: .*'other' was unexpected"),
        (
            '[[files]]\npath = "a"\n[[files]]\n  path = 7\n',
            r'contractlog.toml:4:3: this value is not of type "string"; Path relative',
        ),
        ('[[files]]\nsubjects = ["a"]\n', r'contractlog.toml:1:1: "path" is a required property'),
        ('[[files]]\npath = "../a"\n', r"contractlog.toml:2:1: "),
        ('[[files]]\npath = "/etc/*"\n', r"contractlog.toml:2:1: "),
        ('[environments.dev]\nregistry = "http://me:secret@x"\n', r"contractlog.toml:2:1: "),
        ('[environments.dev]\nregistry = "file:///x"\n', r"contractlog.toml:2:1: "),
        ('[[files]]\npath = "a"\n[files.references]\nn = "x"\n', r"contractlog.toml:4:1: "),
        (
            f'{LINT}reason = "r"\n[[lint]]\nseverity = "off"\nreason = "r"\n  rule = "LINT_AVRO_ENUM_EMTY"\n',
            r"contractlog.toml:8:3: there is no lint rule .*; did you mean `LINT_AVRO_ENUM_EMPTY`\?",
        ),
        (f'{LINT}reason = "r"\nuntil = "2026-02-30"\n', r"contractlog.toml:5:1: `2026-02-30` is not a day"),
        (f'{LINT}reason = "r"\nuntil = 2026-02-03T10:00:00\n', r"contractlog.toml:5:1: .*Last day"),
        (f'{LINT}reason = " "\n', r"contractlog.toml:4:1: .*Why"),
        (LINT, r'contractlog.toml:1:1: "reason" is a required property'),
    ],
)
def test_a_wrong_manifest_is_located(folder: Path, text: str, said: str) -> None:
    (folder / MANIFEST).write_text(text)
    with pytest.raises(UsageError, match=said):
        load_manifest(Path(MANIFEST))


def test_an_entry_for_a_lint_rule_holds_on_its_last_day(folder: Path) -> None:
    (folder / MANIFEST).write_text(f'{LINT}reason = "r"\nuntil = 2026-02-28\n')
    [entry] = load_manifest(Path(MANIFEST)).lint
    assert [entry.is_expired(date(2026, *day)) for day in ((2, 28), (3, 1))] == [False, True]


def test_credentials_in_a_url_are_not_repeated(folder: Path) -> None:
    (folder / MANIFEST).write_text('[environments.dev]\nregistry = "http://me:secret@x"\n')
    with pytest.raises(UsageError) as caught:
        load_manifest(Path(MANIFEST))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("subject", "text", "said"),
    [
        ("{type}", '"string"', "its schema is not a named Avro type"),
        ("{topic}", RECORD, r"`\{topic\}` in the subject .* is unknown: use"),
        ("__GLOBAL", RECORD, "the manifest's subject `__GLOBAL` cannot be used"),
    ],
)
def test_a_subject_that_cannot_be_is_refused(folder: Path, subject: str, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        subjects(folder, f'[[files]]\npath = "*.avsc"\nsubjects = ["{subject}"]\n', "x.avsc", text=text)

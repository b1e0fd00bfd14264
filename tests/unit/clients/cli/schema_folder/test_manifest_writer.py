"""A written manifest is a valid one, whatever the names in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.clients.cli.schema_folder.file_names import file_name
from contractlog.clients.cli.schema_folder.manifest import (
    MANIFEST,
    MAX_MANIFEST_BYTES,
    Environment,
    SubjectRule,
    load_manifest,
)
from contractlog.clients.cli.schema_folder.manifest_file_entries import FileRule
from contractlog.clients.cli.schema_folder.manifest_writer import format_manifest, registry_of_manifest
from contractlog.compatibility.level import Level
from contractlog.compatibility.reference_names import SchemaNames
from contractlog.compatibility.schema import SchemaType

ENVIRONMENTS = {"prod": Environment("https://registry.example.com", ".p", Level.FULL)}


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(subjects=st.lists(st.text(st.characters(codec="utf-8"), min_size=1), unique=True, max_size=4))
def test_names_are_read_as_written(subjects: list[str], tmp_path: Path) -> None:
    rules = [FileRule(file_name(subject, SchemaType.AVRO), (subject,)) for subject in subjects]
    levels = [SubjectRule(subject, {"level": "FULL"}) for subject in subjects]
    (tmp_path / MANIFEST).write_bytes(format_manifest(ENVIRONMENTS, rules, levels).encode())
    manifest = load_manifest(tmp_path / MANIFEST)
    assert manifest.environments == ENVIRONMENTS
    assert manifest.subjects == tuple(levels)
    assert set(manifest.files) <= set(rules)
    for rule in manifest.files:
        path = tmp_path / rule.path
        assert manifest.find_rule(path) == rule
        assert rule.list_subjects(path, SchemaNames()) == rule.subjects


@pytest.mark.parametrize("subject", ["a\nb", "a{name}", "\ud800", "__GLOBAL"])
def test_subjects_that_a_manifest_cannot_have_are_left_out(subject: str) -> None:
    assert "[[files]]" not in format_manifest({}, [FileRule("x.avsc", (subject,))], [])


def test_a_manifest_is_never_too_large_to_be_read() -> None:
    rules = [FileRule(f"{number}.avsc", ("s" * 1_000,)) for number in range(2_000)]
    text = format_manifest(ENVIRONMENTS, rules, [])
    assert "[environments" in text
    assert len(text) < MAX_MANIFEST_BYTES


def test_a_registry_has_no_credentials() -> None:
    assert registry_of_manifest("http://me:secret@a:1/,http://b:2") == "http://a:1,http://b:2"

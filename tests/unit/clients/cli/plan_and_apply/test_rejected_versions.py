"""Versions that a registry rejects for other reasons than compatibility: `check` and `plan` say it first."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.schema import SchemaDraft, SchemaType

SUBJECT = "orders-value"
JSON_FIELDS = {"$$reserved": {"type": "string"}}


@pytest.fixture
def folder(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in ("plan_and_apply.runner", "check.runner"):
        monkeypatch.setattr(f"contractlog.clients.cli.{module}.connect", lambda _: nullcontext(registry))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def record(*names: str) -> str:
    fields = [{"name": name, "type": ["null", "string"], "default": None} for name in names]
    return json.dumps({"type": "record", "name": "Order", "fields": fields})


def schema(**members: Any) -> str:
    return json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", **members})


def reserve(registry: Registry) -> None:
    registry.register(SUBJECT, SchemaDraft(record("id"), metadata=Metadata(properties={"confluent:reserved": "note"})))


def validate(registry: Registry) -> None:
    registry.set_config({"validateFields": True}, SUBJECT)


def reserve_and_validate(registry: Registry) -> None:
    reserve(registry)
    validate(registry)


def reject_nonconforming(registry: Registry) -> None:
    registry.set_config({"strictJsonSchemas": True}, SUBJECT)


def group_versions(registry: Registry) -> None:
    registry.register(SUBJECT, SchemaDraft(record("id"), metadata=Metadata(properties={"major": "1"})))
    registry.set_config({"compatibilityGroup": "major"}, SUBJECT)


LEVEL = 'level = "FULL"\n'
VALIDATED = "validate_fields = true\n"
RESERVED = '[subjects.override_metadata.properties]\n"confluent:reserved" = "note"\n'
MANDATORY = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "new", "type": "long"}]})


@pytest.mark.parametrize(
    "case",
    [
        (None, VALIDATED, schema(properties=JSON_FIELDS), exit_codes.FINDINGS, "cannot start with $$ prefix"),
        (validate, "", schema(properties=JSON_FIELDS), exit_codes.FINDINGS, "cannot start with $$ prefix"),
        (validate, LEVEL, schema(properties=JSON_FIELDS), exit_codes.FINDINGS, "cannot start with $$ prefix"),
        (reject_nonconforming, "", schema(minLength=-1), exit_codes.FINDINGS, "strictJsonSchemas rejects"),
        (reject_nonconforming, LEVEL, schema(minLength=-1), exit_codes.FINDINGS, "strictJsonSchemas rejects"),
        (reserve, VALIDATED, record("note"), exit_codes.FINDINGS, "conflicts with the reserved field note"),
        (reserve_and_validate, "", record("note"), exit_codes.FINDINGS, "with the reserved field note"),
        (reserve_and_validate, LEVEL, record("note"), exit_codes.FINDINGS, "with the reserved field note"),
        (validate, RESERVED, record("note"), exit_codes.FINDINGS, "with the reserved field note"),
        (group_versions, "", MANDATORY, exit_codes.FINDINGS, "AVRO_FIELD_DEFAULT_MISSING"),
    ],
)
def test_a_version_that_the_config_rejects_is_rejected_before_anything_is_written(
    registry: Registry,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    case: tuple[Callable[[Registry], None] | None, str, str, int, str],
) -> None:
    prepare, manifest, text, code, reason = case
    if prepare is not None:
        prepare(registry)
    (folder / f"{SUBJECT}.{'schema.json' if '$schema' in text else 'avsc'}").write_text(text)
    (folder / "contractlog.toml").write_text(f'[[subjects]]\nname = "{SUBJECT}"\n{manifest}')
    before = registry.changes("latest")
    for verb in ("check", "plan", "apply"):
        assert main([verb]) == code, verb
        output = capsys.readouterr()
        assert reason in output.out + output.err
    assert registry.changes("latest") == before


@pytest.mark.parametrize(
    ("prepare", "manifest"),
    [(reserve_and_validate, ""), (validate, "validate_fields = false\n"), (group_versions, "")],
)
def test_a_version_that_the_config_admits_is_registered(
    registry: Registry, folder: Path, prepare: Callable[[Registry], None], manifest: str
) -> None:
    prepare(registry)
    if manifest:
        (folder / f"{SUBJECT}.schema.json").write_text(schema(properties=JSON_FIELDS))
    else:
        (folder / f"{SUBJECT}.avsc").write_text(record("id", "amount"))
    (folder / "contractlog.toml").write_text(f'[[subjects]]\nname = "{SUBJECT}"\n{manifest}')
    for verb in ("check", "plan", "apply"):
        assert main([verb]) == exit_codes.CLEAN, verb
    latest = registry.version(SUBJECT, "latest")
    assert latest.type is (SchemaType.JSON if manifest else SchemaType.AVRO)


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ('kind = "CONDITION"\nmode = "WRITE"', "the key `type` is missing"),
        ('type = "CEL"\nkind = "CONDITION"\nmode = "UPGRADE"', "the registry would reject `default_rule_set`: Domain"),
    ],
)
def test_a_rule_set_that_a_registry_rejects_has_its_line(
    folder: Path, capsys: pytest.CaptureFixture[str], members: str, reason: str
) -> None:
    (folder / f"{SUBJECT}.avsc").write_text(record("id"))
    rule = f'[[subjects.default_rule_set.domainRules]]\nname = "positive"\n{members}\n'
    (folder / "contractlog.toml").write_text(f'[[subjects]]\nname = "{SUBJECT}"\n{rule}')
    for verb in ("check", "plan", "apply"):
        assert main([verb]) == exit_codes.USAGE
        error = capsys.readouterr().err
        assert "contractlog.toml:3:" in error
        assert reason in error

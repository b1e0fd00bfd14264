"""Problems of the manifest's rules, as ``lint`` shows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main

SCHEMA = {
    "type": "record",
    "name": "Order",
    "doc": "An order.",
    "fields": [{"name": "size", "type": "int", "doc": "Number of items.", "default": 0}],
}


def lint(folder: Path, expr: str, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Lint a folder whose manifest gives a schema one rule; return exit code and output."""
    rule = f'name = "size"\ntype = "CEL"\nkind = "CONDITION"\nexpr = "{expr}"\n'
    manifest = f'[[files]]\npath = "orders-value.avsc"\n[[files.rule_set.domainRules]]\n{rule}'
    (folder / "contractlog.toml").write_text(manifest)
    (folder / "orders-value.avsc").write_text(json.dumps(SCHEMA))
    code = main(["lint", str(folder), *arguments])
    return code, *capsys.readouterr()


def test_a_rule_that_fits_has_no_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint(tmp_path, "message.size > 0", capsys)[0] == exit_codes.CLEAN


def test_an_error_of_a_rule_fails_with_its_line_in_the_manifest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = lint(tmp_path, "message.sise > 0", capsys)
    assert code == exit_codes.FINDINGS
    assert f"error: {tmp_path}/contractlog.toml:1: the registry would reject these rules: rule size" in err
    assert "Did you mean 'size'? (line 1, column 9)" in err


def test_what_cannot_be_checked_is_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = lint(tmp_path, "variants.isNull(message.size)", capsys)
    assert code == exit_codes.CLEAN
    assert "warning:" in err
    assert lint(tmp_path, "variants.isNull(message.size)", capsys, "--fail-on", "warning")[0] == exit_codes.FINDINGS


def test_a_report_has_the_problem_at_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.sarif"
    lint(tmp_path, "message.sise > 0", capsys, "--report", f"sarif={report}")
    text = report.read_text() if report.exists() else ""
    assert '"MANIFEST_RULE"' in text
    assert '"error"' in text


@pytest.mark.parametrize(
    ("own", "code"),
    [(None, exit_codes.FINDINGS), ("message.size > 0", exit_codes.CLEAN), ("message.s", exit_codes.FINDINGS)],
)
@pytest.mark.parametrize("layer", ["default_rule_set", "override_rule_set"])
def test_default_and_override_rules_of_the_subject_are_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], layer: str, own: str | None, code: int
) -> None:
    """A default rule that the file replaces does not count; an override replaces the file's rule."""
    members = 'name = "size"\ntype = "CEL"\nkind = "CONDITION"\n'
    text = f'[[subjects]]\nname = "orders-*"\n[[subjects.{layer}.domainRules]]\n{members}expr = "message.sise > 0"\n'
    if own is not None:
        text += f'[[files]]\npath = "orders-value.avsc"\n[[files.rule_set.domainRules]]\n{members}expr = "{own}"\n'
    (tmp_path / "contractlog.toml").write_text(text)
    (tmp_path / "orders-value.avsc").write_text(json.dumps(SCHEMA))
    expected = exit_codes.FINDINGS if layer == "override_rule_set" else code
    assert main(["lint", str(tmp_path)]) == expected
    error = capsys.readouterr().err
    assert ("Did you mean 'size'?" in error) is (layer == "override_rule_set" or own is None)
    assert error.count("would reject") == (expected == exit_codes.FINDINGS)

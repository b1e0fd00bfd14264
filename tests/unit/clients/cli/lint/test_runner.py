"""``contractlog lint``: what it prints, what it changes, and its exit code."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.compatibility.lint.linter import LINT_RULES

CLEAN = LINT_RULES["LINT_AVRO_ENUM_EMPTY"].good
ERROR = LINT_RULES["LINT_AVRO_ENUM_EMPTY"].bad
WARNING = LINT_RULES["LINT_AVRO_NULLABLE_DEFAULT_MISSING"].bad
FIXED = LINT_RULES["LINT_AVRO_NULLABLE_DEFAULT_MISSING"].good
ENDED: dict[str, list[Any]] = {"unreadable": [], "expired": [], "manifest_warnings": [], "folder_warnings": []}
NOTE = LINT_RULES["LINT_JSON_ID_MISSING"].bad


class Folder:
    """A folder of schema files, and the verb run on it."""

    def __init__(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.path = path
        self.capsys = capsys

    def put(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def lint(self, *arguments: object) -> tuple[int, str, str]:
        code = main(["lint", *map(str, arguments)])
        printed = self.capsys.readouterr()
        return code, printed.out, printed.err

    def lint_to_json(self, *arguments: object) -> tuple[int, dict[str, Any]]:
        code, out, _ = self.lint(*arguments, "--format", "json")
        return code, json.loads(out)


@pytest.fixture
def folder(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Folder:
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL", "http://127.0.0.1:9")  # nothing listens: lint opens no connection
    return Folder(tmp_path, capsys)


def test_a_finding_is_one_line_with_file_position_severity_sentence_and_rule(folder: Folder) -> None:
    path = folder.put("orders-value.avsc", ERROR.replace('"symbols"', '\n  "symbols"'))
    code, out, err = folder.lint(path)
    assert code == exit_codes.FINDINGS
    assert (
        out
        == f"{path}:2:14: error: the enum `Status` has no symbols, so no value can be written [LINT_AVRO_ENUM_EMPTY]\n"
    )
    assert "1 error in 1 of 1 file" in err
    assert "contractlog lint --explain LINT_AVRO_ENUM_EMPTY" in err


def test_json_output_has_the_facts_of_each_finding(folder: Folder) -> None:
    path = folder.put("orders-value.avsc", WARNING)
    code, body = folder.lint_to_json(folder.path)
    (finding,) = body.pop("findings")
    assert code == exit_codes.CLEAN
    assert body == {"format": "contractlog.lint/1", "files": 1, "fixed": [], "waived": [], **ENDED}
    assert finding.pop("message").startswith("the field `note` may be null but has no default")
    assert finding == {
        "path": str(path),
        "line": 1,
        "column": WARNING.index('{"name": "note"') + 1,
        "rule": "LINT_AVRO_NULLABLE_DEFAULT_MISSING",
        "severity": "warning",
        "pointer": "/fields/0",
        "fixable": True,
    }


@pytest.mark.parametrize(
    ("text", "threshold", "code"),
    [
        (ERROR, None, exit_codes.FINDINGS),
        (WARNING, None, exit_codes.CLEAN),
        (WARNING, "warning", exit_codes.FINDINGS),
        (NOTE, "warning", exit_codes.CLEAN),
        (NOTE, "note", exit_codes.FINDINGS),
        (CLEAN, "note", exit_codes.CLEAN),
    ],
)
def test_the_gravest_finding_and_the_threshold_decide_the_exit_code(
    folder: Folder, text: str, threshold: str | None, code: int
) -> None:
    folder.put("orders-value.schema.json" if text is NOTE else "orders-value.avsc", text)
    assert folder.lint(folder.path, *(["--fail-on", threshold] if threshold else []))[0] == code


def test_a_file_whose_name_has_no_subject_is_linted(folder: Folder) -> None:
    path = folder.put("shared/order.avsc", ERROR)
    plain = folder.put("order.json", NOTE)
    folder.put("notes.txt", "text")
    _, out, err = folder.lint(folder.path)
    assert f"{plain}:1:1: note: " in out
    assert f"{path}:1:" in out
    assert "1 file is not a schema file (`.avsc`, `.schema.json`, `.json` with `$schema`) and was left out" in err


def test_rules_for_keys_apply_to_files_of_keys(folder: Folder) -> None:
    key = LINT_RULES["LINT_AVRO_KEY_UNSTABLE"].bad
    folder.put("orders-key.avsc", key)
    folder.put("orders-value.avsc", key)
    _, body = folder.lint_to_json(folder.path)
    assert [Path(finding["path"]).name for finding in body["findings"]] == ["orders-key.avsc"]


def test_types_of_other_files_are_not_looked_up(folder: Folder) -> None:
    folder.put(
        "orders-value.avsc",
        FIXED.replace('["null", "string"]', '["null", "shop.address.Address"]'),
    )
    draft = "https://json-schema.org/draft/2020-12/schema"
    remote = json.dumps({"$schema": draft, "$id": "a", "title": "A", "$ref": "b.json#/$defs/b"})
    folder.put("orders-value.schema.json", remote)
    assert folder.lint(folder.path, "--fail-on", "note")[:2] == (exit_codes.CLEAN, "")


def test_a_rule_is_disabled_and_another_one_selected(folder: Folder) -> None:
    path = folder.put("orders-value.avsc", ERROR)
    assert folder.lint(path, "--disable", "LINT_AVRO_ENUM_EMPTY")[:2] == (exit_codes.CLEAN, "")
    assert folder.lint(path, "--only", "LINT_AVRO_UNION_WIDE")[:2] == (exit_codes.CLEAN, "")
    assert folder.lint(path, "--only", "lint_avro_enum_empty")[0] == exit_codes.FINDINGS


@pytest.mark.parametrize("option", ["--only", "--disable", "--explain"])
def test_an_unknown_rule_is_a_usage_error_that_names_the_nearest(folder: Folder, option: str) -> None:
    code, _, err = folder.lint(folder.put("orders-value.avsc", CLEAN), option, "LINT_AVRO_ENUM_EMTY")
    assert code == exit_codes.USAGE
    assert "there is no rule `LINT_AVRO_ENUM_EMTY`; did you mean `LINT_AVRO_ENUM_EMPTY`?" in err
    _, _, err = folder.lint(folder.put("orders-value.avsc", CLEAN), option, "lint_avro_doc")
    assert "did you mean `LINT_AVRO_TYPE_DOC_MISSING` or `LINT_AVRO_FIELD_DOC_MISSING`?" in err


def test_fixes_are_written_and_reported_and_nothing_else_changes(folder: Folder) -> None:
    fixable = folder.put("orders-value.avsc", f"\ufeff// shop\r\n{WARNING}\r\n")
    grave = folder.put("broken-value.avsc", ERROR)
    fixable.chmod(0o640)
    code, out, err = folder.lint(folder.path, "--fix")
    assert code == exit_codes.FINDINGS
    assert "LINT_AVRO_ENUM_EMPTY" in out
    assert "LINT_AVRO_NULLABLE_DEFAULT_MISSING" not in out
    assert "fixed 1 finding in 1 file" in err
    assert fixable.read_bytes() == f"\ufeff// shop\r\n{FIXED}\r\n".encode()
    assert stat.S_IMODE(fixable.stat().st_mode) == 0o640
    assert grave.read_text() == ERROR
    before = fixable.stat().st_mtime_ns
    assert folder.lint_to_json(fixable, "--fix")[1]["fixed"] == []
    assert fixable.stat().st_mtime_ns == before


def test_a_link_to_a_fixed_file_stays_a_link(folder: Folder) -> None:
    target = folder.put("types/order.avsc", WARNING)
    link = folder.path / "orders-value.avsc"
    link.symlink_to(target)
    folder.lint(link, "--fix")
    assert link.is_symlink()
    assert target.read_text() == FIXED


def test_an_unreadable_file_is_reported_with_its_position_and_the_others_are_linted(folder: Folder) -> None:
    folder.put("a-value.avsc", ERROR)
    broken = folder.put("b-value.avsc", '{\n  "type": "record",\n<<<<<<< ours\n}')
    wrong = folder.put("c-value.avsc", '{"type": "record", "name": "R",\n "fields": [{"name": "a"}]}')
    comma = folder.put("e-value.schema.json", '{"a": [1,]}')
    latin = folder.path / "d-value.avsc"
    latin.write_bytes(b'"str\xffing"')
    code, out, err = folder.lint(folder.path)
    assert code == exit_codes.USAGE
    assert "LINT_AVRO_ENUM_EMPTY" in out
    assert f"{broken}:3:1: a merge conflict is not resolved" in err
    assert f"{comma}:1:9: the text is not JSON: a comma before a closing bracket" in err
    assert f'{wrong}:2:13: the field "a" needs a "type"' in err
    assert f"{latin}:1:5: the file is not UTF-8" in err


@pytest.mark.parametrize(
    ("name", "message"),
    [("absent.avsc", "does not exist"), ("notes.txt", "has no known format"), ("", "no schema files")],
)
def test_what_is_no_schema_file_is_a_usage_error(folder: Folder, name: str, message: str) -> None:
    if name == "notes.txt":
        folder.put(name, "text")
    code, _, err = folder.lint(folder.path / name)
    assert (code, message in err) == (exit_codes.USAGE, True)


def test_without_files_there_is_a_usage_error(folder: Folder) -> None:
    code, _, err = folder.lint()
    assert code == exit_codes.USAGE
    assert "name a schema file or a folder" in err


def test_the_rules_are_listed_and_explained(folder: Folder) -> None:
    code, out, _ = folder.lint("--rules")
    assert code == exit_codes.CLEAN
    assert [line.split()[0] for line in out.splitlines()] == list(LINT_RULES)
    _, body = folder.lint_to_json("--rules")
    assert body["format"] == "contractlog.lint-rules/1"
    assert [rule["id"] for rule in body["rules"]] == list(LINT_RULES)
    rule = LINT_RULES["LINT_AVRO_ENUM_DEFAULT_MISSING"]
    _, explained, _ = folder.lint("--explain", rule.id)
    assert all(
        text in explained for text in (rule.id, rule.severity.value, rule.summary, rule.fix, rule.bad, rule.good)
    )


def test_names_in_files_cannot_break_a_line(folder: Folder) -> None:
    name = f"orders{chr(10)}::error::x-value.avsc"
    folder.put(name, ERROR.replace("Status", "S"))
    (line,) = folder.lint(folder.path)[1].splitlines()
    assert os.linesep not in line
    assert r"orders\n::error::x-value.avsc:1:" in line


def test_findings_are_reported_in_the_formats_of_ci(folder: Folder) -> None:
    path = folder.put("orders-value.avsc", ERROR)
    folder.put("broken-value.avsc", "{")
    code, out, _ = folder.lint(folder.path, "--format", "github")
    assert code == exit_codes.USAGE
    assert out.startswith("::error file=")
    assert "LINT_AVRO_ENUM_EMPTY" in out
    assert "UNREADABLE_FILE" in out
    report = folder.path / "report.sarif"
    code, _, _ = folder.lint(path, "--report", f"sarif={report}")
    assert code == exit_codes.FINDINGS
    [run] = json.loads(report.read_text())["runs"]
    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [("LINT_AVRO_ENUM_EMPTY", "error")]
    assert "LINT_AVRO_ENUM_EMPTY" in {rule["id"] for rule in run["tool"]["driver"]["rules"]}


@pytest.mark.parametrize(("text", "failures"), [(CLEAN, 0), (NOTE, 0), (ERROR, 1)])
def test_a_test_case_fails_from_the_given_severity_on(folder: Folder, text: str, failures: int) -> None:
    folder.put("a-value.schema.json" if text == NOTE else "a-value.avsc", text)
    _, out, _ = folder.lint(folder.path, "--format", "junit")
    assert f'tests="1" failures="{failures}" errors="0"' in out


def override(rule: str, severity: str, *lines: str) -> str:
    return "\n".join(["[[lint]]", f'rule = "{rule}"', f'severity = "{severity}"', 'reason = "old events"', *lines, ""])


def test_the_manifest_turns_a_rule_off_or_changes_its_severity_for_files_or_subjects(folder: Folder) -> None:
    for name in ("events/a-value.avsc", "b-value.avsc", "c-value.avsc", "events/d-value.avsc"):
        folder.put(name, ERROR)
    folder.put("orders-value.avsc", WARNING)
    folder.put(
        "contractlog.toml",
        override("LINT_AVRO_ENUM_EMPTY", "note", 'subject = "b-*"')
        + override("LINT_AVRO_ENUM_EMPTY", "off", 'path = "events/**"', "until = 2999-12-31")
        + override("LINT_AVRO_NULLABLE_DEFAULT_MISSING", "error", 'until = "2999-12-31"'),
    )
    code, body = folder.lint_to_json(folder.path)
    assert code == exit_codes.FINDINGS
    found = {Path(each["path"]).name: (each["rule"], each["severity"]) for each in body["findings"]}
    assert found == {
        "b-value.avsc": ("LINT_AVRO_ENUM_EMPTY", "note"),
        "c-value.avsc": ("LINT_AVRO_ENUM_EMPTY", "error"),
        "orders-value.avsc": ("LINT_AVRO_NULLABLE_DEFAULT_MISSING", "error"),
    }
    assert folder.lint(folder.path / "b-value.avsc", "--manifest", folder.path / "contractlog.toml")[0] == 0


def test_entries_of_the_manifest_find_files_by_the_subjects_that_it_gives_them(folder: Folder) -> None:
    folder.put("status.avsc", ERROR)
    folder.put("type.avsc", ERROR.replace("Status", "Other"))
    subject = '[[files]]\npath = "status.avsc"\nsubjects = ["orders-value", "retry-value"]\n'
    retry = override("LINT_AVRO_ENUM_EMPTY", "off", 'subject = "retry-*"')
    folder.put("contractlog.toml", subject + retry + override("LINT_AVRO_ENUM_EMPTY", "off", 'subject = "*Other"'))
    assert folder.lint(folder.path, "--disable", "LINT_AVRO_TYPE_UNUSED")[:2] == (exit_codes.CLEAN, "")


def test_a_rule_that_is_off_is_not_fixed(folder: Folder) -> None:
    path = folder.put("orders-value.avsc", WARNING)
    folder.put("contractlog.toml", override("LINT_AVRO_NULLABLE_DEFAULT_MISSING", "off"))
    assert folder.lint(folder.path, "--fix")[0] == exit_codes.CLEAN
    assert path.read_text() == WARNING


def test_a_type_without_a_subject_that_no_file_of_the_folder_uses_is_a_note(folder: Folder) -> None:
    def fixed(name: str) -> str:
        return f'{{"type": "fixed", "name": "shop.{name}", "size": 8}}'

    folder.put("contractlog.toml", '[[files]]\npath = "schemas/types/Named.avsc"\nsubjects = ["named"]\n')
    user = '{"type": "array", "items": {"type": "map", "values": "shop.%s"}}'
    folder.put("schemas/a-value.avsc", user % "Used")
    folder.put("schemas/b-value.avsc", fixed("Event"))
    unused = folder.put("schemas/types/Unused.avsc", fixed("Unused"))
    for name in ("Used", "Named", "1/Versioned", "2/Versioned"):
        folder.put(f"schemas/types/{name}.avsc", fixed(name.rpartition("/")[2]))
    folder.put("schemas/c-value.avsc", user % "Versioned")
    manifest = ("--manifest", folder.path / "contractlog.toml")
    for part in ("schemas", "schemas/types", "schemas/types/Unused.avsc"):
        code, out, _ = folder.lint(folder.path / part, *manifest)
        assert (code, out.count("LINT_AVRO_TYPE_UNUSED")) == (exit_codes.CLEAN, 1)
        assert f"{unused}:1:27: note: no other file uses the type `shop.Unused`; use it" in out
    folder.put("schemas/types/Unused.avsc", fixed("Unused")[:-1] + ', "aliases": ["shop.Unused"]}')
    folder.put("schemas/c-value.avsc", user % "Unused")
    assert folder.lint(folder.path, *manifest)[1].count("LINT_AVRO_TYPE_UNUSED") == 2
    assert "TYPE_UNUSED" not in folder.lint(folder.path / "schemas/types/1/Versioned.avsc")[1]  # no manifest


def test_an_expired_entry_is_reported_once_and_the_rule_applies_again(folder: Folder) -> None:
    folder.put("a-value.avsc", ERROR)
    folder.put("b-value.avsc", ERROR)
    folder.put("contractlog.toml", "\n" + override("LINT_AVRO_ENUM_EMPTY", "off", "until = 2020-02-29"))
    code, out, err = folder.lint(folder.path)
    assert (code, out.count("LINT_AVRO_ENUM_EMPTY")) == (exit_codes.FINDINGS, 2)
    assert err.count("contractlog.toml:2: the entry for LINT_AVRO_ENUM_EMPTY ended on 2020-02-29") == 1
    _, body = folder.lint_to_json(folder.path)
    assert body["expired"] == [
        {"rule": "LINT_AVRO_ENUM_EMPTY", "until": "2020-02-29", "reason": "old events", "line": 2}
    ]


def waiver(rule: str, *lines: str, until: str = "2999-12-31") -> str:
    entry = ["[[waivers]]", f'check = "{rule}"', 'reason = "agreed"', 'by = "ana@example.com"', f"until = {until}"]
    return "\n".join((*entry, *lines, ""))


def test_a_waiver_silences_one_finding(folder: Folder) -> None:
    rule = "LINT_AVRO_NULLABLE_DEFAULT_MISSING"
    field = json.loads(WARNING)["fields"][0]
    text = json.dumps(json.loads(WARNING) | {"fields": [field, {**field, "name": "other"}]})
    path = folder.put("orders-value.avsc", text)
    folder.put("contractlog.toml", waiver(rule, 'subject = "orders-*"', 'path = "/fields/1"'))
    code, out, err = folder.lint(folder.path, "--fail-on", "warning", "--only", rule)
    assert (code, out.count(rule)) == (exit_codes.FINDINGS, 1)
    assert "1 finding is silenced by a waiver; --verbose shows it" in err
    _, out, _ = folder.lint(folder.path, "--verbose", "--only", rule)
    assert f"[{rule}] silenced: {rule} at /fields/1 is waived by ana@example.com until 2999-12-31: agreed" in out
    _, body = folder.lint_to_json(folder.path, "--only", rule)
    assert [each["pointer"] for each in body["findings"]] == ["/fields/0"]
    assert [(each["pointer"], each["waiver"]["by"]) for each in body["waived"]] == [("/fields/1", "ana@example.com")]
    assert folder.lint(folder.path, "--fix", "--only", rule)[0] == exit_codes.CLEAN
    assert ["default" in each for each in json.loads(path.read_text())["fields"]] == [True, False]


@pytest.mark.parametrize(
    "entry",
    [
        waiver("LINT_AVRO_ENUM_EMPTY", 'subject = "x"'),
        waiver("LINT_AVRO_ENUM_EMPTY", 'subject = "*"', 'path = "/x"'),
        waiver("LINT_AVRO_ENUM_EMPTY", 'subject = "*"', until="2020-12-31"),
        waiver("LINT_AVRO_FIELD_DOC_MISSING", 'subject = "*"'),
    ],
)
def test_a_waiver_for_something_else_or_one_that_ended_silences_nothing(folder: Folder, entry: str) -> None:
    folder.put("a-value.avsc", ERROR)
    folder.put("contractlog.toml", entry)
    code, out, err = folder.lint(folder.path)
    assert (code, out.count("LINT_AVRO_ENUM_EMPTY")) == (exit_codes.FINDINGS, 1)
    ended = "contractlog.toml:1: the waiver of LINT_AVRO_ENUM_EMPTY by ana@example.com ended on 2020-12-31"
    assert (ended in err) == ("2020" in entry)


def test_without_files_the_folder_of_the_manifest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["lint"]) == exit_codes.USAGE
    (tmp_path / "contractlog.toml").write_text("")
    (tmp_path / "orders-value.avsc").write_text('{"type": "record", "name": "Order", "fields": []}')
    capsys.readouterr()
    main(["lint", "--format", "json"])
    assert json.loads(capsys.readouterr().out)["files"] == 1

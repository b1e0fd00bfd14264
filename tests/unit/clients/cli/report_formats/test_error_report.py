"""Reports of commands that an error in the manifest, another file or an argument ends before a file is checked."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main

from support.ci_reports import read_reports, report_options

UNREACHABLE: Final = "http://127.0.0.1:1"
TWO_ERRORS: Final = '[[subjects]]\nname = "*-value"\nlevle = "FULL"\n\n[[files]]\nsubjects = ["x"]\n'
VERBS: Final = {
    "check": ("check",),
    "lint": ("lint",),
    "plan": ("plan",),
    "apply": ("apply",),
    "register": ("register",),
    "promote": ("promote", "dev", "prod"),
    "diff": ("diff", "orders-value.avsc", "orders-key.avsc"),
    "compat": ("compat", "orders-value", "orders-value.avsc"),
}

Run = Callable[..., tuple[str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a verb in a folder with two schema files, and returns what it prints."""
    monkeypatch.chdir(tmp_path)
    for name in ("orders-value", "orders-key"):
        Path(f"{name}.avsc").write_text('"string"')

    def run(*arguments: str, code: int = exit_codes.USAGE) -> tuple[str, str]:
        capsys.readouterr()
        assert main(arguments) == code
        printed = capsys.readouterr()
        return printed.out, printed.err

    return run


def positions() -> list[tuple[str, str, int | None, int | None]]:
    """Return rule, path, line and column of each finding, which all formats have."""
    reports = read_reports(Path())
    assert not reports.completed
    assert len(reports.failed) == len({each.path for each in reports.results})
    return [(each.rule, each.path, each.line, each.column) for each in reports.results]


@pytest.mark.parametrize("verb", VERBS)
def test_each_error_in_the_manifest_is_a_finding_at_its_position(run: Run, verb: str) -> None:
    Path("contractlog.toml").write_text(TWO_ERRORS)
    out, err = run(*VERBS[verb], *report_options(Path()))
    assert out == ""
    lines = err.splitlines()
    assert lines[0] == "contractlog: contractlog.toml:3:1: there is no key `levle` here; did you mean `level`?"
    assert lines[1].startswith("contractlog.toml:5:1: the key `path` is missing.")
    assert len(lines) == 2
    expected = [("MANIFEST_INVALID", "contractlog.toml", 3, 1), ("MANIFEST_INVALID", "contractlog.toml", 5, 1)]
    assert positions() == expected

    out, again = run(*VERBS[verb], "--format", "json")
    body = json.loads(out)
    assert again == err
    assert (body["format"], body["command"]) == ("contractlog.failure/1", f"contractlog {verb}")
    errors = body["errors"]
    assert [(each["rule"], each["file"], each["line"], each["column"]) for each in errors] == expected
    assert errors[0]["message"] == "there is no key `levle` here; did you mean `level`?"


@pytest.mark.parametrize(
    ("manifest", "line", "message"),
    [
        ("[environments", 1, "the text is not TOML"),
        ("<<<<<<< HEAD\n", 1, "a merge conflict is not resolved"),
        ('[[files]]\npath = "../x.avsc"\n', 2, "the value of `path` is not allowed"),
        ('[[files]]\npath = "x"\ntopic = "{nmae}"\n', 3, "`{nmae}` in `{nmae}` is unknown: use {name} or {type}"),
        ('[[waivers]]\nsubject="*"\ncheck="AVRO_TYPE"\nreason="r"\nby="b"\nuntil=2999-01-01\n', 3, "there is no check"),
        ("a" + ".a" * 300 + "=1", 1, "the line has more than"),
    ],
)
def test_an_error_of_any_kind_has_its_line(run: Run, manifest: str, line: int, message: str) -> None:
    Path("contractlog.toml").write_text(manifest)
    run("check", "orders-value.avsc", *report_options(Path()))
    (result,) = read_reports(Path()).results
    assert (result.rule, result.path, result.line) == ("MANIFEST_INVALID", "contractlog.toml", line)
    assert message in result.message
    assert "contractlog.toml" not in result.message


def test_a_manifest_that_cannot_be_read_or_lacks_the_environment_has_no_line(run: Run) -> None:
    Path("contractlog.toml").write_bytes(b"\xff")
    run("check", ".", *report_options(Path()))
    assert positions() == [("MANIFEST_INVALID", "contractlog.toml", None, None)]
    Path("contractlog.toml").write_text("")
    run("check", ".", "--environment", "prod", *report_options(Path()))
    assert positions() == [("MANIFEST_INVALID", "contractlog.toml", None, None)]


def test_an_error_in_the_lock_is_one_finding_though_every_file_needs_it(run: Run) -> None:
    Path("contractlog.lock").write_text("{")
    _, err = run("check", ".", "--registry", UNREACHABLE, *report_options(Path()))
    assert [(each.rule, each.path) for each in read_reports(Path()).results] == [("LOCK_INVALID", "contractlog.lock")]
    assert err.count("`contractlog.lock` cannot be read") == 1
    assert "cannot be read as" not in err.replace("`contractlog.lock` cannot be read", "")


def test_a_missing_lock_and_an_ignore_file_are_findings_there(run: Run) -> None:
    run("check", ".", "--against", "lock", *report_options(Path()))
    assert positions() == [("LOCK_INVALID", "contractlog.lock", None, None)]
    Path(".contractlogignore").write_bytes(b"\xff")
    for verb in ("check", "lint"):
        run(verb, ".", *report_options(Path()))
        results = read_reports(Path()).results
        assert [(each.rule, each.path) for each in results] == [("IGNORE_FILE_INVALID", ".contractlogignore")]


@pytest.mark.parametrize("text", ["{", None])
def test_a_plan_that_cannot_be_read_is_a_finding_of_its_file(run: Run, text: str | None) -> None:
    if text is not None:
        Path("plan.json").write_text(text)
    run("apply", "--plan", "plan.json", *report_options(Path()))
    assert positions() == [("PLAN_INVALID", "plan.json", None, None)]


def test_a_revision_that_git_does_not_have_is_reported_for_the_files(run: Run) -> None:
    subprocess.run(["git", "init", "--quiet"], check=True)
    run("check", "orders-value.avsc", "--against", "git:none", *report_options(Path()))
    (result,) = read_reports(Path()).results
    assert (result.rule, result.path) == ("COMMAND_FAILED", "orders-value.avsc")
    assert "git has no revision `none`" in result.message


def test_the_manifest_of_a_git_revision_is_named_as_git_does(run: Run) -> None:
    Path("contractlog.toml").write_text("x = 1\n")
    for arguments in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "-m", "a")):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(["git", *identity, *arguments], check=True)
    Path("contractlog.toml").write_text("")
    _, err = run("diff", "git:HEAD:orders-value.avsc", "orders-value.avsc", *report_options(Path()))
    assert err.startswith("contractlog: git:HEAD:contractlog.toml:1:1: ")
    assert positions() == [("MANIFEST_INVALID", "git:HEAD:contractlog.toml", 1, 1)]


@pytest.mark.parametrize(
    ("variables", "rule", "code"),
    [
        ({"CONTRACTLOG_REGISTRY_URL": UNREACHABLE}, "REGISTRY_FAILED", exit_codes.UNREACHABLE),
        ({"CONTRACTLOG_REGISTRY_URL": "registry"}, "COMMAND_FAILED", exit_codes.USAGE),
        (
            {"CONTRACTLOG_REGISTRY_URL": "https://127.0.0.1:1", "CONTRACTLOG_REGISTRY_CA": "none.pem"},
            "COMMAND_FAILED",
            exit_codes.USAGE,
        ),
    ],
)
def test_a_registry_that_cannot_be_used_is_reported_in_json_too(
    run: Run, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], rule: str, code: int
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    out, err = run("check", "orders-value.avsc", "--format", "json", *report_options(Path()), code=code)
    (error,) = json.loads(out)["errors"]
    assert (error["rule"], error["file"], error["line"]) == (rule, "orders-value.avsc", None)
    assert error["message"] in err
    assert positions() == [(rule, "orders-value.avsc", None, None)]


@pytest.mark.parametrize(
    "arguments", [("promote", "dev", "prod", "orders-value.avsc"), ("diff", "orders-key.avsc", "orders-value.avsc")]
)
def test_an_unreadable_file_is_a_finding_of_every_verb_and_format(run: Run, arguments: tuple[str, ...]) -> None:
    Path("orders-value.avsc").write_bytes(b'"\xff"')
    Path("contractlog.toml").write_text("")
    out, _ = run(*arguments, "--format", "json", *report_options(Path()))
    (result,) = read_reports(Path()).results
    assert (result.rule, result.path, result.line) == ("UNREADABLE_FILE", "orders-value.avsc", 1)
    (error,) = json.loads(out)["errors"]
    assert (error["rule"], error["file"], error["line"]) == ("UNREADABLE_FILE", "orders-value.avsc", 1)


def test_a_result_is_reported_and_printed_once_if_the_command_then_fails(run: Run) -> None:
    Path("orders-value.avsc").write_text('{"type":')
    out, _ = run("lint", "orders-value.avsc", "--format", "json")
    body: dict[str, Any] = json.loads(out)
    assert body["format"] == "contractlog.lint/1"
    out, _ = run("lint", "orders-value.avsc", "--format", "markdown")
    assert out.count("### contractlog lint") == 1

"""What scripts may rely on: the verbs, their arguments, the exit codes, and that every verb explains itself."""

from __future__ import annotations

import pytest

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.clients.cli.verbs import VERBS

OUTPUT = ["--color", "--quiet", "--verbose"]
ARGUMENTS = {
    "check": ["--subject", "--reference", "--normalize", "--registry", "--timeout", "--format", "--report", *OUTPUT],
    "register": ["--subject", "--reference", "--normalize", "--level", "--dry-run", "--registry", "--format", *OUTPUT],
    "diff": ["--level", "--policy", "--reference", "--format", *OUTPUT],
    "subjects": ["PREFIX", "--context", "--deleted", "--long", "--limit", "--registry", "--timeout", "--format"],
    "versions": ["SUBJECT", "--deleted", "--limit", "--registry", "--format"],
    "show": ["SUBJECT[:VERSION]", "--id", "--context", "--raw", "--registry", "--format"],
    "compat": ["SUBJECT", "FILE", "--version", "--level", "--reference", "--normalize", "--registry", "--format"],
    "config": ["get", "set", "unset"],
    "mode": ["get", "set", "unset"],
    "delete": ["SUBJECT[:VERSION]", "--permanent", "--yes", "--dry-run", "--registry", "--format"],
    "undelete": ["SUBJECT[:VERSION]", "--dry-run", "--registry", "--format"],
    "contexts": ["--registry", "--format"],
    "whoami": ["SUBJECT", "--registry", "--format"],
    "journal": ["verify", "head", "export"],
    "completion": ["bash", "zsh", "fish"],
    "pull": ["--all", "--history", "--out", "--registry", "--format", *OUTPUT],
}


def test_the_exit_codes_are_these() -> None:
    codes = {name: getattr(exit_codes, name) for name in exit_codes.__all__}
    assert codes == {"CLEAN": 0, "FINDINGS": 1, "USAGE": 2, "UNREACHABLE": 3, "REFUSED": 4, "INTERNAL_ERROR": 70}


def test_the_verbs_are_these() -> None:
    assert set(VERBS) >= {"serve", "db", "register", "check", "diff", "pull", "produce", "consume", "audit", "lineage"}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself_with_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "--help"]) == exit_codes.CLEAN
    told = capsys.readouterr()
    assert told.out.startswith(f"usage: contractlog {verb} ")
    assert f"example:\n  {VERBS[verb].example}\n" in told.out
    assert told.err == ""
    usage = told.out.partition("\n\n")[0]
    assert ("that of --environment" in told.out) <= ("[--environment NAME]" in usage)


@pytest.mark.parametrize("verb", ARGUMENTS)
def test_a_verb_takes_these_arguments(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    main([verb, "--help"])
    told = capsys.readouterr().out
    assert [argument for argument in ARGUMENTS[verb] if argument not in told] == []


@pytest.mark.parametrize("verb", VERBS)
def test_an_unknown_argument_is_usage(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "--no-such-argument"]) == exit_codes.USAGE
    told = capsys.readouterr()
    assert told.out == ""
    assert "usage: contractlog" in told.err

"""Colours, and output that is quiet."""

from __future__ import annotations

from argparse import Namespace

import pytest

from contractlog.clients.cli.output import (
    Tone,
    apply_output_options,
    print_error,
    print_message,
    print_result,
    with_tone,
)


@pytest.mark.parametrize(
    ("color", "terminal", "environment", "coloured"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", True, {"TERM": "dumb"}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", False, {"CLICOLOR_FORCE": "1"}, True),
        ("auto", False, {"CLICOLOR_FORCE": "0"}, False),
        ("auto", False, {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False),
        ("always", False, {"NO_COLOR": "1", "TERM": "dumb"}, True),
        ("never", True, {"CLICOLOR_FORCE": "1"}, False),
    ],
)
def test_verdicts_are_coloured_by_option_then_environment_then_terminal(
    monkeypatch: pytest.MonkeyPatch, *, color: str, terminal: bool, environment: dict[str, str], coloured: bool
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    for name in ("NO_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ({"TERM": "xterm"} | environment).items():
        monkeypatch.setenv(name, value)
    with apply_output_options(Namespace(color=color, quiet=False)):
        assert with_tone(Tone.GOOD, "x") == ("\x1b[32m✓ x\x1b[0m" if coloured else "✓ x")


@pytest.mark.parametrize("color", ["always", "never"])
def test_quiet_leaves_bad_verdicts_findings_and_errors(color: str, capsys: pytest.CaptureFixture[str]) -> None:
    with apply_output_options(Namespace(color=color, quiet=True)):
        for tone in Tone:
            print_result(with_tone(tone, tone.name))
        print_result("    a finding")
        print_message("a summary")
        print_error("an error")
    told = capsys.readouterr()
    assert "BAD" in told.out
    assert "GOOD" not in told.out
    assert "PLAIN" not in told.out
    assert told.out.endswith("    a finding\n")
    assert told.err == "an error\n"
    print_message("a summary")
    assert capsys.readouterr().err == "a summary\n"

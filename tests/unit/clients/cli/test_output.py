"""Colours, output that is quiet, and tables."""

from __future__ import annotations

import io
import json
import sys
from argparse import Namespace

import pytest

from contractlog.clients.cli.output import (
    Tone,
    apply_output_options,
    print_error,
    print_json,
    print_json_line,
    print_json_message,
    print_message,
    print_result,
    print_table,
    table_lines,
    with_tone,
)
from contractlog.compatibility.text.terminal_text import shell_command


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
    with apply_output_options(Namespace(color=color, quiet=False, verbose=False)):
        assert with_tone(Tone.GOOD, "x") == ("\x1b[32m✓ x\x1b[0m" if coloured else "✓ x")


@pytest.mark.parametrize("color", ["always", "never"])
def test_quiet_leaves_bad_verdicts_findings_and_errors(color: str, capsys: pytest.CaptureFixture[str]) -> None:
    with apply_output_options(Namespace(color=color, quiet=True, verbose=False)):
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


def test_columns_are_aligned_and_numbers_to_the_right() -> None:
    assert table_lines(("NAME", "ID", "STATE"), [("orders", 7, "live"), ("a", 1234, None), ("b", None, "x")]) == [
        "NAME      ID  STATE",
        "orders     7  live",
        "a       1234  -",
        "b          -  x",
    ]


def test_wide_and_combining_characters_take_their_columns() -> None:
    assert table_lines(("N", "X"), [("線路", "a"), ("e\u0301", "b"), ("\uff21", "c")]) == [
        "N     X",
        "線路  a",
        "e\u0301     b",
        "\uff21    c",
    ]


def test_hostile_cells_stay_in_their_place() -> None:
    lines = table_lines(("N", "X"), [("a\nb\x1b[2J\t", "x"), ("::error::", "##[error]"), ("\u202e", "y")])
    assert len(lines) == 4
    assert len({line.rindex("  ") for line in lines}) == 1
    assert r"a\nb\x1b[2J\t" in lines[1]
    assert lines[2].startswith(r"\x3a:error::")


def test_a_table_without_rows_is_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("A", "B"), [])
    assert capsys.readouterr().out == ""
    print_table(("A", "B"), [(1, 2)])
    assert capsys.readouterr().out == "A  B\n1  2\n"


def test_a_command_may_have_an_action_and_options() -> None:
    assert shell_command("config get", "a b") == "contractlog config get 'a b'"


HOSTILE = ("a\nb", "a\x85b", "\u202ex", "::error::x", "##[error]x", "\x1b[2J", "é", "\ud800", "##vso[task.x]")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
@pytest.mark.parametrize("name", HOSTILE)
def test_json_of_hostile_names_is_valid_and_commands_nothing(
    name: str, encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = {name: [name]}
    line = json.dumps(facts, ensure_ascii=False)
    for stream, print_facts in (
        ("stdout", lambda: print_json(facts)),
        ("stdout", lambda: print_json_line(line)),
        ("stderr", lambda: print_json_message(line)),
    ):
        written = io.BytesIO()
        monkeypatch.setattr(sys, stream, io.TextIOWrapper(written, encoding))
        print_facts()
        getattr(sys, stream).flush()
        text = written.getvalue().decode(encoding)
        assert json.loads(text) == facts
        assert text.replace("\n", "").isprintable()
        assert "##" not in text
        assert not any(each.lstrip().startswith("::") for each in text.split("\n"))

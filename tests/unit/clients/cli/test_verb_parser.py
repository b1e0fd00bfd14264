"""The parser of every verb: it suggests the nearest name, and takes words after ``--`` as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from contractlog.clients.cli.verb_parser import VerbParser, suggest_name


@pytest.fixture
def parser() -> VerbParser:
    made = VerbParser(prog="contractlog verb")
    made.add_argument("files", nargs="*")
    made.add_argument("--reference")
    made.add_argument("--kind", choices=("avro", "json"))
    return made


@pytest.fixture
def parser_with_actions() -> VerbParser:
    made = VerbParser(prog="contractlog config")
    actions = made.add_subparsers(dest="action", required=True)
    actions.add_parser("get").add_argument("--registry")
    actions.add_parser("unset").add_argument("--setting")
    return made


def error_of(parser: VerbParser, *words: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        parser.parse_args(words)
    assert ended.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("word", ["--refernce", "--refernce=x=y:1", "--refrence"])
def test_an_unknown_option_names_the_nearest(parser: VerbParser, capsys: pytest.CaptureFixture[str], word: str) -> None:
    assert error_of(parser, word, capsys=capsys).endswith("; did you mean `--reference`?")


def test_an_unknown_option_near_none_is_only_named(parser: VerbParser, capsys: pytest.CaptureFixture[str]) -> None:
    assert error_of(parser, "--zzz", capsys=capsys).endswith("unrecognized arguments: --zzz")
    assert error_of(parser, "--" + "x" * 10_000, capsys=capsys).endswith("xxx")


def test_a_wrong_choice_names_the_nearest(parser: VerbParser, capsys: pytest.CaptureFixture[str]) -> None:
    assert error_of(parser, "--kind", "avr", capsys=capsys).endswith("; did you mean `avro`?")


def test_actions_and_their_options_are_suggested(
    parser_with_actions: VerbParser, capsys: pytest.CaptureFixture[str]
) -> None:
    assert error_of(parser_with_actions, "unst", capsys=capsys).endswith("; did you mean `unset`?")
    assert error_of(parser_with_actions, "get", "--regstry", "x", capsys=capsys).endswith(
        "; did you mean `--registry`?"
    )
    assert list(parser_with_actions.action_parsers()) == ["get", "unset"]
    assert {"--registry", "--setting"} <= set(parser_with_actions.option_names())


def test_messages_stay_on_their_line(parser: VerbParser, capsys: pytest.CaptureFixture[str]) -> None:
    assert error_of(parser, "--kin\n::error::d", capsys=capsys).endswith(r"--kin\n::error::d; did you mean `--kind`?")


def test_words_after_two_dashes_are_positional(parser: VerbParser) -> None:
    options = parser.parse_intermixed_args(["a", "--kind", "json", "--", "--reference", "b"])
    assert (options.files, options.kind, options.reference) == (["a", "--reference", "b"], "json", None)


def test_a_path_after_two_dashes_is_positional() -> None:
    parser = VerbParser()
    parser.add_argument("folder", type=Path)
    assert parser.parse_intermixed_args(["--", "--out"]).folder == Path("--out")


def test_a_name_is_suggested_only_if_one_is_near() -> None:
    assert suggest_name("subjcts", ["subjects", "show"]) == "; did you mean `subjects`?"
    assert suggest_name("x", ["subjects", "show"]) == ""

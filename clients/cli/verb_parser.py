"""Argument parser of a verb, with one-line messages that suggest the nearest name."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

__all__ = ["VerbParser", "add_action_parser", "suggest_name"]

_POSITIONAL: Final = "\0"  #: marks a word after `--` that begins with a dash; never part of a process argument
_UNKNOWN_OPTIONS: Final = "unrecognized arguments: "
_INVALID_CHOICE: Final = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)$")
_MAX_LENGTH: Final = 100  #: longest word that is compared with the names


def suggest_name(word: str, names: Iterable[str]) -> str:
    """Return ``; did you mean `NAME`?`` for the most similar name, or nothing if none is similar.

    >>> suggest_name("subjcts", ["subjects", "schemas"])
    '; did you mean `subjects`?'
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only needed for wrong arguments

    nearest = get_close_matches(word, list(names), n=1) if len(word) <= _MAX_LENGTH else []
    return f"; did you mean `{nearest[0]}`?" if nearest else ""


def add_action_parser(actions: Any, name: str, summary: str, example: str) -> ArgumentParser:
    """Add the parser of an action of a verb.

    Args:
        actions: the result of ``add_subparsers``.
        name: the verb and the action, such as ``config get``.
        summary: a sentence without its first capital letter and its full stop.
        example: the arguments after the name.
    """
    parser: ArgumentParser = actions.add_parser(
        name.partition(" ")[2],
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=f"example:\n  contractlog {name} {example}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    return parser


class VerbParser(ArgumentParser):
    """Argument parser with one-line messages, for which every word after ``--`` is positional."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message, with the nearest name of an unknown option or choice, and exit."""
        from contractlog.compatibility.text.terminal_text import escape_line  # noqa: PLC0415 - only needed for wrong arguments

        super().error(escape_line(message.replace(_POSITIONAL, "") + self._suggestion(message)))

    def _suggestion(self, message: str) -> str:
        if message.startswith(_UNKNOWN_OPTIONS):
            words = message.removeprefix(_UNKNOWN_OPTIONS).split()
            options = [word.partition("=")[0] for word in words if word.startswith("--")]
            return next(filter(None, (suggest_name(option, self.option_names()) for option in options)), "")
        wrong = _INVALID_CHOICE.search(message)
        return suggest_name(wrong[1], re.findall(r"[^\s',]+", wrong[2])) if wrong else ""

    def option_names(self) -> list[str]:
        """Return the names of all options, those of actions such as ``config get`` included."""
        below = [name for parser in self.action_parsers().values() for name in parser.option_names()]
        return [*self._option_string_actions, *below]

    def action_parsers(self) -> dict[str, VerbParser]:
        """Return the parsers of the actions, such as ``get`` of ``config``, by name."""
        parsers: dict[str, VerbParser] = {}
        for action in self._actions:
            if isinstance(action.choices, dict):
                parsers |= action.choices
        return parsers

    def parse_intermixed_args(  # type: ignore[override] # the verbs never pass a namespace
        self, args: Sequence[str], namespace: None = None
    ) -> Namespace:
        """Parse options and positional arguments in any order.

        The first pass of argparse drops `--`, and the second would parse a following `--out` as an option; so such
        words are marked before parsing and unmarked after.
        """
        words = list(args)
        if "--" in words:
            separator = words.index("--")
            words[separator:] = [
                f"{_POSITIONAL}{word}" if word.startswith("-") else word for word in words[separator + 1 :]
            ]
        options = super().parse_intermixed_args(words, namespace)
        for name, value in vars(options).items():
            setattr(options, name, _unmark(value))
        return options


def _unmark(value: Any) -> Any:
    if isinstance(value, list):
        return [_unmark(each) for each in value]
    if isinstance(value, Path):
        return Path(_unmark(str(value)))
    return value[1:] if isinstance(value, str) and value.startswith(_POSITIONAL) else value

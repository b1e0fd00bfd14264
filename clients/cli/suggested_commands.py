"""Commands in messages, for users to paste into a shell."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Final

__all__ = ["clear_repeated_options", "quote_word", "registry_command", "repeat_in_commands", "shell_command"]

_REPEATED: Final[ContextVar[Mapping[str, str]]] = ContextVar("repeated", default=MappingProxyType({}))


@contextmanager
def clear_repeated_options() -> Iterator[None]:
    """Repeat no options at the beginning of the block; those that it sets end with it."""
    repeated = _REPEATED.set({})
    try:
        yield
    finally:
        _REPEATED.reset(repeated)


def quote_word(word: str) -> str:
    r"""Quote a word for a shell; if it has unprintable characters, as bash's ``$'…'``.

    >>> print(quote_word("a b"), quote_word("a\nb"))
    'a b' $'a\U0000000ab'
    """
    if word.isprintable():
        return shlex.quote(word)
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + "'"


def shell_command(verb: str, *paths: object, **options: str | None) -> str:
    """Return a command to paste into a shell; paths that begin with a dash are not read as options.

    >>> shell_command("check", "--out.avsc", subject="--all")
    'contractlog check --subject=--all -- --out.avsc'
    """
    arguments = ["contractlog", *verb.split()]
    arguments += [f"--{name.replace('_', '-')}={value}" for name, value in options.items() if value is not None]
    arguments += ["--"] if any(str(path).startswith("-") for path in paths) else []
    return " ".join(quote_word(word) for word in (*arguments, *map(str, paths)))


def repeat_in_commands(options: Mapping[str, str]) -> None:
    """Repeat these options in ``registry_command``, until the block of ``apply_output_options`` ends."""
    _REPEATED.set(options)


def registry_command(verb: str, *paths: object, **options: str | None) -> str:
    """Return ``shell_command`` for the registry of this command: with the options that name it."""
    return shell_command(verb, *paths, **{**_REPEATED.get(), **options})

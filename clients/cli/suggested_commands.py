"""Commands in messages, for users to paste into a shell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Final

from contractlog.compatibility.text.terminal_text import shell_command

__all__ = ["clear_repeated_options", "registry_command", "repeat_in_commands"]

_REPEATED: Final[ContextVar[Mapping[str, str]]] = ContextVar("repeated", default=MappingProxyType({}))


@contextmanager
def clear_repeated_options() -> Iterator[None]:
    """Repeat no options at the beginning of the block; those that it sets end with it."""
    repeated = _REPEATED.set({})
    try:
        yield
    finally:
        _REPEATED.reset(repeated)


def repeat_in_commands(options: Mapping[str, str]) -> None:
    """Repeat these options in ``registry_command``, until the block of ``apply_output_options`` ends."""
    _REPEATED.set(options)


def registry_command(verb: str, *paths: object, **options: str | None) -> str:
    """Return ``shell_command`` for the registry of this command: with the options that name it."""
    return shell_command(verb, *paths, **{**_REPEATED.get(), **options})

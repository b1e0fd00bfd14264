"""Limits on the dependencies of a schema and on the length of texts in messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from contractlog.compatibility.errors import InvalidSchema

__all__ = [
    "MAX_DEPENDENCIES",
    "MAX_DEPENDENCY_CHARACTERS",
    "MAX_REFERENCE_DEPTH",
    "check_dependencies",
    "truncate",
    "truncate_message",
]

MAX_DEPENDENCIES: Final = 100  #: direct and indirect dependencies that are parsed with a schema
MAX_DEPENDENCY_CHARACTERS: Final = 10 * 1024 * 1024
MAX_REFERENCE_DEPTH: Final = 16  #: schemas that refer to each other in a chain
_MAX_MESSAGE: Final = 500


def check_dependencies(referenced: Mapping[str, str]) -> None:
    """Check the number and size of a schema's direct and indirect dependencies.

    Raises:
        InvalidSchema: too many dependencies, or too much text in them.
    """
    if len(referenced) > MAX_DEPENDENCIES:
        raise InvalidSchema(
            f"the schema has {len(referenced)} dependencies, over the limit of {MAX_DEPENDENCIES}", at=""
        )
    characters = sum(map(len, referenced.values()))
    if characters > MAX_DEPENDENCY_CHARACTERS:
        raise InvalidSchema(
            f"the dependencies have {characters} characters, over the limit of {MAX_DEPENDENCY_CHARACTERS}", at=""
        )


def truncate_message(message: str) -> str:
    """Truncate a message, which may contain a hostile name."""
    return truncate(message, _MAX_MESSAGE)


def truncate(text: str, maximum: int) -> str:
    """Return a text, or its first characters and an ellipsis if it has more than ``maximum``.

    >>> truncate("departure", 6)
    'depart…'
    """
    return text if len(text) <= maximum else f"{text[:maximum]}…"

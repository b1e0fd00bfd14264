"""How much a schema may lean on, and how long a sentence about it may get."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from contractlog.compatibility.errors import InvalidSchema

__all__ = ["MAX_REFERENCED", "MAX_REFERENCED_CHARACTERS", "check_referenced", "shortened"]

MAX_REFERENCED: Final = 100
MAX_REFERENCED_CHARACTERS: Final = 10 * 1024 * 1024
_MAX_MESSAGE: Final = 500


def check_referenced(referenced: Mapping[str, str]) -> None:
    """Refuse a schema that leans on too much, directly or not.

    Raises:
        InvalidSchema: more schemas, or more text in them, than anyone writes.
    """
    if len(referenced) > MAX_REFERENCED:
        raise InvalidSchema(f"the schema leans on {len(referenced)} schemas, over the limit of {MAX_REFERENCED}", at="")
    characters = sum(map(len, referenced.values()))
    if characters > MAX_REFERENCED_CHARACTERS:
        raise InvalidSchema(
            f"the schemas leaned on have {characters} characters, over the limit of {MAX_REFERENCED_CHARACTERS}", at=""
        )


def shortened(message: str) -> str:
    """Cut what repeats a hostile name."""
    return message if len(message) <= _MAX_MESSAGE else f"{message[:_MAX_MESSAGE]}…"

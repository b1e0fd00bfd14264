"""A failure on its way out of a codec: each level adds its step, so the place costs nothing until it is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from contractlog.contracts.observed.outcomes import Outcome

__all__ = ["Failure", "Key", "Step", "shown"]

_SHOWN: Final = 60
_SHOWN_BITS: Final = 160  #: of an integer whose digits are shown; they fit into _SHOWN


@dataclass(frozen=True, slots=True)
class Key:
    """A step into a map."""

    text: str


Step: TypeAlias = str | int | Key  # a record's field, a position in an array, a key of a map


class Failure(Exception):
    """Bytes or a value do not fit their schema; public calls turn it into ``DecodeError`` or ``EncodeError``."""

    def __init__(self, outcome: Outcome | None, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason
        self.steps: list[Step] = []  # innermost first

    def inside(self, step: Step) -> None:
        """Say that what failed is inside this field, item or entry."""
        self.steps.append(step)

    @property
    def field(self) -> str:
        """The path as reports write it: ``legs[].carrier``, ``tags{}``."""
        return _path(self.steps, exact=False)

    @property
    def where(self) -> str:
        """The path with positions: ``legs[2].carrier``, ``tags{"color"}``."""
        return _path(self.steps, exact=True)


def _path(steps: list[Step], *, exact: bool) -> str:
    path = ""
    for step in reversed(steps):
        if isinstance(step, int):
            path += f"[{step}]" if exact else "[]"
        elif isinstance(step, Key):
            path += "{" + shown(step.text) + "}" if exact else "{}"
        else:
            path += f".{step}" if path else step
    return path


def shown(value: Any) -> str:
    """Show a value in a sentence, with its type's name where that helps; never more than a few dozen characters."""
    if isinstance(value, list | tuple | dict | set):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, int) and value.bit_length() > _SHOWN_BITS:
        return f"an integer of {value.bit_length()} bits"
    try:
        text = repr(value[: _SHOWN + 1]) if isinstance(value, str | bytes | bytearray) else repr(value)
    except Exception:  # noqa: BLE001 -- as a fraction of thousands of digits does; some error of others is no answer
        return f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 2] + " …"

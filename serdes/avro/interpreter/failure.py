"""Failures of codecs. Each level adds its step to the path, so paths cost nothing without a failure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from contractlog.contracts.audit.outcomes import Outcome

__all__ = ["CodecFailure", "MapKey", "Step", "describe_value"]

_MAX_LENGTH: Final = 60
_MAX_BITS: Final = 160  #: longest integer whose digits are shown; these fit into _SHOWN characters


@dataclass(frozen=True, slots=True)
class MapKey:
    """A step into a map."""

    text: str


Step: TypeAlias = str | int | MapKey  # a field of a record, a position in an array, a key of a map


class CodecFailure(Exception):
    """Bytes or a value do not fit their schema.

    The public calls turn it into ``DecodeError`` or ``EncodeError``.
    """

    def __init__(self, outcome: Outcome | None, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason
        self.steps: list[Step] = []  # innermost first

    def add_step(self, step: Step) -> None:
        """Add the enclosing field, item or entry to the path."""
        self.steps.append(step)

    @property
    def field(self) -> str:
        """The path as in reports: ``legs[].carrier``, ``tags{}``."""
        return _format_path(self.steps, exact=False)

    @property
    def where(self) -> str:
        """The path with positions and keys: ``legs[2].carrier``, ``tags{"color"}``."""
        return _format_path(self.steps, exact=True)


def _format_path(steps: list[Step], *, exact: bool) -> str:
    path = ""
    for step in reversed(steps):
        if isinstance(step, int):
            path += f"[{step}]" if exact else "[]"
        elif isinstance(step, MapKey):
            path += "{" + describe_value(step.text) + "}" if exact else "{}"
        else:
            path += f".{step}" if path else step
    return path


def describe_value(value: Any) -> str:
    """Return a short repr of a value for messages; containers and huge integers as their type and size."""
    if isinstance(value, list | tuple | dict | set):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        return f"an integer of {value.bit_length()} bits"
    try:
        text = repr(value[: _MAX_LENGTH + 1]) if isinstance(value, str | bytes | bytearray) else repr(value)
    except Exception:  # noqa: BLE001 -- e.g. of a fraction with thousands of digits, or of a user's class
        return f"a {type(value).__name__}"
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 2] + " …"

"""Validation of documents against a schema, with the path and reason of a violation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from contractlog.compatibility.json_text import pointer
from contractlog.compatibility.schema import ParsedSchema
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.serdes.errors import SerializationError
from contractlog.serdes.json_schema.fault import Fault
from contractlog.serdes.json_schema.validator import prepared
from contractlog.serdes.json_schema.words import Words

__all__ = ["DEFAULT", "Check", "Validation", "path"]

_FURTHER_STEPS: Final = 100
_LONGEST_NAME: Final = 200
_LONGEST: Final = 2_000  #: characters of a path


@dataclass(frozen=True, slots=True)
class Validation:
    """Settings of the validation of values."""

    formats: bool = False  #: whether ``format`` is asserted
    words: str = "jsonschema-rs"  #: the package whose wording errors have


DEFAULT: Final = Validation()


class Check:
    """A schema prepared for validation."""

    def __init__(self, parsed: ParsedSchema, validation: Validation) -> None:
        ready = prepared(parsed, formats=validation.formats)
        self._faults = ready.faults
        self._words = Words(parsed, formats=validation.formats) if validation.words == "jsonschema" else None
        self.admits = ready.validator.is_valid

    def surely_admits(self, value: Any) -> bool:
        """Return whether a value is valid as it is.

        False for a value that is not plain JSON: its text may still be valid.
        """
        try:
            return self.admits(value)
        except (ValueError, TypeError):
            return False

    def hold(self, value: Any, kind: type[SerializationError]) -> None:
        """Check that a document is valid.

        Raises:
            SerializationError: it is not; of the given kind.
        """
        if not self.surely_admits(value):
            raise self.refusal(value, kind)

    def refusal(self, value: Any, kind: type[SerializationError]) -> SerializationError:
        """Return the error for an invalid document."""
        try:
            fault = self._faults.first(value)
        except (ValueError, TypeError):
            fault = Fault(message="it is no document of JSON's values")
        return kind(
            reason=(self._words and self._words.say(value)) or fault.sentence,
            field=path(fault.instance_path, exact=False),
            where=path(fault.instance_path, exact=True),
            outcome=Outcome.SCHEMA_VIOLATION,
            keyword=fault.keyword,
            instance_path=_pointer(fault.instance_path),
            schema_path=_pointer(fault.schema_path),
        )


def path(steps: Sequence[str | int], *, exact: bool) -> str:
    """Return a path in a document as in reports, with or without positions, shortened for people."""
    written = ""
    for step in steps[:_FURTHER_STEPS]:
        if isinstance(step, int):
            written += f"[{step}]" if exact else "[]"
        else:
            name = _bounded(step)
            written += f".{name}" if written else name
    return written if len(written) <= _LONGEST else f"{written[:_LONGEST]}…"


def _pointer(steps: Sequence[str | int]) -> str:
    written = pointer("", *(_bounded(step) if isinstance(step, str) else step for step in steps[:_FURTHER_STEPS]))
    return written if len(written) <= _LONGEST else f"{written[:_LONGEST]}…"


def _bounded(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"

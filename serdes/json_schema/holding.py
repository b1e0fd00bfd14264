"""Documents held against a schema: whether it admits them, and if not, where and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from contractlog.compatibility.json_text import pointer
from contractlog.compatibility.schema import ParsedSchema
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.serdes.errors import SerializationError
from contractlog.serdes.json_schema.validator import NOT_VALID, validator_of
from contractlog.serdes.json_schema.words import Words

__all__ = ["DEFAULT", "Check", "Validation", "path"]

_FURTHER_STEPS: Final = 100


@dataclass(frozen=True, slots=True)
class Validation:
    """How values are held against schemas."""

    formats: bool = False  #: whether ``format`` is asserted
    words: str = "jsonschema-rs"  #: whose words say what is wrong


DEFAULT: Final = Validation()


class Check:
    """A schema, made ready for documents."""

    def __init__(self, parsed: ParsedSchema, validation: Validation) -> None:
        self._validator = validator_of(parsed, formats=validation.formats)
        self._words = Words(parsed, formats=validation.formats) if validation.words == "jsonschema" else None
        self.admits = self._validator.is_valid

    def surely_admits(self, value: Any) -> bool:
        """Say whether a value is admitted as it is; where it is no plain JSON value, its text has to be asked."""
        try:
            return self.admits(value)
        except ValueError:
            return False

    def hold(self, value: Any, kind: type[SerializationError]) -> None:
        """Return for a document that the schema admits.

        Raises:
            SerializationError: it does not; of the kind that is asked for.
        """
        if not self.admits(value):
            raise self.refusal(value, kind)

    def refusal(self, value: Any, kind: type[SerializationError]) -> SerializationError:
        """Say why a document is not admitted."""
        error = next(self._validator.iter_errors(value), None)
        if error is None:  # no error to show, as where a pattern gave up
            return kind(reason=NOT_VALID, outcome=Outcome.SCHEMA_VIOLATION)
        steps = error.instance_path[:_FURTHER_STEPS]
        return kind(
            reason=(self._words and self._words.say(value)) or f"{error.kind.name}: {error.message}",
            field=path(steps, exact=False),
            where=path(steps, exact=True),
            outcome=Outcome.SCHEMA_VIOLATION,
            keyword=error.kind.name,
            instance_path=pointer("", *steps),
            schema_path=pointer("", *error.schema_path[:_FURTHER_STEPS]),
        )


def path(steps: Sequence[str | int], *, exact: bool) -> str:
    """Write a place in a document as reports do, with positions or without."""
    written = ""
    for step in steps:
        if isinstance(step, int):
            written += f"[{step}]" if exact else "[]"
        else:
            written += f".{step}" if written else step
    return written

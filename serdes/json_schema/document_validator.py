"""Validation of documents against a schema, with the path and reason of a violation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from contractlog.compatibility.json_text import join_pointer
from contractlog.compatibility.limits import truncate
from contractlog.compatibility.schema import ParsedSchema
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.errors import SerializationError
from contractlog.serdes.json_schema.jsonschema_wording import JsonschemaWording
from contractlog.serdes.json_schema.schema_preparation import prepare_parsed
from contractlog.serdes.json_schema.violation_finder import SchemaViolation

__all__ = ["DEFAULT_VALIDATION", "DocumentValidator", "ValidationSettings", "format_path"]

_MAX_STEPS: Final = 100
_MAX_NAME: Final = 200
_MAX_PATH: Final = 2_000  #: characters of a path


@dataclass(frozen=True, slots=True)
class ValidationSettings:
    """Settings of the validation of values."""

    formats: bool = False  #: whether ``format`` is asserted
    words: str = "jsonschema-rs"  #: the package whose wording errors have


DEFAULT_VALIDATION: Final = ValidationSettings()


class DocumentValidator:
    """A schema prepared for validation."""

    def __init__(self, parsed: ParsedSchema, validation: ValidationSettings) -> None:
        ready = prepare_parsed(parsed, formats=validation.formats)
        self._finder = ready.violation_finder
        self._words = (
            JsonschemaWording(parsed, formats=validation.formats) if validation.words == "jsonschema" else None
        )
        self.is_valid = ready.validator.is_valid

    def is_surely_valid(self, value: Any) -> bool:
        """Return whether a value is valid as it is.

        False for a value that is not plain JSON: its text may still be valid.
        """
        try:
            return self.is_valid(value)
        except (ValueError, TypeError):
            return False

    def require_valid(self, value: Any, kind: type[SerializationError]) -> None:
        """Check that a document is valid.

        Raises:
            SerializationError: it is not; of the given kind.
        """
        if not self.is_surely_valid(value):
            raise self.make_error(value, kind)

    def make_error(self, value: Any, kind: type[SerializationError]) -> SerializationError:
        """Return the error for an invalid document."""
        try:
            violation = self._finder.find_violation(value)
        except (ValueError, TypeError):
            violation = SchemaViolation(message="it has values that JSON cannot represent")
        return kind(
            reason=(self._words and self._words.find_message(value)) or violation.sentence,
            field=format_path(violation.instance_path, exact=False),
            where=format_path(violation.instance_path, exact=True),
            outcome=Outcome.SCHEMA_VIOLATION,
            keyword=violation.keyword,
            instance_path=_format_pointer(violation.instance_path),
            schema_path=_format_pointer(violation.schema_path),
        )


def format_path(steps: Sequence[str | int], *, exact: bool) -> str:
    """Return a path in a document as in reports, with or without positions, shortened for people."""
    written = ""
    for step in steps[:_MAX_STEPS]:
        if isinstance(step, int):
            written += f"[{step}]" if exact else "[]"
        else:
            name = _shorten_name(step)
            written += f".{name}" if written else name
    return truncate(written, _MAX_PATH)


def _format_pointer(steps: Sequence[str | int]) -> str:
    written = join_pointer("", *(_shorten_name(step) if isinstance(step, str) else step for step in steps[:_MAX_STEPS]))
    return truncate(written, _MAX_PATH)


def _shorten_name(name: str) -> str:
    return truncate(name, _MAX_NAME)

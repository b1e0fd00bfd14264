"""The first violation of a schema in a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import jsonschema_rs

__all__ = ["NOT_VALID", "SchemaViolation", "make_violation"]

NOT_VALID: Final = "the document is not valid"  #: if no error gives a reason, e.g. if a pattern exceeded its limit
_TYPE_KEYWORD: Final = "type"


@dataclass(frozen=True, slots=True)
class SchemaViolation:
    """One violation of a schema."""

    keyword: str = ""
    message: str = NOT_VALID
    instance_path: tuple[str | int, ...] = ()
    schema_path: tuple[str | int, ...] = ()  #: into the text of the schema
    evaluation_path: tuple[str | int, ...] = ()  #: through the references

    @property
    def sentence(self) -> str:
        """The keyword and the message."""
        return f"{self.keyword}: {self.message}" if self.keyword else self.message


def make_violation(error: jsonschema_rs.ValidationError | None, *, deepest: bool = False) -> SchemaViolation:
    """Return an error's violation; ``deepest`` selects the most relevant error of its alternatives."""
    if error is None:
        return SchemaViolation()
    if deepest:
        error = _most_relevant_error(error)
    paths = error.instance_path, error.schema_path, error.evaluation_path
    return SchemaViolation(error.kind.name, error.message, *map(tuple, paths))


def _most_relevant_error(error: jsonschema_rs.ValidationError) -> jsonschema_rs.ValidationError:
    """Follow alternatives to the most relevant error: deepest in the document, or of the right type."""
    while True:
        branches = [branch[0] for branch in getattr(error.kind, "context", ()) if branch]
        deeper = [branch for branch in branches if len(branch.instance_path) > len(error.instance_path)]
        typed = [branch for branch in branches if branch.kind.name != _TYPE_KEYWORD]
        if deeper:
            error = max(deeper, key=lambda branch: len(branch.instance_path))
        elif len(typed) == 1:
            error = typed[0]
        else:
            return error

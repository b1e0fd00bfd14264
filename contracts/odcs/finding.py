"""Findings about a contract."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from contractlog.compatibility.lint.rule import Severity

__all__ = ["ContractCheck", "ContractFinding", "DocumentPath", "describe_path"]

DocumentPath = tuple[str | int, ...]
"""Names and indices that lead from the root of a document to a value."""


class ContractCheck(StrEnum):
    """Subject of a finding."""

    MISSING = "ODCS_MEMBER_MISSING"
    UNKNOWN = "ODCS_MEMBER_UNKNOWN"  #: to the version of the standard
    VALUE = "ODCS_VALUE_INVALID"
    DEPRECATED = "ODCS_DEPRECATED"
    TYPE_MISSING = "ODCS_LOGICAL_TYPE_MISSING"  #: which the official JSON Schema requires, and the text does not
    KEPT = "ODCS_KEPT_AS_CUSTOM_PROPERTY"  #: what the standard or a version of it cannot say
    LOST = "ODCS_NOT_IN_SCHEMA"  #: what the format of a schema cannot say
    SCHEMA = "ODCS_SCHEMA_INVALID"
    QUALITY = "ODCS_QUALITY_INVALID"
    NOT_EVALUATED = "ODCS_QUALITY_NOT_EVALUATED"
    RULE = "ODCS_RULE_INVALID"


@dataclass(frozen=True, slots=True)
class ContractFinding:
    """A finding with the path of the member that it is about."""

    path: DocumentPath
    check: ContractCheck
    message: str
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        return f"{describe_path(self.path)} {self.message}"


def describe_path(path: DocumentPath) -> str:
    """Return a path as people write it.

    >>> describe_path(("schema", 0, "properties", 2, "name"))
    'schema[0].properties[2].name'
    """
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
    return text or "the contract"

"""Compatibility policies: tables of the check ids that do not break compatibility."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from contractlog.compatibility.catalogue import AVRO_WARNINGS
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_schema.diff.catalogue import LENIENT, STRICT
from contractlog.compatibility.json_schema.exact.catalogue import ALLOWED_EXACT_CHECKS as ADMITTED_EXACTLY

__all__ = ["ALLOWED_CHECKS", "Policy", "select_breaking"]


class Policy(StrEnum):
    """Policy that decides which differences break compatibility; the policies differ only for JSON Schema."""

    STRICT = "STRICT"  #: as the reference implementation, by default
    LENIENT = "LENIENT"  #: as the reference implementation: changes of the content model are allowed
    EXACT = "EXACT"  #: contractlog's own: whatever was valid stays valid; an undecidable case is rejected


ALLOWED_CHECKS: Final[Mapping[Policy, frozenset[str]]] = MappingProxyType(
    {
        Policy.STRICT: STRICT | AVRO_WARNINGS,
        Policy.LENIENT: LENIENT | AVRO_WARNINGS,
        Policy.EXACT: ADMITTED_EXACTLY | AVRO_WARNINGS,
    }
)
"""Checks whose findings break nothing under a policy; every other check breaks."""


def select_breaking(
    findings: Iterable[Finding], policy: Policy, also: frozenset[str] = frozenset()
) -> tuple[Finding, ...]:
    """Return the findings that break: those that the policy does not allow, and those listed in ``also``."""
    admitted = ALLOWED_CHECKS[policy] - also
    return tuple(finding for finding in findings if finding.check not in admitted)

"""Which findings break compatibility: tables over check ids, apart from the detection of differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from contractlog.compatibility.checks import AVRO_CAUTIONS
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_schema.catalogue import LENIENT, STRICT
from contractlog.compatibility.json_schema.exact.catalogue import ADMITTED as ADMITTED_EXACTLY

__all__ = ["ADMITTED", "Policy", "breaking"]


class Policy(StrEnum):
    """How differences are held against a schema; only JSON Schema has differences that the policies judge apart."""

    STRICT = "STRICT"  #: as the reference, by default
    LENIENT = "LENIENT"  #: as the reference: changes of the content model are admitted
    EXACT = "EXACT"  #: ours: whatever was valid still is; what cannot be decided is refused


ADMITTED: Final[Mapping[Policy, frozenset[str]]] = MappingProxyType(
    {
        Policy.STRICT: STRICT | AVRO_CAUTIONS,
        Policy.LENIENT: LENIENT | AVRO_CAUTIONS,
        Policy.EXACT: ADMITTED_EXACTLY | AVRO_CAUTIONS,
    }
)
"""Checks whose findings break nothing under a policy; every other check breaks."""


def breaking(findings: Iterable[Finding], policy: Policy, also: frozenset[str] = frozenset()) -> tuple[Finding, ...]:
    """Return the findings that count against a schema: those the policy does not admit, and those asked for."""
    admitted = ADMITTED[policy] - also
    return tuple(finding for finding in findings if finding.check not in admitted)

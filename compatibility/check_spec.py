"""Specification of a check: the meaning of its id, with examples; and the checks of all formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = [
    "COMMON_CHECKS",
    "DATA_UNREADABLE",
    "LATEST_VERSION_UNKNOWN",
    "SCHEMA_TYPE_CHANGED",
    "WORK_LIMIT_EXCEEDED",
    "CheckExample",
    "CheckSpec",
]


@dataclass(frozen=True, slots=True)
class CheckExample:
    """A pair of schema texts, reader and writer, that illustrates a check."""

    reader: str
    writer: str


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """A compatibility check. The meaning of an id never changes; its wording may."""

    id: str
    title: str
    explanation: str
    bad: CheckExample | None = None  #: yields this finding and no other
    good: CheckExample | None = None  #: the same intent without a finding
    of_candidate: bool = False  #: compares the candidate with the previous version, independent of direction


SCHEMA_TYPE_CHANGED: Final = CheckSpec(
    "SCHEMA_TYPE_CHANGED",
    "The earlier version has a different schema type",
    "All versions of a subject must have one type: Avro, JSON or Protobuf.",
    CheckExample('"int"', '{"type":"integer"}'),
    CheckExample('"int"', '"int"'),
)
WORK_LIMIT_EXCEEDED: Final = CheckSpec(
    "WORK_LIMIT_EXCEEDED",
    "The schemas are too complex to compare",
    "The comparison is limited to a number of steps. Schemas that are not decided within the limit count as "
    "incompatible. There is no short example.",
)
DATA_UNREADABLE: Final = CheckSpec(
    "DATA_UNREADABLE",
    "Records in a topic cannot be read with the new schema",
    "The newest audit of the topic counted records of an earlier version that the new schema cannot read, though the "
    "previous version can. The level does not compare with that version. `contractlog check` and `plan` report an "
    "error if the level is backward compatible, else a warning. There is no example: the check is about records.",
)
LATEST_VERSION_UNKNOWN: Final = CheckSpec(
    "LATEST_VERSION_UNKNOWN",
    "The latest version was registered elsewhere, and the file would replace it",
    "The latest version of the subject is neither in contractlog.lock nor an earlier text of the file in git: somebody "
    "registered it without the folder. `contractlog check` and `plan` warn of it if the file was edited, because the "
    "new version would silently revert it. There is no example: the check is about the registry, not about two "
    "schemas.",
)
COMMON_CHECKS: Final = (SCHEMA_TYPE_CHANGED, WORK_LIMIT_EXCEEDED, DATA_UNREADABLE, LATEST_VERSION_UNKNOWN)

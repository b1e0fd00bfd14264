"""Catalogue of the checks that all schema formats have."""

from __future__ import annotations

from typing import Final

from contractlog.compatibility.check_description import CheckDescription, CheckExample

__all__ = [
    "COMMON_CHECKS",
    "DATA_UNREADABLE",
    "LATEST_VERSION_UNKNOWN",
    "SCHEMA_TYPE_CHANGED",
    "WORK_LIMIT_EXCEEDED",
]

SCHEMA_TYPE_CHANGED: Final = CheckDescription(
    "SCHEMA_TYPE_CHANGED",
    "The earlier version has a different schema type",
    "All versions of a subject must have one type: Avro, JSON or Protobuf.",
    CheckExample('"int"', '{"type":"integer"}'),
    CheckExample('"int"', '"int"'),
)
WORK_LIMIT_EXCEEDED: Final = CheckDescription(
    "WORK_LIMIT_EXCEEDED",
    "The schemas are too complex to compare",
    "The comparison is limited to a number of steps. Schemas that are not decided within the limit count as "
    "incompatible. There is no short example.",
)
DATA_UNREADABLE: Final = CheckDescription(
    "DATA_UNREADABLE",
    "Records in a topic cannot be read with the new schema",
    "The newest audit of the topic counted records of an earlier version that the new schema cannot read, though the "
    "previous version can. The level of the subject does not include a comparison with that version, so only the "
    "audit reveals this. `contractlog check` and `plan` report an error if the level is backward compatible, else a "
    "warning. There is no example: the check is about records.",
)
LATEST_VERSION_UNKNOWN: Final = CheckDescription(
    "LATEST_VERSION_UNKNOWN",
    "The latest version was registered elsewhere, and the file would replace it",
    "The latest version of the subject is neither in contractlog.lock nor an earlier text of the file in git: somebody "
    "registered it without the folder. `contractlog check` and `plan` warn of it if the file was edited, because the "
    "new version would silently revert it. There is no example: the check is about the registry, not about two "
    "schemas.",
)
COMMON_CHECKS: Final = (SCHEMA_TYPE_CHANGED, WORK_LIMIT_EXCEEDED, DATA_UNREADABLE, LATEST_VERSION_UNKNOWN)

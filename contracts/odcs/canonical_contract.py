"""Contracts as a registry stores them: canonical text in the newest version of the standard."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from contractlog.compatibility.errors import InvalidContract
from contractlog.compatibility.lint.rule import Severity
from contractlog.contracts.odcs.contract_check import check_contract
from contractlog.contracts.odcs.contract_life import ContractLife, read_life
from contractlog.contracts.odcs.custom_properties import read_custom
from contractlog.contracts.odcs.document import PART, find_topic, list_schemas
from contractlog.contracts.odcs.finding import ContractFinding
from contractlog.contracts.odcs.specification import LATEST
from contractlog.contracts.odcs.validator import validate_contract
from contractlog.contracts.odcs.versions import fit_version, restore_members

__all__ = ["MAX_CONTRACT_BYTES", "CanonicalContract", "canonicalize_contract", "find_part"]

MAX_CONTRACT_BYTES: Final = 512 * 1024
_MAX_DEPTH: Final = 64
_MAX_LISTED: Final = 5  #: findings in a message


@dataclass(frozen=True, slots=True)
class CanonicalContract:
    """A valid contract of one topic; equal contracts have equal texts."""

    document: dict[str, Any]
    text: str  #: JSON in ASCII, with sorted members and without spaces
    life: ContractLife

    @property
    def hash(self) -> str:
        """The SHA-256 of the text."""
        return hashlib.sha256(self.text.encode("ascii")).hexdigest()


def canonicalize_contract(document: Mapping[str, Any], topic: str) -> CanonicalContract:
    """Return the canonical form of a contract of a topic.

    Raises:
        InvalidContract: it is too large, is not valid, or is about another topic.
    """
    _require_depth(document)
    _format(document)
    restored, _ = restore_members(dict(document))
    _require_depth(restored)
    _require_no_errors(validate_contract(restored))
    if restored.get("apiVersion") != LATEST:
        restored, _ = fit_version(restored, LATEST)
    _require_no_errors(check_contract(restored))
    _require_topic(restored, topic)
    try:
        life = read_life(restored)
    except ValueError as error:
        raise InvalidContract(detail=str(error)) from None
    return CanonicalContract(restored, _format(restored), life)


def find_part(element: Mapping[str, Any]) -> str:
    """Return the part of records that a schema object describes: key or value."""
    return "key" if read_custom(element).get(PART) == "key" else "value"


def _require_topic(document: Mapping[str, Any], topic: str) -> None:
    """Require that each schema object is about the topic, and about another part of its records."""
    elements = list_schemas(document)
    for index, element in enumerate(elements):
        other = find_topic(element)
        if other != topic:
            detail = f"schema[{index}] is about the topic {other[:249]}, and not about {topic}: set its physicalName"
            raise InvalidContract(detail=detail)
    parts = [find_part(element) for element in elements]
    if len(set(parts)) < len(parts):
        detail = f"two schema objects describe the {parts[0]} of records: set the custom property {PART} of one to key"
        raise InvalidContract(detail=detail)


def _require_depth(document: Any) -> None:
    level = [document]
    for _ in range(_MAX_DEPTH):
        level = [
            item
            for value in level
            for item in (value.values() if isinstance(value, dict) else value)
            if isinstance(item, dict | list)
        ]
        if not level:
            return
    raise InvalidContract(detail=f"it is nested deeper than {_MAX_DEPTH} levels")


def _require_no_errors(findings: list[ContractFinding]) -> None:
    errors = [str(finding) for finding in findings if finding.severity is Severity.ERROR]
    if errors:
        more = f"; and {len(errors) - _MAX_LISTED} more" if len(errors) > _MAX_LISTED else ""
        raise InvalidContract(detail="; ".join(errors[:_MAX_LISTED]) + more)


def _format(document: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise InvalidContract(detail="it has a number that is not finite") from None
    if len(text) > MAX_CONTRACT_BYTES:
        raise InvalidContract(detail=f"it is larger than {MAX_CONTRACT_BYTES // 1024} KiB")
    return text

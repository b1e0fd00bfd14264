"""Life of a contract: its status, when a deprecated one ends, and which contract follows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Final

from contractlog.contracts.odcs.custom_properties import read_custom

__all__ = ["RETIREMENT_DATE", "SUCCESSOR", "ContractLife", "ContractStatus", "find_life_problem", "read_life"]

RETIREMENT_DATE: Final = "retirementDate"  #: custom property of a contract: its last day, such as 2027-03-31
SUCCESSOR: Final = "successor"  #: custom property of a contract: the topic or contract that replaces it
_MAX_SUCCESSOR: Final = 500  #: characters


class ContractStatus(StrEnum):
    """Status of a contract, as in the standard."""

    PROPOSED = "proposed"
    DRAFT = "draft"
    ACTIVE = "active"
    DEPRECATED = "deprecated"
    RETIRED = "retired"

    @property
    def binding(self) -> bool:
        """Return True if the contract promises what it says."""
        return self in {ContractStatus.ACTIVE, ContractStatus.DEPRECATED}


_BEFORE_USE: Final = frozenset({ContractStatus.PROPOSED, ContractStatus.DRAFT})
_NEXT: Final[Mapping[ContractStatus, frozenset[ContractStatus]]] = {
    ContractStatus.PROPOSED: _BEFORE_USE | {ContractStatus.ACTIVE, ContractStatus.RETIRED},
    ContractStatus.DRAFT: _BEFORE_USE | {ContractStatus.ACTIVE, ContractStatus.RETIRED},
    ContractStatus.ACTIVE: frozenset({ContractStatus.ACTIVE, ContractStatus.DEPRECATED, ContractStatus.RETIRED}),
    ContractStatus.DEPRECATED: frozenset({ContractStatus.DEPRECATED, ContractStatus.ACTIVE, ContractStatus.RETIRED}),
    ContractStatus.RETIRED: frozenset({ContractStatus.RETIRED}),
}  #: the statuses that may follow each


@dataclass(frozen=True, slots=True)
class ContractLife:
    """Status of a valid contract; date and successor are None if it has none."""

    status: ContractStatus
    retires_on: str | None = None
    successor: str | None = None


def read_life(document: Mapping[str, Any]) -> ContractLife:
    """Return the life of a valid contract; one without a status is a draft.

    Raises:
        ValueError: status, date or successor is not valid; the message says why.
    """
    status = document.get("status", ContractStatus.DRAFT)
    if status not in set(ContractStatus):
        raise ValueError(f"status must be one of {', '.join(ContractStatus)}")
    custom = read_custom(document)
    retires_on, successor = custom.get(RETIREMENT_DATE), custom.get(SUCCESSOR)
    if retires_on is not None and not _is_date(retires_on):
        raise ValueError(f"the custom property {RETIREMENT_DATE} must be a date such as 2027-03-31")
    if successor is not None and not (isinstance(successor, str) and 0 < len(successor) <= _MAX_SUCCESSOR):
        raise ValueError(f"the custom property {SUCCESSOR} must be a text of at most {_MAX_SUCCESSOR} characters")
    life = ContractLife(ContractStatus(status), retires_on, successor)
    if life.status is ContractStatus.DEPRECATED and retires_on is None:
        raise ValueError(f"a deprecated contract needs the custom property {RETIREMENT_DATE}, its last day")
    return life


def find_life_problem(before: ContractStatus, after: ContractStatus) -> str | None:
    """Return why a status may not follow another; None if it may.

    >>> find_life_problem(ContractStatus.RETIRED, ContractStatus.DRAFT)
    'a retired contract cannot become draft: no other status can follow'
    """
    if after in _NEXT[before]:
        return None
    possible = " or ".join(status for status in ContractStatus if status in _NEXT[before] - {before})
    rest = f"only {possible}" if possible else "no other status can follow"
    return f"{_with_article(before)} contract cannot become {after}: {rest}"


def _with_article(status: ContractStatus) -> str:
    return f"an {status}" if status[0] in "aeiou" else f"a {status}"


def _is_date(value: Any) -> bool:
    try:
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False

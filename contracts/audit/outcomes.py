"""Catalogue of outcome codes of audited records: numbers, meanings, suggested fixes and groups."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Final, Self

__all__ = ["FIRST_VIOLATION", "NOT_DECODED", "NO_BODY", "NO_ID", "Outcome", "OutcomeGroup"]

_ENCODER: Final = (
    "Look at a record, find its producer by the time, and compare its encoder and version with the schema; "
    "consumers fail here."
)


class OutcomeGroup(StrEnum):
    """Group of outcomes that reports count together, by the name of the count."""

    CONFORMING = "conforming"
    VIOLATING = "violating"
    TOMBSTONES = "tombstones"
    UNAUDITED = "unaudited"  #: counts neither as conforming nor as violating


class Outcome(IntEnum):
    """Outcome of the key or the value of a record; the first check that fails decides.

    The checks run in this order: the frame and its schema id (codes from 10), whether validators can use the schema
    (``SCHEMA_NOT_USABLE``), the bytes (from 20), the keys of encrypted values (``UNDECRYPTABLE``), the rules of the
    schema (from 60). Reports, stored states and messages have the names of outcomes. Columns have the numbers, in one
    unsigned byte each, so the number of an outcome never changes.
    """

    meaning: str  #: for people
    fix: str  #: advice for the owner of the topic
    group: OutcomeGroup

    def __new__(
        cls, number: int, meaning: str = "", fix: str = _ENCODER, group: OutcomeGroup = OutcomeGroup.VIOLATING
    ) -> Self:
        """Make the member with a number, a meaning, a suggested fix and a group."""
        member = int.__new__(cls, number)
        member._value_ = number
        member.meaning = meaning
        member.fix = fix
        member.group = group
        return member

    CONFORMS = 0, "the record decodes exactly with the schema whose id it carries", "", OutcomeGroup.CONFORMING
    TOMBSTONE = 1, "the value, or the key, is null", "", OutcomeGroup.TOMBSTONES
    UNAUDITED = (
        2,
        "the part has no schema to check against; counts neither as conforming nor as violating",
        "",
        OutcomeGroup.UNAUDITED,
    )
    SCHEMA_NOT_USABLE = (
        3,
        "validators cannot use the record's schema; counts neither as conforming nor as violating",
        "Register a corrected version, and write with it.",
        OutcomeGroup.UNAUDITED,
    )
    ENCRYPTED = (
        4,
        "the body is encrypted as a whole, so it is not decoded; counts neither as conforming nor as violating",
        "",
        OutcomeGroup.UNAUDITED,
    )

    NOT_FRAMED = (
        10,
        "no schema id or guid before the body, and none in a header",
        "Something writes here without a serializer. Find it by the time of its records, and give it a serializer.",
    )
    UNKNOWN_SCHEMA_ID = (
        11,
        "the registry does not have the schema id or guid",
        (
            "The producer uses another registry, or its subject was deleted. "
            "Point the producer here, or find out which registry assigned the id."
        ),
    )
    WRONG_SUBJECT = (
        12,
        "the schema id belongs to a subject that the topic's strategy does not allow",
        (
            "The producer writes ids of another subject. If that is its subject name strategy, audit with "
            "`--strategy`; otherwise find out which topic it should write to."
        ),
    )

    TRUNCATED = 20, "the bytes end early, perhaps inside a string"
    BAD_VARINT = 21, "an integer is longer than its type allows, or overflows 64 bits"
    INT_OUT_OF_RANGE = 22, "an int has more than 32 bits"
    BAD_LENGTH = 23, "a length is negative or over the limit"
    BAD_UTF8 = 24, "a string is not UTF-8"
    BAD_ENUM_INDEX = 25, "an enum index has no symbol"
    BAD_UNION_INDEX = 26, "a union index has no branch"
    BAD_BOOLEAN = 27, "a boolean is neither 0 nor 1 (reported by strict audits only)"
    TOO_DEEP = 28, "the value is nested deeper than the limit"
    TOO_MANY_ITEMS = 29, "the record has more values that take no bytes than the limit"
    TRAILING_BYTES = (
        30,
        "the value decodes, but bytes are left over",
        "The producer writes with a schema other than that of the id. Compare the two.",
    )
    LOGICAL_TYPE = (
        31,
        "the value decodes, but breaks a rule of its logical type",
        "Clients disagree on such values. Fix the producer, or drop the logical type.",
    )

    NOT_JSON = (
        40,
        "the bytes are not JSON",
        "Something writes bytes other than JSON under this id. Find it by the time of its records.",
    )
    SCHEMA_VIOLATION = (
        41,
        "the bytes are JSON, but not valid under the schema",
        "Fix the producer, or widen the schema if the value is right.",
    )

    UNDECRYPTABLE = (
        50,
        "an encrypted value whose key, the KEK or the DEK, was deleted",
        (
            "Consumers cannot read such values. If the key was deleted to make them unreadable, delete the records, "
            "or audit later ones; otherwise undelete the KEK and the DEK."
        ),
    )

    RULE_BROKEN = (
        60,
        "the value conforms to the schema, but breaks a rule of its contract, or the rule fails on it",
        "The producer does not run the rules of its schema, or ran those of another version. Fix it, or the rule.",
    )

    @property
    def violating(self) -> bool:
        """True if a record with this outcome breaks its contract."""
        return self.group is OutcomeGroup.VIOLATING


#: in a column of codes, exactly those from this one on are violations
FIRST_VIOLATION: Final = min(outcome for outcome in Outcome if outcome.violating)
#: outcomes of parts without a body that was checked
NO_BODY: Final = frozenset({Outcome.TOMBSTONE, Outcome.UNAUDITED})
#: outcomes of parts in which no schema id was read
NO_ID: Final = NO_BODY | {Outcome.NOT_FRAMED}
#: outcomes of parts that are not decoded, because no schema is known or allowed for them
NOT_DECODED: Final = NO_ID | {Outcome.UNKNOWN_SCHEMA_ID, Outcome.WRONG_SUBJECT}

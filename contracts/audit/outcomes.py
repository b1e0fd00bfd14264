"""Catalogue of outcome codes, which classify audited records."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

__all__ = ["CONFORMING", "NO_BODY", "Outcome"]


class Outcome(IntEnum):
    """Outcome of a record part: the first applicable code, in numerical order within its group.

    Names are for people, states and reports; numbers are stored in columns (one unsigned byte) and never change.
    """

    CONFORMS = 0  #: decodes exactly with the schema of the id that it carries
    TOMBSTONE = 1  #: null value (or null key)
    UNAUDITED = 2  #: the part has no schema to check against; counts neither as conforming nor as violating
    SCHEMA_NOT_USABLE = 3  #: validators cannot use the record's schema; counts neither as conforming nor as violating

    NOT_FRAMED = 10  #: no magic byte, or too short for an id
    UNKNOWN_SCHEMA_ID = 11  #: the registry does not have the id
    WRONG_SUBJECT = 12  #: the id exists, but belongs to no version of this topic's subject

    TRUNCATED = 20  #: the bytes end early, also inside a string
    BAD_VARINT = 21  #: longer than its type allows, or overflowing 64 bits
    INT_OUT_OF_RANGE = 22  #: a five-byte int beyond 32 bits
    BAD_LENGTH = 23  #: negative, or over the limit
    BAD_UTF8 = 24
    BAD_ENUM_INDEX = 25
    BAD_UNION_INDEX = 26
    BAD_BOOLEAN = 27  #: neither 0 nor 1; in strict audits only
    TOO_DEEP = 28
    TOO_MANY_ITEMS = 29
    TRAILING_BYTES = 30  #: decodes, but bytes remain
    LOGICAL_TYPE = 31  #: decodes, but violates the rule of a logical type

    NOT_JSON = 40
    SCHEMA_VIOLATION = 41  #: valid JSON, but not valid under the schema; with keyword and pointer

    RULE_BROKEN = 60  #: conforms to the schema, but violates a rule of the contract

    @property
    def violating(self) -> bool:
        """True if a record with this outcome breaks its contract."""
        return self >= Outcome.NOT_FRAMED


CONFORMING: Final = Outcome.CONFORMS
NO_BODY: Final = frozenset({Outcome.TOMBSTONE, Outcome.UNAUDITED})

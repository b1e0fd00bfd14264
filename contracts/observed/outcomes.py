"""What can be said of one record: a closed catalogue of codes."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

__all__ = ["CONFORMING", "NO_BODY", "Outcome"]


class Outcome(IntEnum):
    """One code per record and part: the first that holds, in the order of the numbers of its group.

    Names are for people, states and reports; numbers are what columns hold (one unsigned byte) and never change.
    """

    CONFORMS = 0  #: decodes exactly by the schema whose id it carries
    TOMBSTONE = 1  #: null value (or null key)
    UNAUDITED = 2  #: the part has no schema to be held against; it counts neither way
    SCHEMA_NOT_USABLE = 3  #: validators cannot use the schema of the record; it counts neither way

    NOT_FRAMED = 10  #: no magic byte, or too short to hold an id
    UNKNOWN_SCHEMA_ID = 11  #: the registry does not know the id
    WRONG_SUBJECT = 12  #: the id is known, but of no version of this topic's subject

    TRUNCATED = 20  #: the bytes end early, inside a string too
    BAD_VARINT = 21  #: longer than its type allows, or overflowing 64 bits
    INT_OUT_OF_RANGE = 22  #: a five-byte int beyond 32 bits
    BAD_LENGTH = 23  #: negative, or over the limit
    BAD_UTF8 = 24
    BAD_ENUM_INDEX = 25
    BAD_UNION_INDEX = 26
    BAD_BOOLEAN = 27  #: neither 0 nor 1; in strict audits only
    TOO_DEEP = 28
    TOO_MANY_ITEMS = 29
    TRAILING_BYTES = 30  #: decodes, and bytes are left
    LOGICAL_TYPE = 31  #: decodes, but a logical type's own rule is broken

    NOT_JSON = 40
    SCHEMA_VIOLATION = 41  #: JSON that the schema does not admit; with keyword and pointer

    RULE_BROKEN = 60  #: conforms to the schema, breaks a contract's rule

    @property
    def violating(self) -> bool:
        """Whether a record with this outcome breaks its contract."""
        return self >= Outcome.NOT_FRAMED


CONFORMING: Final = Outcome.CONFORMS
NO_BODY: Final = frozenset({Outcome.TOMBSTONE, Outcome.UNAUDITED})

"""Verification of the hash chain of a change log, up to its first problem."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from contractlog.contracts.change_log.recorded_change import FIRST_PREVIOUS_HASH, ChangeLogHead, RecordedChange

__all__ = ["ChainProblem", "ChainReport", "ProblemKind", "RecordedHead", "verify_chain"]

_HEAD: Final = re.compile(r"(?:([1-9][0-9]{0,17}):)?([0-9a-f]{64})")


class ProblemKind(StrEnum):
    """Kinds of problems of a chain."""

    CHANGED = "changed"
    MISSING = "missing"
    OUT_OF_ORDER = "out-of-order"
    UNCHAINED = "unchained"
    REWRITTEN = "rewritten"  #: or cut: the recorded head is not in the chain


@dataclass(frozen=True, slots=True)
class ChainProblem:
    """The first problem of a chain."""

    kind: ProblemKind
    sequence: int | None  #: of the first entry that is affected; None if that cannot be known
    detail: str  #: for people


@dataclass(frozen=True, slots=True)
class ChainReport:
    """The entries that were verified, and the problem that ended the verification."""

    since: int  #: number of the entry before the first one
    head: ChangeLogHead  #: the last entry without a problem
    problem: ChainProblem | None = None


@dataclass(frozen=True, slots=True)
class RecordedHead:
    """A head of a change log that was recorded outside it."""

    hash: str
    sequence: int | None = None  #: None if only the hash was recorded

    def __str__(self) -> str:
        return self.hash if self.sequence is None else f"{self.sequence}:{self.hash}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``SEQUENCE:HASH`` or ``HASH``.

        Raises:
            ValueError: it is neither.
        """
        match = _HEAD.fullmatch(text.strip().lower())
        if match is None:
            raise ValueError("a head is SEQUENCE:HASH or HASH; the hash has 64 hexadecimal digits")
        return cls(match[2], int(match[1]) if match[1] else None)


def verify_chain(
    changes: Iterable[RecordedChange],
    *,
    since: int = 0,
    end: ChangeLogHead | None = None,
    head: RecordedHead | None = None,
) -> ChainReport:
    """Verify the hashes and the order of entries; stop at the first problem.

    A ``ValueError`` of ``changes`` is a problem of the next entry.

    Args:
        changes: all entries after ``since``, in their order.
        since: of a later part, the number of the entry before it, whose hash is taken from the first entry.
        end: where the log ends according to its source.
        head: must be in the verified part, or be the entry before it.
    """
    verifier = _Verifier(since, head)
    problem: ChainProblem | None = None
    try:
        for change in changes:
            problem = verifier.check(change)
            if problem is not None:
                break
        else:
            problem = verifier.check_end(end)
    except ValueError as error:
        sequence = verifier.position.sequence + 1
        problem = ChainProblem(ProblemKind.CHANGED, sequence, f"entry {sequence} cannot be read: {error}")
    return ChainReport(since, verifier.position, problem)


class _Verifier:
    """The position in a chain up to which it was verified."""

    def __init__(self, since: int, head: RecordedHead | None) -> None:
        self.position = ChangeLogHead(since, None if since else FIRST_PREVIOUS_HASH)
        self._head = head
        self._head_is_missing = head is not None

    def check(self, change: RecordedChange) -> ChainProblem | None:
        """Verify the next entry; return its problem."""
        if self.position.hash is None:  # of the entry before a later part, only the hash is known
            problem = self._advance(ChangeLogHead(self.position.sequence, change.previous_hash))
            if problem is not None:
                return problem
        problem = _check_number(change.sequence, self.position.sequence) or _check_hash(change)
        if problem is not None:
            return problem
        if change.previous_hash != self.position.hash:
            last = self.position.sequence
            detail = f"entry {change.sequence} does not follow entry {last}: one of them was replaced"
            return ChainProblem(ProblemKind.CHANGED, max(last, 1), detail)
        return self._advance(ChangeLogHead(change.sequence, change.hash))

    def check_end(self, end: ChangeLogHead | None) -> ChainProblem | None:
        """Verify where the log ends; return the problem."""
        last, head = self.position.sequence, self._head
        if end is not None and end.sequence != last:
            upto = f" to {end.sequence}" if end.sequence > last else ""
            return ChainProblem(ProblemKind.MISSING, last + 1, f"the entries from {last + 1}{upto} are missing")
        if end is not None and end.hash not in {None, self.position.hash}:
            return ChainProblem(ProblemKind.CHANGED, last, f"entry {last} is not the head that the log names")
        if head is None or not self._head_is_missing:
            return None
        if head.sequence is not None and head.sequence > last:
            detail = f"the log ends with entry {last}, before the recorded head {head}: its tail was cut"
            return ChainProblem(ProblemKind.REWRITTEN, last + 1, detail)
        detail = f"no verified entry has the recorded head {head}: the tail was cut, or the chain was rewritten"
        return ChainProblem(ProblemKind.REWRITTEN, None, detail)

    def _advance(self, position: ChangeLogHead) -> ChainProblem | None:
        self.position = position
        head = self._head
        if head is None or head.sequence not in {None, position.sequence}:
            return None
        if head.hash == position.hash:
            self._head_is_missing = False
        elif head.sequence is not None:
            detail = f"entry {position.sequence} is not the recorded head {head}: the chain was rewritten"
            return ChainProblem(ProblemKind.REWRITTEN, position.sequence, detail)
        return None


def _check_number(sequence: int, last: int) -> ChainProblem | None:
    if sequence > last + 1:
        return ChainProblem(ProblemKind.MISSING, last + 1, f"entry {last + 1} is missing")
    if sequence <= last:
        detail = f"entry {sequence} stands after entry {last}: it was inserted or moved"
        return ChainProblem(ProblemKind.OUT_OF_ORDER, sequence, detail)
    return None


def _check_hash(change: RecordedChange) -> ChainProblem | None:
    if change.hash is None:
        detail = (
            f"entry {change.sequence} has no hash: it was changed, or a release without hashes wrote it and no later "
            "release has written since"
        )
        return ChainProblem(ProblemKind.UNCHAINED, change.sequence, detail)
    if change.compute_hash() != change.hash:
        detail = f"entry {change.sequence} was changed: its hash is not that of its members"
        return ChainProblem(ProblemKind.CHANGED, change.sequence, detail)
    return None

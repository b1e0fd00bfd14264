"""Audit results: recorded by offset ranges, read by topic."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from contractlog.compatibility.errors import ConformanceNotFound, InvalidConformance
from contractlog.contracts.observed.report import FORMER_VERDICTS
from contractlog.registry.services.threads import Threads
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.values import Recorded

__all__ = ["Conformance"]

_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
_NO_PARTITION: Final = 2**31
_NO_OFFSET: Final = 2**63
_ROUNDED: Final = 1e-6  #: tolerance for quotients that were written with few digits
_COUNTS: Final = ("records", "conforming", "violating", "tombstones", "unaudited", "absent")


class _Counts(msgspec.Struct, kw_only=True):
    records: int
    conforming: int
    violating: int
    tombstones: int
    absent: int
    unaudited: int = 0  # not sent by audits of earlier releases

    def __post_init__(self) -> None:
        if any(not 0 <= getattr(self, name) < _NO_OFFSET for name in _COUNTS):
            raise ValueError("a count is negative or too large")


class _Partition(_Counts):
    partition: int
    from_offset: int
    to_offset: int


class _Entry(_Counts):
    topic: str
    part: Literal["key", "value"]
    verdict: Literal["passing", "degraded", "failing", "unknown"]
    conformance: float | None
    partitions: list[_Partition]
    schemas: list[dict[str, Any]]
    violations: list[dict[str, Any]]
    series: list[dict[str, Any]]
    fields: list[dict[str, Any]]
    notes: list[str]


class Conformance:
    """Stores audit results of each topic and part, by the ranges that were read."""

    def __init__(self, store: Store, threads: Threads) -> None:
        self._store = store
        self._threads = threads

    async def record(self, topic: str, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Store an audit result, and return it with the time of its record; storing it again changes nothing.

        Raises:
            InvalidConformance: a member is missing or wrong, or the counts do not add up.
        """
        entry = _with_verdict(entry)
        checked = _checked(topic, entry)
        key = _ranges(checked)
        text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
        recorded_at = await asyncio.wrap_future(
            self._store.change(lambda change: change.record_conformance(topic, checked.part, key, text))
        )
        return _answer(Recorded(text, recorded_at))

    async def of(self, topic: str, part: str | None = None) -> list[dict[str, Any]]:
        """Return the newest entry of each part of a topic.

        Raises:
            ConformanceNotFound: there is none.
        """
        found = [_answer(one) for one in await self._threads.run(self._recorded, topic)]
        chosen = [entry for entry in found if part in {None, entry["part"]}]
        if not chosen:
            raise ConformanceNotFound(topic=topic)
        return chosen

    def _recorded(self, topic: str) -> Sequence[Recorded]:
        if not _TOPIC.fullmatch(topic):
            return ()
        with self._store.reading() as snapshot:
            return snapshot.conformance(topic)


def _ranges(entry: _Entry) -> str:
    """Return a hash of the ranges that were read; empty if there were none."""
    ranges = sorted((one.partition, one.from_offset, one.to_offset) for one in entry.partitions)
    return hashlib.sha256(json.dumps(ranges).encode()).hexdigest() if ranges else ""


def _answer(recorded: Recorded) -> dict[str, Any]:
    entry: dict[str, Any] = json.loads(recorded.entry)
    return {**_with_verdict(entry), "recorded_at": recorded.recorded_at}


def _with_verdict(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an entry with the current word for its verdict; earlier audits wrote others."""
    verdict = entry.get("verdict")
    current = FORMER_VERDICTS.get(verdict) if isinstance(verdict, str) else None
    return entry if current is None else {**entry, "verdict": current}


def _checked(topic: str, entry: Mapping[str, Any]) -> _Entry:
    if not _TOPIC.fullmatch(topic):
        raise InvalidConformance(detail=f"`{topic}` is no name of a topic")
    try:
        checked = msgspec.convert(entry, _Entry)
    except msgspec.ValidationError as error:
        raise InvalidConformance(detail=str(error)) from error
    if checked.topic != topic:
        raise InvalidConformance(detail=f"it is about topic `{checked.topic}`, the path names `{topic}`")
    _add_up(checked)
    return checked


def _add_up(entry: _Entry) -> None:
    for one in entry.partitions:
        _add_up_partition(one, audited=entry.verdict != "unknown")
    if len({one.partition for one in entry.partitions}) != len(entry.partitions):
        raise InvalidConformance(detail="a partition occurs twice")
    for name in _COUNTS:
        total = sum(getattr(one, name) for one in entry.partitions)
        if total != getattr(entry, name):
            raise InvalidConformance(
                detail=f"the partitions' {name} add up to {total}, the total says {getattr(entry, name)}"
            )
    _divide(entry)


def _add_up_partition(one: _Partition, *, audited: bool) -> None:
    """Require that the counts of a partition cover its range exactly once."""
    possible = 0 <= one.partition < _NO_PARTITION and 0 <= one.from_offset <= one.to_offset < _NO_OFFSET
    if not possible:
        raise InvalidConformance(detail=f"partition {one.partition} has no possible range")
    span = one.to_offset - one.from_offset
    if one.records + one.absent != span:
        raise InvalidConformance(
            detail=f"partition {one.partition}: records + absent is {one.records + one.absent}, its range is {span}"
        )
    told = one.conforming + one.violating + one.tombstones + one.unaudited
    # Earlier releases did not count the records of a part that was not audited (verdict `unknown`).
    if told > one.records or (told < one.records and audited):
        raise InvalidConformance(
            detail=f"partition {one.partition}: conforming + violating + tombstones + unaudited is {told} of "
            f"{one.records} records"
        )


def _divide(entry: _Entry) -> None:
    """Require that the conformance is conforming / (conforming + violating), or None if the divisor is 0."""
    judged = entry.conforming + entry.violating
    told = entry.conformance
    if told is None:
        right = not judged or entry.verdict == "unknown"
    else:
        right = 0 <= told <= 1 and judged > 0 and math.isclose(told, entry.conforming / judged, abs_tol=_ROUNDED)
    if not right:
        raise InvalidConformance(
            detail=f"a conformance of {told} is not what {entry.conforming} conforming of {judged} judged records make"
        )

"""Checker of the laws of a history, from its requests, responses, journal and final tables.

The journal says in which order things happened. It is believed in nothing: its rows must follow from each other, be
asked for, lie between the beginning and the end of what asked for them, be what the answers tell and what the tables
hold; and every other answer must be the one of some moment between its beginning and its end.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, zip_longest
from typing import Any, Final

from histories.contents import Content
from histories.model import relevant, step
from histories.replay import Replay
from histories.words import Evidence, Operation, Tables, Violation
from histories.world import View

_AWAY: Final = frozenset({50001, 50002, 503})  #: the database fails, or too much waits
_CACHED_SECONDS: Final = 5.5  #: that another node may go on answering with what is gone; five, and time to say so


def check(evidence: Evidence) -> list[Violation]:
    """Return every violation; none is a history as it should be."""
    replay = Replay(evidence.operations, evidence.journal)
    return [
        *replay.violations,
        *_order(evidence.operations, replay),
        *_Moments(evidence, replay).violations(),
        *_effects(evidence.tables, replay, len(evidence.journal)),
        *_followed(evidence),
        *_broken(evidence.operations),
    ]


def _order(operations: Sequence[Operation], replay: Replay) -> Iterator[Violation]:
    """What ended before another began stands before it in the journal."""
    written = sorted((one for one in operations if one.name in replay.first), key=lambda one: replay.first[one.name])
    latest: Operation | None = None
    for one in written:
        if latest is not None and one.known and one.ended < latest.began:
            yield Violation("the journal keeps the order of time", f"{one} was over before {latest} began")
        if latest is None or one.began > latest.began:
            latest = one


class _Moments:
    """The moments at which an answer may have been true."""

    def __init__(self, evidence: Evidence, replay: Replay) -> None:
        self._replay = replay
        self._operations = [one for one in evidence.operations if one.known]
        self._head = len(evidence.journal)
        written = [one for one in evidence.operations if one.name in replay.last]
        self._known = _Floor([(one.ended, replay.last[one.name]) for one in written if one.known])
        self._acknowledged = [one for one in written if one.known]
        later = sorted(((one.began, replay.first[one.name]) for one in written), reverse=True)
        self._began = [-began for began, _ in later]
        self._ceilings = list(accumulate((position for _, position in later), min))

    def violations(self) -> Iterator[Violation]:
        """Go through the answers in the order of time; what one has seen, all later ones have to see."""
        seen = _Floor([])
        events = sorted(
            [(one.began, 1, one) for one in self._operations] + [(one.ended, 0, one) for one in self._operations],
            key=lambda event: event[:2],
        )
        earliest: dict[str, int] = {}
        for at, beginning, one in events:
            if not beginning:
                seen.raise_to(at, earliest.get(one.name, 0))
            elif one.name in self._replay.first:
                earliest[one.name] = self._replay.last[one.name]
            else:
                low = max(self._known.before(one.began), seen.before(one.began))
                moment = self._moment(one, low)
                if moment is None:
                    yield self._told(one, low)
                elif one.kind != "by-id":
                    earliest[one.name] = moment

    def _moment(self, one: Operation, low: int) -> int | None:
        """Return the first position at which the answer was true, or None."""
        if one.kind == "by-id":
            low = 0 if one.stale else min(low, max(self._own(one), self._known.before(one.began - _CACHED_SECONDS)))
        world, high = self._replay.world, self._ceiling(one.ended)
        for position in (low, *world.changed(relevant(one), low, high)):
            wanted = step(View(world, position), one)
            if not wanted.effects and wanted.answers(one):
                return position
        return None

    def _own(self, one: Operation) -> int:
        """Return the last position at which the node itself had changed what is read, acknowledged before the read.

        A node need not know what others deleted beside its own writes, nor a deletion of its own that was not
        acknowledged: its cache may answer for some seconds with what is gone.
        """
        changed = set(self._replay.world.changed(relevant(one), 0, self._head))
        return max(
            (
                position
                for write in self._acknowledged
                if write.node == one.node and write.ended <= one.began
                for position in range(self._replay.first[write.name], self._replay.last[write.name] + 1)
                if position in changed
            ),
            default=0,
        )

    def _ceiling(self, ended: float) -> int:
        """Return the last position that may have been seen by what ended then."""
        place = bisect_left(self._began, -ended)
        return self._ceilings[place - 1] - 1 if place else self._head

    def _told(self, one: Operation, low: int) -> Violation:
        would = step(View(self._replay.world, low), one)
        if one.status == 200 and one.kind in {"register", "hide", "erase", "configure", "set-mode"}:
            return Violation("what was acknowledged is there", f"{one} is not; from row {low} on it does {would}")
        return Violation("no answer is stale", f"{one}; from row {low} on it is {would}")


class _Floor:
    """The highest position that was known at a time."""

    def __init__(self, known: list[tuple[float, int]]) -> None:
        known.sort()
        self._times = [time for time, _ in known]
        self._positions = list(accumulate((position for _, position in known), max))

    def before(self, time: float) -> int:
        place = bisect_right(self._times, time)
        return self._positions[place - 1] if place else 0

    def raise_to(self, time: float, position: int) -> None:
        """Note what is known from a time on; times come in order."""
        if position > (self._positions[-1] if self._positions else 0):
            self._times.append(time)
            self._positions.append(position)


def _effects(tables: Tables, replay: Replay, head: int) -> Iterator[Violation]:
    """The tables hold what the journal tells, and nothing else."""
    view = View(replay.world, head)
    for law, told, held in (
        ("versions are what the journal tells", _versions(view), {k: dict(v) for k, v in tables.versions.items() if v}),
        ("settings are what the journal tells", _settings(view), {k: dict(v) for k, v in tables.settings.items() if v}),
        ("ids are what the journal tells", *_ids(view, replay, tables)),
        ("hard-deleted ids are retired", _retired(view), set(tables.retired)),
        ("contents lead to their ids", _current(view, replay), dict(tables.current)),
        ("the journal's counter is its end", head + 1, tables.next_sequence),
    ):
        if told != held:
            yield Violation(law, f"the journal tells {_difference(told, held)}, the tables {_difference(held, told)}")
    for context, following in tables.next_ids.items():
        if following <= view.largest_id(context):
            yield Violation("counters only grow", f"{context}: {following} after {view.largest_id(context)}")


def _followed(evidence: Evidence) -> Iterator[Violation]:
    """Who follows the journal gets every row once, in order, and none that is not there in the end."""
    for number, lines in enumerate(evidence.followed):
        for told, held in zip_longest(lines, evidence.journal):
            if told != held:
                yield Violation("followers miss nothing", f"follower {number} got {told} in the place of {held}")
                break


def _broken(operations: Sequence[Operation]) -> Iterator[Violation]:
    """What fails says that the database does, or that there is too much to do."""
    for one in operations:
        if one.status is not None and one.status >= 500 and one.body.get("error_code") not in _AWAY:
            yield Violation("no request breaks the service", f"{one}")


def _versions(view: View) -> dict[str, dict[int, tuple[int, bool]]]:
    found = {subject: view.versions(subject) for subject in view.world.keys("versions")}
    return {
        s: {n: (held.schema_id, held.deleted) for n, held in versions.items()}
        for s, versions in found.items()
        if versions
    }


def _settings(view: View) -> dict[str, dict[str, Any]]:
    return {scope: dict(found) for scope in view.world.keys("settings") if (found := view.set_at(scope))}


def _ids(view: View, replay: Replay, tables: Tables) -> tuple[dict[Any, Any], dict[Any, Any]]:
    told = {}
    for key in view.world.keys("id"):
        content = view.content(*key)
        if view.holders(*key) and content is not None:
            told[key] = (replay.hashes[content], content.fields)
    held = {key: (hashed, Content.of({"schema": text}).fields) for key, (hashed, text) in tables.schemas.items()}
    return told, held


def _retired(view: View) -> set[tuple[str, int]]:
    return {key for key in view.world.keys("id") if not view.holders(*key)}


def _current(view: View, replay: Replay) -> dict[tuple[str, str], int]:
    found = {(key[0], replay.hashes[key[1]]): view.current(*key) for key in view.world.keys("current")}
    return {key: schema_id for key, schema_id in found.items() if schema_id is not None}


def _difference(one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        return json.dumps({str(key): str(value) for key, value in one.items() if other.get(key) != value})
    return sorted(one - other) if isinstance(one, set) else one

"""Avro validation of all records of a batch together: one walk of the schema, a cursor per record.

The rules are those of ``avro_scalar``, which takes over once too few records are left for arrays to pay off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contractlog.contracts.observed.outcomes import Outcome
from contractlog.spark_validation.columnar.avro_scalar import Broken, ScalarWalk
from contractlog.spark_validation.columnar.cursors import Cursors, Tally
from contractlog.spark_validation.columnar.leaves import LEAVES, read_index, read_integers, read_lengths
from contractlog.spark_validation.columnar.program import CONTAINERS, Kind, Place
from contractlog.spark_validation.columnar.runs import step_over_fixed, step_over_integers
from contractlog.spark_validation.columnar.varints import LONG_BYTES

__all__ = ["FEW", "MANY", "Walk"]

FEW: Final = 12
"""Up to this many records are faster one by one."""

MANY: Final = 300
"""Up to this many records are faster item by item than run by run."""

_FEW_BRANCHES: Final = 4
_NO_STOP: Final = -1
_INTEGERS: Final = frozenset({Kind.INT, Kind.LONG})
_FIXED_SIZE: Final = frozenset({Kind.FLOAT, Kind.DOUBLE, Kind.FIXED})


class Walk:
    """One walk over a batch; each cursor ends after its value, and violating records leave the set."""

    __slots__ = ("_found", "_row", "few", "final", "scalar", "tally")

    def __init__(self, tally: Tally, few: int = FEW) -> None:
        self.tally = tally
        self.few = few
        self.final = np.zeros(tally.codes.size, np.int64)  #: by row: end position of finished cursors
        self.scalar = ScalarWalk(tally.data.data, tally.limits, self._collect)
        self._found: dict[Place, list[tuple[int, int, int]]] = {}
        self._row = 0

    def run(self, place: Place, cursors: Cursors) -> None:
        """Read one value of every record."""
        self.read(place, cursors)
        for found, values in self._found.items():
            self.tally.collect_each(found, values)
        self._found.clear()

    def read(self, place: Place, cursors: Cursors) -> None:
        """Read the value at a place with every cursor."""
        kind = place.node.kind
        if place.node.empty or not cursors.size:
            return
        if kind not in CONTAINERS:
            LEAVES[kind](self.tally, place, cursors)
        elif cursors.size <= self.few:
            self._one_by_one(cursors, lambda scalar, _: scalar.walk(place))
        elif kind is Kind.UNION:
            self._union(place, cursors)
        elif place.depth > self.tally.limits.depth:
            self.tally.fail(place, cursors, np.ones(cursors.size, np.bool_), Outcome.TOO_DEEP)
        elif kind is Kind.RECORD:
            for index in range(len(place.node.children)):
                self.read(place.child(index), cursors)
        else:
            self._blocks(place, cursors)

    def _union(self, place: Place, cursors: Cursors) -> None:
        """Split the set by branch, read each branch, and join the set again."""
        branches = place.node.children
        indexes, _ = read_index(self.tally, place, cursors, len(branches), Outcome.BAD_UNION_INDEX)
        present = range(len(branches)) if len(branches) <= _FEW_BRANCHES else np.unique(indexes).tolist()
        lost = False
        for branch in present:
            if branches[branch].empty:
                continue
            where = np.flatnonzero(indexes == branch)
            if not where.size:
                continue
            part = cursors.pick(where)
            self.read(place.child(branch), part)
            if part.size == where.size:
                cursors.pos[where] = part.pos
            else:
                lost = True
                cursors.pos[np.searchsorted(cursors.rows, part.rows)] = part.pos
        if lost:
            cursors.keep(self.tally.codes[cursors.rows] == 0)

    def _blocks(self, place: Place, cursors: Cursors) -> None:
        """Read blocks until no record has any left."""
        going = cursors.pick(slice(None))
        empties = np.zeros(going.size, np.int64)
        while going.size > self.few:
            before = going.rows
            counts, stops = self._block_headers(place, going)
            empties = empties[np.searchsorted(before, going.rows)]
            ended = counts == 0
            self.final[going.rows[ended]] = going.pos[ended]
            going.keep(~ended)
            counts, stops, empties = counts[~ended], stops[~ended], empties[~ended]
            before = going.rows
            if ScalarWalk.items_are_empty(place):
                many = counts > self.tally.limits.items - empties  # a sum could overflow
                empties = empties + counts
                if many.any():
                    self.tally.fail(place, going, many, Outcome.TOO_MANY_ITEMS)
            else:
                self._items(place, going, counts)
            left = np.searchsorted(before, going.rows)
            stops, empties = stops[left], empties[left]
            missed = (stops != _NO_STOP) & (stops != going.pos)
            if missed.any():
                empties = empties[self.tally.fail(place, going, missed, Outcome.BAD_LENGTH)]
        if going.size:
            counted = dict(zip(going.rows.tolist(), empties.tolist(), strict=True))
            self._one_by_one(going, lambda scalar, row: scalar.rest_of_blocks(place, counted[row]))
            self.final[going.rows] = going.pos
        self._settle(cursors)

    def _block_headers(self, place: Place, going: Cursors) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Read each block's item count and, if the count is negative, its end (else ``_NO_STOP``)."""
        tally = self.tally
        counts, _ = read_integers(tally, place, going, LONG_BYTES)
        stops = np.full(counts.size, _NO_STOP, np.int64)
        negative = counts < 0
        if negative.any():
            sized = going.pick(negative)
            where = np.flatnonzero(negative)
            before = sized.rows
            sizes = read_lengths(tally, place, sized)
            where = where[np.searchsorted(before, sized.rows)]
            going.pos[where] = sized.pos
            stops[where] = sized.pos + sizes
            # The lowest int64 has no positive counterpart; the highest is just as impossible as a count.
            counts = np.where(counts == np.iinfo(np.int64).min, np.iinfo(np.int64).max, np.abs(counts))
            if sized.size != before.size:
                kept = tally.codes[going.rows] == 0
                going.keep(kept)
                counts, stops = counts[kept], stops[kept]
        if not ScalarWalk.items_are_empty(place):
            short = counts > going.end - going.pos
            if short.any():
                kept = tally.fail(place, going, short, Outcome.TRUNCATED)
                counts, stops = counts[kept], stops[kept]
        return counts, stops

    def _items(self, place: Place, cursors: Cursors, counts: NDArray[np.int64]) -> None:
        """Read ``counts`` items with each cursor."""
        item = place.child(len(place.node.children) - 1)
        if place.node.kind is Kind.ARRAY and item.node.kind in _FIXED_SIZE:
            step_over_fixed(self.tally, item, cursors, counts)
            return
        steps = [place.child(index) for index in range(len(place.node.children))]
        going = cursors.pick(slice(None))
        if place.node.kind is Kind.ARRAY and item.node.kind in _INTEGERS and 0 < going.size < MANY:
            stay = step_over_integers(self.tally, item, going, counts)
            self.final[going.rows] = going.pos
            going.keep(stay)
            counts = counts[stay]
        while going.size > self.few:
            before = going.rows
            for step in steps:
                self.read(step, going)
            counts = counts[np.searchsorted(before, going.rows)] - 1 if going.size != before.size else counts - 1
            ended = counts == 0
            if ended.any():
                self.final[going.rows[ended]] = going.pos[ended]
                going.keep(~ended)
                counts = counts[~ended]
        if going.size:
            left = dict(zip(going.rows.tolist(), counts.tolist(), strict=True))
            self._one_by_one(going, lambda scalar, row: scalar.read_items(place, left[row]))
            self.final[going.rows] = going.pos
        self._settle(cursors)

    def _settle(self, cursors: Cursors) -> None:
        """Drop violating records, and move the remaining cursors of a set to their final positions."""
        cursors.keep(self.tally.codes[cursors.rows] == 0)
        cursors.pos = self.final[cursors.rows]

    def _one_by_one(self, cursors: Cursors, step: Callable[[ScalarWalk, int], None]) -> None:
        """Advance each cursor with the scalar walker."""
        ends = cursors.pos.copy()
        kept = np.ones(cursors.size, np.bool_)
        scalar = self.scalar
        for nth, (row, pos, end) in enumerate(
            zip(cursors.rows.tolist(), cursors.pos.tolist(), cursors.end.tolist(), strict=True)
        ):
            self._row, scalar.pos, scalar.end = row, pos, end
            try:
                step(scalar, row)
            except Broken as broken:
                self.tally.fail_one(broken.place, row, broken.code, broken.at)
                kept[nth] = False
            ends[nth] = scalar.pos
        cursors.pos = ends
        if not kept.all():
            cursors.keep(kept)

    def _collect(self, place: Place, start: int, value: int) -> None:
        if self.tally.wants(place):
            self._found.setdefault(place, []).append((self._row, start, value))

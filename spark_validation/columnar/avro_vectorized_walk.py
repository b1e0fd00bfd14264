"""Avro validation of all records of a batch together: one walk of the schema, a cursor per record.

The rules are those of ``avro_record_walk``, which takes over once too few records are left for arrays to pay off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.spark_validation.columnar.avro_compiled_schema import CONTAINERS, AvroKind, ValuePath
from contractlog.spark_validation.columnar.avro_record_walk import RecordWalk, RuleViolated
from contractlog.spark_validation.columnar.cursors import BatchTally, Cursors
from contractlog.spark_validation.columnar.primitive_readers import (
    PRIMITIVE_READERS,
    read_index,
    read_integers,
    read_lengths,
    skip_fixed_items,
    skip_integer_items,
)
from contractlog.spark_validation.columnar.varints import LONG_BYTES

__all__ = ["MAX_ROWS_ITEM_BY_ITEM", "MAX_ROWS_ONE_BY_ONE", "VectorizedWalk"]

MAX_ROWS_ONE_BY_ONE: Final = 12
"""Up to this many records are faster one by one."""

MAX_ROWS_ITEM_BY_ITEM: Final = 300
"""Up to this many records are faster item by item than run by run."""

_FEW_BRANCHES: Final = 4
_NO_STOP: Final = -1
_INTEGERS: Final = frozenset({AvroKind.INT, AvroKind.LONG})
_FIXED_SIZE: Final = frozenset({AvroKind.FLOAT, AvroKind.DOUBLE, AvroKind.FIXED})


class VectorizedWalk:
    """One walk over a batch; each cursor ends after its value, and violating records leave the set."""

    __slots__ = ("_collected", "final", "scalar", "scalar_rows", "tally")

    def __init__(self, tally: BatchTally, scalar_rows: int = MAX_ROWS_ONE_BY_ONE) -> None:
        self.tally = tally
        self.scalar_rows = scalar_rows
        self.final = np.zeros(tally.codes.size, np.int64)  #: by row: end position of finished cursors
        self.scalar = RecordWalk(tally.data.data, tally.limits, self._collect, tally.allowance)
        self._collected: dict[ValuePath, list[tuple[int, int, int]]] = {}

    def run(self, path: ValuePath, cursors: Cursors) -> None:
        """Read one value of every record."""
        self._spend_each(path, cursors, path.node.surplus)
        self.read(path, cursors)
        for value_path, values in self._collected.items():
            self.tally.collect_each(value_path, values)
        self._collected.clear()

    def read(self, path: ValuePath, cursors: Cursors) -> None:
        """Read the value at a path with every cursor."""
        kind = path.node.kind
        if path.node.empty and cursors.size and self.scalar.is_too_deep(path):
            self._one_by_one(cursors, lambda scalar: scalar.walk(path))
            return
        if path.node.empty or not cursors.size:
            self._note_nulls(path, cursors.rows, cursors.pos)
            return
        if kind not in CONTAINERS:
            PRIMITIVE_READERS[kind](self.tally, path, cursors)
        elif cursors.size <= self.scalar_rows:
            self._one_by_one(cursors, lambda scalar: scalar.walk(path))
        elif kind is AvroKind.UNION:
            self._union(path, cursors)
        elif path.depth > self.tally.limits.depth:
            self.tally.fail(path, cursors, np.ones(cursors.size, np.bool_), Outcome.TOO_DEEP)
        elif kind is AvroKind.RECORD:
            self._spend_each(path, cursors, path.node.extra_items)
            for index in range(len(path.node.children)):
                self.read(path.child(index), cursors)
        else:
            self._blocks(path, cursors)

    def _union(self, path: ValuePath, cursors: Cursors) -> None:
        """Split the set by branch, read each branch, and join the set again."""
        branches = path.node.children
        indexes, _ = read_index(self.tally, path, cursors, len(branches), Outcome.BAD_UNION_INDEX)
        present = range(len(branches)) if len(branches) <= _FEW_BRANCHES else np.unique(indexes).tolist()
        has_failures = False
        for branch in present:
            where = np.flatnonzero(indexes == branch)
            if not where.size:
                continue
            step, surplus = path.child(branch), branches[branch].surplus
            if branches[branch].empty and not surplus and not self.scalar.is_too_deep(step):
                self._note_nulls(step, cursors.rows[where], cursors.pos[where])
                continue
            part = cursors.pick(where)
            self._spend_each(step, part, surplus)
            self.read(step, part)
            if part.size == where.size:
                cursors.pos[where] = part.pos
            else:
                has_failures = True
                cursors.pos[np.searchsorted(cursors.rows, part.rows)] = part.pos
        if has_failures:
            cursors.keep(self.tally.codes[cursors.rows] == 0)

    def _note_nulls(self, path: ValuePath, rows: NDArray[np.int64], positions: NDArray[np.int64]) -> None:
        """Collect nulls, which take no bytes."""
        if path.node.kind is AvroKind.NULL and rows.size and self.tally.wants(path):
            self.tally.collect(path, rows, positions, np.zeros(rows.size, np.int64))

    def _blocks(self, path: ValuePath, cursors: Cursors) -> None:
        """Read blocks until no record has any left."""
        going = cursors.pick(slice(None))
        while going.size > self.scalar_rows:
            counts, stops = self._block_headers(path, going)
            ended = counts == 0
            self.final[going.rows[ended]] = going.pos[ended]
            going.keep(~ended)
            counts, stops = counts[~ended], stops[~ended]
            before = going.rows
            if RecordWalk.items_are_empty(path):
                self._spend(path, going, counts, path.node.children[-1].cost)
                self._check_empty(path.child(0), going)
            else:
                if path.node.children[-1].surplus:  # values of a map
                    self._spend(path, going, counts, path.node.children[-1].surplus)
                    counts = counts[np.searchsorted(before, going.rows)]
                self._items(path, going, counts)
            left = np.searchsorted(before, going.rows)
            stops = stops[left]
            missed = (stops != _NO_STOP) & (stops != going.pos)
            if missed.any():
                self.tally.fail(path, going, missed, Outcome.BAD_LENGTH)
        if going.size:
            self._one_by_one(going, lambda scalar: scalar.rest_of_blocks(path))
            self.final[going.rows] = going.pos
        self._settle(cursors)

    def _check_empty(self, path: ValuePath, going: Cursors) -> None:
        """Check the depth of items without bytes, of which nothing is collected."""
        if going.size and self.scalar.is_too_deep(path):
            self._one_by_one(going, lambda scalar: scalar.walk(path))

    def _spend_each(self, path: ValuePath, cursors: Cursors, cost: int) -> None:
        """Count the cost of one value in each record."""
        if cost:
            self._spend(path, cursors, np.ones(cursors.size, np.int64), cost)

    def _spend(self, path: ValuePath, going: Cursors, counts: NDArray[np.int64], cost: int) -> None:
        """Count the cost of items without bytes, and drop the records that have too many of them."""
        allowance = self.tally.allowance
        cost = min(cost, self.tally.limits.items + 1)  # in the range of an int64
        many = counts > allowance[going.rows] // cost  # a product could overflow
        allowance[going.rows[~many]] -= counts[~many] * cost
        if many.any():
            self.tally.fail(path, going, many, Outcome.TOO_MANY_ITEMS)

    def _block_headers(self, path: ValuePath, going: Cursors) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Read each block's item count and, if the count is negative, its end (else ``_NO_STOP``)."""
        tally = self.tally
        counts, _ = read_integers(tally, path, going, LONG_BYTES)
        stops = np.full(counts.size, _NO_STOP, np.int64)
        negative = counts < 0
        if negative.any():
            sized = going.pick(negative)
            where = np.flatnonzero(negative)
            before = sized.rows
            sizes = read_lengths(tally, path, sized)
            where = where[np.searchsorted(before, sized.rows)]
            going.pos[where] = sized.pos
            stops[where] = sized.pos + sizes
            # The lowest int64 has no positive counterpart; the highest is just as impossible as a count.
            counts = np.where(counts == np.iinfo(np.int64).min, np.iinfo(np.int64).max, np.abs(counts))
            if sized.size != before.size:
                valid = tally.codes[going.rows] == 0
                going.keep(valid)
                counts, stops = counts[valid], stops[valid]
        if not RecordWalk.items_are_empty(path):
            short = counts > going.end - going.pos
            if short.any():
                valid = tally.fail(path, going, short, Outcome.TRUNCATED)
                counts, stops = counts[valid], stops[valid]
        return counts, stops

    def _items(self, path: ValuePath, cursors: Cursors, counts: NDArray[np.int64]) -> None:
        """Read ``counts`` items with each cursor."""
        item = path.child(len(path.node.children) - 1)
        if path.node.kind is AvroKind.ARRAY and item.node.kind in _FIXED_SIZE:
            skip_fixed_items(self.tally, item, cursors, counts)
            return
        steps = [path.child(index) for index in range(len(path.node.children))]
        going = cursors.pick(slice(None))
        if path.node.kind is AvroKind.ARRAY and item.node.kind in _INTEGERS and 0 < going.size < MAX_ROWS_ITEM_BY_ITEM:
            stay = skip_integer_items(self.tally, item, going, counts)
            self.final[going.rows] = going.pos
            going.keep(stay)
            counts = counts[stay]
        while going.size > self.scalar_rows:
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
            self._one_by_one(going, lambda scalar: scalar.read_items(path, left[scalar.row]))
            self.final[going.rows] = going.pos
        self._settle(cursors)

    def _settle(self, cursors: Cursors) -> None:
        """Drop violating records, and move the remaining cursors of a set to their final positions."""
        cursors.keep(self.tally.codes[cursors.rows] == 0)
        cursors.pos = self.final[cursors.rows]

    def _one_by_one(self, cursors: Cursors, step: Callable[[RecordWalk], None]) -> None:
        """Advance each cursor with the scalar walker."""
        ends = cursors.pos.copy()
        valid = np.ones(cursors.size, np.bool_)
        scalar = self.scalar
        for nth, (row, pos, end) in enumerate(
            zip(cursors.rows.tolist(), cursors.pos.tolist(), cursors.end.tolist(), strict=True)
        ):
            scalar.row, scalar.pos, scalar.end = row, pos, end
            try:
                step(scalar)
            except RuleViolated as broken:
                self.tally.fail_one(broken.path, row, broken.code, broken.at)
                valid[nth] = False
            ends[nth] = scalar.pos
        cursors.pos = ends
        if not valid.all():
            cursors.keep(valid)

    def _collect(self, path: ValuePath, start: int, value: int) -> None:
        if self.tally.wants(path):
            self._collected.setdefault(path, []).append((self.scalar.row, start, value))

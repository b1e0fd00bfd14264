"""Readers of values without children: each moves cursors past one value and drops those that fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contractlog.contracts.observed.outcomes import Outcome
from contractlog.spark_validation.columnar.cursors import Cursors, Tally
from contractlog.spark_validation.columnar.program import Kind, Place
from contractlog.spark_validation.columnar.texts import not_utf8
from contractlog.spark_validation.columnar.varints import INT_BYTES, LONG_BYTES, read_varints

__all__ = ["LEAVES", "read_index", "read_integers", "read_lengths"]

Integers = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Integers and their start offsets, one per remaining cursor."""


def read_integers(tally: Tally, place: Place, cursors: Cursors, longest: int) -> Integers:
    """Read a zigzag integer of at most ``longest`` bytes with each cursor."""
    values, after, codes = read_varints(tally.data, cursors.pos, cursors.end, longest)
    if codes is not None:
        bad = codes > 0
        if bad.any():
            kept = tally.fail(place, cursors, bad, codes)
            values, after = values[kept], after[kept]
    starts, cursors.pos = cursors.pos, after
    return values, starts


def read_lengths(tally: Tally, place: Place, cursors: Cursors) -> NDArray[np.int64]:
    """Read the length of a string or a block, whose bytes must be present."""
    lengths, starts = read_integers(tally, place, cursors, LONG_BYTES)
    bad = (lengths < 0) | (lengths > tally.limits.length)
    if bad.any():
        kept = tally.fail(place, cursors, bad, Outcome.BAD_LENGTH, starts)
        lengths, starts = lengths[kept], starts[kept]
    short = lengths > cursors.end - cursors.pos
    if short.any():
        lengths = lengths[tally.fail(place, cursors, short, Outcome.TRUNCATED, starts)]
    return lengths


def read_index(tally: Tally, place: Place, cursors: Cursors, size: int, outcome: Outcome) -> Integers:
    """Read an int that must be at least 0 and below ``size``."""
    indexes, starts = read_integers(tally, place, cursors, INT_BYTES)
    bad = (indexes < 0) | (indexes >= size)
    if bad.any():
        kept = tally.fail(place, cursors, bad, outcome, starts)
        indexes, starts = indexes[kept], starts[kept]
    return indexes, starts


def _skip(tally: Tally, place: Place, cursors: Cursors, size: int) -> None:
    """Skip ``size`` bytes, which must be present."""
    short = size > cursors.end - cursors.pos
    if short.any():
        tally.fail(place, cursors, short, Outcome.TRUNCATED)
    cursors.pos = cursors.pos + size


def _boolean(tally: Tally, place: Place, cursors: Cursors) -> None:
    _skip(tally, place, cursors, 1)
    if not (tally.limits.strict_booleans or tally.wants(place)):
        return
    starts = cursors.pos - 1
    byte = tally.data.take(starts, mode="clip")
    if tally.limits.strict_booleans:
        bad = byte > 1
        if bad.any():
            kept = tally.fail(place, cursors, bad, Outcome.BAD_BOOLEAN, starts)
            byte, starts = byte[kept], starts[kept]
    if tally.wants(place):
        tally.collect(place, cursors.rows, starts, (byte != 0).astype(np.int64))


def _integer(tally: Tally, place: Place, cursors: Cursors) -> None:
    longest = INT_BYTES if place.node.kind is Kind.INT else LONG_BYTES
    values, starts = read_integers(tally, place, cursors, longest)
    if tally.wants(place):
        tally.collect(place, cursors.rows, starts, values)


def _fixed(tally: Tally, place: Place, cursors: Cursors) -> None:
    size = place.node.size
    _skip(tally, place, cursors, size)
    if tally.wants(place):
        tally.collect(place, cursors.rows, cursors.pos - size, np.full(cursors.size, size, np.int64))


def _bytes(tally: Tally, place: Place, cursors: Cursors) -> None:
    lengths = read_lengths(tally, place, cursors)
    starts, cursors.pos = cursors.pos, cursors.pos + lengths
    if tally.wants(place):
        tally.collect(place, cursors.rows, starts, lengths)


def _string(tally: Tally, place: Place, cursors: Cursors) -> None:
    lengths = read_lengths(tally, place, cursors)
    starts, cursors.pos = cursors.pos, cursors.pos + lengths
    bad = not_utf8(tally.buffer, starts, lengths)
    if bad is not None:
        kept = tally.fail(place, cursors, bad, Outcome.BAD_UTF8, starts)
        starts, lengths = starts[kept], lengths[kept]
    if tally.wants(place):
        tally.collect(place, cursors.rows, starts, lengths)


def _enum(tally: Tally, place: Place, cursors: Cursors) -> None:
    indexes, starts = read_index(tally, place, cursors, len(place.node.symbols), Outcome.BAD_ENUM_INDEX)
    if tally.wants(place):
        tally.collect(place, cursors.rows, starts, indexes)


LEAVES: Final[Mapping[Kind, Callable[[Tally, Place, Cursors], None]]] = MappingProxyType(
    {
        Kind.BOOLEAN: _boolean,
        Kind.INT: _integer,
        Kind.LONG: _integer,
        Kind.FLOAT: _fixed,
        Kind.DOUBLE: _fixed,
        Kind.BYTES: _bytes,
        Kind.STRING: _string,
        Kind.FIXED: _fixed,
        Kind.ENUM: _enum,
    }
)

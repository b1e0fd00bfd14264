"""Random chains of changes, and single mutations of a chain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from random import Random
from typing import Any

from contractlog.contracts.change_log.recorded_change import FIRST_PREVIOUS_HASH, RecordedChange

COLUMNS = tuple(field.name for field in fields(RecordedChange) if field.name != "sequence")
Mutation = Callable[[Random, list[RecordedChange]], int]
OPTIONAL = frozenset({"before", "after", "details", "previous_hash", "hash"})


def make_chain(changes: Iterable[RecordedChange], previous: str = FIRST_PREVIOUS_HASH) -> list[RecordedChange]:
    """Chain changes to each other."""
    chained = []
    for change in changes:
        chained.append(change.follow(previous))
        previous = chained[-1].hash or ""
    return chained


def change_value(random: Random, name: str, value: Any) -> Any:
    """Return another value of a column."""
    if name == "at":
        return value + random.choice([-1, 1, 1_000])
    if name in OPTIONAL and value is not None and random.random() < 0.3:
        return None
    if name == "details":
        return '{"id":7}' if value != '{"id":7}' else '{"id": 7}'
    return f"{value or ''}x" if len(value or "") < 60 else "f" * 63 + ("0" if value[-1:] != "0" else "1")


def _change_a_column(random: Random, chain: list[RecordedChange]) -> int:
    index, name = random.randrange(len(chain)), random.choice(COLUMNS)
    chain[index] = replace(chain[index], **{name: change_value(random, name, getattr(chain[index], name))})
    return index


def _delete(random: Random, chain: list[RecordedChange]) -> int:
    index = random.randrange(len(chain) - 1)
    del chain[index]
    return index


def _delete_and_renumber(random: Random, chain: list[RecordedChange]) -> int:
    index = _delete(random, chain)
    chain[index:] = [replace(change, sequence=change.sequence - 1) for change in chain[index:]]
    return index


def _swap_contents(random: Random, chain: list[RecordedChange]) -> int:
    first, second = sorted(random.sample(range(len(chain)), 2))
    earlier, later = chain[first], chain[second]
    chain[first] = replace(later, sequence=earlier.sequence)
    chain[second] = replace(earlier, sequence=later.sequence)
    return first


def _swap_order(random: Random, chain: list[RecordedChange]) -> int:
    index = random.randrange(len(chain) - 1)
    chain[index : index + 2] = reversed(chain[index : index + 2])
    return index


def _insert(random: Random, chain: list[RecordedChange]) -> int:
    """Insert a forged entry with a right hash, and renumber those after it."""
    index = random.randrange(len(chain))
    forged = replace(chain[index], actor="forged").follow(chain[index].previous_hash or "")
    chain[index:] = [forged, *(replace(change, sequence=change.sequence + 1) for change in chain[index:])]
    return index + 1  # the forged entry is in its right place; the next one is not


def _repeat(random: Random, chain: list[RecordedChange]) -> int:
    index = random.randrange(len(chain))
    chain.insert(index, chain[index])
    return index


MUTATIONS: Sequence[Mutation] = (
    _change_a_column,
    _delete,
    _delete_and_renumber,
    _swap_contents,
    _swap_order,
    _insert,
    _repeat,
)  #: each returns the index of the first entry that differs

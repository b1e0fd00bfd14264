"""Reference graph around a subject, in both directions, step by step and within bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from contractlog.compatibility.errors import SubjectNotFound, VersionNotFound
from contractlog.compatibility.names import Subject
from contractlog.registry.access.actor import may_read
from contractlog.registry.services.differences import held_version
from contractlog.registry.services.references import target_of
from contractlog.registry.services.threads import Threads
from contractlog.registry.storage import graph
from contractlog.registry.storage.graph import Held
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.reads import Snapshot

__all__ = ["DEEPEST", "MOST_NODES", "Edge", "Graph", "Graphs", "Ways"]

DEEPEST: Final = 16  #: steps from the subject
MOST_NODES: Final = 1_000

_Step = Callable[[Snapshot, "list[Held]"], Iterable[tuple[Held, Held]]]


class Ways(StrEnum):
    """Direction of the walk from a subject."""

    BOTH = "BOTH"
    REFERENCES = "REFERENCES"  #: to its dependencies
    REFERENCEDBY = "REFERENCEDBY"  #: to its dependents


@dataclass(frozen=True, slots=True)
class Edge:
    """A reference from one version to another, under these names."""

    leaning: Held
    target: Held
    names: tuple[str, ...]


@dataclass(slots=True)
class Graph:
    """Result of a walk; ``distance`` counts the steps from the subject, negative towards dependents."""

    distance: dict[Held, int] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    truncated: bool = False  #: whether the bounds or the caller's permissions left anything out


class Graphs:
    """Walks references."""

    def __init__(self, store: Store, threads: Threads) -> None:
        self._store = store
        self._threads = threads

    async def around(self, subject: Subject, version: str, *, ways: Ways, depth: int) -> Graph:
        """Return the direct and indirect dependencies and dependents of a subject that the caller may read.

        Args:
            subject: where to begin.
            version: a version number, ``latest``, or empty for all versions, soft-deleted ones included.
            ways: direction.
            depth: maximum number of steps.

        Raises:
            SubjectNotFound, VersionNotFound: there is nothing to begin from.
        """
        return await self._threads.run(self._around, subject, version, ways, depth)

    def _around(self, subject: Subject, version: str, ways: Ways, depth: int) -> Graph:
        with self._store.reading() as snapshot:
            start = _start(snapshot, subject, version)
            found = Graph(dict.fromkeys(start, 0))
            pairs: dict[tuple[Held, Held], None] = {}
            if ways is not Ways.REFERENCEDBY:
                pairs |= dict.fromkeys(_walk(snapshot, found, graph.targets, depth=depth, sign=1))
            if ways is not Ways.REFERENCES:
                pairs |= dict.fromkeys(_walk(snapshot, found, graph.leaners, depth=depth, sign=-1))
            found.edges = list(_named(snapshot, pairs))
        return found


def _start(snapshot: Snapshot, subject: Subject, version: str) -> list[Held]:
    number: int | None = None
    if version == "latest":
        number = held_version(snapshot, subject, None).version
    elif version:
        number = int(version)
    found = graph.versions(snapshot, subject, number)
    if found:
        return found
    if number is None or not graph.versions(snapshot, subject, None):
        raise SubjectNotFound(subject=str(subject))
    raise VersionNotFound(version=number)


def _walk(snapshot: Snapshot, found: Graph, step: _Step, *, depth: int, sign: int) -> Iterator[tuple[Held, Held]]:
    """Yield the pairs (referrer, target) of a walk, and record the distance of each version."""
    frontier = [one for one, distance in found.distance.items() if not distance]
    seen = set(frontier)
    for distance in range(1, depth + 2):
        following: list[Held] = []
        for leaning, target in step(snapshot, frontier):
            other = target if sign > 0 else leaning
            if other not in seen:
                if not may_read(other.subject) or distance > depth or len(found.distance) >= MOST_NODES:
                    found.truncated = True
                    continue
                seen.add(other)
                following.append(other)
                found.distance.setdefault(other, sign * distance)
            yield leaning, target
        frontier = following
        if not frontier:
            return


def _named(snapshot: Snapshot, pairs: Iterable[tuple[Held, Held]]) -> Iterator[Edge]:
    known = graph.references(snapshot, {(one.subject.context, one.schema_id) for one, _ in pairs})
    for leaning, target in pairs:
        written = known.get((leaning.subject.context, leaning.schema_id), [])
        names = (
            reference.name
            for reference in written
            if reference.version == target.version and target_of(reference, leaning.subject) == target.subject
        )
        yield Edge(leaning, target, tuple(names))

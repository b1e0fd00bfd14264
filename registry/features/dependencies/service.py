"""Bounded traversal of the reference graph around a subject, in both directions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from contractlog.compatibility.identifiers import Subject
from contractlog.registry.access.current_caller import may_read
from contractlog.registry.features.dependencies import queries
from contractlog.registry.features.dependencies.queries import VersionNode
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.registration.references import resolve_target
from contractlog.registry.registration.version_lookup import missing_version_error, require_version
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import DeletedFilter

__all__ = ["MAX_DEPTH", "MAX_NODES", "DependencyEdge", "DependencyGraph", "DependencyService", "WalkDirection"]

MAX_DEPTH: Final = 16  #: steps from the subject
MAX_NODES: Final = 1_000

_Step = Callable[[Snapshot, "list[VersionNode]"], Iterable[tuple[VersionNode, VersionNode]]]


class WalkDirection(StrEnum):
    """Direction of the walk from a subject."""

    BOTH = "BOTH"
    REFERENCES = "REFERENCES"  #: to its dependencies
    REFERENCEDBY = "REFERENCEDBY"  #: to its dependents


@dataclass(frozen=True, slots=True)
class DependencyEdge:
    """A reference from one version to another, under these names."""

    referrer: VersionNode
    target: VersionNode
    names: tuple[str, ...]


@dataclass(slots=True)
class DependencyGraph:
    """Result of a walk; ``distance`` counts the steps from the subject, negative towards dependents."""

    distance: dict[VersionNode, int] = field(default_factory=dict)
    edges: list[DependencyEdge] = field(default_factory=list)
    truncated: bool = False  #: whether the bounds or the caller's permissions left anything out


class DependencyService(ReadService):
    """Walks references."""

    async def walk(self, subject: Subject, version: str, *, direction: WalkDirection, depth: int) -> DependencyGraph:
        """Return the direct and indirect dependencies and dependents of a subject that the caller may read.

        Args:
            subject: where to begin.
            version: a version number, ``latest``, or empty for all versions, soft-deleted ones included.
            direction: towards references, towards dependents, or both.
            depth: maximum number of steps.

        Raises:
            SubjectNotFound, VersionNotFound: there is nothing to begin from.
        """
        return await self._query(_walk_from, subject, version, direction, depth)


def _walk_from(
    snapshot: Snapshot, subject: Subject, version: str, direction: WalkDirection, depth: int
) -> DependencyGraph:
    result = DependencyGraph(dict.fromkeys(_find_start(snapshot, subject, version), 0))
    pairs: dict[tuple[VersionNode, VersionNode], None] = {}
    if direction is not WalkDirection.REFERENCEDBY:
        pairs |= dict.fromkeys(_walk(snapshot, result, queries.find_targets, depth=depth, sign=1))
    if direction is not WalkDirection.REFERENCES:
        pairs |= dict.fromkeys(_walk(snapshot, result, queries.find_referrers, depth=depth, sign=-1))
    result.edges = list(_name_edges(snapshot, pairs))
    return result


def _find_start(snapshot: Snapshot, subject: Subject, version: str) -> list[VersionNode]:
    number: int | None = None
    if version == "latest":
        number = require_version(snapshot, subject, None, DeletedFilter.INCLUDED).version
    elif version:
        number = int(version)
    nodes = queries.find_versions(snapshot, subject, number)
    if nodes:
        return nodes
    raise missing_version_error(snapshot, subject, number, DeletedFilter.INCLUDED)


def _walk(
    snapshot: Snapshot, result: DependencyGraph, step: _Step, *, depth: int, sign: int
) -> Iterator[tuple[VersionNode, VersionNode]]:
    """Yield the pairs (referrer, target) of a walk, and record the distance of each version."""
    frontier = [node for node, distance in result.distance.items() if not distance]
    visited = set(frontier)
    for distance in range(1, depth + 2):
        next_frontier: list[VersionNode] = []
        for referrer, target in step(snapshot, frontier):
            neighbour = target if sign > 0 else referrer
            if neighbour not in visited:
                if not may_read(neighbour.subject) or distance > depth or len(result.distance) >= MAX_NODES:
                    result.truncated = True
                    continue
                visited.add(neighbour)
                next_frontier.append(neighbour)
                result.distance.setdefault(neighbour, sign * distance)
            yield referrer, target
        frontier = next_frontier
        if not frontier:
            return


def _name_edges(snapshot: Snapshot, pairs: Iterable[tuple[VersionNode, VersionNode]]) -> Iterator[DependencyEdge]:
    references_by_schema = queries.find_references(
        snapshot, {(version.subject.context, version.schema_id) for version, _ in pairs}
    )
    for referrer, target in pairs:
        written_references = references_by_schema.get((referrer.subject.context, referrer.schema_id), [])
        names = (
            reference.name
            for reference in written_references
            if reference.version == target.version and resolve_target(reference, referrer.subject) == target.subject
        )
        yield DependencyEdge(referrer, target, tuple(names))

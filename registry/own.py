"""The services behind contractlog's own resources, wired together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

from fastapi import Depends, Request

from contractlog.registry.cache import ByteCache
from contractlog.registry.moving.receiving import Receiving
from contractlog.registry.services.changes import Changes, warm
from contractlog.registry.services.compatibility import Compatibility
from contractlog.registry.services.differences import Differences
from contractlog.registry.services.fetches import FetchCounts, Fetches
from contractlog.registry.services.following import Follower
from contractlog.registry.services.graph import Graphs
from contractlog.registry.services.indexing import Indexer
from contractlog.registry.services.judging import Judging
from contractlog.registry.services.many import Many
from contractlog.registry.services.registration import Registration
from contractlog.registry.services.search import Search
from contractlog.registry.services.threads import Threads
from contractlog.registry.services.understanding import Understanding
from contractlog.registry.storage.protocol import Store

__all__ = [
    "ChangesDependency",
    "DifferencesDependency",
    "FetchCountsDependency",
    "FetchesDependency",
    "GraphsDependency",
    "ManyDependency",
    "Own",
    "ReceivingDependency",
    "SearchDependency",
]


@dataclass(frozen=True, slots=True)
class Own:
    """All services that the routes of contractlog's own resources call, and their background tasks."""

    follower: Follower
    changes: Changes
    indexer: Indexer
    search: Search
    differences: Differences
    many: Many
    graphs: Graphs
    counts: FetchCounts
    fetches: Fetches
    receiving: Receiving

    @classmethod
    def wired(
        cls,
        store: Store,
        threads: Threads,
        cache: ByteCache,
        *,
        understanding: Understanding,
        judging: Judging,
        registration: Registration,
        allow_id_gap: bool = False,
    ) -> Self:
        """Create the services; nothing runs yet."""
        follower = Follower(store)
        warm(store, cache, follower)
        counts = FetchCounts(store)
        return cls(
            follower=follower,
            changes=Changes(store, threads, follower),
            indexer=Indexer(store, follower),
            search=Search(store, threads),
            differences=Differences(store, threads, understanding, judging),
            counts=counts,
            graphs=Graphs(store, threads),
            fetches=Fetches(store, threads, counts),
            receiving=Receiving(store, allow_id_gap=allow_id_gap),
            many=Many(store, threads, registration, Compatibility(store, threads, understanding, judging)),
        )

    def start(self) -> None:
        """Start following the journal, updating the search index and writing fetch counts."""
        self.follower.start()
        self.indexer.start()
        self.counts.start()

    def release(self) -> None:
        """End long polls and allow no new ones: the process is about to end."""
        self.follower.release()

    def close(self) -> None:
        """Stop the background tasks; the store is still open."""
        self.follower.close()
        self.indexer.close()
        self.counts.close()


def _own(name: str) -> Any:
    async def give(request: Request) -> Any:
        return getattr(request.app.state.services.own, name)

    return Depends(give)


ChangesDependency = Annotated[Changes, _own("changes")]
DifferencesDependency = Annotated[Differences, _own("differences")]
FetchCountsDependency = Annotated[FetchCounts, _own("counts")]
FetchesDependency = Annotated[Fetches, _own("fetches")]
GraphsDependency = Annotated[Graphs, _own("graphs")]
ManyDependency = Annotated[Many, _own("many")]
ReceivingDependency = Annotated[Receiving, _own("receiving")]
SearchDependency = Annotated[Search, _own("search")]

"""The services behind contractlog's own resources, wired together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

from fastapi import Depends, Request

from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.features.batch.service import BatchService
from contractlog.registry.features.change_log.follower import JournalFollower
from contractlog.registry.features.change_log.service import ChangeLogService, evict_on_changes
from contractlog.registry.features.compatibility.service import CompatibilityService
from contractlog.registry.features.dependencies.service import DependencyService
from contractlog.registry.features.diff.service import DiffService
from contractlog.registry.features.fetch_log.service import FetchCounter, FetchLogService
from contractlog.registry.features.search.indexer import SearchIndexer
from contractlog.registry.features.search.service import SearchService
from contractlog.registry.http.fastpath.byte_cache import ByteCache
from contractlog.registry.registration.check import CompatibilityChecker
from contractlog.registry.registration.parser import SchemaParser
from contractlog.registry.registration.service import RegistrationService
from contractlog.registry.storage.store import Store
from contractlog.registry.transfer.online_import import OnlineImport

__all__ = [
    "BatchDependency",
    "ChangeLogDependency",
    "DependenciesDependency",
    "DiffDependency",
    "ExtensionServices",
    "FetchCountsDependency",
    "FetchLogDependency",
    "ImportDependency",
    "SearchDependency",
]


@dataclass(frozen=True, slots=True)
class ExtensionServices:
    """All services that the routes of contractlog's own resources call, and their background tasks."""

    follower: JournalFollower
    change_log: ChangeLogService
    indexer: SearchIndexer
    search: SearchService
    diff: DiffService
    batch: BatchService
    dependencies: DependencyService
    fetch_counter: FetchCounter
    fetch_log: FetchLogService
    imports: OnlineImport

    @classmethod
    def create(
        cls,
        store: Store,
        threads: ThreadPools,
        cache: ByteCache,
        *,
        parser: SchemaParser,
        checker: CompatibilityChecker,
        registration: RegistrationService,
        allow_id_gap: bool = False,
    ) -> Self:
        """Create the services; nothing runs yet."""
        follower = JournalFollower(store)
        evict_on_changes(store, cache, follower)
        fetch_counter = FetchCounter(store)
        return cls(
            follower=follower,
            change_log=ChangeLogService(store, threads, follower),
            indexer=SearchIndexer(store, follower),
            search=SearchService(store, threads),
            diff=DiffService(store, threads, parser, checker),
            fetch_counter=fetch_counter,
            dependencies=DependencyService(store, threads),
            fetch_log=FetchLogService(store, threads, fetch_counter),
            imports=OnlineImport(store, allow_id_gap=allow_id_gap),
            batch=BatchService(store, threads, registration, CompatibilityService(store, threads, parser, checker)),
        )

    def start(self) -> None:
        """Start following the journal, updating the search index and writing fetch counts."""
        self.follower.start()
        self.indexer.start()
        self.fetch_counter.start()

    def release(self) -> None:
        """End long polls and allow no new ones: the process is about to end."""
        self.follower.release()

    def close(self) -> None:
        """Stop the background tasks; the store is still open."""
        self.follower.close()
        self.indexer.close()
        self.fetch_counter.close()


def _service(name: str) -> Any:
    async def give(request: Request) -> Any:
        return getattr(request.app.state.services.extensions, name)

    return Depends(give)


ChangeLogDependency = Annotated[ChangeLogService, _service("change_log")]
DiffDependency = Annotated[DiffService, _service("diff")]
FetchCountsDependency = Annotated[FetchCounter, _service("fetch_counter")]
FetchLogDependency = Annotated[FetchLogService, _service("fetch_log")]
DependenciesDependency = Annotated[DependencyService, _service("dependencies")]
BatchDependency = Annotated[BatchService, _service("batch")]
ImportDependency = Annotated[OnlineImport, _service("imports")]
SearchDependency = Annotated[SearchService, _service("search")]

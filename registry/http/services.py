"""Services that routes call, as FastAPI dependencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request

from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.features.associations.service import AssociationService
from contractlog.registry.features.batch.service import BatchService
from contractlog.registry.features.change_log.follower import JournalFollower
from contractlog.registry.features.change_log.service import ChangeLogService
from contractlog.registry.features.compatibility.service import CompatibilityService
from contractlog.registry.features.config_and_mode.service import ConfigService
from contractlog.registry.features.conformance.service import ConformanceService
from contractlog.registry.features.contexts.service import ContextService
from contractlog.registry.features.dependencies.service import DependencyService
from contractlog.registry.features.diff.service import DiffService
from contractlog.registry.features.fetch_counts.counter import FetchCounter
from contractlog.registry.features.fetch_counts.service import FetchCountService
from contractlog.registry.features.health.service import HealthCheck
from contractlog.registry.features.schemas.service import SchemaService
from contractlog.registry.features.search.indexer import SearchIndexer
from contractlog.registry.features.search.service import SearchService
from contractlog.registry.features.subjects.service import SubjectService
from contractlog.registry.features.usage.service import UsageService
from contractlog.registry.features.versions.service import VersionService
from contractlog.registry.http.fastpath.cache_by_path import PathCache
from contractlog.registry.http.fastpath.cache_by_schema_id import ByteCache
from contractlog.registry.http.release_profiles import Profile
from contractlog.registry.registration.deletion import DeletionService
from contractlog.registry.registration.service import RegistrationService
from contractlog.registry.settings import Settings
from contractlog.registry.storage.store import Store
from contractlog.registry.telemetry.process_telemetry import Telemetry
from contractlog.registry.transfer.online_import import OnlineImport

__all__ = [
    "AssociationsDependency",
    "BatchDependency",
    "CacheDependency",
    "ChangeLogDependency",
    "CompatibilityDependency",
    "ConfigDependency",
    "ConformanceDependency",
    "ContextsDependency",
    "DeletionDependency",
    "DependencyGraphDependency",
    "DiffDependency",
    "FetchCounterDependency",
    "FetchCountsDependency",
    "HealthDependency",
    "ImportDependency",
    "ProfileDependency",
    "RegistrationDependency",
    "SchemasDependency",
    "SearchDependency",
    "Services",
    "SettingsDependency",
    "SubjectsDependency",
    "TelemetryDependency",
    "ThreadsDependency",
    "UsageDependency",
    "VersionsDependency",
]


@dataclass(frozen=True, slots=True)
class Services:
    """All services that routes call, and their background tasks."""

    settings: Settings
    store: Store
    threads: ThreadPools
    cache: ByteCache
    path_cache: PathCache | None  #: cached responses by version; None if other processes can write to the database
    registration: RegistrationService
    compatibility: CompatibilityService
    subjects: SubjectService
    versions: VersionService
    schemas: SchemaService
    contexts: ContextService
    deletion: DeletionService
    config: ConfigService
    conformance: ConformanceService
    associations: AssociationService
    follower: JournalFollower
    change_log: ChangeLogService
    indexer: SearchIndexer
    search: SearchService
    diff: DiffService
    batch: BatchService
    dependencies: DependencyService
    fetch_counter: FetchCounter
    fetch_counts: FetchCountService
    usage: UsageService
    imports: OnlineImport
    health: HealthCheck
    telemetry: Telemetry

    def start(self) -> None:
        """Start following the journal, updating the search index and writing fetch counts."""
        self.follower.start()
        self.indexer.start()
        self.fetch_counter.start()

    def drain(self) -> None:
        """Announce the shutdown and end long polls; call it on the event loop."""
        self.telemetry.drain()
        self.follower.release()

    def close(self) -> None:
        """Stop the threads and close the store."""
        self.follower.close()
        self.indexer.close()
        self.fetch_counter.close()
        self.health.close()
        self.threads.close()
        self.store.close()

    @property
    def profile(self) -> Profile:
        """The release whose response format is used."""
        return self.settings.response_profile


def _service(name: str) -> Any:
    async def give(request: Request) -> Any:
        return getattr(request.app.state.services, name)

    return Depends(give)


SettingsDependency = Annotated[Settings, _service("settings")]
ThreadsDependency = Annotated[ThreadPools, _service("threads")]
ProfileDependency = Annotated[Profile, _service("profile")]
CacheDependency = Annotated[ByteCache, _service("cache")]
RegistrationDependency = Annotated[RegistrationService, _service("registration")]
CompatibilityDependency = Annotated[CompatibilityService, _service("compatibility")]
SubjectsDependency = Annotated[SubjectService, _service("subjects")]
VersionsDependency = Annotated[VersionService, _service("versions")]
HealthDependency = Annotated[HealthCheck, _service("health")]
SchemasDependency = Annotated[SchemaService, _service("schemas")]
ContextsDependency = Annotated[ContextService, _service("contexts")]
DeletionDependency = Annotated[DeletionService, _service("deletion")]
ConfigDependency = Annotated[ConfigService, _service("config")]
ConformanceDependency = Annotated[ConformanceService, _service("conformance")]
AssociationsDependency = Annotated[AssociationService, _service("associations")]
TelemetryDependency = Annotated[Telemetry, _service("telemetry")]
ChangeLogDependency = Annotated[ChangeLogService, _service("change_log")]
DiffDependency = Annotated[DiffService, _service("diff")]
FetchCounterDependency = Annotated[FetchCounter, _service("fetch_counter")]
FetchCountsDependency = Annotated[FetchCountService, _service("fetch_counts")]
UsageDependency = Annotated[UsageService, _service("usage")]
DependencyGraphDependency = Annotated[DependencyService, _service("dependencies")]
BatchDependency = Annotated[BatchService, _service("batch")]
ImportDependency = Annotated[OnlineImport, _service("imports")]
SearchDependency = Annotated[SearchService, _service("search")]

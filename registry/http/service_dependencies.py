"""FastAPI dependencies by which routes get the services that they call."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request

from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.features.associations.service import AssociationService
from contractlog.registry.features.batch.service import BatchService
from contractlog.registry.features.change_log.service import ChangeLogService
from contractlog.registry.features.change_requests.reach import ReachFinder
from contractlog.registry.features.change_requests.service import ChangeRequestService
from contractlog.registry.features.compatibility.service import CompatibilityService
from contractlog.registry.features.config_and_mode.service import ConfigService
from contractlog.registry.features.conformance.service import ConformanceService
from contractlog.registry.features.contexts.service import ContextService
from contractlog.registry.features.contracts.consumers import ConsumerFinder
from contractlog.registry.features.contracts.service import ContractService
from contractlog.registry.features.dek_registry.deks import DekService
from contractlog.registry.features.dek_registry.keks import KekService
from contractlog.registry.features.dependencies.service import DependencyService
from contractlog.registry.features.diff.service import DiffService
from contractlog.registry.features.fetch_counts.counter import FetchCounter
from contractlog.registry.features.fetch_counts.service import FetchService
from contractlog.registry.features.health.service import HealthCheck
from contractlog.registry.features.lineage.service import LineageService
from contractlog.registry.features.metrics.audit_metrics import AuditMetrics
from contractlog.registry.features.schemas.service import SchemaService
from contractlog.registry.features.search.service import SearchService
from contractlog.registry.features.subject_usage.service import UsageService
from contractlog.registry.features.subjects.service import SubjectService
from contractlog.registry.features.versions.service import VersionService
from contractlog.registry.http.fastpath.cache_by_schema_id import ByteCache
from contractlog.registry.http.release_profiles import Profile
from contractlog.registry.registration.deletion import DeletionService
from contractlog.registry.registration.service import RegistrationService
from contractlog.registry.settings import Settings
from contractlog.registry.telemetry.recorded_metrics import Telemetry
from contractlog.registry.transfer.online_import import OnlineImport

__all__ = [
    "AssociationsDependency",
    "AuditMetricsDependency",
    "BatchDependency",
    "CacheDependency",
    "ChangeLogDependency",
    "ChangeRequestsDependency",
    "CompatibilityDependency",
    "ConfigDependency",
    "ConformanceDependency",
    "ConsumersDependency",
    "ContextsDependency",
    "ContractsDependency",
    "DeksDependency",
    "DeletionDependency",
    "DependencyGraphDependency",
    "DiffDependency",
    "FetchCounterDependency",
    "FetchesDependency",
    "HealthDependency",
    "ImportDependency",
    "KeksDependency",
    "LineageDependency",
    "ProfileDependency",
    "ReachDependency",
    "RegistrationDependency",
    "SchemasDependency",
    "SearchDependency",
    "SettingsDependency",
    "SubjectsDependency",
    "TelemetryDependency",
    "ThreadsDependency",
    "UsageDependency",
    "VersionsDependency",
]


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
AuditMetricsDependency = Annotated[AuditMetrics, _service("audit_metrics")]
HealthDependency = Annotated[HealthCheck, _service("health")]
SchemasDependency = Annotated[SchemaService, _service("schemas")]
ContextsDependency = Annotated[ContextService, _service("contexts")]
ConsumersDependency = Annotated[ConsumerFinder, _service("consumers")]
ContractsDependency = Annotated[ContractService, _service("contracts")]
DeletionDependency = Annotated[DeletionService, _service("deletion")]
ConfigDependency = Annotated[ConfigService, _service("config")]
ConformanceDependency = Annotated[ConformanceService, _service("conformance")]
LineageDependency = Annotated[LineageService, _service("lineage")]
KeksDependency = Annotated[KekService, _service("keks")]
DeksDependency = Annotated[DekService, _service("deks")]
AssociationsDependency = Annotated[AssociationService, _service("associations")]
TelemetryDependency = Annotated[Telemetry, _service("telemetry")]
ChangeLogDependency = Annotated[ChangeLogService, _service("change_log")]
ChangeRequestsDependency = Annotated[ChangeRequestService, _service("change_requests")]
ReachDependency = Annotated[ReachFinder, _service("reach")]
DiffDependency = Annotated[DiffService, _service("diff")]
FetchCounterDependency = Annotated[FetchCounter, _service("fetch_counter")]
FetchesDependency = Annotated[FetchService, _service("fetches")]
UsageDependency = Annotated[UsageService, _service("usage")]
DependencyGraphDependency = Annotated[DependencyService, _service("dependencies")]
BatchDependency = Annotated[BatchService, _service("batch")]
ImportDependency = Annotated[OnlineImport, _service("imports")]
SearchDependency = Annotated[SearchService, _service("search")]

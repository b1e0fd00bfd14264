"""Services of the registry, created from its settings and wired to each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from contractlog.compatibility.errors import UsageError
from contractlog.registry.access.owners_file import NO_OWNERS, CurrentOwners, Owners, OwnersFile
from contractlog.registry.access.users_file import UsersFile
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.execution.work_limits import CallerUsage
from contractlog.registry.features.associations.service import AssociationService
from contractlog.registry.features.batch.service import BatchService
from contractlog.registry.features.change_log.follower import ChangeLogFollower
from contractlog.registry.features.change_log.service import ChangeLogService
from contractlog.registry.features.change_log.webhooks import WebhookSenders, parse_webhooks
from contractlog.registry.features.change_requests.guard import BYPASSED, ProtectionGuard
from contractlog.registry.features.change_requests.proposals import ProposalRunner
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
from contractlog.registry.features.dek_registry.key_generator import KeyGenerator
from contractlog.registry.features.dependencies.service import DependencyService
from contractlog.registry.features.diff.service import DiffService
from contractlog.registry.features.fetch_counts.counter import FetchCounter
from contractlog.registry.features.fetch_counts.service import FetchService
from contractlog.registry.features.health.service import HealthCheck
from contractlog.registry.features.lineage.service import LineageService
from contractlog.registry.features.metrics.audit_metrics import AuditMetrics
from contractlog.registry.features.schemas.renderer import ViewRenderer
from contractlog.registry.features.schemas.service import SchemaService
from contractlog.registry.features.search.indexer import SearchIndexer
from contractlog.registry.features.search.service import SearchService
from contractlog.registry.features.subject_usage.service import UsageService
from contractlog.registry.features.subjects.service import SubjectService
from contractlog.registry.features.versions.service import VersionService
from contractlog.registry.http.cache_eviction import evict_on_changes
from contractlog.registry.http.fastpath.cache_by_schema_id import ByteCache
from contractlog.registry.http.fastpath.change_checks import ChangeChecks, create_checks
from contractlog.registry.http.fastpath.response_memory import ResponseMemory
from contractlog.registry.http.release_profiles import Profile
from contractlog.registry.registration.deletion import DeletionService
from contractlog.registry.registration.draft_checker import DraftChecker
from contractlog.registry.registration.parser import SchemaParser
from contractlog.registry.registration.service import RegistrationService
from contractlog.registry.settings import Settings
from contractlog.registry.storage.store import Store
from contractlog.registry.telemetry.recorded_metrics import Telemetry
from contractlog.registry.transfer.online_import import OnlineImport

__all__ = ["Services", "create_owners", "create_services"]

#: Repeated responses may use this fraction (1/4) of the cache's memory in addition to it.
_MEMORY_DIVISOR: Final = 4
_CACHED_SECONDS: Final = 5.0  #: how long another node may still serve a schema that was hard-deleted


@dataclass(frozen=True, slots=True)
class Services:
    """All services that routes call, and their background tasks."""

    settings: Settings
    store: Store
    threads: ThreadPools
    cache: ByteCache
    memory: ResponseMemory  #: responses to repeated requests
    checks: ChangeChecks  #: of the memory
    registration: RegistrationService
    compatibility: CompatibilityService
    subjects: SubjectService
    versions: VersionService
    schemas: SchemaService
    contexts: ContextService
    deletion: DeletionService
    config: ConfigService
    conformance: ConformanceService
    audit_metrics: AuditMetrics
    contracts: ContractService
    consumers: ConsumerFinder
    lineage: LineageService
    keks: KekService
    deks: DekService
    associations: AssociationService
    follower: ChangeLogFollower
    change_log: ChangeLogService
    webhooks: WebhookSenders
    change_requests: ChangeRequestService
    reach: ReachFinder
    indexer: SearchIndexer
    search: SearchService
    diff: DiffService
    batch: BatchService
    dependencies: DependencyService
    fetch_counter: FetchCounter
    fetches: FetchService
    usage: UsageService
    imports: OnlineImport
    health: HealthCheck
    telemetry: Telemetry

    def start(self) -> None:
        """Start following the change log, updating the search index and writing fetch counts."""
        self.follower.start()
        self.indexer.start()
        self.fetch_counter.start()
        self.webhooks.start()

    def drain(self) -> None:
        """Announce the shutdown and end long polls; call it on the event loop."""
        self.telemetry.drain()
        self.follower.release()

    def close(self) -> bool:
        """Stop the threads and close the store; return whether all queries have ended."""
        self.webhooks.close()
        self.follower.close()
        self.indexer.close()
        self.fetch_counter.close()
        self.health.close()
        self.checks.close()
        ended = self.threads.close()
        self.store.close()
        return ended

    @property
    def profile(self) -> Profile:
        """The release whose response format is used."""
        return self.settings.response_profile


def create_services(
    settings: Settings, store: Store, telemetry: Telemetry, owners: Callable[[], Owners] = lambda: NO_OWNERS
) -> Services:
    """Create the services of an app, wired to each other."""
    threads = ThreadPools(
        settings.read_threads, max_waiting=settings.max_pending_writes, callers=CallerUsage(settings.caller_steps)
    )
    cache = ByteCache(settings.cache_bytes, seconds=_CACHED_SECONDS, watch=telemetry.record_cache)
    store.on_commit(cache.forget)
    memory = ResponseMemory(settings.cache_bytes // _MEMORY_DIVISOR)
    store.watch(telemetry)
    parser = SchemaParser()
    checker = DraftChecker(parser, settings.level)
    registration = RegistrationService(store, threads, checker, allow_id_gap=settings.allow_id_gap)
    renderer = ViewRenderer(parser)
    compatibility = CompatibilityService(store, threads, checker)
    follower = ChangeLogFollower(store)
    evict_on_changes(store, cache, follower)
    fetch_counter = FetchCounter(store)
    fetches = FetchService(store, threads, fetch_counter)
    generator = KeyGenerator(settings.local_kms_secret)
    store.guard(ProtectionGuard(owners))
    store.after_commit(lambda entries: telemetry.record_bypasses(sum(entry.action == BYPASSED for entry in entries)))
    deletion = DeletionService(store)
    config = ConfigService(store, threads, settings.level, mutable=settings.mode_mutability)
    diff = DiffService(store, threads, checker)
    lineage = LineageService(store, threads)
    usage = UsageService(store, threads, fetches)
    reach = ReachFinder(usage, lineage)
    proposals = ProposalRunner(store, registration, deletion, config, diff)
    return Services(
        settings=settings,
        store=store,
        threads=threads,
        cache=cache,
        memory=memory,
        checks=create_checks(memory, store),
        registration=registration,
        associations=AssociationService(store, threads, registration),
        compatibility=compatibility,
        subjects=SubjectService(store, threads),
        versions=VersionService(store, threads, renderer),
        schemas=SchemaService(store, threads, renderer),
        contexts=ContextService(store, threads),
        deletion=deletion,
        config=config,
        conformance=ConformanceService(
            store, threads, days=settings.results_days, max_parts=settings.max_audited_parts
        ),
        audit_metrics=AuditMetrics(store, threads, max_parts=settings.max_metric_parts),
        contracts=ContractService(store, threads, parser),
        consumers=ConsumerFinder(store, threads, usage, reach),
        lineage=lineage,
        keks=KekService(store, threads, generator),
        deks=DekService(store, threads, generator),
        follower=follower,
        change_log=ChangeLogService(store, threads, follower),
        webhooks=WebhookSenders(store, follower, parse_webhooks(settings)),
        change_requests=ChangeRequestService(store, threads, owners, proposals),
        reach=reach,
        indexer=SearchIndexer(store, follower),
        search=SearchService(store, threads),
        diff=diff,
        batch=BatchService(store, threads, registration, compatibility),
        dependencies=DependencyService(store, threads),
        fetch_counter=fetch_counter,
        fetches=fetches,
        usage=usage,
        imports=OnlineImport(store, allow_id_gap=settings.allow_id_gap),
        health=HealthCheck(store),
        telemetry=telemetry,
    )


def create_owners(settings: Settings) -> Callable[[], Owners]:
    """Return a function that returns the owners in force.

    Raises:
        UsageError: the owners file cannot be used, or there are no users who could approve.
    """
    if not settings.owners_file:
        return lambda: NO_OWNERS
    if not settings.users_file:
        raise UsageError(
            "an owners file needs a users file, because owners approve changes by name: pass --users FILE, too"
        )
    return CurrentOwners(OwnersFile(settings.owners_file), UsersFile(settings.users_file))

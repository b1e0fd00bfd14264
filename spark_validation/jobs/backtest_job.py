"""A back-test: fetches the versions of the subject, and reads the topics with the proposed schema."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from contractlog.clients.cli.progress_line import ProgressLine
from contractlog.clients.cli.schema_folder.resolver import ResolvedFile
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import InvalidSchema, NotFound
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, Subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.contracts.audit.backtest_state import ReadabilityState, ReadOutcome
from contractlog.contracts.audit.report import Part
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.expectations.audit_expectations import ExpectedSchema, ValidatorCache
from contractlog.spark_validation.expectations.registry_catalogue import fetch_versions
from contractlog.spark_validation.jobs.backtest_result import BACKTEST_FORMAT, OtherSubjects, summarize_backtest
from contractlog.spark_validation.offset_ranges.backtest import BacktestPlan, PreparedBacktest
from contractlog.spark_validation.sources.source import RecordSource
from contractlog.spark_validation.spark.cluster import SparkCluster
from contractlog.spark_validation.spark.range_tasks import run_on_cluster

__all__ = ["BacktestRequest", "run_backtest"]


@dataclass(frozen=True, slots=True)
class BacktestRequest:
    """Parameters of a back-test."""

    registry: Registry
    source: RecordSource
    subject: str
    part: Part
    topics: tuple[str, ...]
    proposed: ResolvedFile
    cluster: SparkCluster = SparkCluster()  # noqa: RUF009 - frozen


def run_backtest(request: BacktestRequest, progress: ProgressLine) -> dict[str, Any]:
    """Read the topics with the proposed schema, and return the result as a JSON object.

    Raises:
        UsageError: a topic does not exist.
        Unreachable: the registry or the broker does not respond.
        SparkFailed: Spark ended with an error that was not raised by contractlog.
    """
    versions = fetch_versions(request.registry, request.subject)
    plan = _make_plan(request, versions)
    prepared = PreparedBacktest(plan)
    for schema_id, expected in plan.versions.items():
        if not expected.fault:
            prepared.reader(schema_id)  # a pair that cannot be resolved fails here, before anything is read
    ranges = request.source.plan(request.topics, span=sys.maxsize)
    state = run_on_cluster(request.cluster, request.source, ranges, plan, progress)
    others = _find_other_subjects(request, state)
    return {
        "format": BACKTEST_FORMAT,
        "subject": request.subject,
        "file": str(request.proposed.file.path),
        "source": {**request.source.body(), "registry": request.registry.url},
        **summarize_backtest(state, versions, others, part=request.part),
    }


def _make_plan(request: BacktestRequest, versions: Iterable[RegisteredSchema]) -> BacktestPlan:
    schemas: dict[int, ExpectedSchema] = {}
    guids: dict[bytes, int] = {}
    for version in versions:
        schema_id = int(version.schema_id)
        with suppress(ValueError):  # registries before Confluent's 8.0 have no guids
            guids[UUID(version.guid or "").bytes] = schema_id
        if schema_id in schemas:
            continue
        try:
            referenced = dict(request.registry.referenced(version.draft, subject=request.subject))
            expected = ExpectedSchema(version, referenced)
            ValidatorCache(frozenset({schema_id}), {schema_id: expected}, ValidationLimits())[schema_id]
        except (InvalidSchema, NotFound) as error:
            expected = ExpectedSchema(version, fault=error.message)
        schemas[schema_id] = expected
    proposed = request.proposed
    return BacktestPlan(request.part, schemas, guids, proposed.file.draft, dict(proposed.texts))


def _find_other_subjects(request: BacktestRequest, state: ReadabilityState) -> OtherSubjects:
    context = Subject.parse(request.subject).context
    scope = None if context == DEFAULT_CONTEXT else f":{context}:"
    others: dict[int, tuple[str, ...] | None] = {}
    for schema_id in sorted({key.schema_id for key in state.counts if key.outcome is ReadOutcome.OTHER_ID} - {0}):
        try:
            uses = request.registry.versions_of_id(schema_id, subject=scope, deleted=True)
        except NotFound:
            others[schema_id] = None
        else:
            others[schema_id] = tuple(sorted({subject for subject, _ in uses}))
    return others

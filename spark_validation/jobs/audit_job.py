"""A whole audit: expectations, one pass, summary, a folder that appears when complete, publication."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from contractlog.clients.cli.progress_line import ProgressLine
from contractlog.clients.registry import Registry
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.audit.changes import compare_reports, extend_trends
from contractlog.contracts.audit.field_drift import FieldDrift, find_drifts
from contractlog.contracts.audit.field_profiles import FieldProfileKey
from contractlog.contracts.audit.mergeable_state import AuditState, limit_samples, limit_state
from contractlog.contracts.audit.publication import shorten_entry
from contractlog.contracts.audit.record_origins import describe_uncounted_origins
from contractlog.contracts.audit.report import FAIL_UNDER, FORMAT, THRESHOLD, AuditReport, AuditScope, TopicPart
from contractlog.contracts.audit.summary import summarize
from contractlog.contracts.audit.value_samples import make_design
from contractlog.contracts.quality.evaluation import QualityContext, evaluate_rules
from contractlog.contracts.quality.record_metrics import find_keys
from contractlog.contracts.quality.rules import QualityRules
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.expectations.audit_expectations import AuditExpectations
from contractlog.spark_validation.expectations.expectation_builder import ExpectationBuilder
from contractlog.spark_validation.expectations.given_strategies import GivenStrategies
from contractlog.spark_validation.jobs.alerts import add_alert
from contractlog.spark_validation.jobs.former_report import read_former_report
from contractlog.spark_validation.jobs.increment import (
    AuditOptions,
    FormerAudit,
    describe_lost_offsets,
    read_former_audit,
    write_basis,
)
from contractlog.spark_validation.jobs.result_folder import PAGE, REPORT, STATE, VIOLATIONS, replace_folder
from contractlog.spark_validation.lineage.inference import infer_edges
from contractlog.spark_validation.lineage.traced_sources import find_traced_edges
from contractlog.spark_validation.offset_ranges.evidence_options import EvidenceOptions
from contractlog.spark_validation.profiles.field_profiler import list_forms
from contractlog.spark_validation.report.formatters import format_plural
from contractlog.spark_validation.report.html_page import render
from contractlog.spark_validation.rules.checked_validators import describe_rules
from contractlog.spark_validation.sources.records import OffsetRange, count_offsets
from contractlog.spark_validation.sources.selection import Selection, plan_selection
from contractlog.spark_validation.sources.source import RecordSource
from contractlog.spark_validation.spark.audit_tasks import audit_ranges
from contractlog.spark_validation.spark.cluster import SparkCluster
from contractlog.spark_validation.spark.session import open_session, prepare_environment
from contractlog.spark_validation.spark.tasks import split_for_tasks
from contractlog.spark_validation.state.state_files import write_state
from contractlog.spark_validation.violations.violations_file import (
    DEFAULT_MAX_BYTES,
    ensure_readable,
    find_violation_files,
)

__all__ = ["AuditRequest", "audit_to_folder", "audit_to_state", "publish"]


PrintLine = Callable[[str], None]


@dataclass(frozen=True)
class AuditRequest:
    """Parameters of an audit."""

    registry: Registry
    source: RecordSource
    selection: Selection = Selection()  # noqa: RUF009 - frozen
    limits: ValidationLimits = ValidationLimits()  # noqa: RUF009 - frozen
    cluster: SparkCluster = SparkCluster()  # noqa: RUF009 - frozen
    #: maximum number of bytes of a violating key or value in the results; None: all
    cap: int | None = DEFAULT_MAX_BYTES
    strategies: GivenStrategies = GivenStrategies()  # noqa: RUF009 - frozen
    threshold: float = THRESHOLD  #: conformance below it is ``failing``
    fail_under: float = FAIL_UNDER  #: shown in the report; determines the exit code
    samples: bool = True  #: whether values are sampled, for lineage
    lineage: bool = False  #: whether lineage is inferred from the samples
    evidence: EvidenceOptions = EvidenceOptions()  # noqa: RUF009 - frozen
    quality: Mapping[str, QualityRules] = field(default_factory=dict)  #: rules by topic
    alerts: bool = False  #: whether alerts about changed verdicts are written, to be delivered
    full: bool = False  #: whether offsets that were audited before are read again


def audit_to_folder(
    request: AuditRequest,
    out: Path,
    *,
    print_line: PrintLine,
    progress: ProgressLine | None = None,
    lineage_progress: ProgressLine | None = None,
    reports: Collection[Path] = (),
) -> AuditReport:
    """Audit and write the results into a folder.

    These are ``report.json``, ``report.html``, ``violations.parquet`` and ``state/``. The folder is replaced when all
    of them are complete; until then, and if the audit is interrupted, its previous content remains.

    Raises:
        UsageError: a topic does not exist, or the folder contains something else.
        Unreachable: the registry or the broker does not respond.
        SparkFailed: Spark ended with an error that was not raised by contractlog.
    """
    with replace_folder(out, reports=reports) as folder:
        result = _audit(request, folder / VIOLATIONS, print_line, progress, None if request.full else out)
        state, expectations = result.state, result.expectations
        before = _count_covered(result.former)
        scope: AuditScope = {
            "lineage": request.lineage,
            "samples": request.samples,
            "profiles": request.evidence.profiles,
            "producer_headers": list(request.evidence.producer_headers),
            "values_shown": request.evidence.show_values,
        }
        scope.update(cast("AuditScope", request.selection.body()))
        if before:
            new = _count_covered(state) - before
            print_line(f"read {new:,} new offsets; {before:,} were audited before")
            scope |= {"new_offsets": new, "audited_before": before}
        ensure_readable(folder / VIOLATIONS)
        write_state(state, folder / STATE)
        write_basis(folder / STATE, state, _make_options(request), expectations, result.ids)
        report: AuditReport = {
            "format": FORMAT,
            "tool": f"contractlog {version('contractlog')}",
            "audited_at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            "source": request.source.body() | {"registry": request.registry.url},
            "thresholds": {"verdict": request.threshold, "fail_under": request.fail_under},
            "scope": scope,
            "topics": summarize(
                state,
                expectations.uses,
                notes=_notes(request.source, result),
                unusable=expectations.unusable(),
                strategies={key: strategy.body() for key, strategy in expectations.strategies.items()},
                threshold=request.threshold,
                drifts=result.find_drifts(),
                rules=describe_rules(expectations.schemas, {cell.schema_id for cell in state.cells}),
            ),
            "lineage": [
                *(
                    infer_edges(state, secret=request.evidence.sample_key, progress=lineage_progress)
                    if request.lineage
                    else []
                ),
                *find_traced_edges(state),
            ],
        }
        _evaluate_quality(report, request, state)
        former = read_former_report(out, print_line=print_line)
        if former is not None:
            report["changes"] = compare_reports(former, report)
        extend_trends(former, report)
        if request.alerts:
            add_alert(report, former, out, folder, print_line=print_line)
        (folder / REPORT).write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
        (folder / PAGE).write_text(render(report))
    return report


def _evaluate_quality(report: AuditReport, request: AuditRequest, state: AuditState) -> None:
    """Add the results of quality rules to the values of topics that have rules."""
    now = datetime.now(UTC)
    keys = find_keys(report)
    for part in report["topics"]:
        rules = request.quality.get(part["topic"]) if part["part"] == "value" else None
        if rules is not None:
            profiles = {
                name: profile
                for (*key, name), profile in state.profiles.items()
                if key == [part["topic"], part["part"]]
            }
            context = QualityContext(
                part,
                profiles if request.evidence.profiles else None,
                now,
                list_forms,
                keys.get(part["topic"]),
                state.profiles,
            )
            part["quality"] = evaluate_rules(rules, context)


def audit_to_state(request: AuditRequest, *, print_line: PrintLine, progress: ProgressLine | None = None) -> AuditState:
    """Audit and return only the state; no file remains."""
    with TemporaryDirectory(prefix="contractlog-") as folder:
        return _audit(request, Path(folder, VIOLATIONS), print_line, progress).state


def _count_covered(state: AuditState) -> int:
    """Return the number of offsets that were read for a state."""
    return sum(coverage.to_offset - coverage.from_offset for coverage in state.coverage)


def _notes(source: RecordSource, result: _AuditResult) -> dict[tuple[str, str], list[str]]:
    """Return notes by topic and part, such as why a part is not audited or what is skipped."""
    notes = {key: list(sentences) for key, sentences in result.expectations.notes().items()}
    for topic, part in result.expectations.parts:
        if part == "value":
            notes[topic, part] = [
                *notes.get((topic, part), ()),
                *source.notes(topic),
                *_duplicate_notes(result.duplicates.get(topic, 0)),
            ]
    for topic, sentence in describe_lost_offsets(result.former, result.ranges):
        notes[topic, "value"].append(sentence)
    for topic, sentence in _explain_absent(source, result.state):
        notes[topic, "value"].append(sentence)
    for topic, sentences in describe_uncounted_origins(result.state.origins).items():
        notes[topic, "value"] += sentences
    return notes


def _explain_absent(source: RecordSource, state: AuditState) -> Iterator[tuple[str, str]]:
    """Yield a sentence for each topic with offsets that have no record, where the source knows the reason."""
    absent: Counter[str] = Counter()
    for coverage in state.coverage:
        absent[coverage.topic] += coverage.to_offset - coverage.from_offset - coverage.records
    for topic, reason in source.explain_absent([topic for topic, offsets in absent.items() if offsets]).items():
        yield topic, f"{format_plural(absent[topic], 'offset')} without a record: {reason}."


def _duplicate_notes(records: int) -> list[str]:
    if not records:
        return []
    skipped = "1 record was" if records == 1 else f"{records:,} records were"
    return [f"{skipped} skipped, as the archive has another record with the same offset."]


@dataclass
class _AuditResult:
    """The state of all selected records, and how it was made."""

    state: AuditState
    expectations: AuditExpectations
    ranges: list[OffsetRange]  #: the ranges that have all records now
    ids: Mapping[str, str]  #: of topics
    duplicates: Counter[str] = field(default_factory=Counter)  #: by topic
    former: AuditState = field(default_factory=AuditState)  #: what was not read again
    fresh: AuditState = field(default_factory=AuditState)  #: what was read in addition to it

    def find_drifts(self) -> Mapping[FieldProfileKey, FieldDrift]:
        """Return the drift of the fields of topics of which only new records were read."""
        return find_drifts(self.former.profiles, self.fresh.profiles)


def _audit(
    request: AuditRequest,
    violations: Path,
    print_line: PrintLine,
    progress: ProgressLine | None,
    former_folder: Path | None = None,
) -> _AuditResult:
    prepare_environment()
    whole = plan_selection(request.source, request.selection, span=sys.maxsize)
    topics = list(dict.fromkeys(offsets.topic for offsets in whole))
    former = FormerAudit(AuditState(), {})
    if former_folder is not None:
        former = _read_former_audit(request, former_folder, topics, print_line)
    builder = ExpectationBuilder(
        request.registry,
        request.source,
        whole,
        limits=request.limits,
        strategies=request.strategies,
        samples=request.samples,
    )
    expectations = builder.build()
    ids = request.source.topic_ids(topics)
    if former.topics:
        refined, _ = builder.refine(expectations, former.state)
        chosen = {key: part for key, part in refined.parts.items() if key[0] in former.topics}
        expectations = replace(refined, parts={**expectations.parts, **chosen})
        changes = former.find_changes(whole, ids, expectations)
        for topic, change in sorted(changes.items()):
            print_line(escape_line(f"reading all offsets of {topic}: {change}"))
        former = former.restrict([topic for topic in former.topics if topic not in changes])
    new = former.find_new_ranges(whole)
    result = _AuditResult(former.state, expectations, whole, ids, former=former.state)
    print_line(
        f"auditing {count_offsets(new):,} offsets of {len(topics):,} topic{'' if len(topics) == 1 else 's'} on "
        f"{request.cluster.master}"
    )
    violations.mkdir()
    if former_folder is not None:
        _carry_over(former_folder / VIOLATIONS, violations, former.topics)
    if new:
        _read_ranges(request, builder, result, new, violations, print_line=print_line, progress=progress)
    return result


def _read_ranges(
    request: AuditRequest,
    builder: ExpectationBuilder,
    result: _AuditResult,
    new: Sequence[OffsetRange],
    violations: Path,
    *,
    print_line: PrintLine,
    progress: ProgressLine | None,
) -> None:
    """Read new ranges, and whole topics whose records show another strategy; add them to the result."""
    with open_session(request.cluster.master, wheel=request.cluster.wheel) as session:

        def read(ranges: Sequence[OffsetRange]) -> AuditState:
            size = count_offsets(ranges)
            cut = split_for_tasks(request.source, ranges)
            if progress is not None:
                progress.start(size)
            try:
                return audit_ranges(
                    session,
                    request.source,
                    cut,
                    result.expectations,
                    violations,
                    cap=request.cap,
                    evidence=request.evidence,
                    progress=progress,
                    duplicates=result.duplicates,
                )
            finally:
                if progress is not None:
                    progress.finish()

        result.fresh = read(new)
        result.state = limit_samples(limit_state(result.former.merge(result.fresh)))
        result.expectations, changed = builder.refine(result.expectations, result.state)
        if changed:
            named = ", ".join(map(escape_line, sorted(changed)))
            reason = "the records follow another subject name strategy than the sampled ones"
            print_line(f"{reason}; reading again: {named}")
            for topic in changed:
                del result.duplicates[topic]
            for file in find_violation_files(violations, changed):
                file.unlink()
            again = read([offsets for offsets in result.ranges if offsets.topic in changed])
            result.former = result.former.without(changed)
            result.state = limit_samples(limit_state(result.state.without(changed).merge(again)))


def _make_options(request: AuditRequest) -> AuditOptions:
    source = request.source.body()
    return AuditOptions(
        source=f"{source['kind']} {source.get('archive', '')}",
        registry=request.registry.url,
        limits=asdict(request.limits),
        samples=request.samples,
        sample_design=make_design(request.evidence.sample_key).key,
        profiles=request.evidence.profiles,
        patterns=repr(sorted(request.evidence.patterns.items())),
        producer_headers=request.evidence.producer_headers,
        values_shown=request.evidence.show_values,
        cap=request.cap,
        strategies=repr(request.strategies),
        partitions=request.selection.body().get("partitions", ""),
    )


def _read_former_audit(
    request: AuditRequest, folder: Path, topics: Collection[str], print_line: PrintLine
) -> FormerAudit:
    """Return what a former audit has about topics, if it can be continued; else print the reason."""
    nothing = FormerAudit(AuditState(), {})
    former = read_former_audit(folder / STATE, _make_options(request))
    if isinstance(former, FormerAudit) and request.source.body()["kind"] != "kafka":
        former = "files of an archive may have changed anywhere"
    if isinstance(former, FormerAudit) and (request.selection.since, request.selection.until) != (None, None):
        former = "times select a part of the records"
    if isinstance(former, FormerAudit):
        return former.restrict(topics)
    if former:
        print_line(f"reading all offsets, and not only those that {folder} does not have: {former}")
    return nothing


def _carry_over(former: Path, violations: Path, topics: Collection[str]) -> None:
    """Add the violations of topics that were found before; without a copy, if the file system can."""
    for file in find_violation_files(former, topics):
        try:
            (violations / file.name).hardlink_to(file)
        except OSError:
            shutil.copyfile(file, violations / file.name)


def publish(registry: Registry, report: AuditReport, parts: Sequence[TopicPart] | None = None) -> int:
    """Publish the entries of parts and return their number; publishing an entry again changes nothing.

    Entries that are too large for a request are published with fewer examples.

    Raises:
        Unreachable: the registry does not respond.
        InvalidConformance: the registry rejects an entry.
    """
    chosen = report["topics"] if parts is None else parts
    for entry in chosen:
        registry.publish_conformance(entry["topic"], shorten_entry(entry))
    return len(chosen)

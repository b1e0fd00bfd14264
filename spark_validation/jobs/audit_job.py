"""A whole audit: expectations, one pass, summary, a folder that appears when complete, publication."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from contractlog.clients.registry import Registry
from contractlog.compatibility.terminal_text import escape_line
from contractlog.contracts.audit.publication import shorten_entry
from contractlog.contracts.audit.report import FAIL_UNDER, FORMAT, THRESHOLD, AuditReport
from contractlog.contracts.audit.state import AuditState, limit_samples, limit_state
from contractlog.contracts.audit.summary import summarize
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.evidence_options import EvidenceOptions
from contractlog.spark_validation.expectation_builder import ExpectationBuilder
from contractlog.spark_validation.expectations import AuditExpectations
from contractlog.spark_validation.jobs.progress import ProgressLine
from contractlog.spark_validation.jobs.result_folder import REPORT, replace_folder
from contractlog.spark_validation.lineage.inference import infer_edges
from contractlog.spark_validation.report.html_page import render
from contractlog.spark_validation.session import open_session, prepare_environment
from contractlog.spark_validation.sources.records import OffsetRange, count_offsets
from contractlog.spark_validation.sources.selection import Selection, plan_selection
from contractlog.spark_validation.sources.source import RecordSource
from contractlog.spark_validation.spark_audit import audit_ranges
from contractlog.spark_validation.state_files import write_state
from contractlog.spark_validation.subject_strategies import GivenStrategies
from contractlog.spark_validation.violations_file import DEFAULT_MAX_BYTES, ensure_readable

__all__ = ["AuditRequest", "audit_to_folder", "audit_to_state", "publish"]

PAGE: Final = "report.html"
VIOLATIONS: Final = "violations.parquet"
STATE: Final = "state"
RANGES: Final = 64  #: target number of ranges, so that cores share the work evenly and progress is visible
MIN_RANGE, MAX_RANGE = 25_000, 1_000_000  #: offsets of a range

PrintLine = Callable[[str], None]


@dataclass(frozen=True)
class AuditRequest:
    """Parameters of an audit."""

    registry: Registry
    source: RecordSource
    selection: Selection = Selection()  # noqa: RUF009 - frozen
    limits: ValidationLimits = ValidationLimits()  # noqa: RUF009 - frozen
    master: str = "local[*]"
    #: maximum number of bytes of a violating key or value in the results; None: all
    cap: int | None = DEFAULT_MAX_BYTES
    strategies: GivenStrategies = GivenStrategies()  # noqa: RUF009 - frozen
    threshold: float = THRESHOLD  #: conformance below it is ``failing``
    fail_under: float = FAIL_UNDER  #: shown in the report; determines the exit code
    samples: bool = True  #: whether values are sampled, for lineage
    lineage: bool = False  #: whether lineage is inferred from the samples
    evidence: EvidenceOptions = EvidenceOptions()  # noqa: RUF009 - frozen


def audit_to_folder(
    request: AuditRequest,
    out: Path,
    *,
    print_line: PrintLine,
    progress: ProgressLine | None = None,
    lineage_progress: ProgressLine | None = None,
) -> AuditReport:
    """Audit and write the results into a folder.

    These are ``report.json``, ``report.html``, ``violations.parquet`` and ``state/``. The folder is replaced when all
    of them are complete; until then, and if the audit is interrupted, its previous content remains.

    Raises:
        UsageError: a topic does not exist, or the folder contains something else.
        Unreachable: the registry or the broker does not respond.
        SparkFailed: Spark ended with an error that was not raised by contractlog.
    """
    with replace_folder(out) as folder:
        state, expectations, duplicates = _audit(request, folder / VIOLATIONS, print_line, progress)
        ensure_readable(folder / VIOLATIONS)
        write_state(state, folder / STATE)
        report: AuditReport = {
            "format": FORMAT,
            "tool": f"contractlog {version('contractlog')}",
            "audited_at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            "source": request.source.body() | {"registry": request.registry.url},
            "thresholds": {"verdict": request.threshold, "fail_under": request.fail_under},
            "scope": {
                **request.selection.body(),
                "lineage": request.lineage,
                "samples": request.samples,
                "producer_headers": list(request.evidence.producer_headers),
                "values_shown": request.evidence.show_values,
            },
            "topics": summarize(
                state,
                expectations.uses,
                notes=_notes(request.source, expectations, duplicates),
                unusable=expectations.unusable(),
                strategies={key: strategy.body() for key, strategy in expectations.strategies.items()},
                threshold=request.threshold,
            ),
            "lineage": infer_edges(state, progress=lineage_progress) if request.lineage else [],
        }
        (folder / REPORT).write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
        (folder / PAGE).write_text(render(report))
    return report


def audit_to_state(request: AuditRequest, *, print_line: PrintLine, progress: ProgressLine | None = None) -> AuditState:
    """Audit and return only the state; no file remains."""
    with TemporaryDirectory(prefix="contractlog-") as folder:
        state, _, _ = _audit(request, Path(folder, VIOLATIONS), print_line, progress)
    return state


def _notes(
    source: RecordSource, expectations: AuditExpectations, duplicates: Mapping[str, int]
) -> dict[tuple[str, str], list[str]]:
    """Return notes by topic and part, such as why a part is not audited or what is skipped."""
    notes = {key: list(sentences) for key, sentences in expectations.notes().items()}
    for topic, part in expectations.parts:
        if part == "value":
            notes[topic, part] = [
                *notes.get((topic, part), ()),
                *source.notes(topic),
                *_duplicate_notes(duplicates.get(topic, 0)),
            ]
    return notes


def _duplicate_notes(records: int) -> list[str]:
    if not records:
        return []
    skipped = "1 record was" if records == 1 else f"{records:,} records were"
    return [f"{skipped} skipped, as the archive has another record with the same offset."]


def _audit(
    request: AuditRequest, violations: Path, print_line: PrintLine, progress: ProgressLine | None
) -> tuple[AuditState, AuditExpectations, Counter[str]]:
    prepare_environment()
    duplicates: Counter[str] = Counter()
    whole = plan_selection(request.source, request.selection, span=sys.maxsize)
    builder = ExpectationBuilder(
        request.registry,
        request.source,
        whole,
        limits=request.limits,
        strategies=request.strategies,
        samples=request.samples,
    )
    expectations = builder.build()
    topics = len({offsets.topic for offsets in whole})
    total = count_offsets(whole)
    print_line(f"auditing {total:,} offsets of {topics:,} topic{'' if topics == 1 else 's'} on {request.master}")
    violations.mkdir()
    if not whole:
        return AuditState(), expectations, duplicates
    with open_session(request.master) as session:

        def read(ranges: Sequence[OffsetRange], expectations: AuditExpectations) -> AuditState:
            size = count_offsets(ranges)
            cut = request.source.split(ranges, min(max(size // RANGES, MIN_RANGE), MAX_RANGE))
            if progress is not None:
                progress.start(size)
            try:
                return audit_ranges(
                    session,
                    request.source,
                    cut,
                    expectations,
                    violations,
                    cap=request.cap,
                    evidence=request.evidence,
                    progress=progress,
                    duplicates=duplicates,
                )
            finally:
                if progress is not None:
                    progress.finish()

        state = read(whole, expectations)
        expectations, changed = builder.refine(expectations, state)
        if changed:
            named = ", ".join(map(escape_line, sorted(changed)))
            reason = "the records follow another subject name strategy than the sampled ones"
            print_line(f"{reason}; reading again: {named}")
            for topic in changed:
                del duplicates[topic]
            again = read([offsets for offsets in whole if offsets.topic in changed], expectations)
            state = limit_samples(limit_state(state.without(changed).merge(again)))
    return state, expectations, duplicates


def publish(registry: Registry, report: AuditReport) -> int:
    """Publish the entry of every part and return their number; publishing a report again changes nothing.

    Entries that are too large for a request are published with fewer examples.

    Raises:
        Unreachable: the registry does not respond.
        InvalidConformance: the registry rejects an entry.
    """
    for entry in report["topics"]:
        registry.publish_conformance(entry["topic"], shorten_entry(entry))
    return len(report["topics"])

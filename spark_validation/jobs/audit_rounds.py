"""Runner of ``contractlog audit``: audits once or repeatedly, prints, delivers alerts and publishes."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from contractlog.clients.cli.exit_codes import CLEAN, FINDINGS
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import print_json, print_message, print_result
from contractlog.clients.cli.progress_line import ProgressLine
from contractlog.clients.cli.report_formats.report_output import output_report
from contractlog.contracts.audit.producers import DEFAULT_PRODUCER_HEADERS
from contractlog.contracts.audit.report import AuditReport
from contractlog.contracts.quality.evaluation import failed_rules
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.expectations.given_strategies import GivenStrategies
from contractlog.spark_validation.jobs.alert_delivery import AlertReceivers, deliver_alerts, parse_receivers
from contractlog.spark_validation.jobs.audit_job import AuditRequest, audit_to_folder, publish
from contractlog.spark_validation.jobs.blame_text import format_blame
from contractlog.spark_validation.jobs.follow import ChangedParts, repeat_audits
from contractlog.spark_validation.jobs.lineage_publication import publish_report_lineage
from contractlog.spark_validation.jobs.quality_files import list_patterns, read_quality_files
from contractlog.spark_validation.jobs.sample_key import read_sample_key
from contractlog.spark_validation.jobs.source_options import make_cluster, make_selection, make_source
from contractlog.spark_validation.jobs.state_lineage import make_lineage_progress
from contractlog.spark_validation.jobs.terminal_report import (
    format_changes,
    format_last_line,
    format_quality,
    format_report,
    parts_below_limit,
)
from contractlog.spark_validation.offset_ranges.evidence_options import EvidenceOptions
from contractlog.spark_validation.report.ci_report import make_ci_report
from contractlog.spark_validation.sources.selection import parse_duration, read_topics_file
from contractlog.spark_validation.spark.session import open_session
from contractlog.spark_validation.violations.violations_file import DEFAULT_MAX_BYTES

__all__ = ["parse_evidence", "run_audits"]

DEFAULT_EVERY: Final = "5m"
_NO_PATTERNS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = MappingProxyType({})


def run_audits(options: Namespace) -> int:
    """Audit as the arguments of ``contractlog audit`` say; return the exit code.

    Raises:
        UsageError: an argument is wrong, or a topic does not exist.
        Unreachable: the registry or the broker does not respond, which ``--follow`` tries again.
        SparkFailed: Spark ended with an error that was not raised by contractlog.
    """
    every = parse_duration(options.every or DEFAULT_EVERY, "--every")
    source = make_source(options)
    named = () if options.topics_file is None else read_topics_file(options.topics_file)
    selection = make_selection(options, [*options.topics, *named])
    receivers = parse_receivers(options)
    quality = read_quality_files(options.quality)
    with connect(options) as registry:
        request = AuditRequest(
            registry=registry,
            source=source,
            selection=selection,
            limits=ValidationLimits(strict_booleans=options.strict),
            cluster=make_cluster(options),
            cap=None if options.full_bytes else DEFAULT_MAX_BYTES,
            strategies=GivenStrategies.parse(options.strategy),
            threshold=options.threshold,
            fail_under=options.fail_under,
            samples=not options.no_samples,
            lineage=options.lineage,
            evidence=parse_evidence(options, list_patterns(quality)),
            full=options.full,
            quality=quality,
            alerts=bool(receivers),
        )
        audits = _Audits(request, options, receivers)
        if not options.follow:
            return audits.run()
        with open_session(request.cluster.master, wheel=request.cluster.wheel):
            return repeat_audits(audits.run, every, print_line=print_message)


def parse_evidence(
    options: Namespace, patterns: Mapping[tuple[str, str], tuple[str, ...]] = _NO_PATTERNS
) -> EvidenceOptions:
    """Return what an audit stores about producers and values, as the arguments say."""
    headers = tuple(dict.fromkeys(options.producer_header))
    return EvidenceOptions(
        headers or DEFAULT_PRODUCER_HEADERS,
        show_values=options.show_values,
        profiles=not options.no_profiles,
        patterns=dict(patterns),
        sample_key=read_sample_key(),
    )


@dataclass
class _Audits:
    """One audit after the other, into the same folder."""

    request: AuditRequest
    options: Namespace
    receivers: AlertReceivers
    first: bool = True
    changed_parts: ChangedParts = field(default_factory=ChangedParts)

    def run(self) -> int:
        """Audit, and do with the result what the options say; return the exit code."""
        out: Path = self.options.out
        report = audit_to_folder(
            self.request,
            out,
            print_line=print_message,
            progress=ProgressLine("auditing", "offsets", sys.stderr),
            lineage_progress=make_lineage_progress(),
            reports=[path for _, path in self.options.reports],
        )
        self._print_report(report)
        if self.receivers:
            deliver_alerts(out, self.receivers, print_line=print_message)
        if self.first:
            print_message(f"the report: {out / 'report.html'}")
        if self.options.publish:
            self._publish(report)
        code = FINDINGS if parts_below_limit(report) or any(map(failed_rules, report["topics"])) else CLEAN
        print_message(format_last_line(report, code))
        self.first = False
        return code

    def _print_report(self, report: AuditReport) -> None:
        if self.options.format == "json":
            print_json(report)
        elif self.options.format == "text":
            for line in self._lines(report):
                print_result(line)
        output_report(self.options, partial(make_ci_report, report))

    def _lines(self, report: AuditReport) -> Iterator[str]:
        """Yield the lines for people: of a repeated audit, only what changed."""
        changes = report.get("changes")
        if self.first:
            yield from format_report(report)
        yield from format_quality(report)
        if self.first or (changes is not None and changes["parts"]):
            yield from format_changes(report)
        if self.options.blame:
            yield from format_blame(report)

    def _publish(self, report: AuditReport) -> None:
        registry = self.request.registry
        parts = self.changed_parts.select(report)
        published = publish(registry, report, parts)
        self.changed_parts.mark_published(report, parts)
        if self.first or parts:
            print_message(f"published {published} entries to {registry.url}")
        if self.options.lineage:
            print_message(publish_report_lineage(registry, report))

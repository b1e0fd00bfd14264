"""Versions that no retained record carries: the scan, the proof, and what prevents their deletion."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, Final

from contractlog.clients.cli.check.recorded_usage import RecordedUsage, fetch_usage
from contractlog.clients.cli.operations.referrers import find_referrers
from contractlog.clients.cli.progress_line import ProgressLine
from contractlog.clients.registry import Registry
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, topic_subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.contracts.audit.id_usage import IdKey, IdUsage, subtract_coverage
from contractlog.contracts.audit.report import PARTS
from contractlog.contracts.audit.time_text import format_time
from contractlog.spark_validation.expectations.version_catalogue import VersionCatalogue
from contractlog.spark_validation.offset_ranges.id_scan import IdScan
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import RecordSource
from contractlog.spark_validation.spark.cluster import SparkCluster
from contractlog.spark_validation.spark.range_tasks import run_on_cluster

__all__ = ["UNUSED_FORMAT", "IdEvidence", "UnusedRequest", "VersionReview", "find_unused"]

UNUSED_FORMAT: Final = "contractlog.unused/1"
MAX_NAMES: Final = 3  #: most topics, subjects or referrers that a reason names

Log = tuple[str, int]
"""A topic and a partition."""


@dataclass(frozen=True, slots=True)
class UnusedRequest:
    """Parameters of the search for unused versions."""

    registry: Registry
    source: RecordSource
    topics: tuple[str, ...] = ()  #: if empty, all
    usage: IdUsage | None = None  #: of an audit; None: the records are read
    cluster: SparkCluster = SparkCluster()  # noqa: RUF009 - frozen


@dataclass(frozen=True)
class IdEvidence:
    """Evidence of the ids in the records of a cluster."""

    usage: IdUsage
    logs: Mapping[Log, tuple[int, int]]  #: first offset and end of each partition, as of now
    all_topics: bool  #: whether these are all topics of the source

    @cached_property
    def topics(self) -> frozenset[str]:
        """The topics."""
        return frozenset(topic for topic, _ in self.logs)

    @cached_property
    def gaps(self) -> Mapping[Log, list[tuple[int, int]]]:
        """Offsets that were not read; of a log that ends before what was read, which is a new one, all."""
        ends: defaultdict[Log, int] = defaultdict(int)
        for each in self.usage.coverage:
            ends[each.topic, each.partition] = max(ends[each.topic, each.partition], each.to_offset)
        replaced = {log for log, (_, end) in self.logs.items() if ends[log] > end}
        coverage = [each for each in self.usage.coverage if (each.topic, each.partition) not in replaced]
        return subtract_coverage(coverage, self.logs)

    @cached_property
    def uses(self) -> Mapping[int, list[IdKey]]:
        """The uses of each id, with the most records first."""
        uses: defaultdict[int, list[IdKey]] = defaultdict(list)
        for key in sorted(self.usage.uses, key=lambda key: (-self.usage.uses[key].records, key)):
            uses[key.schema_id].append(key)
        return uses

    @property
    def complete(self) -> bool:
        """True if the ids of all records are known."""
        return not self.gaps and not self.list_unidentified()

    def list_unidentified(self) -> list[tuple[IdKey, int]]:
        """Return the parts with records whose ids are not known, with their number."""
        return [(key, records) for key, records in sorted(self.usage.unidentified.items()) if key.topic in self.topics]


def find_unused(request: UnusedRequest, progress: ProgressLine) -> dict[str, Any]:
    """Return every version with the reasons why it must be kept, as a JSON object.

    Raises:
        UsageError: a topic does not exist.
        Unreachable: the registry or the source does not respond.
        SparkFailed: Spark ended with an error that was not raised by contractlog.
    """
    catalogue, latest = _fetch_versions(request.registry)
    ranges = request.source.plan(request.topics, span=sys.maxsize)
    usage = request.usage
    if usage is None:
        work = IdScan(catalogue.ids, catalogue.guids)
        usage = run_on_cluster(request.cluster, request.source, ranges, work, progress)
    evidence = IdEvidence(usage, _find_logs(ranges), not request.topics)
    review = VersionReview(evidence, catalogue, latest)
    versions = [version for subject in review.subjects for version in catalogue.versions[subject]]
    recorded = {} if evidence.all_topics else fetch_usage(request.registry, review.subjects)
    described = []
    for version in versions:
        reasons = [*review.list_reasons(version), *_list_recorded(version, evidence, recorded)]
        if not reasons:  # each of these is a request
            reasons = _find_referrers(request.registry, version)
        described.append(_describe_version(version, evidence, reasons))
    return {
        "format": UNUSED_FORMAT,
        "source": {**request.source.body(), "registry": request.registry.url},
        "all_topics": evidence.all_topics,
        "complete": evidence.complete,
        "topics": [_describe_topic(topic, evidence) for topic in sorted(evidence.topics)],
        "versions": described,
    }


def _fetch_versions(registry: Registry) -> tuple[VersionCatalogue, Mapping[str, int]]:
    """Return all versions of the default context, and the latest live one of each subject."""
    live: defaultdict[str, set[int]] = defaultdict(set)
    for version in registry.each_schema():
        if version.subject is not None and version.subject.context == DEFAULT_CONTEXT:
            live[version.subject.name].add(int(version.version or 0))
    versions: defaultdict[str, list[RegisteredSchema]] = defaultdict(list)
    for version in registry.each_schema(deleted=True):
        if version.subject is not None and version.subject.context == DEFAULT_CONTEXT:
            name, number = version.subject.name, int(version.version or 0)
            versions[name].append(replace(version, deleted=number not in live[name]))  # some servers do not tell
    latest = {name: max(numbers) for name, numbers in live.items() if numbers}
    histories = {
        name: sorted(history, key=lambda version: int(version.version or 0))
        for name, history in sorted(versions.items())
    }
    return VersionCatalogue(histories), latest


def _find_logs(ranges: Iterable[OffsetRange]) -> dict[Log, tuple[int, int]]:
    logs: dict[Log, tuple[int, int]] = {}
    for offsets in ranges:
        start, end = logs.get((offsets.topic, offsets.partition), (offsets.start, offsets.end))
        logs[offsets.topic, offsets.partition] = (min(start, offsets.start), max(end, offsets.end))
    return logs


@dataclass(frozen=True)
class VersionReview:
    """Finds the reasons why versions have to stay, as far as they need no further request.

    Args:
        evidence: the ids that records carry.
        catalogue: the versions of every subject.
        latest: the latest live version of each subject.
    """

    evidence: IdEvidence
    catalogue: VersionCatalogue
    latest: Mapping[str, int]

    @cached_property
    def subjects(self) -> list[str]:
        """The subjects whose records are in the topics that were read: all, or those named after the topics."""
        if self.evidence.all_topics:
            return list(self.catalogue.versions)
        named = {topic_subject(topic, part) for topic in self.evidence.topics for part in PARTS}
        named.update(*map(self.catalogue.topic_record_subjects, self.evidence.topics))
        return [subject for subject in self.catalogue.versions if subject in named]

    @cached_property
    def _siblings(self) -> Mapping[int, set[int]]:
        """The ids with a guid of each id, itself included."""
        siblings: defaultdict[int, set[int]] = defaultdict(set)
        for ids in self.catalogue.guids.values():
            for schema_id in ids:
                siblings[schema_id].update(ids)
        return siblings

    @cached_property
    def _subjects(self) -> frozenset[str]:
        return frozenset(self.subjects)

    def list_reasons(self, version: RegisteredSchema) -> Iterator[str]:
        """Yield the reasons in the records, in what was not read of them, and in the subject."""
        schema_id = int(version.schema_id)
        uses = self.evidence.usage.uses
        for key in self.evidence.uses.get(schema_id, ())[:MAX_NAMES]:
            records = uses[key].records
            yield f"{_count(records)} of `{key.topic}` ({key.part}) {'carries' if records == 1 else 'carry'} it"
        siblings: set[int] = self._siblings.get(schema_id, set()) - {schema_id}
        for sibling in sorted(siblings & self.evidence.uses.keys())[:MAX_NAMES]:
            yield f"records carry id {sibling}, which has the same guid"
        others = [name for name, _ in self.catalogue.subjects.get(schema_id, ()) if name not in self._subjects]
        if others:
            yield f"its id is also one of {_join([f'`{name}`' for name in others])}, whose topics were not read"
        for (topic, partition), gaps in islice(self.evidence.gaps.items(), MAX_NAMES):
            first, end = gaps[0]
            yield f"offsets {first:,} to {end - 1:,} of `{topic}` partition {partition} were not read"
        for key, records in self.evidence.list_unidentified()[:MAX_NAMES]:
            yield f"the audit did not count the ids of {_count(records)} of `{key.topic}` ({key.part})"
        if not version.deleted and self.latest.get(str(version.subject)) == version.version:
            yield "it is the latest version"


def _list_recorded(
    version: RegisteredSchema, evidence: IdEvidence, recorded: Mapping[str, RecordedUsage]
) -> Iterator[str]:
    """Yield the topics that were not read and carry an id by the results of audits that the registry has."""
    usage = recorded.get(str(version.subject))
    for topic in usage.topics if usage else ():
        records = sum(use.records for use in topic.versions if use.schema_id == version.schema_id)
        if topic.topic not in evidence.topics and records:
            when = format_time(topic.recorded_at)
            yield f"{_count(records)} of `{topic.topic}`, which was not read, carried it in the audit of {when}"


def _find_referrers(registry: Registry, version: RegisteredSchema) -> list[str]:
    """Return the reason that others reference a version; soft-deleted ones count for hard deletion."""
    referrers = find_referrers(registry, str(version.subject), [int(version.version or 0)], deleted=version.deleted)
    names = [referrer.description for referrer in islice(referrers, MAX_NAMES + 1)]
    return [f"it is referenced by {_join(names)}"] if names else []


def _describe_version(version: RegisteredSchema, evidence: IdEvidence, reasons: Sequence[str]) -> dict[str, Any]:
    uses = [evidence.usage.uses[key] for key in evidence.uses.get(int(version.schema_id), ())]
    return {
        "subject": str(version.subject),
        "version": version.version,
        "schema_id": int(version.schema_id),
        "deleted": version.deleted,
        "records": sum(use.records for use in uses),
        "last_seen": format_time(max((use.last_seen for use in uses), default=None)),
        "may_go": not reasons,
        "reasons": list(reasons),
    }


def _describe_topic(topic: str, evidence: IdEvidence) -> dict[str, Any]:
    first, last = evidence.usage.times.get(topic, (None, None))
    partitions = []
    for (name, partition), (start, end) in sorted(evidence.logs.items()):
        if name != topic:
            continue
        ranges = [each for each in evidence.usage.coverage if (each.topic, each.partition) == (topic, partition)]
        gaps = evidence.gaps.get((topic, partition), [])
        partitions.append(
            {
                "partition": partition,
                "log_start": start,
                "log_end": end,
                "records": sum(each.records for each in ranges),
                "ranges": [[each.from_offset, each.to_offset] for each in sorted(ranges)],
                "gaps": [list(gap) for gap in gaps],
            }
        )
    return {"topic": topic, "oldest": format_time(first), "newest": format_time(last), "partitions": partitions}


def _count(records: int) -> str:
    return f"{records:,} record{'' if records == 1 else 's'}"


def _join(names: Sequence[str]) -> str:
    return ", ".join(names[:MAX_NAMES]) + (", …" if len(names) > MAX_NAMES else "")

"""Incremental audits: the state of a former audit, where reading again would give the same.

``state.json`` has what the former audit depended on, in the member ``basis``. A topic is read again as a whole if any
of that differs now, such as the status of a schema id that its records carry.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from contractlog.clients.bounded_file import read_bounded_file
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.audit.mergeable_state import AuditState, Coverage
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.report import PARTS, Part
from contractlog.spark_validation.expectations.audit_expectations import AuditExpectations, PartExpectation
from contractlog.spark_validation.rules.encryption_keys import lack_same_versions
from contractlog.spark_validation.sources.records import OffsetRange, subtract_ranges
from contractlog.spark_validation.state.state_files import STATE as STATE_FILE
from contractlog.spark_validation.state.state_files import read_state

__all__ = ["AuditOptions", "FormerAudit", "describe_lost_offsets", "read_former_audit", "write_basis"]

FORMAT: Final = 2  #: since 2, records are checked against rules
BASIS: Final = "basis"
_MAX_BYTES: Final = 64 * 2**20


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """Everything but topics and schemas that the result of an audit depends on."""

    source: str  #: kind of the source, and the folder of an archive
    registry: str
    limits: Mapping[str, Any]
    samples: bool
    sample_design: str  #: name of the key of the samples
    profiles: bool
    patterns: str
    producer_headers: tuple[str, ...]
    values_shown: bool
    cap: int | None
    strategies: str
    partitions: str
    tool: str = field(default_factory=lambda: version("contractlog"))


#: Strategies whose further subjects matter only to records that carry their ids.
_BY_RECORD: Final = frozenset({"RecordNameStrategy", "TopicRecordNameStrategy"})
_CHANGES: Final[Mapping[str, str]] = {
    "source": "the source differs",
    "registry": "the registry differs",
    "limits": "limits of the validation, such as --strict, differ",
    "samples": "samples of values are taken now, or no longer",
    "sample_design": "the key of the samples (CONTRACTLOG_SAMPLE_KEY) is another",
    "profiles": "fields are profiled now, or no longer (--no-profiles)",
    "patterns": "patterns of --quality differ",
    "producer_headers": "--producer-header names other headers",
    "values_shown": "values are shown now (--show-values), or no longer",
    "cap": "the limit on stored bytes (--full-bytes) differs",
    "strategies": "--strategy differs",
    "partitions": "--partitions differ",
    "tool": "the version of contractlog differs",
}


@dataclass(frozen=True)
class FormerAudit:
    """A former audit of the same folder: its state, and what it was based on."""

    state: AuditState
    topics: Mapping[str, Mapping[str, Any]]  #: id, and parts with strategy and schema ids, by topic

    def restrict(self, topics: Collection[str]) -> FormerAudit:
        """Return the audit of some of its topics."""
        others = {coverage.topic for coverage in self.state.coverage} - set(topics)
        return FormerAudit(
            self.state.without(others), {topic: self.topics[topic] for topic in topics if topic in self.topics}
        )

    def find_changes(
        self,
        ranges: Iterable[OffsetRange],
        ids: Mapping[str, str],
        expectations: AuditExpectations | None = None,
    ) -> dict[str, str]:
        """Return why topics must be read again as a whole, by topic.

        Args:
            ranges: the ranges that have all records now.
            ids: ids of topics.
            expectations: the expected schemas, if they are known.
        """
        changes: dict[str, str] = {}
        ends = _find_ends(self.state.coverage)
        carried = _find_carried_ids(self.state)
        for offsets in ranges:
            topic = offsets.topic
            former = self.topics.get(topic)
            if former is None or topic in changes:
                continue
            if former.get("id") and ids.get(topic) and former["id"] != ids[topic]:
                changes[topic] = "the topic was created again"
            elif offsets.end < ends.get(offsets.key, 0):
                changes[topic] = f"the topic was created again: partition {offsets.partition} is shorter than before"
            elif expectations is not None:
                for part in PARTS:
                    stored = former.get("parts", {}).get(part, {})
                    now = _describe_part(topic, part, expectations, carried[topic, part])
                    reason = _compare_parts(stored, now)
                    if reason:
                        changes[topic] = f"{reason} (of the {part}s)"
        return changes

    def find_new_ranges(self, ranges: Iterable[OffsetRange]) -> list[OffsetRange]:
        """Return the parts of ranges that were not audited; a partition that was not audited as it is."""
        covered = [
            OffsetRange(each.topic, each.partition, each.from_offset, each.to_offset) for each in self.state.coverage
        ]
        keys = {offsets.key for offsets in covered}
        ranges = list(ranges)
        new = subtract_ranges([offsets for offsets in ranges if offsets.key in keys], covered)
        return sorted([*new, *(offsets for offsets in ranges if offsets.key not in keys)])


def read_former_audit(folder: Path, options: AuditOptions) -> FormerAudit | str:
    """Read a former audit, or return why it cannot be continued; empty if there is none."""
    if not (folder / STATE_FILE).exists():
        return ""
    try:
        basis = json.loads(read_bounded_file(folder / STATE_FILE, _MAX_BYTES)).get(BASIS)
        if basis is None or basis["format"] != FORMAT:
            return "its state was written by another version of contractlog"
        now = json.loads(json.dumps(asdict(options)))
        changed = [name for name, value in now.items() if basis["options"].get(name) != value]
        if changed:
            return _CHANGES[changed[0]]
        return FormerAudit(read_state(folder), {str(topic): dict(former) for topic, former in basis["topics"].items()})
    except UsageError as error:
        return escape_line(str(error))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "its state cannot be read"


def write_basis(
    folder: Path,
    state: AuditState,
    options: AuditOptions,
    expectations: AuditExpectations,
    ids: Mapping[str, str],
) -> None:
    """Add what an audit is based on to the state in a folder."""
    carried = _find_carried_ids(state)
    topics = {
        topic: {
            "id": ids.get(topic),
            "parts": {part: _describe_part(topic, part, expectations, carried[topic, part]) for part in PARTS},
        }
        for topic in sorted({coverage.topic for coverage in state.coverage})
    }
    file = folder / STATE_FILE
    description = json.loads(file.read_text())
    description[BASIS] = {"format": FORMAT, "options": asdict(options), "topics": topics}
    file.write_text(json.dumps(description) + "\n")


def describe_lost_offsets(state: AuditState, ranges: Sequence[OffsetRange]) -> Iterator[tuple[str, str]]:
    """Yield topics with sentences about offsets that were audited before and are no longer in the log."""
    starts: dict[tuple[str, int], int] = {}
    ends = _find_ends(state.coverage)
    for coverage in state.coverage:
        key = (coverage.topic, coverage.partition)
        starts[key] = min(starts.get(key, coverage.from_offset), coverage.from_offset)
    for offsets in ranges:
        start = starts.get(offsets.key, offsets.start)
        if start < min(offsets.start, ends.get(offsets.key, 0)):
            span = f"Offsets {start} to {min(offsets.start, ends[offsets.key])} of partition {offsets.partition}"
            yield offsets.topic, f"{span} were audited before and are no longer in the log."


def _find_ends(coverage: Iterable[Coverage]) -> dict[tuple[str, int], int]:
    ends: dict[tuple[str, int], int] = {}
    for each in coverage:
        key = (each.topic, each.partition)
        ends[key] = max(ends.get(key, 0), each.to_offset)
    return ends


def _find_carried_ids(state: AuditState) -> Mapping[tuple[str, str], set[int]]:
    """Return the ids that records carry, by topic and part; 0 if some unknown ids are not counted singly."""
    carried: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for key in state.cells:
        if key.schema_id:
            carried[key.topic, key.part].add(key.schema_id)
    for violation in state.violations:
        if violation.outcome is Outcome.UNKNOWN_SCHEMA_ID:
            carried[violation.topic, violation.part].add(violation.schema_id)
    return carried


def _describe_part(topic: str, part: Part, expectations: AuditExpectations, carried: Collection[int]) -> dict[str, Any]:
    expectation = expectations.parts[topic, part]
    strategy = expectation.strategy
    return {
        "audited": expectation.audited,
        "strategy": None if strategy is None else strategy.name,
        "subjects": None if strategy is None or strategy.subjects is None else sorted(strategy.subjects),
        "ids": {str(schema_id): _describe_id(schema_id, expectation) for schema_id in sorted(carried)},
        "keys": {
            str(schema_id): {pointer: keys.body() for pointer, keys in expectations.schemas[schema_id].keys.items()}
            for schema_id in sorted(carried)
            if schema_id in expectations.schemas and expectations.schemas[schema_id].keys
        },
    }


def _describe_id(schema_id: int, expectation: PartExpectation) -> str:
    if not schema_id:
        return f"{len(expectation.known_ids)} ids to {max(expectation.known_ids, default=0)}"
    if schema_id not in expectation.known_ids:
        return "unknown"
    return "allowed" if expectation.allowed is None or schema_id in expectation.allowed else "of another subject"


def _compare_parts(former: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return what has changed for the records of a part; empty if nothing has."""
    if former.get("audited") != now["audited"]:
        return "they have a schema now" if now["audited"] else "they have no schema any more"
    if former.get("strategy") != now["strategy"]:
        return f"the subject name strategy is {now['strategy']} now"
    if now["strategy"] not in _BY_RECORD and former.get("subjects") != now["subjects"]:
        return "the subjects of the topic differ"
    ids = former.get("ids", {})
    for schema_id, status in now["ids"].items():
        if ids.get(schema_id) != status:
            return f"schema id {schema_id} is {status} now" if schema_id != "0" else "the registry has further schemas"
    for schema_id, keys in now["keys"].items():
        before = former.get("keys", {}).get(schema_id, {})
        if not all(lack_same_versions(before.get(pointer, {}), each) for pointer, each in keys.items()):
            return f"encryption keys of schema id {schema_id} were deleted or restored"
    return ""

"""A former audit is continued where reading its offsets again would give the same, and only there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.compatibility.data_contract import Rule, RuleSet
from contractlog.compatibility.schema import SchemaDraft
from contractlog.contracts.audit.mergeable_state import AuditState, Coverage, merge_states
from contractlog.spark_validation.expectations.expectation_builder import ExpectationBuilder
from contractlog.spark_validation.jobs.increment import (
    AuditOptions,
    FormerAudit,
    describe_lost_offsets,
    read_former_audit,
    write_basis,
)
from contractlog.spark_validation.offset_ranges.audit import audit_range
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import ArchiveSource
from contractlog.spark_validation.state.state_files import write_state

from support.archives import ORDER, Record, encode_frame, encode_order, write_topic

OPTIONS = AuditOptions(
    source="kafka ",
    registry="http://registry",
    limits={"strict_booleans": False},
    samples=True,
    sample_design="contractlog.lineage/1",
    profiles=True,
    patterns="[]",
    producer_headers=("producer",),
    values_shown=False,
    cap=1024,
    strategies="()",
    partitions="",
)
WIDER = ORDER.replace('"type":"string"}', '"type":"string"},{"name":"more","type":["null","long"],"default":null}')
WHOLE = [OffsetRange("t", 0, 0, 9)]


class Audited:
    """An archive of one topic, audited without Spark."""

    def __init__(self, registry: Registry, folder: Path, records: list[Record]) -> None:
        self.registry = registry
        self.source = ArchiveSource(folder / "archive")
        self.state_folder = folder / "state"
        write_topic(self.source.folder, "t", records)
        builder = ExpectationBuilder(registry, self.source, self.source.plan(()))
        expectations = builder.build()
        state = merge_states(audit_range(self.source, each, expectations) for each in self.source.plan(()))
        expectations, _ = builder.refine(expectations, state)
        write_state(state, self.state_folder)
        write_basis(self.state_folder, state, OPTIONS, expectations, {"t": "id-1"})
        self.state = state

    def read(self, options: AuditOptions = OPTIONS) -> FormerAudit:
        former = read_former_audit(self.state_folder, options)
        assert isinstance(former, FormerAudit), former
        return former

    def changes(self, ids: dict[str, str] | None = None, end: int = 9) -> dict[str, str]:
        former = self.read()
        builder = ExpectationBuilder(self.registry, self.source, self.source.plan(()))
        expectations, _ = builder.refine(builder.build(), former.state)
        return former.find_changes([OffsetRange("t", 0, 0, end)], {"t": "id-1"} if ids is None else ids, expectations)


@pytest.fixture
def audited(registry: Registry, tmp_path: Path) -> Audited:
    """A topic whose records carry an id of its subject, one of another subject, and one that is not registered."""
    first = registry.register("t-value", SchemaDraft(ORDER)).schema_id
    other = registry.register("other-value", SchemaDraft('"string"')).schema_id
    values = [*[encode_order(first)] * 5, encode_frame(other, b"\x02a"), encode_order(3)]
    return Audited(registry, tmp_path, [Record(at, value=value) for at, value in enumerate(values)])


def test_a_state_is_read_with_what_it_was_based_on(audited: Audited) -> None:
    former = audited.read()
    assert (former.state.cells, former.state.coverage) == (audited.state.cells, audited.state.coverage)
    assert former.topics["t"]["id"] == "id-1"
    assert former.topics["t"]["parts"]["value"]["ids"] == {"1": "allowed", "2": "of another subject", "3": "unknown"}
    assert audited.changes() == {}


def test_new_versions_matter_only_to_records_that_carry_their_ids(audited: Audited) -> None:
    registered = audited.registry.register("t-value", SchemaDraft(WIDER)).schema_id
    assert registered == 3  # which a record carries
    assert audited.changes() == {"t": "schema id 3 is allowed now (of the values)"}


def test_a_deleted_encryption_key_changes_the_records_that_it_encrypts(registry: Registry, tmp_path: Path) -> None:
    rule = Rule("secret", type="ENCRYPT", tags=("PII",), params={"encrypt.kek.name": "pii"})
    draft = SchemaDraft(ORDER, rule_set=RuleSet(domain_rules=(rule,)))
    schema_id = registry.register("t-value", draft).schema_id
    registry.create_kek("pii", "local-kms", "key")
    registry.create_dek("pii", "t-value", "d3JhcHBlZA==")
    audited = Audited(registry, tmp_path, [Record(0, value=encode_order(schema_id))])
    registry.create_dek("pii", "t-value", "d3JhcHBlZA==", version=2)
    assert audited.changes(end=1) == {}
    registry.delete_dek("pii", "t-value")
    registry.delete_kek("pii")
    reason = "encryption keys of schema id 1 were deleted or restored (of the values)"
    assert audited.changes(end=1) == {"t": reason}


def test_versions_that_no_record_carries_change_nothing(audited: Audited) -> None:
    for number in range(4, 7):
        audited.registry.register(f"s{number}", SchemaDraft(f'{{"type":"fixed","size":{number},"name":"F"}}'))
    audited.registry.delete_subject("s4")
    audited.registry.delete_subject("s4", permanent=True)
    assert audited.changes() == {}


@pytest.mark.parametrize(
    ("ids", "end", "reason"),
    [
        ({"t": "id-2"}, 9, "the topic was created again"),
        ({"t": "id-1"}, 6, "the topic was created again: partition 0 is shorter than before"),
        ({}, 9, None),
        ({}, 7, None),
    ],
)
def test_a_topic_that_was_created_again_is_noticed(
    audited: Audited, ids: dict[str, str], end: int, reason: str | None
) -> None:
    assert audited.changes(ids, end) == ({} if reason is None else {"t": reason})


def test_a_subject_that_is_new_or_gone_is_noticed(registry: Registry, tmp_path: Path) -> None:
    audited = Audited(registry, tmp_path, [Record(0, value=b"plain")])
    assert audited.changes() == {}
    registry.register("t-value", SchemaDraft(ORDER))
    assert audited.changes() == {"t": "they have a schema now (of the values)"}


def test_only_offsets_that_are_not_covered_are_new(audited: Audited) -> None:
    former = audited.read()
    ranges = [OffsetRange("t", 0, 2, 12), OffsetRange("t", 1, 0, 0), OffsetRange("u", 0, 3, 5)]
    assert former.find_new_ranges(ranges) == [OffsetRange("t", 0, 7, 12), *ranges[1:]]
    assert former.find_new_ranges([OffsetRange("t", 0, 0, 7)]) == []
    assert former.find_new_ranges([OffsetRange("t", 0, 9, 12)]) == [OffsetRange("t", 0, 9, 12)]


def test_offsets_that_the_log_no_longer_has_are_described() -> None:
    state = AuditState(
        frozenset({Coverage("t", 0, 0, 50, 50), Coverage("t", 0, 50, 90, 40), Coverage("t", 1, 5, 9, 4)})
    )
    ranges = [OffsetRange("t", 0, 60, 99), OffsetRange("t", 1, 5, 12), OffsetRange("u", 0, 3, 4)]
    sentence = "Offsets 0 to 60 of partition 0 were audited before and are no longer in the log."
    assert list(describe_lost_offsets(state, ranges)) == [("t", sentence)]
    assert "Offsets 0 to 90" in next(describe_lost_offsets(state, [OffsetRange("t", 0, 95, 99)]))[1]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"limits": {"strict_booleans": True}}, "limits of the validation, such as --strict, differ"),
        ({"samples": False}, "samples of values are taken now, or no longer"),
        ({"registry": "http://another"}, "the registry differs"),
        ({"tool": "0.0.1"}, "the version of contractlog differs"),
        ({"partitions": "0"}, "--partitions differ"),
    ],
)
def test_other_options_are_the_reason_to_read_everything(
    audited: Audited, change: dict[str, object], reason: str
) -> None:
    assert read_former_audit(audited.state_folder, replace(OPTIONS, **change)) == reason  # type: ignore[arg-type]


def test_states_that_cannot_be_continued_are_the_reason_to_read_everything(audited: Audited, tmp_path: Path) -> None:
    assert read_former_audit(tmp_path / "none", OPTIONS) == ""
    file = audited.state_folder / "state.json"
    description = json.loads(file.read_text())
    for text, reason in (
        ("[", "its state cannot be read"),
        ("[]", "its state cannot be read"),
        (json.dumps({**description, "basis": None}), "another version of contractlog"),
        (json.dumps({**description, "basis": {"format": 99}}), "another version of contractlog"),
        (json.dumps({**description, "basis": {"format": 2, "options": {}}}), "the source differs"),
        (json.dumps({**description, "basis": {**description["basis"], "topics": 7}}), "its state cannot be read"),
        (json.dumps({**description, "format": "contractlog.state/0"}), "state of another format"),
    ):
        file.write_text(text)
        assert reason in str(read_former_audit(audited.state_folder, OPTIONS))

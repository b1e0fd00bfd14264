"""The expectations of an audit, built from a real registry in this process."""

from __future__ import annotations

import json
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.compatibility.errors import NotFound
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import Reference, SchemaDraft, SchemaType
from contractlog.contracts.audit.mergeable_state import merge_states
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.report import TopicPart
from contractlog.contracts.audit.summary import summarize
from contractlog.spark_validation.expectations import registry_catalogue
from contractlog.spark_validation.expectations.audit_expectations import AuditExpectations
from contractlog.spark_validation.expectations.expectation_builder import ExpectationBuilder
from contractlog.spark_validation.offset_ranges.audit import audit_range
from contractlog.spark_validation.sources.source import ArchiveSource

from support.archives import ORDER, Record, encode_frame, encode_order, write_topic
from support.recording_source import RecordingSource

WIDER = ORDER.replace('"type":"string"}', '"type":"string"},{"name":"more","type":["null","long"],"default":null}')


def make_expectations(registry: Registry, folder: Path) -> AuditExpectations:
    """Plan an audit of all of an archive."""
    source = ArchiveSource(folder)
    return ExpectationBuilder(registry, source, source.plan(())).build()


def audited(registry: Registry, folder: Path) -> dict[tuple[str, str], TopicPart]:
    """Audit all of an archive, without Spark, as a worker would: with the expectations as they travel."""
    source = ArchiveSource(folder)
    expectations = pickle.loads(pickle.dumps(make_expectations(registry, folder)))  # noqa: S301 - ours
    state = merge_states(audit_range(source, one, expectations) for one in source.plan(()))
    return {
        (entry["topic"], entry["part"]): entry
        for entry in summarize(state, expectations.uses, notes=expectations.notes(), unusable=expectations.unusable())
    }


def codes(entry: TopicPart) -> dict[str, int]:
    """Return the violating records by code."""
    return {line["code"]: line["records"] for line in entry["violations"]}


def test_a_part_is_held_against_all_versions_of_its_subject_soft_deleted_ones_too(
    registry: Registry, tmp_path: Path
) -> None:
    first = registry.register("t-value", SchemaDraft(ORDER)).schema_id
    registry.register("t-value", SchemaDraft(WIDER))
    foreign = registry.register("other-value", SchemaDraft('"string"')).schema_id
    registry.delete_version("t-value", 1)
    write_topic(
        tmp_path,
        "t",
        [
            Record(0, value=encode_order(first)),
            Record(1, value=encode_frame(foreign, b"\x02a")),
            Record(2, value=encode_order(999)),
        ],
    )
    entry = audited(registry, tmp_path)["t", "value"]
    assert codes(entry) == {"WRONG_SUBJECT": 1, "UNKNOWN_SCHEMA_ID": 1}
    assert entry["conforming"] == 1
    assert [(use["subject"], use["version"]) for use in entry["schemas"]] == [
        ("t-value", 1),
        ("other-value", 1),
        (None, None),
    ]
    assert [use["expected"] for use in entry["schemas"]] == [True, False, False]


def test_a_version_that_goes_while_it_is_listed_is_the_only_one_left_out(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.register("a-value", SchemaDraft(ORDER))
    kept = [
        int(registry.register(f"{name}-value", SchemaDraft(f'{{"type":"fixed","size":1,"name":"{name}"}}')).schema_id)
        for name in "bcdefg"
    ]
    write_topic(tmp_path, "t", [Record(0, value=encode_frame(kept[0], b"x"))])
    listed = registry.schemas

    def going(**options: Any) -> Any:
        page = listed(**options)
        with suppress(NotFound):
            registry.delete_version("a-value", 1)
            registry.delete_version("a-value", 1, permanent=True)
        return page

    monkeypatch.setattr(registry, "schemas", going)
    monkeypatch.setattr(registry_catalogue, "PAGE", 3)
    assert make_expectations(registry, tmp_path).parts["t", "value"].known_ids == set(kept)


def test_versions_are_fetched_one_by_one_if_the_registry_does_not_list_them(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema_id = int(registry.register("t-value", SchemaDraft(ORDER)).schema_id)
    write_topic(tmp_path, "t", [Record(0, value=encode_order(schema_id))])

    def fail(**_: Any) -> Any:
        raise NotFound("HTTP 404 Not Found")

    monkeypatch.setattr(registry, "schemas", fail)
    assert make_expectations(registry, tmp_path).parts["t", "value"].allowed == {schema_id}


@pytest.mark.parametrize("topics", [3, 40])
def test_the_requests_to_the_registry_do_not_grow_with_topics_versions_or_references(
    registry: Registry, tmp_path: Path, topics: int
) -> None:
    registry.register("shared", SchemaDraft('{"type":"fixed","size":1,"name":"Shared"}'))
    shared = (Reference("Shared", "shared", 1),)
    ids = []
    for number in range(topics):
        text = f'{{"type":"record","name":"T{number}","fields":[{{"name":"a","type":"Shared"}}]}}'
        ids.append(int(registry.register(f"t{number}-value", SchemaDraft(text, references=shared)).schema_id))
        write_topic(tmp_path, f"t{number}", [Record(0, value=encode_frame(ids[-1], b"x"))])
    counting: Any = RecordingSource(registry)
    expectations = make_expectations(counting, tmp_path)
    assert [len(expectations.parts[f"t{number}", "value"].allowed or ()) for number in range(topics)] == [1] * topics
    assert not expectations.unusable()
    assert len(counting.method_names) <= 2 + min(topics, 8)


def test_a_subject_that_is_wholly_soft_deleted_still_counts(registry: Registry, tmp_path: Path) -> None:
    schema_id = registry.register("t-value", SchemaDraft(ORDER)).schema_id
    registry.delete_subject("t-value")
    write_topic(tmp_path, "t", [Record(0, value=encode_order(schema_id))])
    assert audited(registry, tmp_path)["t", "value"]["verdict"] == "passing"


def test_an_id_that_the_registry_lost_is_counted(registry: Registry, tmp_path: Path) -> None:
    registry.register("t-value", SchemaDraft(ORDER))
    lost = registry.register("t-value", SchemaDraft(WIDER)).schema_id
    registry.delete_version("t-value", 2)
    registry.delete_version("t-value", 2, permanent=True)
    write_topic(tmp_path, "t", [Record(at, value=encode_frame(lost, b"\x02\x02a\x00")) for at in range(3)])
    assert codes(audited(registry, tmp_path)["t", "value"]) == {"UNKNOWN_SCHEMA_ID": 3}


def test_a_part_without_a_subject_is_audited_by_the_ids_it_carries(registry: Registry, tmp_path: Path) -> None:
    schema_id = registry.register("shop.Order", SchemaDraft(ORDER)).schema_id
    records = [Record(at, value=encode_order(schema_id)) for at in range(8)]
    write_topic(tmp_path, "t", [*records, Record(8, value=encode_order(schema_id)[:-1]), Record(9, value=b"plain")])
    entry = audited(registry, tmp_path)["t", "value"]
    assert codes(entry) == {"TRUNCATED": 1, "NOT_FRAMED": 1}
    assert entry["schemas"][0]["subject"] == "shop.Order"
    assert "audited by the ids" in entry["notes"][0]


def test_a_part_without_a_subject_and_without_known_ids_is_unknown(registry: Registry, tmp_path: Path) -> None:
    registry.register("other-value", SchemaDraft(ORDER))
    write_topic(tmp_path, "plain", [Record(at, key=b"k%d" % at, value=b"no frame at all") for at in range(9)])
    write_topic(tmp_path, "foreign", [Record(at, value=encode_order(404)) for at in range(9)])
    write_topic(tmp_path, "nulls", [Record(at) for at in range(9)])
    write_topic(tmp_path, "empty", [])
    entries = audited(registry, tmp_path)
    assert len(entries) == 8
    for entry in entries.values():
        assert (entry["verdict"], entry["violating"], entry["conformance"]) == ("unknown", 0, None)
        assert entry["notes"]
    assert entries["nulls", "value"]["tombstones"] == entries["nulls", "key"]["tombstones"] == 9


def test_a_topic_with_a_subject_and_nothing_but_nulls_is_counted_as_tombstones(
    registry: Registry, tmp_path: Path
) -> None:
    registry.register("t-value", SchemaDraft(ORDER))
    write_topic(tmp_path, "t", [Record(at) for at in range(4)])
    entry = audited(registry, tmp_path)["t", "value"]
    assert (entry["verdict"], entry["tombstones"], entry["records"], entry["absent"]) == ("unknown", 4, 4, 0)


def test_numbers_that_look_like_frames_do_not_make_a_part_audited(registry: Registry, tmp_path: Path) -> None:
    schema_id = int(registry.register("other-value", SchemaDraft(ORDER)).schema_id)
    keys = [((schema_id << 24) + at * 4_000_000).to_bytes(8, "big") for at in range(20)]
    assert sum(key[:5] == encode_frame(schema_id, b"") for key in keys) == 5
    write_topic(tmp_path, "t", [Record(at, key=key) for at, key in enumerate(keys)])
    assert not make_expectations(registry, tmp_path).parts["t", "key"].audited


def test_json_schemas_and_keys_are_audited_alike(registry: Registry, tmp_path: Path) -> None:
    from contractlog.compatibility.schema import SchemaType

    text = '{"type":"object","properties":{"at":{"type":"integer"}},"required":["at"]}'
    schema_id = registry.register("t-key", SchemaDraft(text, SchemaType.JSON)).schema_id
    keys = [b'{"at": 1}', b'{"at": "x"}', b"{", None]
    write_topic(tmp_path, "t", [Record(at, key=key and encode_frame(schema_id, key)) for at, key in enumerate(keys)])
    entry = audited(registry, tmp_path)["t", "key"]
    assert codes(entry) == {Outcome.SCHEMA_VIOLATION.name: 1, Outcome.NOT_JSON.name: 1}
    assert (entry["conforming"], entry["tombstones"], entry["verdict"]) == (1, 1, "failing")


JSON_AT = '{"type": "object", "properties": {"at": {"type": "integer"}}}'
NOT_USABLE = '{"required": ["a", "a"], "title": "A"}'  # the registry accepts it, the meta-schema of its draft does not


def test_records_of_a_schema_that_validators_cannot_use_have_their_own_outcome(
    registry: Registry, tmp_path: Path
) -> None:
    good = registry.register("t-value", SchemaDraft(JSON_AT, SchemaType.JSON)).schema_id
    registry.set_level(Level.NONE, "t-value")
    bad = registry.register("t-value", SchemaDraft(NOT_USABLE, SchemaType.JSON)).schema_id
    values = [(good, b'{"at": 1}'), (good, b'{"at": "x"}'), (bad, b'{"at": 1}'), (bad, b"{"), (bad, b'{"at": "x"}')]
    write_topic(
        tmp_path,
        "t",
        [Record(at, value=encode_frame(*value)) for at, value in enumerate([*values, (good, b'{"at": null}')])],
    )
    entry = audited(registry, tmp_path)["t", "value"]
    assert codes(entry) == {"SCHEMA_VIOLATION": 2}
    assert (entry["conforming"], entry["violating"], entry["unaudited"], entry["records"]) == (1, 2, 3, 6)
    assert (entry["conformance"], entry["verdict"], entry["missed"]) == (
        1 / 3,
        "failing",
        ["all versions", "newest version"],
    )
    assert entry["notes"] == [
        (
            f"3 records carry schema id {bad} (version 2 of `t-value`), which validators cannot use: the value has "
            "non-unique elements, at `/required`. Such records are not audited (`SCHEMA_NOT_USABLE`): register a "
            "corrected version, and write with it."
        )
    ]


def test_a_part_of_which_all_records_carry_a_schema_that_validators_cannot_use_is_unknown(
    registry: Registry, tmp_path: Path
) -> None:
    bad = registry.register("t-value", SchemaDraft(NOT_USABLE, SchemaType.JSON)).schema_id
    write_topic(tmp_path, "t", [Record(0, value=encode_frame(bad, b'{"a": 1}')), Record(1)])
    entry = audited(registry, tmp_path)["t", "value"]
    assert (entry["verdict"], entry["conformance"], entry["violating"]) == ("unknown", None, 0)
    assert (entry["unaudited"], entry["tombstones"]) == (1, 1)
    (note,) = entry["notes"]
    assert note.startswith(f"1 record carries schema id {bad} (version 1 of `t-value`), which validators cannot use: ")


@pytest.mark.parametrize("subject", ["t-value", "A"])
def test_a_schema_that_only_a_late_record_carries_takes_no_other_record_along(
    registry: Registry, tmp_path: Path, subject: str
) -> None:
    """Also where the strategy is found in the records, in a look at which none of them is."""
    good = registry.register(subject, SchemaDraft('{"title": "A"}', SchemaType.JSON)).schema_id
    registry.set_level(Level.NONE, subject)
    bad = registry.register(subject, SchemaDraft(NOT_USABLE, SchemaType.JSON)).schema_id
    ids = [good] * 1_000 + [bad] + [good] * 1_000
    write_topic(tmp_path, "t", [Record(at, value=encode_frame(each, b'{"at": 1}')) for at, each in enumerate(ids)])
    entry = audited(registry, tmp_path)["t", "value"]
    assert (entry["verdict"], entry["conforming"], entry["unaudited"]) == ("passing", 2_000, 1)


def test_a_schema_that_no_record_carries_is_not_mentioned(registry: Registry, tmp_path: Path) -> None:
    good = registry.register("t-value", SchemaDraft(JSON_AT, SchemaType.JSON)).schema_id
    registry.set_level(Level.NONE, "t-value")
    registry.register("t-value", SchemaDraft(NOT_USABLE, SchemaType.JSON))
    values = (b'{"at": 1}', b'{"at": "x"}')
    write_topic(tmp_path, "t", [Record(at, value=encode_frame(good, value)) for at, value in enumerate(values)])
    entry = audited(registry, tmp_path)["t", "value"]
    assert (entry["conforming"], entry["violating"], entry["verdict"]) == (1, 1, "failing")
    assert (entry["unaudited"], entry["notes"]) == (0, [])


def test_the_reason_why_validators_cannot_use_a_schema_is_one_line_of_bounded_length(
    registry: Registry, tmp_path: Path
) -> None:
    name = json.dumps("\n::error::\x1b[2J\u202e" * 100)
    text = f'{{"properties": {{{name}: {{"minLength": -1}}}}}}'
    bad = registry.register("t-value", SchemaDraft(text, SchemaType.JSON)).schema_id
    write_topic(tmp_path, "t", [Record(0, value=encode_frame(bad, b"{}"))])
    (note,) = audited(registry, tmp_path)["t", "value"]["notes"]
    assert "the value is less than the minimum of 0, at `/properties/" in note
    assert note.isprintable()
    assert len(note) < 800

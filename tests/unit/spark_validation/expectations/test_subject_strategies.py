"""Permitted subjects of a topic's records: given, associated, or inferred from 95 % of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contractlog.clients import AssociationDraft, Registry, Resource
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.contracts.audit.mergeable_state import AuditState, merge_states
from contractlog.contracts.audit.report import TopicPart
from contractlog.contracts.audit.summary import summarize
from contractlog.serdes.avro import AvroSerializer
from contractlog.serdes.context import SerializationContext
from contractlog.serdes.schema_ids import header_schema_id_serializer
from contractlog.spark_validation.expectations.audit_expectations import AuditExpectations
from contractlog.spark_validation.expectations.expectation_builder import ExpectationBuilder
from contractlog.spark_validation.expectations.given_strategies import GivenStrategies
from contractlog.spark_validation.offset_ranges.audit import audit_range
from contractlog.spark_validation.sources.source import ArchiveSource

from support.archives import ORDER, Record, encode_frame, encode_order, write_topic

SHOP = ORDER.replace('"Order"', '"Order","namespace":"shop"')
PAYMENT = SHOP.replace("Order", "Payment")
OLD = ORDER.replace("total", "sum")


def register(registry: Registry, subject: str, text: str) -> int:
    return int(registry.register(subject, SchemaDraft(text)).schema_id)


def make_builder(registry: Registry, folder: Path, *given: str) -> ExpectationBuilder:
    source = ArchiveSource(folder)
    return ExpectationBuilder(registry, source, source.plan(()), strategies=GivenStrategies.parse(given))


def read(folder: Path, expectations: AuditExpectations) -> AuditState:
    source = ArchiveSource(folder)
    return merge_states(audit_range(source, one, expectations) for one in source.plan(()))


def audited(registry: Registry, folder: Path, *given: str) -> dict[tuple[str, str], TopicPart]:
    """Audit all of an archive as the verb does, without Spark."""
    builder = make_builder(registry, folder, *given)
    expectations = builder.build()
    state = read(folder, expectations)
    expectations, changed = builder.refine(expectations, state)
    if changed:
        state = read(folder, expectations)
        assert builder.refine(expectations, state)[1] == frozenset()
    strategies = {key: one.body() for key, one in expectations.strategies.items()}
    entries = summarize(state, expectations.uses, notes=expectations.notes(), strategies=strategies)
    return {(entry["topic"], entry["part"]): entry for entry in entries}


def codes(entry: TopicPart) -> dict[str, int]:
    return {line["code"]: line["records"] for line in entry["violations"]}


def named(entry: TopicPart) -> tuple[str, str]:
    assert entry["strategy"] is not None
    return entry["strategy"]["name"], entry["strategy"]["chosen_by"]


@pytest.mark.parametrize(
    ("subject", "name"), [("shop.Order", "RecordNameStrategy"), ("t-shop.Order", "TopicRecordNameStrategy")]
)
def test_records_tell_their_strategy_although_the_topics_own_subject_exists(
    registry: Registry, tmp_path: Path, subject: str, name: str
) -> None:
    register(registry, "t-value", OLD)
    schema_id = register(registry, subject, SHOP)
    write_topic(tmp_path, "t", [Record(at, value=encode_order(schema_id)) for at in range(20)])
    entry = audited(registry, tmp_path)["t", "value"]
    assert named(entry) == (name, "evidence")
    assert entry["strategy"]
    assert (
        "20 of 20 records with a known id carry one of a subject named after its record" in entry["strategy"]["reason"]
    )
    assert (entry["verdict"], entry["conforming"]) == ("passing", 20)
    assert [(use["subject"], use["version"], use["expected"]) for use in entry["schemas"]] == [(subject, 1, True)]


@pytest.mark.parametrize(("others", "name"), [(5, "RecordNameStrategy"), (6, "TopicNameStrategy")])
def test_ninety_five_per_cent_of_the_records_with_a_known_id_decide(
    registry: Registry, tmp_path: Path, others: int, name: str
) -> None:
    own = register(registry, "t-value", OLD)
    schema_id = register(registry, "shop.Order", SHOP)
    bodies = [encode_order(schema_id)] * (100 - others) + [encode_order(own)] * others
    unknown = [encode_order(404)] * 50 + [b"plain"] * 50  # do not count
    write_topic(tmp_path, "t", [Record(at, value=body) for at, body in enumerate(bodies + unknown)])
    entry = audited(registry, tmp_path)["t", "value"]
    assert named(entry)[0] == name
    wrong = others if name == "RecordNameStrategy" else 100 - others
    assert codes(entry)["WRONG_SUBJECT"] == wrong


def test_of_another_record_every_subject_named_after_its_record_is_allowed_and_others_are_named(
    registry: Registry, tmp_path: Path
) -> None:
    first, second = register(registry, "shop.Order", SHOP), register(registry, "shop.Payment", PAYMENT)
    foreign = register(registry, "other-value", '"string"')
    bodies = [encode_order(first)] * 20 + [encode_order(second)] * 20 + [encode_frame(foreign, b"\x02a")]
    write_topic(tmp_path, "t", [Record(at, value=body) for at, body in enumerate(bodies)])
    entry = audited(registry, tmp_path)["t", "value"]
    assert (codes(entry), entry["conforming"]) == ({"WRONG_SUBJECT": 1}, 40)
    (line,) = entry["violations"]
    assert line["detail"] == (f"schema {foreign} is version 1 of `other-value`, not a subject by RecordNameStrategy")
    assert {use["subject"]: use["expected"] for use in entry["schemas"]} == {
        "shop.Order": True,
        "shop.Payment": True,
        "other-value": False,
    }


def test_a_wrong_subject_is_told_by_its_real_name(registry: Registry, tmp_path: Path) -> None:
    own, foreign = register(registry, "t-value", ORDER), register(registry, "other-value", OLD)
    write_topic(tmp_path, "t", [Record(0, value=encode_order(own)), Record(1, value=encode_order(foreign))])
    entry = audited(registry, tmp_path)["t", "value"]
    assert named(entry) == ("TopicNameStrategy", "default")
    assert entry["violations"][0]["detail"] == f"schema {foreign} is version 1 of `other-value`, not of `t-value`"


def test_the_default_holds_where_both_names_carry_the_same_schema(registry: Registry, tmp_path: Path) -> None:
    schema_id = register(registry, "t-value", SHOP)
    assert register(registry, "shop.Order", SHOP) == schema_id
    write_topic(tmp_path, "t", [Record(at, value=encode_order(schema_id)) for at in range(9)])
    entry = audited(registry, tmp_path)["t", "value"]
    assert named(entry) == ("TopicNameStrategy", "default")
    assert entry["schemas"][0]["subject"] == "t-value"


def test_titles_name_the_subjects_of_json_schemas(registry: Registry, tmp_path: Path) -> None:
    register(registry, "t-value", OLD)
    text = json.dumps({"title": "Shipment", "type": "object"})
    schema_id = int(registry.register("Shipment", SchemaDraft(text, SchemaType.JSON)).schema_id)
    write_topic(tmp_path, "t", [Record(at, value=encode_frame(schema_id, b"{}")) for at in range(9)])
    assert named(audited(registry, tmp_path)["t", "value"]) == ("RecordNameStrategy", "evidence")


def test_a_strategy_that_is_given_goes_before_what_records_tell(registry: Registry, tmp_path: Path) -> None:
    register(registry, "t-value", OLD)
    schema_id = register(registry, "shop.Order", SHOP)
    write_topic(tmp_path, "t", [Record(at, value=encode_order(schema_id)) for at in range(9)])
    entry = audited(registry, tmp_path, "t=topic")["t", "value"]
    assert (named(entry), codes(entry)) == (("TopicNameStrategy", "given"), {"WRONG_SUBJECT": 9})
    entry = audited(registry, tmp_path, "RecordNameStrategy")["t", "value"]
    assert (named(entry), entry["verdict"]) == (("RecordNameStrategy", "given"), "passing")
    entry = audited(registry, tmp_path, "record", "t=topic-record")["t", "value"]
    assert (entry["verdict"], entry["notes"][0]) == (
        "unknown",
        "No subject by TopicRecordNameStrategy (given by `--strategy`) has a version.",
    )


def test_an_association_goes_before_what_records_tell(registry: Registry, tmp_path: Path) -> None:
    register(registry, "t-value", OLD)
    schema_id = register(registry, "payments", SHOP)
    drafts = [AssociationDraft(association_type="value", subject="payments", lifecycle="WEAK")]
    registry.bind(Resource("t", "lkc-1", "lkc-1:t"), drafts)
    write_topic(tmp_path, "t", [Record(at, value=encode_order(schema_id)) for at in range(9)])
    for given in ((), ("associated",)):
        entry = audited(registry, tmp_path, *given)["t", "value"]
        assert (named(entry), entry["verdict"]) == (("AssociatedNameStrategy", "association"), "passing")
        assert entry["strategy"]
        assert entry["strategy"]["reason"] == "the registry associates the topic with `payments`"
    assert named(audited(registry, tmp_path, "topic")["t", "value"]) == ("TopicNameStrategy", "given")


def test_all_records_decide_where_the_first_ones_told_something_else(registry: Registry, tmp_path: Path) -> None:
    own = register(registry, "t-value", OLD)
    schema_id = register(registry, "shop.Order", SHOP)
    # the beginning, the middle and the end are looked at first: 200 records each
    size = 20_000
    looked_at = {*range(200), *range((size - 200) // 2, (size + 200) // 2), *range(size - 200, size)}
    bodies = [encode_order(own) if at in looked_at else encode_order(schema_id) for at in range(size)]
    write_topic(tmp_path, "t", [Record(at, value=body) for at, body in enumerate(bodies)])
    builder = make_builder(registry, tmp_path)
    first = builder.build()
    assert first.parts["t", "value"].allowed == {own}
    exact, changed = builder.refine(first, read(tmp_path, first))
    assert (changed, exact.parts["t", "value"].allowed) == ({"t"}, {schema_id})
    entry = audited(registry, tmp_path)["t", "value"]
    assert named(entry) == ("RecordNameStrategy", "evidence")
    assert codes(entry) == {"WRONG_SUBJECT": 600}


def test_records_named_in_headers_by_our_own_serializer_conform(registry: Registry, tmp_path: Path) -> None:
    register(registry, "t-value", OLD)
    conf = {"schema.id.serializer": header_schema_id_serializer, "subject.name.strategy.type": "RECORD"}
    serializer = AvroSerializer(registry, SHOP, conf=conf)
    records = []
    for at in range(200):
        context = SerializationContext("t", "value", headers=[])
        body = serializer({"total": at, "note": "n"}, context)
        records.append(Record(at, value=body, headers=context.headers))  # type: ignore[arg-type]
    assert records[0].headers
    write_topic(tmp_path, "t", records)
    entry = audited(registry, tmp_path)["t", "value"]
    assert (entry["conforming"], entry["violating"], entry["schemas"][0]["subject"]) == (200, 0, "shop.Order")
    assert named(entry) == ("RecordNameStrategy", "evidence")


def test_keys_follow_their_own_records_unless_a_strategy_is_given_for_them(registry: Registry, tmp_path: Path) -> None:
    key = register(registry, "t-key", '"string"')
    value = register(registry, "shop.Order", SHOP)
    write_topic(
        tmp_path, "t", [Record(at, key=encode_frame(key, b"\x02k"), value=encode_order(value)) for at in range(9)]
    )
    entries = audited(registry, tmp_path, "record")
    assert named(entries["t", "key"]) == ("TopicNameStrategy", "default")
    assert entries["t", "key"]["verdict"] == entries["t", "value"]["verdict"] == "passing"
    entries = audited(registry, tmp_path, "record", "t:key=record")
    assert codes(entries["t", "key"]) == {"WRONG_SUBJECT": 9}


def test_topics_that_no_schema_is_for_stay_unknown_whatever_strategy_is_given(
    registry: Registry, tmp_path: Path
) -> None:
    register(registry, "shop.Order", SHOP)
    write_topic(tmp_path, "plain", [Record(at, value=b"no frame") for at in range(9)])
    for given in ("record", "topic-record", "topic", "associated"):
        entry = audited(registry, tmp_path, given)["plain", "value"]
        assert (entry["verdict"], entry["violating"]) == ("unknown", 0)


def test_a_strategy_for_a_topic_that_is_not_audited_is_refused(registry: Registry, tmp_path: Path) -> None:
    write_topic(tmp_path, "t", [Record(0)])
    with pytest.raises(UsageError, match="`typo`, which is not audited"):
        make_builder(registry, tmp_path, "typo=record")

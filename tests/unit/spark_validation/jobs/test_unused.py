"""Versions that may go: nothing is proven where records were not read, and reasons are named."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from contractlog.compatibility.identifiers import SchemaId, Subject, Version
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.contracts.audit.id_usage import IdKey, IdUsage, IdUse
from contractlog.contracts.audit.mergeable_state import Coverage
from contractlog.spark_validation.expectations.version_catalogue import VersionCatalogue
from contractlog.spark_validation.jobs.unused_command import print_unused
from contractlog.spark_validation.jobs.unused_job import IdEvidence, VersionReview

READ = frozenset({Coverage("orders", 0, 0, 10, 9)})
LOGS = {("orders", 0): (0, 10)}
USED = {IdKey("orders", "value", 2): IdUse(9, 0, 5)}


def create_version(
    subject: str, number: int, schema_id: int, *, guid: int = 0, deleted: bool = False
) -> RegisteredSchema:
    """Create a version without text."""
    return RegisteredSchema(
        SchemaId(schema_id),
        '"string"',
        subject=Subject.parse(subject),
        version=Version(number),
        guid=str(uuid.UUID(int=guid or schema_id)),
        deleted=deleted,
    )


def list_reasons(
    evidence: IdEvidence, *versions: RegisteredSchema, latest: dict[str, int] | None = None
) -> list[list[str]]:
    """Return the reasons of each version that is considered."""
    catalogue = VersionCatalogue(
        {
            subject: [version for version in versions if str(version.subject) == subject]
            for subject in sorted({str(version.subject) for version in versions})
        }
    )
    review = VersionReview(evidence, catalogue, latest or {})
    considered = [version for version in versions if str(version.subject) in review.subjects]
    return [list(review.list_reasons(version)) for version in considered]


def test_an_id_that_no_record_carries_may_go_unless_it_is_of_the_latest_version() -> None:
    evidence = IdEvidence(IdUsage(READ, USED), LOGS, all_topics=True)
    versions = [create_version("orders-value", number, number) for number in (1, 2, 3)]
    assert list_reasons(evidence, *versions, latest={"orders-value": 3}) == [
        [],
        ["9 records of `orders` (value) carry it"],
        ["it is the latest version"],
    ]
    assert evidence.complete


@pytest.mark.parametrize(
    ("usage", "logs", "reason"),
    [
        (IdUsage(READ), {("orders", 0): (0, 12)}, "offsets 10 to 11 of `orders` partition 0 were not read"),
        (IdUsage(READ), {**LOGS, ("late", 1): (4, 5)}, "offsets 4 to 4 of `late` partition 1 were not read"),
        (IdUsage(READ), {("orders", 0): (0, 3)}, "offsets 0 to 2 of `orders` partition 0 were not read"),
        (
            IdUsage(READ, unidentified={IdKey("orders", "key", 0): 7}),
            LOGS,
            "the audit did not count the ids of 7 records of `orders` (key)",
        ),
    ],
    ids=["new records", "new topic", "topic that was created again", "part without ids"],
)
def test_nothing_may_go_if_not_all_ids_are_known(
    usage: IdUsage, logs: dict[tuple[str, int], tuple[int, int]], reason: str
) -> None:
    evidence = IdEvidence(usage, logs, all_topics=True)
    assert list_reasons(evidence, create_version("orders-value", 1, 1)) == [[reason]]
    assert not evidence.complete


def test_records_that_retention_has_deleted_are_no_gap() -> None:
    evidence = IdEvidence(IdUsage(frozenset({Coverage("orders", 0, 6, 10, 4)})), {("orders", 0): (8, 10)}, True)  # noqa: FBT003
    assert list_reasons(evidence, create_version("orders-value", 1, 1)) == [[]]


def test_of_some_topics_only_the_subjects_named_after_them_are_considered() -> None:
    evidence = IdEvidence(IdUsage(READ), LOGS, all_topics=False)
    reasons = list_reasons(
        evidence,
        create_version("orders-value", 1, 1),
        create_version("orders-value", 2, 2),
        create_version("orders-eu-value", 1, 1),
        create_version("com.acme.Order", 1, 5),
    )
    assert reasons == [["its id is also one of `orders-eu-value`, whose topics were not read"], []]


def test_an_id_with_the_guid_of_a_used_one_has_to_stay() -> None:
    evidence = IdEvidence(IdUsage(READ, USED), LOGS, all_topics=True)
    versions = [create_version("a", 1, 2, guid=7), create_version("b", 1, 3, guid=7)]
    assert list_reasons(evidence, *versions)[1] == ["records carry id 2, which has the same guid"]


def test_a_review_reads_the_guids_once_for_all_versions() -> None:
    class CountedDict(dict[bytes, tuple[int, ...]]):
        reads = 0

        def values(self) -> Any:
            self.reads += 1
            return super().values()

    class Catalogue(VersionCatalogue):
        guids = CountedDict({bytes([number]): (number,) for number in range(1, 100)})

    versions = [create_version(f"s{number}-value", 1, number) for number in range(1, 100)]
    catalogue = Catalogue({str(version.subject): [version] for version in versions})
    review = VersionReview(IdEvidence(IdUsage(READ, USED), LOGS, all_topics=True), catalogue, {})
    assert [list(review.list_reasons(version)) for version in versions].count([]) == 98
    assert Catalogue.guids.reads == 1


def test_text_has_the_proof_and_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    def describe(number: int, *reasons: str, records: int = 0) -> dict[str, object]:
        command = None if reasons else f"contractlog delete orders-value:{number}"
        return {
            "subject": "orders-value", "version": number, "schema_id": number, "deleted": False, "records": records,
            "may_go": not reasons, "reasons": list(reasons), "command": command,
        }  # fmt: skip

    partition = {"partition": 0, "log_start": 4, "log_end": 10, "records": 5, "gaps": []}
    times = {"oldest": "2026-11-01T00:00:00Z", "newest": "2026-11-20T00:00:00Z"}
    result = {
        "all_topics": True,
        "complete": True,
        "topics": [{"topic": "orders", **times, "partitions": [partition]}],
        "versions": [describe(1), describe(2, "used", records=5), describe(3, "it is the latest version")],
    }
    print_unused(result)
    assert capsys.readouterr().out == (
        "✓ read 1 topic (all): 6 offsets, 5 records from 2026-11-01T00:00:00Z to 2026-11-20T00:00:00Z, no gap\n"
        "✓ `orders-value` version 1 (id 1): unused\n"
        "· `orders-value` version 3 (id 3): must be kept: it is the latest version\n"
        "1 version in use; --verbose lists them\n"
        "    contractlog delete orders-value:1\n"
    )
    partition["gaps"] = [[7, 9]]
    print_unused({**result, "complete": False, "all_topics": False, "versions": []})
    out = capsys.readouterr().out
    assert out.startswith("✗ read 1 topic: ")
    assert out.endswith("; offsets not read: 7 to 8 of `orders` partition 0\n")

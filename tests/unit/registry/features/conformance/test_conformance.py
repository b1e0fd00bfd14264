"""Results of audits are stored by range, if they are consistent."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from contractlog.clients import Registry as Client
from contractlog.registry.features.conformance import queries
from contractlog.registry.features.conformance.queries import AuditFigures, record_result
from contractlog.registry.settings import Settings
from contractlog.registry.testing import Registries

from support.registry import in_process

PATH = "/contractlog/v1/conformance/flights"


def entry(to_offset: int = 10, violating: int = 1, **members: Any) -> dict[str, Any]:
    counts = {
        "records": 8,
        "conforming": 7 - violating,
        "violating": violating,
        "tombstones": 1,
        "absent": to_offset - 8,
    }
    partition = {"partition": 0, "from_offset": 0, "to_offset": to_offset, **counts}
    nothing = {name: [] for name in ("schemas", "violations", "series", "fields", "notes")}
    return {"topic": "flights", "part": "value", "verdict": "degraded", "conformance": (7 - violating) / 7, **counts,
            "partitions": [partition], **nothing, **members}  # fmt: skip


def test_an_entry_comes_back_with_when_it_was_recorded(http: httpx2.Client) -> None:
    answer = http.post(PATH, json=entry())
    assert answer.status_code == 200
    assert answer.json() == entry() | {"recorded_at": answer.json()["recorded_at"]}
    assert http.get(PATH).json() == [answer.json()]
    assert http.get(f"{PATH}?part=value").json() == [answer.json()]
    assert http.get(f"{PATH}?part=key").json()["error_code"] == 40480


def test_the_last_audit_that_said_something_new_is_the_newest_whatever_its_range(http: httpx2.Client) -> None:
    def newest() -> tuple[int, int]:
        (one,) = http.get(PATH).json()
        return one["partitions"][0]["to_offset"], one["violating"]

    for to_offset, violating in [(10, 1), (20, 1), (10, 2), (20, 2), (10, 1)]:
        http.post(PATH, json=entry(to_offset, violating))
        assert newest() == (to_offset, violating)


def test_the_same_audit_told_again_changes_nothing(http: httpx2.Client) -> None:
    first = http.post(PATH, json=entry()).json()
    assert http.post(PATH, json=entry()).json() == first
    second = http.post(PATH, json=entry(to_offset=20)).json()
    assert http.post(PATH, json=entry()).json() == first
    assert http.get(PATH).json() == [second]


def test_a_new_audit_removes_those_beyond_the_limit(http: httpx2.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "MAX_RESULTS", 2)
    for violating in range(6):
        http.post(PATH, json=entry(violating=violating)).raise_for_status()
    assert [audit["violating"] for audit in http.get(f"{PATH}/history").json()] == [5, 4]


def test_the_number_of_topics_with_results_is_limited() -> None:
    with in_process(Settings(database_url="sqlite://", max_audited_parts=2)) as client:

        def publish(topic: str, part: str = "value") -> Any:
            body = entry() | {"topic": topic, "part": part}
            return client.post(f"/contractlog/v1/conformance/{topic}", json=body)

        assert [publish("a").status_code, publish("a", "key").status_code] == [200, 200]
        response = publish("b")
        assert (response.status_code, response.json()["error_code"]) == (422, 42280)
        assert "2 keys and values of topics have results, which is the maximum" in response.json()["message"]
        assert publish("a").status_code == 200


def test_an_audit_that_read_nothing_is_the_newest_when_it_comes_last(http: httpx2.Client) -> None:
    counts = {"records": 0, "conforming": 0, "violating": 0, "tombstones": 0, "absent": 0}
    nothing = entry(verdict="unknown", conformance=None, **counts, partitions=[])
    for told in (nothing, entry(), nothing, nothing, entry(violating=2), nothing):
        answer = http.post(PATH, json=told).json()
        assert http.get(PATH).json() == [answer]
        assert answer["verdict"] == told["verdict"]


def test_each_part_has_its_newest_entry(http: httpx2.Client) -> None:
    for part in ("value", "key"):
        http.post(PATH, json=entry(part=part))
    assert [one["part"] for one in http.get(PATH).json()] == ["key", "value"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"topic": "other"},
        {"part": "header"},
        {"verdict": "fine"},
        {"conforming": 5},
        {"records": 9},
        {"records": -1},
        {"records": "8"},
        {"absent": 2**70},
        {"conformance": 17.5},
        {"conformance": -0.5},
        {"conformance": 0.9},
        {"conformance": None},
        {"conformance": 2**70},
        {"partitions": []},
        {"partitions": [{}]},
        {"partitions": entry()["partitions"] * 2},
        {"partitions": [entry()["partitions"][0] | {"to_offset": 11}]},
        {"partitions": [entry()["partitions"][0] | {"from_offset": 20}]},
        {"partitions": [entry()["partitions"][0] | {"partition": -1}]},
        {"schemas": None},
        {"notes": [1]},
    ],
)
def test_an_entry_that_does_not_add_up_is_refused(http: httpx2.Client, wrong: dict[str, Any]) -> None:
    answer = http.post(PATH, json=entry(**wrong))
    assert (answer.status_code, answer.json()["error_code"]) == (422, 42280)
    assert http.get(PATH).status_code == 404


@pytest.mark.parametrize(
    ("counts", "conformance"),
    [
        ({"records": 7, "conforming": 5}, 1.0),  # more records than the range has offsets
        ({"records": 3, "conforming": 5}, 1.0),
        ({"records": 5, "conforming": 3}, 1.0),  # two records came out in no way
        ({"records": 4, "conforming": 4}, 1.0),  # one offset is neither a record nor absent
        ({"records": 5, "conforming": 5, "absent": 1}, 1.0),
        ({"records": 5, "tombstones": 5}, 1.0),  # nothing to divide by
        ({"records": 5, "conforming": 4, "violating": 1}, 0.81),
        ({"records": 5, "conforming": 4, "violating": 1}, None),
        ({"records": 5, "conforming": 3, "unaudited": 1}, 1.0),
        ({"records": 5, "conforming": 3, "unaudited": 3}, 1.0),
        ({"records": 5, "conforming": 3, "unaudited": 2}, 0.6),  # those that could not be checked count neither way
    ],
)
def test_counts_that_leave_an_offset_untold_or_tell_it_twice_are_refused(
    http: httpx2.Client, counts: dict[str, int], conformance: float | None
) -> None:
    assert http.post(PATH, json=five(counts, conformance)).json()["error_code"] == 42280


@pytest.mark.parametrize(
    ("counts", "conformance"),
    [
        ({"records": 5, "conforming": 5}, 1.0),
        ({"records": 5, "conforming": 5}, 1),
        ({"records": 5, "conforming": 3, "unaudited": 2}, 1.0),
        ({"records": 5, "unaudited": 5}, None),
        ({"records": 3, "conforming": 1, "violating": 2, "absent": 2}, 0.333333),
        ({"records": 4, "tombstones": 4, "absent": 1}, None),
        ({"absent": 5}, None),
    ],
)
def test_counts_that_tell_every_offset_once_are_kept(
    http: httpx2.Client, counts: dict[str, int], conformance: float | None
) -> None:
    assert http.post(PATH, json=five(counts, conformance)).status_code == 200


def five(counts: dict[str, int], conformance: float | None) -> dict[str, Any]:
    """Make the audit of five offsets."""
    whole = dict.fromkeys(("records", "conforming", "violating", "tombstones", "absent"), 0) | counts
    partition = {"partition": 0, "from_offset": 0, "to_offset": 5, **whole}
    return entry(conformance=conformance, **whole, partitions=[partition])


@pytest.mark.parametrize(
    "impossible",
    [
        {"partition": 2**31},
        {"from_offset": 2**63, "to_offset": 2**63 + 10},
        {"from_offset": 2**64, "to_offset": 2**64 + 10},
    ],
)
def test_a_range_that_no_log_has_is_refused(http: httpx2.Client, impossible: dict[str, int]) -> None:
    answer = http.post(PATH, json=entry(partitions=[entry()["partitions"][0] | impossible]))
    assert answer.json()["error_code"] == 42280
    assert "has no possible range" in answer.json()["message"]


@pytest.mark.parametrize("member", ["topic", "part", "verdict", "records", "partitions", "schemas", "notes"])
def test_an_entry_that_lacks_a_member_is_refused(http: httpx2.Client, member: str) -> None:
    body = entry()
    del body[member]
    answer = http.post(PATH, json=body)
    assert answer.json()["error_code"] == 42280
    assert member in answer.json()["message"]


def test_a_part_that_was_not_audited_counts_nothing_as_violating(http: httpx2.Client) -> None:
    counts = {"records": 10, "conforming": 0, "violating": 0, "tombstones": 0, "absent": 0}
    partition = {"partition": 0, "from_offset": 0, "to_offset": 10, **counts}
    unknown = entry(verdict="unknown", conformance=None, **counts, partitions=[partition])
    assert http.post(PATH, json=unknown).status_code == 200


@pytest.mark.parametrize("topic", ["a%2Fb", "a%00b", "x" * 250, "%C3%A9"])
def test_only_names_of_topics_are_topics(http: httpx2.Client, topic: str) -> None:
    assert http.post(f"/contractlog/v1/conformance/{topic}", json=entry(topic=topic)).json()["error_code"] == 42280
    assert http.get(f"/contractlog/v1/conformance/{topic}").json()["error_code"] == 40480


@pytest.mark.parametrize(("former", "current"), [("keeps", "passing"), ("broken", "failing")])
def test_words_of_earlier_audits_are_taken_and_answered_by_those_of_today(
    http: httpx2.Client, former: str, current: str
) -> None:
    answer = http.post(PATH, json=entry(verdict=former))
    assert (answer.status_code, answer.json()["verdict"]) == (200, current)
    assert http.post(PATH, json=entry(verdict=current)).json() == answer.json()


def test_entries_stored_with_words_of_earlier_audits_are_read_with_those_of_today(registries: Registries) -> None:
    stored = json.dumps(entry(verdict="keeps", violating=0, conformance=1.0))
    app = registries.make({})
    try:
        store = app.state.services.store
        figures = AuditFigures("passing", 7, 0, None)
        store.transact(
            lambda change: record_result(change, "flights", "value", ranges="r", entry=stored, figures=figures)
        ).result()
        with Client(app=app) as client:
            (read,) = client.conformance("flights")
        assert read["verdict"] == "passing"
    finally:
        app.state.close()


def test_the_history_counts_as_work_of_its_reader_by_the_size_of_results() -> None:
    with in_process(Settings(database_url="sqlite://", caller_steps=2_000)) as http:
        for violating in range(3):
            notes = ["x" * 300_000]
            http.post(PATH, json=entry(violating=violating, notes=notes)).raise_for_status()
        assert len(http.get(f"{PATH}/history").json()) == 3
        answer = http.get(f"{PATH}/history")
        assert (answer.status_code, answer.json()["error_code"]) == (429, 429)

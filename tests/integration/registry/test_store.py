"""The laws of the store hold on every database."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select, update

from contractlog.compatibility.content_identity import compute_guid, hash_content
from contractlog.compatibility.errors import (
    IdGapNotPermitted,
    InvalidSchema,
    OperationNotPermitted,
    Overloaded,
    StoreError,
    SubjectNotFound,
)
from contractlog.compatibility.identifiers import MAX_ID, MAX_VERSION, Subject
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import Reference, RegisteredSchema, SchemaType
from contractlog.registry.access.permissions import ALL_PERMISSIONS
from contractlog.registry.features.conformance import queries
from contractlog.registry.features.conformance.queries import (
    AuditFigures,
    list_newest,
    list_summaries,
    prune_part,
    prune_results,
    record_result,
)
from contractlog.registry.features.schemas.queries import list_versions_of_id
from contractlog.registry.features.subjects.queries import list_subjects
from contractlog.registry.features.versions.queries import list_referencing_ids
from contractlog.registry.storage import tables
from contractlog.registry.storage.contexts import list_contexts
from contractlog.registry.storage.name_and_id_lookup import find_by_id
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import (
    Content,
    DeletedFilter,
    PendingAppend,
    ReferenceTarget,
    ScopeSettings,
    Stale,
    SubjectState,
    scope_chain,
)
from contractlog.registry.storage.transaction import Transaction

from support.registry import EACH_DATABASE, create_database

ORDERS = Subject.parse("orders")
FIGURES = AuditFigures("passing", 1, 0, None)
DAY = 86_400_000


@pytest.fixture(params=EACH_DATABASE)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return create_database(request, tmp_path)


def content(text: str, **members: object) -> Content:
    digest = hash_content(text)
    return replace(Content(text, text, SchemaType.AVRO, digest, digest, compute_guid(text)), **members)


def judged(store: Store, subject: Subject, one: Content, **members: object) -> PendingAppend:
    with store.open_snapshot() as snapshot:
        configured = ScopeSettings.merge(snapshot.read_settings(scope_chain(subject)).values())
        return PendingAppend(subject, one, snapshot.state(subject), configured, **members)


def put(store: Store, text: str, subject: Subject = ORDERS, **members: object) -> RegisteredSchema:
    """Append, judging again for as long as others come between."""
    while True:
        outcome = store.append(judged(store, subject, content(text, **members))).result(30)
        if not isinstance(outcome, Stale):
            return outcome


def soft_delete(store: Store, subject: Subject, *numbers: int) -> None:
    store.transact(lambda change: change.soft_delete(subject, change.state(subject).id or 0, numbers)).result(30)


def hard_delete(store: Store, subject: Subject, *numbers: int) -> None:
    store.transact(lambda change: change.hard_delete(subject, change.state(subject).id or 0, numbers)).result(30)


def target(store: Store, subject: Subject, number: int) -> ReferenceTarget:
    with store.open_snapshot() as snapshot:
        found = snapshot.version(subject, number)
        assert found is not None
        return ReferenceTarget(snapshot.state(subject).id or 0, number, found.schema_id)


def journal(store: Store) -> list[tuple[str, str]]:
    from sqlalchemy import select

    from contractlog.registry.storage.tables import changes

    with store.open_snapshot() as snapshot:
        rows = snapshot._rows(select(changes.c.action, changes.c.target).order_by(changes.c.sequence))
    return [(row.action, row.target) for row in rows]


def test_ids_and_versions_count_from_one(store: Store) -> None:
    first, second, elsewhere = put(store, "a"), put(store, "b"), put(store, "c", Subject.parse("other"))
    assert [(one.schema_id, one.version) for one in (first, second, elsewhere)] == [(1, 1), (2, 2), (3, 1)]


def test_equal_content_has_one_id_per_context(store: Store) -> None:
    put(store, "filler")
    here, there = put(store, "a"), put(store, "a", Subject.parse("other"))
    abroad = put(store, "a", Subject.parse(":.eu:orders"))
    assert (here.schema_id, there.schema_id, abroad.schema_id) == (2, 2, 1)
    assert here.guid == abroad.guid
    with store.open_snapshot() as snapshot:
        assert list_contexts(snapshot) == [".", ".eu"]
        assert snapshot.ids_of_guid(here.guid or "") == [(".", 2), (".eu", 1)]


def test_a_content_that_the_subject_holds_is_answered_and_not_written(store: Store) -> None:
    put(store, "a")
    before = journal(store)
    again = put(store, "a")
    assert (again.schema_id, again.version) == (1, 1)
    assert journal(store) == before


def test_an_append_is_stale_if_checked_facts_have_changed(store: Store) -> None:
    late = judged(store, ORDERS, content("late"))
    put(store, "first")
    assert isinstance(store.append(late).result(30), Stale)
    with store.open_snapshot() as snapshot:
        assert snapshot.versions(ORDERS, DeletedFilter.INCLUDED) == [(1, False)]


def test_a_level_set_meanwhile_makes_a_judgement_stale(store: Store) -> None:
    late = judged(store, ORDERS, content("late"))
    store.transact(lambda change: change.configure(Subject(".", ""), ScopeSettings(level=Level.FULL))).result(30)
    assert isinstance(store.append(late).result(30), Stale)


def test_a_reference_deleted_meanwhile_makes_a_judgement_stale(store: Store) -> None:
    put(store, "base", Subject.parse("base"))
    late = judged(store, ORDERS, content("late", targets=(target(store, Subject.parse("base"), 1),)))
    soft_delete(store, Subject.parse("base"), 1)
    assert isinstance(store.append(late).result(30), Stale)


def test_a_reference_whose_number_was_given_to_another_content_meanwhile_makes_a_judgement_stale(store: Store) -> None:
    base = Subject.parse("base")
    put(store, "base", base)
    late = judged(store, ORDERS, content("late", targets=(target(store, base, 1),)))
    soft_delete(store, base, 1)
    hard_delete(store, base, 1)
    assert put(store, "something else", base).version == 1
    assert isinstance(store.append(late).result(30), Stale)


def test_of_two_in_one_batch_the_second_is_judged_against_the_first(store: Store) -> None:
    with_gate(store, [judged(store, ORDERS, content("a")), judged(store, ORDERS, content("b"))], [1, Stale])


def test_two_subjects_in_one_batch_share_the_id_of_one_content(store: Store) -> None:
    other = Subject.parse("other")
    with_gate(store, [judged(store, ORDERS, content("a")), judged(store, other, content("a"))], [1, 1])


def test_a_failing_member_of_a_batch_fails_alone(store: Store) -> None:
    def fail(change: Transaction) -> None:
        change.configure(ORDERS, ScopeSettings(level=Level.NONE))
        raise SubjectNotFound(subject="orders")

    def break_down(change: Transaction) -> None:
        change.configure(ORDERS, ScopeSettings(level=Level.NONE))
        raise ZeroDivisionError

    def break_a_law(change: Transaction) -> None:
        for _ in range(2):
            change._connection.exec_driver_sql("INSERT INTO contexts (name, next_schema_id) VALUES ('x', 1)")

    good = judged(store, ORDERS, content("a"))
    wrong_number = judged(store, Subject.parse("other"), content("b"), version=7)
    with_gate(
        store,
        [fail, good, break_down, wrong_number, break_a_law],
        [SubjectNotFound, 1, ZeroDivisionError, InvalidSchema, StoreError],
    )
    with store.open_snapshot() as snapshot:
        assert snapshot.read_settings([ORDERS])[ORDERS].empty
        assert list_contexts(snapshot) == ["."]
        assert snapshot.max_id(".") == 1


def test_an_append_that_breaks_down_fails_alone(store: Store) -> None:
    other, third = Subject.parse("other"), Subject.parse("third")
    with_gate(
        store,
        [
            judged(store, ORDERS, content("a")),
            judged(store, other, content("b", references=(None,))),  # no database error: the code itself breaks down
            judged(store, third, content("c")),
        ],
        [1, AttributeError, 2],
    )
    with store.open_snapshot() as snapshot:
        assert list_subjects(snapshot, ":*:", DeletedFilter.INCLUDED) == ["orders", "third"]
        assert list_contexts(snapshot) == ["."]


def with_gate(store: Store, works: list, expected: list) -> None:
    """Hand in writes while the writer is held up, so that they make one batch."""
    gate = threading.Event()
    held = store.transact(lambda _change: gate.wait(30))
    answers = [store.append(work) if isinstance(work, PendingAppend) else store.transact(work) for work in works]
    gate.set()
    assert held.result(30)
    for answer, wanted in zip(answers, expected, strict=True):
        if isinstance(wanted, int):
            assert answer.result(30).schema_id == wanted
        elif issubclass(wanted, BaseException):
            assert isinstance(answer.exception(30), wanted)
        else:
            assert isinstance(answer.result(30), wanted)


def test_a_requested_version_must_be_the_next_one(store: Store) -> None:
    put(store, "a")
    with pytest.raises(InvalidSchema, match="Version is not one more than previous version"):
        store.append(judged(store, ORDERS, content("b"), version=3)).result(30)
    assert store.append(judged(store, ORDERS, content("b"), version=2)).result(30).version == 2


def test_soft_deleted_versions_keep_their_number_and_their_id(store: Store) -> None:
    put(store, "a")
    put(store, "b")
    soft_delete(store, ORDERS, 1, 2)
    with store.open_snapshot() as snapshot:
        assert snapshot.versions(ORDERS, DeletedFilter.EXCLUDED) == []
        assert snapshot.versions(ORDERS, DeletedFilter.INCLUDED) == [(1, True), (2, True)]
        assert list_subjects(snapshot, ":*:", DeletedFilter.EXCLUDED) == []
        for seen in (DeletedFilter.ONLY, DeletedFilter.INCLUDED):
            assert list_subjects(snapshot, ":*:", seen) == ["orders"]
        found = find_by_id(snapshot, 1, None, ALL_PERMISSIONS)
    assert found is not None
    assert found.deleted


def test_registering_soft_deleted_content_again_removes_the_deleted_version(store: Store) -> None:
    put(store, "a")
    put(store, "b")
    soft_delete(store, ORDERS, 1, 2)
    again = put(store, "b")
    assert (again.schema_id, again.version) == (2, 3)
    with store.open_snapshot() as snapshot:
        assert snapshot.versions(ORDERS, DeletedFilter.INCLUDED) == [(1, True), (3, False)]


def test_an_id_is_never_used_again_not_even_for_the_same_content(store: Store) -> None:
    put(store, "a")
    soft_delete(store, ORDERS, 1)
    hard_delete(store, ORDERS, 1)
    with store.open_snapshot() as snapshot:
        assert find_by_id(snapshot, 1, None, ALL_PERMISSIONS) is None
        assert list_subjects(snapshot, ":*:", DeletedFilter.INCLUDED) == []
    again = put(store, "a")
    assert (again.schema_id, again.version) == (2, 1)
    with store.open_snapshot() as snapshot:
        assert find_by_id(snapshot, 1, None, ALL_PERMISSIONS) is None


def test_an_id_of_another_subject_survives_a_hard_delete(store: Store) -> None:
    put(store, "a")
    put(store, "a", Subject.parse("other"))
    soft_delete(store, ORDERS, 1)
    hard_delete(store, ORDERS, 1)
    with store.open_snapshot() as snapshot:
        found = find_by_id(snapshot, 1, None, ALL_PERMISSIONS)
    assert found is not None
    assert str(found.subject) == "other"


def test_by_id_live_goes_before_deleted_and_the_preferred_subject_before_all(store: Store) -> None:
    for name in ("a", "b", "c"):
        put(store, "text", Subject.parse(name))
    soft_delete(store, Subject.parse("a"), 1)
    with store.open_snapshot() as snapshot:
        shown = [
            find_by_id(snapshot, 1, None, ALL_PERMISSIONS),
            find_by_id(snapshot, 1, Subject.parse("a"), ALL_PERMISSIONS),
        ]
        assert [str(one.subject) for one in shown if one] == ["b", "a"]
        assert [str(holder.subject) for holder in list_versions_of_id(snapshot, ".", 1, DeletedFilter.EXCLUDED)] == [
            "b",
            "c",
        ]


def test_references_are_known_from_both_ends(store: Store) -> None:
    base = Subject.parse("base")
    put(store, "base", base)
    with store.open_snapshot() as snapshot:
        target_id = snapshot.state(base).id or 0
    put(store, "leaning", targets=(target(store, base, 1), target(store, base, 1)))
    with store.open_snapshot() as snapshot:
        assert list_referencing_ids(snapshot, base, 1, DeletedFilter.EXCLUDED) == [2]
        assert (
            snapshot.lowest_referenced_version(target_id, DeletedFilter.EXCLUDED)
            == snapshot.lowest_referenced_version(target_id, DeletedFilter.EXCLUDED, version=1)
            == 1
        )
        assert snapshot.lowest_referenced_version(target_id, DeletedFilter.EXCLUDED, version=2) is None
    soft_delete(store, ORDERS, 1)
    with store.open_snapshot() as snapshot:
        assert snapshot.lowest_referenced_version(target_id, DeletedFilter.EXCLUDED) is None
        assert snapshot.lowest_referenced_version(target_id, DeletedFilter.INCLUDED) == 1


def test_settings_are_inherited_member_by_member(store: Store) -> None:
    eu = Subject.parse(":.eu:orders")
    scoped = {
        Subject(".__GLOBAL", ""): ScopeSettings(level=Level.FULL, mode=Mode.READONLY),
        Subject(".eu", ""): ScopeSettings(mode=Mode.READWRITE),
        eu: ScopeSettings(normalize=True),
    }
    for scope, configured in scoped.items():
        store.transact(lambda change, s=scope, c=configured: change.configure(s, c)).result(30)
    with store.open_snapshot() as snapshot:
        found = ScopeSettings.merge(snapshot.read_settings(scope_chain(eu)).values())
    assert found == ScopeSettings(level=Level.FULL, normalize=True, mode=Mode.READWRITE)


@pytest.mark.parametrize("name", ["x" * 1_000, "é☃😀" * 333, "a/b:c%d e", "'; DROP TABLE subjects; --", "_%", ""])
def test_any_name_can_be_a_subject(store: Store, name: str) -> None:
    subject = Subject(".", name)
    put(store, "a", subject)
    with store.open_snapshot() as snapshot:
        assert list_subjects(snapshot, ":*:" + name[:20], DeletedFilter.EXCLUDED) == [str(subject)]
        assert snapshot.version(subject, None) is not None


def test_a_prefix_is_taken_literally(store: Store) -> None:
    for name in ("a_b", "aXb", "A_b"):
        put(store, "a", Subject.parse(name))
    with store.open_snapshot() as snapshot:
        assert list_subjects(snapshot, "a_", DeletedFilter.EXCLUDED) == ["a_b"]


def test_every_effect_is_in_the_journal_in_order(store: Store) -> None:
    put(store, "a")
    soft_delete(store, ORDERS, 1)
    hard_delete(store, ORDERS, 1)
    store.transact(lambda change: change.configure(ORDERS, ScopeSettings(level=Level.NONE))).result(30)
    assert journal(store) == [
        ("version.registered", "orders/1"),
        ("version.soft_deleted", "orders/1"),
        ("version.hard_deleted", "orders/1"),
        ("settings.changed", "orders"),
    ]


def test_conformance_is_appended_and_the_newest_is_shown(store: Store) -> None:
    def newest_after(ranges: str, entry: str) -> str:
        store.transact(
            lambda change: record_result(change, "t", "value", ranges=ranges, entry=entry, figures=FIGURES)
        ).result(30)
        with store.open_snapshot() as snapshot:
            (newest,) = list_newest(snapshot, "t")
        return newest.entry

    assert newest_after("r1", "one") == "one"
    assert newest_after("r2", "two") == "two"
    assert newest_after("r1", "one") == "two"  # told again, it is no news
    assert newest_after("r1", "one, corrected") == "one, corrected"
    assert newest_after("r2", "two, corrected") == "two, corrected"
    assert newest_after("r1", "one") == "one"  # back to what it was is news
    assert newest_after("", "nothing") == newest_after("", "nothing") == "nothing"
    assert newest_after("r2", "two") == "two"
    assert newest_after("", "nothing") == "nothing"
    assert journal(store) == [("conformance.recorded", "t/value")] * 8
    with store.open_snapshot() as snapshot:
        assert list_newest(snapshot, "other") == []


def test_the_summary_is_that_of_the_newest_result(store: Store) -> None:
    def publish(part: str, ranges: str, violating: int) -> list[tuple[str, int]]:
        figures = AuditFigures("failing", 1, violating, None)
        store.transact(
            lambda change: record_result(change, "t", part, ranges=ranges, entry=str(violating), figures=figures)
        ).result(30)
        with store.open_snapshot() as snapshot:
            summaries, left_out = list_summaries(snapshot, 1)
            assert (len(summaries), left_out) == (1, len(list_summaries(snapshot, 9)[0]) - 1)
            return [(each.part, each.figures.violating) for each in list_summaries(snapshot, 9)[0]]

    assert publish("value", "r1", 7) == [("value", 7)]
    assert publish("key", "r1", 9) == [("key", 9), ("value", 7)]
    assert publish("value", "r2", 3) == [("key", 9), ("value", 3)]
    assert publish("value", "r1", 7) == [("key", 9), ("value", 3)]  # it repeats an older one


def test_publishing_the_newest_result_again_is_a_new_time_in_its_summary(store: Store) -> None:
    def publish() -> int:
        store.transact(
            lambda change: record_result(change, "t", "value", ranges="r", entry="same", figures=FIGURES)
        ).result(30)
        with store.open_snapshot() as snapshot:
            ((summary,), _) = list_summaries(snapshot, 1)
            (stored,) = list_newest(snapshot, "t")
            assert summary.published_at >= stored.recorded_at
        return summary.published_at

    first = publish()
    time.sleep(0.002)
    assert publish() > first


def _results(store: Store) -> list[tuple[str, str]]:
    c = tables.conformance.c
    with store.open_snapshot() as snapshot:
        rows = snapshot.connection.execute(select(c.part, c.entry).order_by(c.sequence)).all()
    return [(row.part, row.entry) for row in rows]


def _publish_on_days(store: Store, part: str, ages: dict[int, str]) -> None:
    """Publish an entry for each age in days, to which half a day is added."""
    for age, entry in ages.items():
        store.transact(
            lambda change, entry=entry: record_result(change, "t", part, ranges=entry[:8], entry=entry, figures=FIGURES)
        ).result(30)
        c = tables.conformance.c
        aged = update(tables.conformance).where(c.part == part, c.entry == entry)
        store.transact(
            lambda change, aged=aged, age=age: change.connection.execute(
                aged.values(recorded_at=change.now - age * DAY - DAY // 2)
            )
        ).result(30)


def _prune_everything(store: Store, days: int) -> tuple[int, int]:
    removed = merged = 0
    last: int | None = 0
    while last is not None:
        batch = store.transact(partial(prune_results, days=days, after=last)).result(30)
        removed, merged, last = removed + batch.removed, merged + batch.merged, batch.last
    return removed, merged


def test_old_results_are_removed_except_the_newest_of_each_part(store: Store) -> None:
    _publish_on_days(store, "value", {500: "a", 401: "b", 399: "c", 1: "d"})
    _publish_on_days(store, "key", {600: "a", 450: "b"})
    assert _prune_everything(store, 400) == (3, 1)
    assert _results(store) == [("value", "c"), ("value", "d"), ("key", "b")]
    assert _prune_everything(store, 0) == _prune_everything(store, 400) == (0, 0)


def test_hourly_counts_of_results_older_than_thirty_days_are_merged_to_days(store: Store) -> None:
    def entry(*windows: tuple[str, int]) -> str:
        series = [{"window": window, "schema_id": 1, "records": n, "violating": 0} for window, n in windows]
        return json.dumps({"series": series}, sort_keys=True, separators=(",", ":"))

    hourly = entry(("2026-01-01T00", 1), ("2026-01-01T23", 2), ("2026-01-02T00", 4), ("2026", 8))
    daily = entry(("2026-01-01", 3), ("2026-01-02", 4), ("2026", 8))
    recent = entry(("2026-02-01T00", 1))
    _publish_on_days(store, "value", {31: hourly, 29: recent, 0: "newest"})
    assert _prune_everything(store, 400) == (0, 1)
    assert _results(store) == [("value", daily), ("value", recent), ("value", "newest")]
    assert _prune_everything(store, 400) == (0, 0)


def test_a_new_result_prunes_those_of_its_part(store: Store) -> None:
    _publish_on_days(store, "value", {500: "a", 399: "b", 1: "c"})
    _publish_on_days(store, "key", {500: "a", 1: "b"})
    store.transact(partial(prune_part, topic="t", part="value", days=400)).result(30)
    assert _results(store) == [("value", "b"), ("value", "c"), ("key", "a"), ("key", "b")]


def test_more_results_than_fit_in_a_batch_are_pruned(store: Store) -> None:
    _publish_on_days(store, "value", {500 - number: str(number) for number in range(30)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queries, "_BATCH", 7)
        assert _prune_everything(store, 480) == (21, 8)
    assert len(_results(store)) == 9


def test_concurrent_registrations_share_the_id_of_equal_content_and_leave_no_gaps(store: Store) -> None:
    def register(number: int) -> tuple[int, int]:
        same, own = put(store, "same", Subject.parse("shared")), put(store, f"own {number}")
        return same.schema_id, own.schema_id

    with ThreadPoolExecutor(32) as pool:
        ids = list(pool.map(register, range(32)))
    assert len({same for same, _ in ids}) == 1
    everything = {one for pair in ids for one in pair}
    assert everything == set(range(1, 34))
    with store.open_snapshot() as snapshot:
        assert [number for number, _ in snapshot.versions(ORDERS, DeletedFilter.INCLUDED)] == list(range(1, 33))
        assert snapshot.max_id(".") == 33


def test_a_full_queue_refuses_at_once(database_url: str) -> None:
    from contractlog.registry.database import open_store
    from contractlog.registry.settings import Settings

    store = open_store(Settings(database_url=database_url, max_pending_writes=2))
    gate, started = threading.Event(), threading.Event()

    def hold(_change: Transaction) -> bool:
        started.set()
        return gate.wait(30)

    held = store.transact(hold)
    assert started.wait(30)
    waiting = [store.transact(lambda _change: None) for _ in range(2)]
    with pytest.raises(Overloaded):
        store.transact(lambda _change: None)
    gate.set()
    assert held.result(30)
    assert [one.result(30) for one in waiting] == [None, None]
    store.close()
    with pytest.raises(StoreError):
        store.transact(lambda _change: None)


def test_state_of_an_unknown_subject_is_empty(store: Store) -> None:
    with store.open_snapshot() as snapshot:
        assert snapshot.state(ORDERS) == SubjectState()
        assert snapshot.version(ORDERS, None) is None


def in_one_batch(store: Store, *batch: PendingAppend) -> list[object]:
    """Let several appends wait for the writer, so that one transaction takes them all."""
    entered, go_on = threading.Event(), threading.Event()

    def hold(_change: Transaction) -> None:
        entered.set()
        assert go_on.wait(30)

    held = store.transact(hold)
    assert entered.wait(30)
    waiting = [store.append(one) for one in batch]
    go_on.set()
    held.result(30)
    outcomes: list[object] = []
    for one in waiting:
        try:
            outcomes.append(one.result(30))
        except Exception as error:  # noqa: BLE001 - a refusal is an outcome
            outcomes.append(error)
    return outcomes


def test_no_id_is_given_out_after_the_last_one_and_the_neighbours_are_unharmed(store: Store) -> None:
    named = judged(store, ORDERS, content("last"), schema_id=MAX_ID)
    far = in_one_batch(store, named)[0]
    assert isinstance(far, IdGapNotPermitted)
    assert "CONTRACTLOG_ALLOW_ID_GAP=true" in far.message
    last = store.append(replace(named, allow_id_gap=True)).result(30)
    assert not isinstance(last, Stale)
    assert last.schema_id == MAX_ID
    refused, again, elsewhere = in_one_batch(
        store,
        judged(store, Subject.parse("new"), content("new")),
        judged(store, Subject.parse("other"), content("last")),
        judged(store, Subject.parse(":.eu:new"), content("new")),
    )
    assert isinstance(refused, OperationNotPermitted)
    assert "new schemas need another context" in refused.message
    assert isinstance(again, RegisteredSchema)
    assert (again.schema_id, again.version) == (MAX_ID, 1)
    assert isinstance(elsewhere, RegisteredSchema)
    assert elsewhere.schema_id == 1
    with store.open_snapshot() as snapshot:
        assert snapshot.max_id(".") == MAX_ID
        assert snapshot.versions(Subject.parse("new"), DeletedFilter.INCLUDED) == []


def test_no_version_comes_after_the_last_one_and_the_neighbours_are_unharmed(store: Store) -> None:
    first = store.append(judged(store, ORDERS, content("a"), schema_id=7, version=MAX_VERSION)).result(30)
    assert not isinstance(first, Stale)
    assert first.version == MAX_VERSION
    follows, neighbour = in_one_batch(
        store, judged(store, ORDERS, content("b")), judged(store, Subject.parse("other"), content("c"))
    )
    imported = in_one_batch(store, judged(store, ORDERS, content("d"), schema_id=9))[0]
    for refused in (follows, imported):
        assert isinstance(refused, OperationNotPermitted)
        assert "new versions need another subject" in refused.message
    assert isinstance(neighbour, RegisteredSchema)
    assert (neighbour.schema_id, neighbour.version) == (8, 1)
    earlier = store.append(judged(store, ORDERS, content("e"), schema_id=9, version=3)).result(30)
    assert not isinstance(earlier, Stale)
    assert earlier.version == 3
    with store.open_snapshot() as snapshot:
        assert snapshot.versions(ORDERS, DeletedFilter.INCLUDED) == [(3, False), (MAX_VERSION, False)]


def test_versions_that_name_a_context_in_a_reference_are_found(store: Store) -> None:
    put(store, "base", Subject.parse("base"))
    one = target(store, Subject.parse("base"), 1)
    for text, subject in (("a", "base"), ("b", ":.:base"), ("c", "base")):
        put(store, text, references=(Reference(":R", subject, 1),), targets=(one,))
    put(store, "d")
    with store.open_snapshot() as snapshot:
        assert [
            found.version for found in snapshot.versions_with_qualified_references(ORDERS, DeletedFilter.EXCLUDED)
        ] == [2]
    soft_delete(store, ORDERS, 2)
    with store.open_snapshot() as snapshot:
        assert snapshot.versions_with_qualified_references(ORDERS, DeletedFilter.EXCLUDED) == []
        assert [
            found.version for found in snapshot.versions_with_qualified_references(ORDERS, DeletedFilter.INCLUDED)
        ] == [2]

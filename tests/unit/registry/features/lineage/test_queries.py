"""Edges have a life: they appear, change and vanish; on every database."""

from __future__ import annotations

import pytest

from contractlog.compatibility.errors import TooManyEdges
from contractlog.contracts.lineage.edges import Evidence
from contractlog.contracts.lineage.statements import EdgeDetails, FieldPair, LineageDataset, LineageStatement
from contractlog.registry.access.permissions import Permissions
from contractlog.registry.execution.work_limits import RequestAbandoned, RequestWork, current_work
from contractlog.registry.features.lineage import queries
from contractlog.registry.features.lineage.queries import (
    EdgeFilter,
    NearEnds,
    StoredEdge,
    find_sources,
    find_targets,
    list_edges,
    list_topic_datasets,
    record_statement,
)
from contractlog.registry.features.lineage.service import permission_subject
from contractlog.registry.storage import tables
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.transaction import Transaction

KAFKA = "kafka://broker:9092"
A, B, C = (LineageDataset(KAFKA, name) for name in "abc")
X = FieldPair(A, "x", "x")
Y = FieldPair(B, "y", "y")
FOUND = EdgeDetails(direction="known", method="copy", score=0.9, support=10)


def state(
    store: Store,
    at: int,
    edges: dict[FieldPair, EdgeDetails],
    *,
    origin: str = "shop/enrich",
    evidence: Evidence = "declared",
    target: LineageDataset = C,
) -> None:
    def work(change: Transaction) -> None:
        change.now = at
        record_statement(change, LineageStatement(origin, target, evidence, edges))

    store.transact(work).result(30)


def edges(store: Store, at: int | None = None, evidence: Evidence | None = None) -> list[StoredEdge]:
    with store.open_snapshot() as snapshot:
        return list_edges(snapshot, EdgeFilter(at, evidence), after=0, limit=100)[0]


def pairs(store: Store, at: int | None = None) -> list[FieldPair]:
    return [edge.pair for edge in edges(store, at)]


def test_a_new_statement_replaces_that_of_the_same_origin(store: Store) -> None:
    state(store, 1_000, {X: {}})
    state(store, 2_000, {Y: {}})
    assert pairs(store) == [Y]
    assert [pairs(store, at) for at in (999, 1_000, 1_999, 2_000)] == [[], [X], [X], [Y]]
    state(store, 3_000, {})
    assert pairs(store) == []
    assert pairs(store, 2_500) == [Y]
    state(store, 4_000, {X: {}})
    assert [(edge.pair, edge.first_published_at, edge.vanished_at) for edge in edges(store)] == [(X, 4_000, None)]
    assert pairs(store, 1_500) == [X]


def test_origins_targets_and_kinds_of_evidence_are_never_merged(store: Store) -> None:
    state(store, 1_000, {X: {}})
    state(store, 1_000, {X: {}}, origin="shop/other")
    state(store, 1_000, {X: FOUND}, origin="contractlog audit", evidence="values")
    state(store, 1_000, {X: FOUND}, origin="contractlog audit", evidence="traced")
    state(store, 1_000, {X: {}}, target=B)
    assert len(edges(store)) == 5
    assert [edge.evidence for edge in edges(store, evidence="values")] == ["values"]
    state(store, 2_000, {}, origin="contractlog audit", evidence="values")
    assert sorted(edge.evidence for edge in edges(store)) == ["declared", "declared", "declared", "traced"]


def test_figures_are_updated_in_their_row_and_another_derivation_is_another_row(store: Store) -> None:
    state(store, 1_000, {X: FOUND}, evidence="values")
    state(store, 2_000, {X: {**FOUND, "score": 0.5}}, evidence="values")
    (edge,) = edges(store)
    assert (edge.details["score"], edge.first_published_at, edge.last_published_at) == (0.5, 1_000, 2_000)
    state(store, 3_000, {X: {**FOUND, "method": "lookup"}}, evidence="values")
    assert [(edge.details["method"], edge.first_published_at) for edge in edges(store)] == [("lookup", 3_000)]
    assert [edge.details["method"] for edge in edges(store, 2_500)] == ["copy"]


def test_repeated_statements_are_no_changes(store: Store) -> None:
    for at in (1_000, 2_000, 3_000):
        state(store, at, {X: {}, Y: {}})
    state(store, 4_000, {X: {}})
    with store.open_snapshot() as snapshot:
        c = tables.changes.c
        rows = snapshot.connection.execute(
            tables.changes.select().with_only_columns(c.action, c.target, c.details).order_by(c.sequence)
        ).all()
    assert [(row.action, row.target) for row in rows] == [("lineage.published", "c")] * 2
    assert '"appeared":2' in rows[0].details
    assert '"vanished":1' in rows[1].details


def test_edges_of_a_target_are_limited_and_nothing_is_stored_beyond(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MAX_EDGES_OF_TARGET", 3)
    many = {FieldPair(A, f"f{number}", "x"): EdgeDetails() for number in range(3)}
    state(store, 1_000, many)
    with pytest.raises(TooManyEdges, match="`c` would have 4 lineage edges; at most 3 are allowed"):
        state(store, 2_000, {X: {}}, origin="shop/other")
    assert len(edges(store)) == 3
    state(store, 3_000, {X: {}, Y: {}})
    state(store, 4_000, {X: {}}, origin="shop/other")
    assert len(edges(store)) == 3


def test_edges_that_vanished_first_are_removed_beyond_a_limit(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "MAX_VANISHED_OF_TARGET", 2)
    for at in range(1_000, 9_000, 1_000):
        state(store, at, {FieldPair(A, f"f{at}", "x"): EdgeDetails()})
    assert [edge.pair.source_field for at in (5_500, 6_500, 7_500) for edge in edges(store, at)] == ["f6000", "f7000"]


def test_edges_without_direction_lead_both_ways(store: Store) -> None:
    mirror = EdgeDetails(direction="unknown", method="copy", score=1.0, support=9)
    state(store, 1_000, {X: mirror, Y: FOUND}, evidence="values")
    with store.open_snapshot() as snapshot:

        def find(direction: object, dataset: LineageDataset) -> list[FieldPair]:
            return [edge.pair for edge in direction(snapshot, NearEnds([dataset]), EdgeFilter(), 10)]  # type: ignore[operator]

        assert find(find_sources, C) == [X, Y]
        assert find(find_sources, A) == [X]
        assert find(find_sources, B) == []
        assert find(find_targets, C) == [X]
        assert find(find_targets, B) == [Y]


def test_a_topic_is_one_dataset_in_each_cluster(store: Store) -> None:
    state(store, 1_000, {FieldPair(LineageDataset("kafka://other:9092", "c"), "", ""): {}})
    state(store, 1_000, {FieldPair(LineageDataset("file", "c"), "", ""): {}}, origin="shop/other")
    with store.open_snapshot() as snapshot:
        assert [each.namespace for each in list_topic_datasets(snapshot, "c")] == [KAFKA, "kafka://other:9092"]
        assert list_topic_datasets(snapshot, "c\0") == []


def test_long_and_strange_names_are_stored_as_they_are(store: Store) -> None:
    source = LineageDataset("ä" * 1_024, "\u202e" + "b" * 1_023)
    pair = FieldPair(source, "'\"\\" * 300, "x" * 1_024)
    state(store, 1_000, {pair: {"description": "\0 nul"}}, origin="o" * 2_049)
    (edge,) = edges(store)
    assert (edge.pair, edge.details, edge.origin) == (pair, {"description": "\0 nul"}, "o" * 2_049)


def test_a_limit_is_shared_by_datasets_and_edges_of_whole_datasets_come_first(store: Store) -> None:
    state(store, 1_000, {FieldPair(A, f"f{number}", f"f{number}"): EdgeDetails() for number in range(50)}, target=B)
    state(store, 2_000, {FieldPair(A, "x", "x"): EdgeDetails(), FieldPair(A, "", ""): EdgeDetails()}, target=C)
    with store.open_snapshot() as snapshot:
        read = list(find_targets(snapshot, NearEnds([A]), EdgeFilter(), 4))
    assert {edge.target for edge in read} == {B, C}
    assert FieldPair(A, "", "") in [edge.pair for edge in read]
    assert len(read) == 4


def test_edges_that_the_caller_may_not_read_are_not_read_and_use_up_no_limit(store: Store) -> None:
    state(store, 1_000, {FieldPair(A, f"f{number}", "x"): EdgeDetails() for number in range(50)}, target=B)
    state(store, 2_000, {X: EdgeDetails()})
    readable = EdgeFilter(readable=Permissions.of(["a*", "c-value", "postgres://shop/*"], ()).read)
    with store.open_snapshot() as snapshot:
        assert [edge.pair for edge in find_targets(snapshot, NearEnds([A]), readable, 3)] == [X]
        assert [edge.pair for edge in list_edges(snapshot, readable, after=0, limit=1)[0]] == [X]
        assert list_edges(snapshot, EdgeFilter(readable=()), after=0, limit=1) == ([], None)


def test_the_condition_on_permissions_is_that_of_permissions(store: Store) -> None:
    table = LineageDataset("postgres://shop", "public.a")
    datasets = [LineageDataset(KAFKA, name) for name in ("a", "ab", "A", "a%", "a_")] + [table]
    for number, each in enumerate(datasets):
        state(store, number, {FieldPair(each, "", ""): EdgeDetails()}, target=each)
    for pattern in ("*", "a*", "a-value", "a%*", "a_-value", "postgres://shop/*", ":.eu:*", ":*:ab*", ":.a*", "A*"):
        read = Permissions.of([pattern], ()).read
        with store.open_snapshot() as snapshot:
            listed = {edge.target for edge in list_edges(snapshot, EdgeFilter(readable=read), after=0, limit=99)[0]}
        assert listed == {each for each in datasets if any(p.covers(permission_subject(each)) for p in read)}, pattern


def test_fields_are_selected_with_those_inside_and_around_them(store: Store) -> None:
    names = ("", "a", "a.b", "a.b.c", "a.bc", "a[].x", "ab", "a{}", "A")
    state(store, 1_000, {FieldPair(A, name, "t"): EdgeDetails() for name in names})
    with store.open_snapshot() as snapshot:

        def find(*fields: str) -> set[str]:
            near = NearEnds([A], fields)
            return {edge.pair.source_field for edge in find_targets(snapshot, near, EdgeFilter(), 99)}

        assert find() == set(names)
        assert find("a.b") == {"", "a", "a.b", "a.b.c"}
        assert find("a") == {"", "a", "a.b", "a.b.c", "a.bc", "a[].x", "a{}"}
        assert find("ab", "zero\0") == {"", "ab"}


def test_edges_are_listed_by_the_beginning_of_a_topic(store: Store) -> None:
    state(store, 1_000, {X: EdgeDetails()}, target=B)
    state(store, 1_000, {X: EdgeDetails(), Y: EdgeDetails()})
    with store.open_snapshot() as snapshot:
        for prefix, count in (("", 3), ("a", 2), ("b", 2), ("c", 2), ("A", 0), ("a%", 0), ("\0", 0)):
            assert len(list_edges(snapshot, EdgeFilter(topic_prefix=prefix), after=0, limit=9)[0]) == count, prefix


def test_pages_follow_each_other_across_windows(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "_WINDOW", 3)
    state(store, 1_000, {FieldPair(A, f"f{number}", "x"): EdgeDetails() for number in range(20)})
    listed: list[int] = []
    after: int | None = 0
    with store.open_snapshot() as snapshot:
        while after is not None:
            page, after = list_edges(snapshot, EdgeFilter(), after=after, limit=7)
            listed += [edge.sequence for edge in page]
        monkeypatch.setattr(queries, "_MAX_WINDOWS", 2)
        assert list_edges(snapshot, EdgeFilter(readable=()), after=0, limit=1) == ([], 6)
    assert listed == sorted(set(listed))
    assert len(listed) == 20


def test_a_walk_ends_between_rows_when_its_client_has_disconnected(store: Store) -> None:
    state(store, 1_000, {X: EdgeDetails()})
    gone = RequestWork("a")
    gone.stop()
    token = current_work.set(gone)
    try:
        with store.open_snapshot() as snapshot, pytest.raises(RequestAbandoned):
            list(find_sources(snapshot, NearEnds([C]), EdgeFilter(), 9))
    finally:
        current_work.reset(token)
    assert gone.charged

"""The search index processes changes in batches."""

from __future__ import annotations

import json
from functools import partial

from sqlalchemy import select

from contractlog.compatibility.formats import extract_terms
from contractlog.registry.features.change_log.follower import ChangeLogFollower
from contractlog.registry.features.search import queries as search_index
from contractlog.registry.features.search.indexer import SearchIndexer
from contractlog.registry.settings import Settings
from contractlog.registry.storage import change_log, tables

from support.registry import in_process


def test_one_look_takes_all_that_is_due_and_leaves_the_rest_for_the_next() -> None:
    """However many small commits there are, the index makes two for each look."""
    with in_process(Settings(database_url="sqlite://")) as node:
        store = node.app.state.services.store  # type: ignore[attr-defined]
        indexer = SearchIndexer(store, ChangeLogFollower(store))
        commits: list[int] = []
        store.on_commit(lambda touched: commits.append(len(touched)))

        def register(number: int) -> None:
            fields = [{"name": f"f{one}", "type": "int", "default": 0} for one in range(number)]
            schema = json.dumps({"type": "record", "name": "R", "fields": fields})
            assert node.post("/subjects/s/versions", json={"schema": schema}).status_code == 200

        def indexed() -> tuple[int | None, int]:
            with store.open_snapshot() as snapshot:
                return search_index.read_position(snapshot), change_log.newest_sequence(snapshot)

        register(1)
        assert indexer.catch_up()  # after the first look at everything there may be more
        assert indexed() == (1, 1)
        for number in range(2, 12):
            register(number)
        commits.clear()
        assert not indexer.catch_up()
        assert len(commits) == 2
        assert indexed() == (11, 11)
        assert not indexer.catch_up()
        assert len(commits) == 2
        assert len(node.get("/contractlog/v1/search", params={"field": "f10"}).json()["hits"]) == 1


def test_long_changes_are_taken_by_several_looks() -> None:
    with in_process(Settings(database_url="sqlite://")) as node:
        store = node.app.state.services.store  # type: ignore[attr-defined]
        indexer = SearchIndexer(store, ChangeLogFollower(store))
        while indexer.catch_up():
            pass
        for number in range(9):
            body = {"defaultMetadata": {"properties": {"text": str(number) * 900_000}}}
            assert node.put("/config/s", json=body).status_code == 200
        positions = []
        more = True
        while more:
            more = indexer.catch_up()
            with store.open_snapshot() as snapshot:
                positions.append(search_index.read_position(snapshot))
        assert positions == [4, 8, 9]


def test_a_schema_without_words_is_indexed_once() -> None:
    with in_process(Settings(database_url="sqlite://")) as node:
        store = node.app.state.services.store  # type: ignore[attr-defined]
        indexer = SearchIndexer(store, ChangeLogFollower(store))

        def unindexed() -> list[search_index.Key]:
            with store.open_snapshot() as snapshot:
                return search_index.list_unindexed(snapshot, ("", 0), 10)

        anything = {"schema": "{}", "schemaType": "JSON"}
        for subject in ("a", "b"):
            assert node.post(f"/subjects/{subject}/versions", json=anything).json()["id"] == 1
            assert unindexed() == ([(".", 1)] if subject == "a" else [])
            indexer.catch_up()
            assert unindexed() == []


def test_a_schema_with_many_words_is_indexed_in_short_transactions_even_if_one_was_interrupted() -> None:
    """Writes of others wait for a transaction of the index, so it must not grow with a schema."""
    with in_process(Settings(database_url="sqlite://")) as node:
        store = node.app.state.services.store  # type: ignore[attr-defined]
        indexer = SearchIndexer(store, ChangeLogFollower(store))
        while indexer.catch_up():
            pass
        properties = {f"p{number}": "v" for number in range(7_000)}
        body = {"schema": '"int"', "metadata": {"properties": properties}}
        assert node.post("/subjects/s/versions", json=body).status_code == 200
        with store.open_snapshot() as snapshot:
            (schema,) = search_index.read_schemas(snapshot, [(".", 1)])
        terms = list(extract_terms(schema.type, schema.text, schema.metadata))
        first = search_index.SchemaWords(schema.key, 1, terms[:3_000], are_last=False)
        store.transact(partial(search_index.store_words, words=[first]), contexts=()).result()
        commits: list[int] = []
        store.on_commit(lambda touched: commits.append(len(touched)))
        indexer.catch_up()
        assert len(commits) >= len(terms) // 2_000
        with store.open_snapshot() as snapshot:
            assert search_index.list_unindexed(snapshot, ("", 0), 10) == []
            rows = snapshot.connection.execute(select(tables.search_terms.c.position)).scalars()
            assert sorted(rows) == list(range(len(terms) + 1))

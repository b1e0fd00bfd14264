"""Queries do not read whole tables if PostgreSQL has no statistics yet.

One question of a batch still may: which id a content has, once for all of its contents.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, Select, create_engine

from contractlog.registry.features.search import queries as search_index
from contractlog.registry.storage import append_state, prefetch, snapshot
from contractlog.registry.storage.engines import parse_url
from contractlog.registry.storage.store_values import DeletedFilter

pytestmark = pytest.mark.integration

SCHEMAS = 3_000
MOST_ROWS = 400  #: that one question may look at, in all steps together
FILLING = f"""
    INSERT INTO subjects SELECT g, 'k' || g, '.', 's' || g, 10 FROM generate_series(1, {SCHEMAS // 10}) g;
    INSERT INTO schemas (context, id, hash, normalized_hash, guid, type, text, created_at)
        SELECT '.', g, 'h' || g, 'n' || g, 'g' || g, 'AVRO', repeat('x', 600), 0 FROM generate_series(1, {SCHEMAS}) g;
    INSERT INTO contents SELECT '.', 'h' || g, g FROM generate_series(1, {SCHEMAS}) g;
    INSERT INTO versions SELECT (g - 1) / 10 + 1, mod(g - 1, 10) + 1, '.', g, 0 FROM generate_series(1, {SCHEMAS}) g;
    INSERT INTO search_terms SELECT '.', g, 0, 'seen', '', '', '' FROM generate_series(1, {SCHEMAS}) g;
"""  # noqa: S608 - a number
UNWATCHED = ("subjects", "schemas", "contents", "versions", "search_terms")

CONTENT = {"key": "k7", "context": ".", "hash": "h65"}
QUESTIONS: dict[str, tuple[Select[Any], dict[str, Any]]] = {
    "newest": (snapshot._LATEST[DeletedFilter.EXCLUDED], {"key": "k7"}),
    "row and highest": (snapshot._STATE_AND_HIGHEST, {"key": "k7"}),
    "same content": (snapshot._ALL_WITH_HASH[DeletedFilter.EXCLUDED], CONTENT),
    "same spelling": (snapshot._EQUIVALENT[DeletedFilter.EXCLUDED], CONTENT | {"hash": "n65"}),
    "leaning": (snapshot._BY_DEPENDENCE[DeletedFilter.EXCLUDED, True], {"key": "k7"}),
    "rows of a batch": (append_state._STATES, {"keys": ["k7", "k8"]}),
    "held by a batch": (append_state._VERSIONS, {"subjects": [7, 8], "schemas": [65, 66]}),
    "read ahead": (prefetch._LIVE, {"subjects": [7, 8, 9]}),
    "to be indexed": (search_index._TEXTS, {"context": ".", "ids": [1, 2, 3, 4, SCHEMAS + 1]}),
}


@pytest.fixture
def connection(upgraded_postgres_url: str) -> Iterator[Connection]:
    engine = create_engine(parse_url(upgraded_postgres_url))
    try:
        with engine.begin() as opened:
            for table in UNWATCHED:
                opened.exec_driver_sql(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
            opened.exec_driver_sql(FILLING)
        with engine.connect() as opened:
            yield opened
    finally:
        engine.dispose()


def test_no_question_of_one_registration_reads_a_whole_table(connection: Connection) -> None:
    looked = {name: _rows(connection, *question) for name, question in QUESTIONS.items()}
    assert max(looked.values()) <= MOST_ROWS, looked


def _rows(connection: Connection, statement: Select[Any], values: dict[str, Any]) -> int:
    """Return how many rows PostgreSQL looked at to answer."""
    compiled = statement.compile(dialect=connection.dialect, compile_kwargs={"render_postcompile": True})
    asked = {name: values.get(name, given) for name, given in compiled.params.items()}
    plan = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {compiled}", asked).scalar_one()
    return sum(map(_looked_at, _nodes(plan[0]["Plan"])))


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for inner in node.get("Plans", ()):
        yield from _nodes(inner)


def _looked_at(node: dict[str, Any]) -> int:
    removed = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Join Filter", "Rows Removed by Index Recheck")
    return int(sum(node.get(name, 0) for name in removed) * node["Actual Loops"])

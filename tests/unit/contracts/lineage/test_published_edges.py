"""Edges that a registry returns have everything that edges of reports have, and their life."""

from __future__ import annotations

from typing import Any

import pytest

from contractlog.compatibility.errors import InvalidLineage
from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.contracts.lineage.published_edges import parse_published_edge

from support.lineage_events import KAFKA

FIGURES: dict[str, Any] = {
    "direction": "known", "method": "function", "score": 0.97, "support": 400, "lag_ms": 1234.5,
    "description": "start = min(at)", "lag_quantiles_ms": {"p05": 1.0, "p50": 1234.5, "p95": 9e3}, "job": "sessions",
    "first_seen": "2013-01-01T00:00:00Z", "last_seen": "2013-07-01T00:00:00Z", "evidence": "values",
    "example": {"from": {"partition": 0, "offset": 3}, "to": {"partition": 1, "offset": 4}},
}  # fmt: skip
ENDS: dict[str, Any] = {
    "from": {"namespace": KAFKA, "name": "clicks", "field": "at"},
    "to": {"namespace": KAFKA, "name": "visits", "field": "start"},
}
LIFE: dict[str, Any] = {
    "origin": "contractlog audit", "first_published_at": 0, "last_published_at": 1_372_651_920_000,
}  # fmt: skip


def test_every_member_of_an_edge_is_read() -> None:
    assert FIGURES.keys() == LineageEdge.__annotations__.keys() - {"from", "to"}
    assert parse_published_edge({**ENDS, **FIGURES, **LIFE, "vanished_at": 1_372_651_920_001}) == {
        **FIGURES,
        "from": {"topic": "clicks", "field": "at"},
        "to": {"topic": "visits", "field": "start"},
        "origin": "contractlog audit",
        "appeared": "1970-01-01T00:00:00Z",
        "last_published": "2013-07-01T04:12:00Z",
        "vanished": "2013-07-01T04:12:00.001Z",
    }


def test_a_declared_edge_has_its_transformations_in_words() -> None:
    table = {"namespace": "postgres://shop", "name": "public.orders"}
    change = {"type": "DIRECT", "subtype": "AGGREGATION", "description": "sum of amounts", "masking": False}
    edge = parse_published_edge(
        {**ENDS, "from": table, "evidence": "declared", "direction": "known", "transformations": [change], **LIFE}
    )
    assert edge["from"] == {"topic": "postgres://shop/public.orders", "field": ""}
    assert (edge["method"], edge["description"]) == ("declared", "AGGREGATION: sum of amounts")
    assert "vanished" not in edge


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (3, "it is not an object"),
        ({**ENDS, **LIFE}, "`evidence` is missing"),
        ({**ENDS, **LIFE, "evidence": "guessed"}, "`evidence` must be one of declared, traced, values"),
        ({**ENDS, **LIFE, "evidence": "values", "score": "high"}, "`score` is not a number"),
        ({**ENDS, **LIFE, "evidence": "values", "first_published_at": "x"}, "`first_published_at` must be an integer"),
        ({**LIFE, "from": {"name": 1}, "to": {}, "evidence": "values"}, "`from.namespace` is missing"),
    ],
)
def test_another_body_is_an_error_with_its_location(body: Any, message: str) -> None:
    with pytest.raises(InvalidLineage, match=r"^The lineage event is not valid: ") as caught:
        parse_published_edge(body)
    assert message in str(caught.value)

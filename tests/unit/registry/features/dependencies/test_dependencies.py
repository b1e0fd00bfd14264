"""The references of a subject in both directions, on every database."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from contractlog.registry.features.dependencies.service import MAX_DEPTH
from contractlog.registry.settings import Settings

from support.registry import in_process

GRAPH = "/contractlog/v1/graph"


@pytest.fixture
def node(database_url: str) -> Iterator[httpx2.Client]:
    with in_process(Settings(database_url=database_url)) as client:
        yield client


def register(node: httpx2.Client, subject: str, *on: tuple[str, str, int]) -> None:
    """Register a record named like its subject, with a field of each record that it leans on."""
    name = subject.rpartition(":")[2].capitalize()
    fields = [{"name": f"f{number}", "type": target[0]} for number, target in enumerate(on)]
    references = [{"name": n, "subject": s, "version": v} for n, s, v in on]
    body = {"schema": json.dumps({"type": "record", "name": name, "fields": fields}), "references": references}
    answer = node.post(f"/subjects/{subject}/versions", json=body)
    assert answer.status_code == 200, answer.text


@pytest.fixture
def chain(node: httpx2.Client) -> httpx2.Client:
    """An order leans on an item, that on a price; a basket leans on the order and the item; abroad leans on it too."""
    register(node, "price")
    register(node, "item", ("Price", "price", 1))
    register(node, "order", ("Item", "item", 1))
    register(node, "basket", ("Order", "order", 1), ("Item", "item", 1))
    register(node, ":.eu:cart", ("Basket", ":.:basket", 1))
    return node


def ask(node: httpx2.Client, subject: str, **query: Any) -> dict[str, Any]:
    answer = node.get(f"{GRAPH}/{subject}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def distances(found: dict[str, Any]) -> dict[str, int]:
    return {f"{one['subject']}/{one['version']}": one["distance"] for one in found["nodes"]}


def edges(found: dict[str, Any]) -> set[tuple[str, str, tuple[str, ...]]]:
    return {(one["leaning"]["subject"], one["target"]["subject"], tuple(one["names"])) for one in found["edges"]}


def test_both_directions_are_followed_to_their_ends(chain: httpx2.Client) -> None:
    found = ask(chain, "item")
    assert distances(found) == {"item/1": 0, "price/1": 1, "order/1": -1, "basket/1": -1, ":.eu:cart/1": -2}
    assert edges(found) == {
        ("item", "price", ("Price",)),
        ("order", "item", ("Item",)),
        ("basket", "item", ("Item",)),
        ("basket", "order", ("Order",)),
        (":.eu:cart", "basket", ("Basket",)),
    }
    assert found["truncated"] is False


def test_one_direction_can_be_asked_for(chain: httpx2.Client) -> None:
    assert distances(ask(chain, "basket", direction="references")) == {
        "basket/1": 0, "order/1": 1, "item/1": 1, "price/1": 2
    }  # fmt: skip
    assert distances(ask(chain, "basket", direction="referencedBy")) == {"basket/1": 0, ":.eu:cart/1": -1}
    assert distances(ask(chain, ":.eu:cart", direction="references"))["price/1"] == 3


def test_steps_are_bounded_and_it_is_said_where_there_is_more(chain: httpx2.Client) -> None:
    found = ask(chain, "basket", direction="references", depth=1)
    assert distances(found) == {"basket/1": 0, "order/1": 1, "item/1": 1}
    assert ("order", "item", ("Item",)) in edges(found)
    assert found["truncated"] is True
    assert ask(chain, "basket", direction="references", depth=2)["truncated"] is False
    for number in range(MAX_DEPTH + 1):
        register(chain, f"c{number}", *([(f"C{number - 1}", f"c{number - 1}", 1)] if number else []))
    found = ask(chain, "c0")
    assert min(distances(found).values()) == -MAX_DEPTH  # no schema leans on another further away
    assert found["truncated"] is False
    assert ask(chain, "c0", depth=MAX_DEPTH - 1)["truncated"] is True


def test_versions_are_told_apart_and_soft_deleted_ones_are_marked(chain: httpx2.Client) -> None:
    chain.put("/config", json={"compatibility": "NONE"})
    body = {"schema": json.dumps({"type": "record", "name": "Order", "fields": []})}
    assert chain.post("/subjects/order/versions", json=body).json()["version"] == 2
    chain.delete("/subjects/:.eu:cart")
    assert distances(ask(chain, "order", version="latest")) == {"order/2": 0}
    assert distances(ask(chain, "order"))["order/2"] == 0
    found = ask(chain, "order", version=1)
    assert {one["subject"]: one["deleted"] for one in found["nodes"]} == {
        "order": False, "item": False, "price": False, "basket": False, ":.eu:cart": True
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "code"),
    [("nobody", 40401), ("nobody?version=latest", 40401), ("nobody?version=1", 40401), ("item?version=7", 40402),
     ("item?version=x", 42281), ("item?version=0", 42281), ("item?direction=up", 42281), ("item?depth=0", 42281),
     ("item?depth=17", 42281), ("item?version=2147483648", 42281), ("item?version=" + "9" * 30, 42281)],
)  # fmt: skip
def test_invalid_requests_for_a_graph_have_error_codes(chain: httpx2.Client, path: str, code: int) -> None:
    assert chain.get(f"{GRAPH}/{path}").json()["error_code"] == code

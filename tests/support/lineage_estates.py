"""Lineage edges of invented estates: domains with pipelines, a few of which read other domains."""

from __future__ import annotations

from random import Random
from typing import Final

from contractlog.contracts.lineage.edges import EdgeDirection, Evidence, LineageEdge

__all__ = ["make_edge", "make_estate"]

_DOMAINS: Final = (
    *("orders", "billing", "shipping", "flights", "weather", "crm", "pricing", "fraud", "ads", "search", "media"),
    *("stock", "geo", "mail", "auth", "hr", "risk", "iot", "logs", "pay", "cart", "promo", "track", "fleet", "news"),
)
_STAGES: Final = (
    *("raw", "clean", "enriched", "by-customer", "hourly", "daily", "masked", "joined", "dlq", "mirror", "latest"),
    *("alerts", "sessions", "scored", "export", "changes", "keyed", "audit", "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW"),
    "index-for-the-search-of-everything-and-more",
)
_FIELDS: Final = ("id", "customer_id", "amount", "created_at", "legs[].carrier", "legs[].flight", "status")


def make_edge(
    source: str,
    target: str,
    field: str = "id",
    *,
    to: str | None = None,
    evidence: Evidence | None = None,
    direction: EdgeDirection = "known",
    support: int = 812,
    method: str = "copy",
) -> LineageEdge:
    """Make an edge between fields of two topics."""
    edge: LineageEdge = {
        "from": {"topic": source, "field": field},
        "to": {"topic": target, "field": field if to is None else to},
        "direction": direction,
        "method": method,
        "score": 0.98,
        "support": support,
        "lag_ms": 15_400.0,
    }
    if evidence is not None:
        edge["evidence"] = evidence
    return edge


def make_estate(domains: int, topics_per_domain: int, seed: int = 1) -> list[LineageEdge]:
    """Make the edges of an estate: trees within domains, a few cycles, mirrors, and links between domains."""
    random = Random(seed)  # noqa: S311 - reproducible
    edges: list[LineageEdge] = []

    def link(source: str, target: str, evidence: Evidence | None = None, direction: EdgeDirection = "known") -> None:
        for field in random.sample(_FIELDS, random.randint(1, 4)):
            support = int(10 ** random.uniform(1, 5))
            edges.append(make_edge(source, target, field, evidence=evidence, direction=direction, support=support))

    names = [
        [f"{domain}.{_STAGES[number % len(_STAGES)]}{number or ''}" for number in range(topics_per_domain)]
        for domain in _DOMAINS[:domains]
    ]
    for number, own in enumerate(names):
        for position, topic in enumerate(own[1:], 1):
            link(own[max(0, position - random.randint(1, 6))], topic, random.choice([None, None, "declared", "traced"]))
            if random.random() < 0.2:
                other = own[random.randrange(position)]
                link(other, topic, direction=random.choice(["known", "unknown"]))
                if random.random() < 0.2:
                    link(topic, other)  # a cycle
        if number and random.random() < 0.8:
            for _ in range(random.randint(1, 3)):
                link(random.choice(names[random.randrange(number)]), random.choice(own))
    return edges

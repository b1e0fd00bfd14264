"""``/metrics`` shows the newest audits of topics that the caller may read."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contractlog.compatibility.errors import StoreError
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.features.metrics import audit_metrics
from contractlog.registry.features.metrics.audit_metrics import AuditMetrics
from contractlog.registry.settings import Settings
from contractlog.registry.testing import Registries

from support.registry import in_process

if TYPE_CHECKING:
    import httpx2

NO_DETAILS: dict[str, list[Any]] = {name: [] for name in ("violations", "series", "fields", "notes")}
SAMPLE = re.compile(r'(contractlog_audit_\w+?)(?:\{topic="([^"]*)",part="(\w+)"(?:,verdict="(\w+)")?\})? (\S+)')


def _publish(client: httpx2.Client, topic: str, conforming: int, violating: int, **members: Any) -> None:
    total = conforming + violating
    counts = {"records": total, "conforming": conforming, "violating": violating, "tombstones": 0, "absent": 0}
    entry = {
        "topic": topic,
        "part": "value",
        "verdict": "failing" if violating else "passing",
        "conformance": conforming / total if total else None,
        **counts,
        "partitions": [{"partition": 0, "from_offset": 0, "to_offset": total, **counts}],
        "schemas": [],
        **NO_DETAILS,
        **members,
    }
    client.post(f"/contractlog/v1/conformance/{topic}", json=entry).raise_for_status()


def _samples(client: httpx2.Client) -> dict[tuple[str, ...], float]:
    """Values by name without the common prefix, and labels."""
    text = client.get("/metrics").raise_for_status().text
    matches = map(SAMPLE.fullmatch, text.splitlines())
    return {
        (match[1].removeprefix("contractlog_audit_"), *filter(None, match.groups()[1:4])): float(match[5])
        for match in matches
        if match
    }


@pytest.fixture(autouse=True)
def always_current(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_metrics, "_FRESH_SECONDS", 0.0)
    monkeypatch.setattr(audit_metrics, "_WAIT_SECONDS", 60.0)


def test_the_newest_audit_of_each_part_has_metrics(http: httpx2.Client) -> None:
    assert _samples(http) == {("parts_left_out",): 0}
    schemas = [{"last_seen": "1970-01-01T00:01:40Z"}, {"last_seen": "1970-01-01T00:01:41.500Z"}, {"last_seen": "?"}, {}]
    _publish(http, "orders", 6, 2, schemas=schemas)
    samples = _samples(http)
    published_at = samples.pop(("published_timestamp_seconds", "orders", "value"))
    answer = http.get("/contractlog/v1/conformance/orders").json()[0]
    assert published_at == answer["recorded_at"] / 1000
    assert samples == {
        ("conformance_ratio", "orders", "value"): 0.75,
        ("violating_records", "orders", "value"): 2,
        ("verdict", "orders", "value", "failing"): 1,
        ("last_record_timestamp_seconds", "orders", "value"): 101.5,
        ("parts_left_out",): 0,
    }
    _publish(http, "orders", 8, 0)
    assert _samples(http)["verdict", "orders", "value", "passing"] == 1


def test_a_part_that_was_not_audited_has_no_conformance(http: httpx2.Client) -> None:
    _publish(http, "orders", 0, 0, verdict="unknown", conformance=None)
    names = {name for name, *_ in _samples(http)}
    assert names == {"violating_records", "verdict", "published_timestamp_seconds", "parts_left_out"}


@pytest.mark.parametrize(("max_parts", "shown"), [(0, None), (1, {"worst"}), (2, {"worst", "bad"})])
def test_the_number_of_series_is_bounded_and_the_worst_come_first(
    registries: Registries, max_parts: int, shown: set[str] | None
) -> None:
    with in_process(Settings(database_url="sqlite://", max_metric_parts=max_parts)) as client:
        for topic, violating in [("good", 0), ("worst", 9), ("bad", 5)]:
            _publish(client, topic, 10, violating)
        samples = _samples(client)
    assert samples.get(("parts_left_out",)) == (None if shown is None else 3 - len(shown))
    assert {labels[0] for name, *labels in samples if name == "verdict"} == (shown or set())


def test_a_publisher_of_many_violations_does_not_displace_the_topics_of_others(registries: Registries) -> None:
    with in_process(Settings(database_url="sqlite://", max_metric_parts=6)) as client:
        _publish(client, "b-payments", 0, 500_000)
        for number in range(10):
            _publish(client, f"a-z{number}", 0, 10**15)
        samples = _samples(client)
    assert samples["violating_records", "b-payments", "value"] == 500_000
    assert samples["parts_left_out",] == 5
    assert sum(name == "verdict" for name, *_ in samples) == 6


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[httpx2.Client]:
    users = tmp_path / "users.toml"
    password = HashedPassword.of("pass", n=2, r=1, p=1)
    users.write_text(
        format_entry("admin", password, ["*"], ["*"]) + format_entry("shop", password, ["shop-*"], ["shop-*"])
    )
    with in_process(Settings(database_url="sqlite://", users_file=str(users), metrics_token="t")) as client:  # noqa: S106
        client.auth = ("admin", "pass")
        for topic in ("shop-orders", "payments"):
            _publish(client, topic, 1, 1)
        yield client


@pytest.mark.parametrize(
    ("caller", "topics", "everything"),
    [("admin", {"shop-orders", "payments"}, True), ("shop", {"shop-orders"}, False)],
)
def test_a_user_sees_the_audits_of_readable_topics(
    secured: httpx2.Client, caller: str, topics: set[str], *, everything: bool
) -> None:
    secured.auth = (caller, "pass")
    samples = _samples(secured)
    assert {labels[0] for _, *labels in samples if labels} == topics
    assert (("parts_left_out",) in samples) == everything


def test_the_token_for_metrics_sees_all_audits(secured: httpx2.Client) -> None:
    secured.auth = None
    secured.headers["Authorization"] = "Bearer t"
    assert {labels[0] for _, *labels in _samples(secured) if labels} == {"shop-orders", "payments"}


class _Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_while_the_database_is_away_figures_are_those_of_before_for_five_minutes(
    http: httpx2.Client, registries: Registries, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = registries.make({})
    store, threads = app.state.services.store, app.state.services.threads
    clock = _Clock()
    metrics = AuditMetrics(store, threads, max_parts=10, clock=clock)

    async def count() -> int:
        return len(await metrics.read())

    async def observe() -> list[int]:
        counts = [await count()]

        def fail() -> None:
            raise StoreError(detail="the database is unavailable")

        monkeypatch.setattr(store, "open_snapshot", fail)
        for seconds in (299.0, 301.0):
            clock.seconds = seconds
            counts.append(await count())
        return counts

    try:
        assert asyncio.run(observe()) == [1, 1, 0]
    finally:
        app.state.close()

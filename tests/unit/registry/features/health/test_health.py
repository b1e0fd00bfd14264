"""Health, metrics, request ids and logs."""

from __future__ import annotations

import io
import json
import logging
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import httpx2
import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from contractlog.clients.asgi_transport import BlockingASGITransport
from contractlog.compatibility.errors import StoreError
from contractlog.registry.app import create_app
from contractlog.registry.database import open_store
from contractlog.registry.settings import Settings
from contractlog.registry.storage.database_availability import DatabaseHealth
from contractlog.registry.storage.store import Store
from contractlog.registry.telemetry.logging import LogFormat, LogLevel, configure_logging
from contractlog.registry.telemetry.metric_catalogue import CATALOGUE, ERRORS, IN_FLIGHT, REQUEST_SECONDS, REQUESTS
from contractlog.registry.telemetry.metric_memory import SharedMetricMemory, WorkerMetrics, render_metrics

from support.deadlines import WAIT_SECONDS, eventually

RECORD = {"schema": json.dumps({"type": "record", "name": "R", "fields": []})}
MARGIN = 4
LOAD = 20  #: seconds that a busy machine may add
SERIES = re.compile(r"([a-z_]+)(?:\{(.*)\})? (\S+)")


def read(text: str) -> dict[tuple[str, str], float]:
    """Read an exposition, line by line as its format says."""
    found: dict[tuple[str, str], float] = {}
    typed: set[str] = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            typed.add(line.split()[2])
        elif not line.startswith("# HELP "):
            match = SERIES.fullmatch(line)
            assert match is not None, line
            name, labels, number = match.groups()
            assert name in typed or name.rsplit("_", 1)[0] in typed
            assert (name, labels or "") not in found
            found[name, labels or ""] = float(number)
    return found


def test_requests_are_counted_by_template_and_never_by_what_was_asked_for(http: httpx2.Client) -> None:
    http.post("/subjects/secret-subject/versions", json=RECORD)
    for _ in range(3):
        http.get("/schemas/ids/1")
    http.get("/schemas/ids/77")
    http.get("/nothing/of/this/kind")
    text = http.get("/metrics").text
    found = read(text)
    requests = "contractlog_http_requests_total"
    assert found[requests, 'method="GET",route="/schemas/ids/{schema_id}",status="200"'] == 3
    assert found[requests, 'method="GET",route="/schemas/ids/{schema_id}",status="404"'] == 1
    assert found[requests, 'method="POST",route="/subjects/{subject}/versions",status="200"'] == 1
    assert found[requests, 'method="other",route="other",status="404"'] == 1
    assert found["contractlog_errors_total", 'code="40403"'] == 1
    assert found["contractlog_cache_hits_total", ""] == 2
    assert found["contractlog_writes_total", 'outcome="done"'] == 1
    assert found["contractlog_http_requests_in_flight", ""] == 1  # this one
    assert found["contractlog_http_request_seconds_count", 'route="/schemas/ids/{schema_id}"'] == 4
    assert "secret-subject" not in text


def test_buckets_add_up(http: httpx2.Client) -> None:
    for _ in range(20):
        http.get("/subjects")
    found = read(http.get("/metrics").text)
    name = "contractlog_http_request_seconds_bucket"
    buckets = [count for (shown, labels), count in found.items() if shown == name and '"/subjects"' in labels]
    assert buckets == sorted(buckets)
    assert buckets[-1] == 20


def test_every_metric_is_documented_and_shown() -> None:
    names = [metric.name for metric in CATALOGUE]
    assert len(set(names)) == len(names)
    document = (Path(__file__).parents[5] / "docs" / "metrics.md").read_text()
    for metric in CATALOGUE:
        assert f"`{metric.name}`" in document
        assert metric.name.endswith("_total") == (metric.kind == "counter")


def test_workers_are_summed_up_and_a_new_one_goes_on_where_a_dead_one_was() -> None:
    memory = SharedMetricMemory(3)
    for worker in range(3):
        meters = WorkerMetrics(memory, worker)
        meters.value(REQUESTS, "GET", "/a", "200").add(worker + 1)
        meters.value(IN_FLIGHT).add(10)
        for seconds in (0.0001, 0.3, 99):
            meters.distribution(REQUEST_SECONDS, "/a").observe(seconds)
    instead = WorkerMetrics(memory, 1)
    instead.value(REQUESTS, "GET", "/a", "200").add(5)
    instead.value(IN_FLIGHT)
    instead.distribution(REQUEST_SECONDS, "/a")
    found = read(render_metrics(instead).decode())
    assert found["contractlog_http_requests_total", 'method="GET",route="/a",status="200"'] == 1 + 2 + 3 + 5
    assert found["contractlog_http_requests_in_flight", ""] == 20  # what the dead one had in flight is over
    assert found["contractlog_http_request_seconds_bucket", 'route="/a",le="0.0005"'] == 3
    assert found["contractlog_http_request_seconds_bucket", 'route="/a",le="0.5"'] == 6
    assert found["contractlog_http_request_seconds_count", 'route="/a"'] == 9
    assert found["contractlog_workers", ""] == 3


def test_labels_are_escaped() -> None:
    meters = WorkerMetrics()
    meters.value(ERRORS, 'a"b\\c\nd').add()
    assert b'contractlog_errors_total{code="a\\"b\\\\c\\nd"} 1\n' in render_metrics(meters)


def test_every_response_returns_or_generates_a_request_id(http: httpx2.Client) -> None:
    assert http.get("/", headers={"X-Request-ID": "mine"}).headers["x-request-id"] == "mine"
    assert http.get("/", headers={"X-Request-ID": "x" * 201}).headers["x-request-id"] != "x" * 201
    made = [http.get(path).headers["x-request-id"] for path in ("/", "/nothing", "/subjects/x/versions/-7")]
    assert len(set(made)) == 3
    assert {UUID(one).version for one in made} == {4}  # as the reference makes them
    two = [("X-Request-ID", "one"), ("X-Request-ID", "another")]
    assert UUID(http.get("/", headers=two).headers["x-request-id"]).version == 4


def test_a_line_of_the_access_log_tells_who_asked_for_what_and_no_more(
    http: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = io.StringIO()
    monkeypatch.setattr("sys.stderr", said)
    with restored_loggers():
        configure_logging(LogFormat.JSON, LogLevel.WARNING, access=True)
        http.post(
            "/subjects/s/versions?token=secret-in-query",
            json={"schema": json.dumps({"type": "record", "name": "SecretName", "fields": []})},
            headers={"Authorization": "Basic c2VjcmV0", "X-Request-ID": 'a"b'},
        )
        http.get("/subjects/none/versions")
    registered, missing = map(json.loads, said.getvalue().splitlines())
    assert registered["request_id"] == 'a"b'
    assert (registered["method"], registered["path"], registered["status"]) == ("POST", "/subjects/s/versions", 200)
    assert registered["message"] == "POST /subjects/{subject}/versions 200"
    assert (missing["status"], missing["error_code"]) == (404, 40401)
    assert not re.search("secret|c2VjcmV0", said.getvalue(), re.IGNORECASE)


def test_a_name_cannot_forge_a_line_of_the_log(http: httpx2.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    monkeypatch.setattr("sys.stderr", said)
    with restored_loggers():
        configure_logging(LogFormat.TEXT, LogLevel.WARNING, access=True)
        logging.getLogger("contractlog.access").info("x", extra={"fields": {"path": "/a\n2026 INFO forged", "n": 1}})
    (line,) = said.getvalue().splitlines()
    assert line.endswith('path="/a\\n2026 INFO forged" n=1')


@contextmanager
def restored_loggers() -> Iterator[None]:
    names = ("contractlog", "contractlog.access", "uvicorn", "uvicorn.error", "sqlalchemy", "alembic")
    before = [(one, list(one.handlers), one.propagate, one.level) for one in map(logging.getLogger, names)]
    yield
    for logger, handlers, propagate, level in before:
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)


def test_health_of_a_registry_that_is_well_and_on_its_way_out(http: httpx2.Client) -> None:
    for path, status in (("live", "live"), ("startup", "started"), ("ready", "ready")):
        answer = http.get(f"/healthz/{path}")
        assert (answer.status_code, answer.json()) == (200, {"status": status})
    http.app.state.services.telemetry.drain()  # type: ignore[attr-defined]
    answer = http.get("/healthz/ready")
    assert (answer.status_code, answer.json()) == (503, {"status": "draining"})
    assert answer.headers["connection"] == "close"
    assert http.get("/healthz/live").status_code == 200


@pytest.mark.parametrize("path", ["live", "startup", "ready"])
def test_health_answers_probes_that_send_head_or_options(http: httpx2.Client, path: str) -> None:
    asked, head, options = (http.request(method, f"/healthz/{path}") for method in ("GET", "HEAD", "OPTIONS"))
    kept = ("content-length", "content-type", "cache-control")
    assert (head.status_code, [head.headers[name] for name in kept]) == (200, [asked.headers[name] for name in kept])
    assert head.content == b""
    assert (options.status_code, options.headers["allow"], options.content) == (204, "GET, HEAD, OPTIONS", b"")
    http.app.state.services.telemetry.drain()  # type: ignore[attr-defined]
    assert http.head(f"/healthz/{path}").status_code == (503 if path == "ready" else 200)


def test_readiness_responds_within_a_second_although_the_database_hangs(http: httpx2.Client) -> None:
    store = http.app.state.services.store  # type: ignore[attr-defined]
    began = time.monotonic()
    with store._connection_lock, ThreadPoolExecutor(1) as thread:  # the database does not respond
        answer = thread.submit(http.get, "/healthz/ready").result(WAIT_SECONDS)
    assert time.monotonic() - began < MARGIN * 1 + LOAD
    assert (answer.status_code, answer.json()["status"]) == (503, "unready")
    assert answer.json()["reason"].endswith("the database has not responded within 0.7 seconds")
    eventually(lambda: http.get("/healthz/ready").json()["status"] == "ready")


def test_other_paths_refuse_head_and_options(http: httpx2.Client) -> None:
    paths = ["/", "/subjects", "/schemas/ids/1", "/metrics", "/contractlog/v1/docs", "/contractlog/v1/openapi.json"]
    for path in paths:
        for method in ("HEAD", "OPTIONS"):
            assert (path, http.request(method, path).status_code) == (path, 405)


class Breakable:
    """A SQLite store whose engines can be told to refuse connections, as a server that is down does."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.down = False
        self.seconds = 0.0  #: that the cache's clock is ahead
        for engine in (store._engines.readers, store._engines.writer, store._engines.probe):
            event.listen(engine, "checkout", self._checkout)

    def _checkout(self, *_: object) -> None:
        if self.down:
            raise OperationalError(None, None, ConnectionRefusedError("refused"))


@pytest.fixture
def breakable(tmp_path: Path) -> Iterator[tuple[Breakable, httpx2.Client]]:
    store = open_store(Settings(database_url=f"sqlite:///{tmp_path / 'r.db'}"))
    broken = Breakable(store)
    app = create_app(Settings(), store)
    app.state.services.cache._clock = lambda: time.monotonic() + broken.seconds
    with httpx2.Client(transport=BlockingASGITransport(app), base_url="http://registry", timeout=60) as client:
        yield broken, client
    broken.down = False
    app.state.close()


def test_cached_ids_are_served_with_a_header_while_the_database_is_unavailable(
    breakable: tuple[Breakable, httpx2.Client],
) -> None:
    database, http = breakable
    http.post("/subjects/s/versions", json=RECORD)
    http.post("/subjects/t/versions", json={"schema": '"string"'})
    known = http.get("/schemas/ids/1")
    assert "x-contractlog-stale" not in known.headers
    database.down = True
    assert http.get("/schemas/ids/2").json()["error_code"] == 50001  # nobody asked for it before
    assert "x-contractlog-stale" not in http.get("/schemas/ids/1").headers  # younger than five seconds
    database.seconds += 6
    for _ in range(3):
        answer = http.get("/schemas/ids/1")
        assert (answer.status_code, answer.content) == (200, known.content)
        assert answer.headers["x-contractlog-stale"] == "database-unavailable"
    write = http.post("/subjects/s/versions", json={"schema": '"long"'})
    assert (write.status_code, write.json()["error_code"]) == (500, 50001)
    assert http.get("/healthz/ready").json()["status"] == "degraded"
    assert http.get("/healthz/ready").status_code == 200
    found = read(http.get("/metrics").text)
    assert found["contractlog_database_unavailable", ""] == 1
    assert found["contractlog_stale_answers_total", ""] == 3
    assert 'code="50001"' in {labels for name, labels in found if name == "contractlog_errors_total"}
    database.down = False
    eventually(lambda: http.get("/healthz/ready").json()["status"] == "ready")
    assert http.post("/subjects/t/versions", json={"schema": '"string"'}).status_code == 200
    assert read(http.get("/metrics").text)["contractlog_database_unavailable", ""] == 0


def test_while_the_database_is_away_nobody_waits_and_one_thread_goes_on_trying() -> None:
    tried, there = threading.Semaphore(0), threading.Event()

    def probe() -> None:
        tried.release()
        if not there.is_set():
            raise OSError

    availability = DatabaseHealth(probe)
    availability.require()
    for _ in range(5):
        availability.mark_unavailable()
    with pytest.raises(StoreError):
        availability.require()
    assert sum(thread.name == "contractlog-database" for thread in threading.enumerate()) == 1
    assert tried.acquire(timeout=WAIT_SECONDS)
    assert tried.acquire(timeout=WAIT_SECONDS)
    there.set()
    eventually(lambda: not availability.unavailable)
    availability.require()
    availability.close()

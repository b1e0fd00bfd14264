"""Webhooks receive each entry of the change log, over failures and restarts."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import pytest
from sqlalchemy import select, update

from contractlog.clients.webhook_signature import verify_webhook
from contractlog.compatibility.errors import UsageError
from contractlog.contracts.change_log.chain_verification import verify_chain
from contractlog.contracts.change_log.cloud_events import parse_cloud_event
from contractlog.registry.app import create_app
from contractlog.registry.database import open_store
from contractlog.registry.features.change_log.webhooks import WebhookReceiver, WebhookSender
from contractlog.registry.settings import Settings
from contractlog.registry.storage import tables
from contractlog.registry.storage.store import Store

from support.deadlines import eventually
from support.registry import create_sqlite, serve_in_thread

SECRET = "planted-secret-4711"  # noqa: S105 - of the tests


@dataclass
class Hook:
    """A server that responds with some statuses in turn, then with 204, and its requests."""

    url: str
    statuses: list[int] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)  #: of accepted requests
    requests: int = 0

    @property
    def sequences(self) -> list[int]:
        return [int(event["sequence"]) for event in self.events]


@pytest.fixture
def hook() -> Iterator[Hook]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            verify_webhook(body, self.headers["X-Contractlog-Signature"], SECRET.encode())
            status = hook.statuses.pop(0) if hook.statuses else 204
            hook.requests += 1
            if status == 204:
                hook.events += json.loads(body)
            self.send_response(status)
            self.send_header("Location", "http://127.0.0.1:1/")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hook = Hook(f"http://127.0.0.1:{server.server_port}/path-token-1234")
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield hook
    server.shutdown()
    thread.join()
    server.server_close()


def receiver_of(hook: Hook, **members: Any) -> WebhookReceiver:
    return WebhookReceiver(hook.url, SECRET.encode(), **({"private": True} | members))


def write(store: Store, *targets: str, action: str = "settings.changed") -> None:
    for target in targets:
        store.transact(lambda transaction, target=target: transaction.record_change(action, target), actor="me").result(
            60
        )


@contextmanager
def open_stores(url: str, number: int) -> Iterator[list[Store]]:
    stores = [open_store(Settings(database_url=url)) for _ in range(number)]
    try:
        yield stores
    finally:
        for store in stores:
            store.close()


def test_entries_are_sent_once_in_order_and_chained(store: Store, hook: Hook) -> None:
    write(store, "before")
    sender = WebhookSender(store, receiver_of(hook))
    assert sender.send_due() is None  # begins at the head
    assert sender.send_due() is None
    write(store, "a", "b")
    assert sender.send_due() == ""
    assert sender.send_due() is None
    write(store, "c")
    assert sender.send_due() == ""
    assert hook.sequences == [2, 3, 4]
    changes = [parse_cloud_event(json.dumps(event)) for event in hook.events]
    assert verify_chain(changes, since=1).problem is None
    assert [event["contractloghead"].partition(":")[0] for event in hook.events] == ["3", "3", "4"]
    assert hook.events[-1]["contractloghead"].endswith(f":{hook.events[-1]['id']}")


def test_a_failed_request_is_repeated_after_a_restart_and_loses_nothing(store: Store, hook: Hook) -> None:
    sender = WebhookSender(store, receiver_of(hook))
    sender.send_due()
    write(store, "a")
    hook.statuses += [500, 302]
    for status in (500, 302):  # redirects are not followed
        assert str(status) in (sender.send_due() or "")
    restarted = WebhookSender(store, receiver_of(hook))
    assert restarted.send_due() is None
    with store._engines.writer.begin() as connection:  # as if the lease had expired
        connection.execute(update(tables.webhook_positions).values(held_until=1))
    write(store, "b")
    assert restarted.send_due() == ""
    assert hook.sequences == [1, 2]


def test_one_of_two_nodes_sends(store: Store, hook: Hook) -> None:
    one, two = (WebhookSender(store, receiver_of(hook)) for _ in range(2))
    one.send_due()
    write(store, "a")
    hook.statuses += [503]
    assert "503" in (one.send_due() or "")
    assert two.send_due() is None  # the lease is that of the other node
    assert hook.requests == 1
    assert one.send_due() == ""
    write(store, "b")
    assert two.send_due() == ""
    assert hook.sequences == [1, 2]


@pytest.mark.integration
def test_two_nodes_at_once_send_every_entry_once(upgraded_postgres_url: str, hook: Hook) -> None:
    with open_stores(upgraded_postgres_url, 2) as stores:
        senders = [WebhookSender(store, receiver_of(hook), every=0.02, pause=0.02) for store in stores]
        senders[0].send_due()
        hook.statuses += [500, 204, 500]
        for sender in senders:
            sender.start()
        for number in range(20):
            write(stores[number % 2], f"s{number}")
        eventually(lambda: len(hook.sequences) >= 20)
        for sender in senders:
            sender.close()
    assert hook.sequences == list(range(1, 21))


def test_filters_select_entries_and_the_position_advances_over_others(store: Store, hook: Hook) -> None:
    receiver = receiver_of(hook, subjects=["orders-*"], actions=["version.*", "settings.*"])
    sender = WebhookSender(store, receiver)
    sender.send_due()
    write(store, "orders-value/1", "other-value/1", action="version.registered")
    write(store, "orders-key")
    write(store, "orders-key", action="association.created")
    assert sender.send_due() == ""
    assert [event["subject"] for event in hook.events] == ["orders-value/1", "orders-key"]
    with store.open_snapshot() as snapshot:
        assert snapshot.connection.execute(select(tables.webhook_positions.c.sequence)).scalar() == 4


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "10.0.0.1", "169.254.169.254", "[::1]", "[fe80::1]", "0.0.0.0"]
)
def test_private_addresses_are_refused(store: Store, host: str) -> None:
    receiver = WebhookReceiver(f"https://{host}:1/", SECRET.encode())
    sender = WebhookSender(store, receiver)
    sender.send_due()
    write(store, "a")
    assert "has a private address; CONTRACTLOG_WEBHOOK_ALLOW_PRIVATE=true allows that" in (sender.send_due() or "")


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"webhook_urls": "https://hooks.example/x"}, "WEBHOOK_SECRET"),
        ({"webhook_urls": "http://hooks.example/x", "webhook_secret": "s"}, "ALLOW_PRIVATE"),
        ({"webhook_urls": "https://u:p@hooks.example/token", "webhook_secret": "s"}, "URL 1 "),
        ({"webhook_urls": "ftp://hooks.example", "webhook_secret": "s"}, "URL 1 "),
        ({"webhook_urls": ",".join(f"https://h/{n}" for n in range(21)), "webhook_secret": "s"}, "at most 20"),
    ],
)
def test_invalid_settings_are_refused_at_the_start_without_the_url(members: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        create_app(Settings(database_url="sqlite://", **members))
    assert "token" not in str(raised.value)


def test_a_serving_registry_sends_and_logs_neither_secret_nor_path(
    tmp_path: Path, hook: Hook, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    url = create_sqlite(tmp_path / "registry.db")
    hook.statuses += [500]
    environment = {
        "CONTRACTLOG_WEBHOOK_URLS": hook.url,
        "CONTRACTLOG_WEBHOOK_SECRET": SECRET,
        "CONTRACTLOG_WEBHOOK_ALLOW_PRIVATE": "true",
    }
    with serve_in_thread(url, **environment) as registry:
        eventually(lambda: _has_position(url))
        body = {"schema": '"string"'}
        assert httpx2.post(f"{registry}/subjects/s/versions", json=body).status_code == 200
        eventually(lambda: hook.sequences == [1])
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("contractlog")]
    assert any("responded with status 500" in line for line in ours)
    assert SECRET not in caplog.text
    assert "path-token-1234" not in "".join(ours)


def _has_position(url: str) -> bool:
    from contractlog.registry.storage.engines import open_engines, parse_url

    engines = open_engines(parse_url(url), readers=1)
    with engines.readers.connect() as connection:
        row = connection.execute(select(tables.webhook_positions.c.sequence)).first()
    engines.dispose()
    return row is not None

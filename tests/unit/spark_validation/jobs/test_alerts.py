"""Alerts stay pending until they are delivered, and are delivered once."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from contractlog.clients.webhook_request import is_public
from contractlog.clients.webhook_signature import verify_webhook
from contractlog.compatibility.errors import UsageError
from contractlog.spark_validation.jobs.alert_delivery import AlertReceivers, deliver_alerts, parse_receivers
from contractlog.spark_validation.jobs.alerts import MAX_PENDING, add_alert, read_alerts
from contractlog.spark_validation.jobs.result_folder import ALERTS

from support.reports import part, report, violation

GOOD, BAD = report(part("orders")), report(part("orders", violations=[violation("TRUNCATED", 9_000)]))
COPY = "import os, sys; open(sys.argv[1], 'a').write(sys.stdin.read() + os.environ['CONTRACTLOG_ALERT_TEXT'] + '\\n')"


def write_alert(folder: Path) -> None:
    """Write the alert of a topic that begins to fail."""
    add_alert(BAD, GOOD, folder, folder, print_line=print)


def deliver(folder: Path, receivers: AlertReceivers) -> list[str]:
    lines: list[str] = []
    deliver_alerts(folder, receivers, print_line=lines.append)
    return lines


@contextmanager
def run_webhook(*statuses: int) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Run a server that responds with some statuses in turn; yield its URL and the requests."""
    requests: list[dict[str, Any]] = []
    remaining = list(statuses)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            requests.append({"path": self.path, "content": content, **{k.lower(): v for k, v in self.headers.items()}})
            self.send_response(remaining.pop(0) if remaining else 204)
            self.send_header("Location", "http://127.0.0.1:1/")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hooks?team=data", requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_command_gets_the_alert_once(tmp_path: Path) -> None:
    write_alert(tmp_path)
    target = tmp_path / "copy"
    receivers = AlertReceivers(command=(sys.executable, "-c", COPY, str(target)))
    assert deliver(tmp_path, receivers)[0].startswith("delivered an alert: orders value: failing (was passing)")
    assert deliver(tmp_path, receivers) == []
    (line,) = target.read_text().splitlines()
    body, end = json.JSONDecoder().raw_decode(line)
    assert line[end:].startswith("orders value: failing (was passing): 9,000 more violating records, new TRUNCATED")
    assert (body["format"], body["since"]) == ("contractlog.alert/1", GOOD["audited_at"])
    assert [(change["topic"], change["after"]) for change in body["parts"]] == [("orders", "failing")]


def test_equal_verdicts_make_no_alert(tmp_path: Path) -> None:
    add_alert(BAD, BAD, tmp_path, tmp_path, print_line=print)
    add_alert(GOOD, None, tmp_path, tmp_path, print_line=print)
    assert read_alerts(tmp_path) == []
    assert not (tmp_path / ALERTS).exists()


def test_the_first_audit_tells_what_fails_and_a_later_one_what_recovered(tmp_path: Path) -> None:
    add_alert(BAD, None, tmp_path, tmp_path, print_line=print)
    add_alert(GOOD, BAD, tmp_path, tmp_path, print_line=print)
    assert [alert.text for alert in read_alerts(tmp_path)] == [
        "orders value: failing (not audited before): 9,000 more violating records, new TRUNCATED",
        "orders value: passing (was failing): 9,000 fewer violating records",
    ]


@pytest.mark.parametrize("command", [(sys.executable, "-c", "raise SystemExit(3)"), ("/no/such/command",)])
def test_an_alert_that_fails_stays_pending_in_the_next_results(tmp_path: Path, command: tuple[str, ...]) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    write_alert(first)
    (line,) = deliver(first, AlertReceivers(command=command))
    assert line.startswith("an alert was not delivered, the next audit of this folder tries again: the command")
    add_alert(BAD, BAD, first, second, print_line=print)
    assert [alert.id for alert in read_alerts(second)] == [alert.id for alert in read_alerts(first)]


def test_a_webhook_gets_a_signed_alert(tmp_path: Path) -> None:
    write_alert(tmp_path)
    (alert,) = read_alerts(tmp_path)
    with run_webhook() as (url, requests):
        deliver(tmp_path, AlertReceivers(webhook=url, private=True, secret=b"key"))
    (request,) = requests
    assert request["path"] == "/hooks?team=data"
    assert json.loads(request["content"]) == alert.body
    assert request["x-contractlog-alert"] == alert.id
    verify_webhook(request["content"], request["x-contractlog-signature"], b"key")
    assert request["host"] == url.split("/")[2]
    assert read_alerts(tmp_path) == []


def test_a_webhook_is_tried_again_and_no_redirect_is_followed(tmp_path: Path) -> None:
    write_alert(tmp_path)
    with run_webhook(503, 302, 204) as (url, requests):
        deliver(tmp_path, AlertReceivers(webhook=url, private=True, pause=0.0))
    assert len(requests) == 3
    assert read_alerts(tmp_path) == []
    write_alert(tmp_path)
    with run_webhook(500, 500, 500) as (url, requests):
        (line,) = deliver(tmp_path, AlertReceivers(webhook=url, private=True, pause=0.0))
    assert line.endswith("the webhook of 127.0.0.1 responded with status 500")
    assert len(read_alerts(tmp_path)) == 1


def test_a_private_address_is_not_used_unless_allowed(tmp_path: Path) -> None:
    write_alert(tmp_path)
    with run_webhook() as (url, requests):
        (line,) = deliver(tmp_path, AlertReceivers(webhook=url, pause=0.0))
    assert line.endswith("127.0.0.1 has a private address; --webhook-private allows that")
    assert requests == []


@pytest.mark.parametrize("content", ["", "{", "[1]", '[{"id": 1}]', '[{"id": "x", "text": ""}]', "[" * 100_000])
def test_a_damaged_file_has_no_alerts_and_the_next_audit_says_so(tmp_path: Path, content: str) -> None:
    (tmp_path / ALERTS).write_text(content)
    assert read_alerts(tmp_path) == []
    new = tmp_path / "new"
    new.mkdir()
    lines: list[str] = []
    add_alert(BAD, GOOD, tmp_path, new, print_line=lines.append)
    assert lines == [f"alerts that were not delivered are lost, as {tmp_path / ALERTS} is damaged or unreadable"]
    assert len(read_alerts(new)) == 1


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "\x1b[31m", "c\u202ed"])
def test_an_edited_text_does_not_stop_the_delivery(tmp_path: Path, text: str) -> None:
    write_alert(tmp_path)
    (stored,) = json.loads((tmp_path / ALERTS).read_text())
    (tmp_path / ALERTS).write_text(json.dumps([{**stored, "text": f"{text}\nsecond"}]))
    target = tmp_path / "copy"
    receivers = AlertReceivers(command=(sys.executable, "-c", COPY, str(target)))
    assert deliver(tmp_path, receivers)[0].startswith("delivered an alert: ")
    line, second = json.JSONDecoder().raw_decode(target.read_text())[0]["text"].splitlines()
    assert (line.isprintable(), second) == (True, "second")
    assert read_alerts(tmp_path) == []


def test_names_from_the_log_are_one_printable_line_of_the_text(tmp_path: Path) -> None:
    topic = "a\n::error::b\x1b[31m"
    add_alert(report(part(topic, violations=[violation("TRUNCATED", 9)])), None, tmp_path, tmp_path, print_line=print)
    (alert,) = read_alerts(tmp_path)
    assert (alert.text.isprintable(), len(alert.text.splitlines())) == (True, 1)


def test_a_missing_file_of_alerts_is_no_damage(tmp_path: Path) -> None:
    lines: list[str] = []
    add_alert(GOOD, GOOD, tmp_path, tmp_path, print_line=lines.append)
    assert lines == []


def test_pending_alerts_are_bounded(tmp_path: Path) -> None:
    for number in range(MAX_PENDING + 3):
        audit = {**BAD, "audited_at": f"2026-07-01T{number:05}"}
        add_alert(audit, GOOD, tmp_path, tmp_path, print_line=print)  # type: ignore[arg-type]
    alerts = read_alerts(tmp_path)
    assert len(alerts) == MAX_PENDING
    assert alerts[0].body["audited_at"] == "2026-07-01T00003"


def options(**values: object) -> Namespace:
    return Namespace(**{"on_change": None, "webhook": None, "webhook_private": False, **values})


def test_options_name_the_receivers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRACTLOG_WEBHOOK_SECRET", "key")
    receivers = parse_receivers(options(on_change="notify --to 'a b'", webhook="https://example.org/x"))
    assert receivers == AlertReceivers(("notify", "--to", "a b"), "https://example.org/x", secret=b"key")
    assert not parse_receivers(options())


@pytest.mark.parametrize(
    "values",
    [
        {"on_change": "unclosed '"},
        {"on_change": ""},
        {"webhook": "http://example.org/"},
        {"webhook": "file:///etc/passwd", "webhook_private": True},
        {"webhook": "https://"},
        {"webhook": "https://[", "webhook_private": True},
        {"webhook": "https://host:99999999/"},
        {"webhook": "http://me:s3cret@host/s3cret?token=s3cret"},
        {"webhook": "https://me:s3cret/@host"},
        {"webhook": "https://me:s3cret@host/"},
        {"webhook": f"https://host/{'x' * 2_000}"},
    ],
)
def test_receivers_that_cannot_be_used_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(UsageError) as refused:
        parse_receivers(options(**values))
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("64:ff9b::5db8:d822", True),  # NAT64 of the first
        ("64:ff9b::a9fe:a9fe", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),  # 6to4
        ("::ffff:10.0.0.1", False),
        ("10.0.0.1", False),
        ("::1", False),
        ("::127.0.0.1", False),
        ("::ffff:0:127.0.0.1", False),
        ("64:ff9b:1::1", False),
        ("fec0::1", False),
        ("ff02::1", False),
        ("224.0.0.1", False),
        ("3fff::1", False),
        ("192.0.0.8", False),
    ],
)
def test_an_address_is_public_if_what_it_embeds_is(address: str, *, public: bool) -> None:
    assert is_public(address) == public

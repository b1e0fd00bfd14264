"""Webhooks: URLs that receive entries of the change log as signed CloudEvents, at least once.

The position of each URL is stored, so that a restart loses nothing. A node sends while it has the lease of the URL; if
it dies, another node continues when the lease has expired, and may repeat the last request.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from hashlib import sha256
from typing import Final
from uuid import uuid4

from contractlog.clients.webhook_request import MAX_URL, is_allowed_url, post_to_webhook
from contractlog.clients.webhook_signature import SIGNATURE_HEADER, sign_webhook
from contractlog.compatibility.errors import ContractlogError, UsageError
from contractlog.contracts.change_log.cloud_events import BATCH_TYPE, format_cloud_event
from contractlog.contracts.change_log.recorded_change import ChangeLogHead, RecordedChange
from contractlog.registry.execution.background_thread import BackgroundThread
from contractlog.registry.features.change_log import queries
from contractlog.registry.features.change_log.follower import ChangeLogFollower
from contractlog.registry.settings import PREFIX, Settings
from contractlog.registry.storage import change_log
from contractlog.registry.storage.store import Store

__all__ = ["WebhookReceiver", "WebhookSender", "WebhookSenders", "parse_webhooks"]

_LOG: Final = logging.getLogger("contractlog.registry.webhooks")
_ALLOW_PRIVATE: Final = f"{PREFIX}WEBHOOK_ALLOW_PRIVATE"
_BATCH_SIZE: Final = 100  #: events of a request
_LEASE_MS: Final = 60_000  #: several times the limit of a request
_MAX_PAUSE: Final = 300.0  #: seconds between two attempts
_MAX_WEBHOOKS: Final = 20


@dataclass(frozen=True, slots=True)
class WebhookReceiver:
    """A URL, and the entries that it receives."""

    url: str
    secret: bytes = field(repr=False)
    subjects: Sequence[str] = ()  #: patterns of targets; none is all
    actions: Sequence[str] = ()  #: patterns of actions; none is all
    private: bool = False  #: whether it may have a private address, or no TLS

    @property
    def name(self) -> str:
        """The name under which its position is stored."""
        return sha256(self.url.encode()).hexdigest()

    def receives(self, change: RecordedChange) -> bool:
        """Return whether an entry is sent; the target of a version is its subject."""
        target = change.target.rpartition("/")[0] if change.action.startswith("version.") else change.target
        return _matches(change.action, self.actions) and _matches(target, self.subjects)


def _matches(text: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(text, pattern) for pattern in patterns)


def parse_webhooks(settings: Settings) -> list[WebhookReceiver]:
    """Return the webhooks of the settings.

    Raises:
        UsageError: a URL is not allowed, or there is no secret.
    """
    urls = list(dict.fromkeys(_split(settings.webhook_urls)))
    private = settings.webhook_allow_private
    for number, url in enumerate(urls, 1):
        if not is_allowed_url(url, private=private):
            raise UsageError(
                f"URL {number} of {PREFIX}WEBHOOK_URLS needs https and a host, no user, and at most {MAX_URL:,} "
                f"characters (http needs {_ALLOW_PRIVATE}=true)"
            )
    if len(urls) > _MAX_WEBHOOKS:
        raise UsageError(f"{PREFIX}WEBHOOK_URLS has {len(urls)} URLs; at most {_MAX_WEBHOOKS} are allowed")
    secret = settings.webhook_secret.encode()
    if urls and not secret:
        raise UsageError(f"{PREFIX}WEBHOOK_URLS needs {PREFIX}WEBHOOK_SECRET, by which the requests are signed")
    subjects, actions = _split(settings.webhook_subjects), _split(settings.webhook_actions)
    return [WebhookReceiver(url, secret, subjects, actions, private) for url in urls]


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


class WebhookSenders:
    """The senders of all webhooks of a process."""

    def __init__(self, store: Store, follower: ChangeLogFollower, receivers: Sequence[WebhookReceiver]) -> None:
        self._senders = [WebhookSender(store, receiver) for receiver in receivers]
        if self._senders:
            follower.on_changes(lambda _changes: self._wake())

    def _wake(self) -> None:
        for sender in self._senders:
            sender.wake()

    def start(self) -> None:
        """Start sending."""
        for sender in self._senders:
            sender.start()

    def close(self) -> None:
        """Stop; entries that were not sent are sent after the next start."""
        for sender in self._senders:
            sender.close()


class WebhookSender:
    """Sends new entries to one webhook, on a thread of its own.

    Args:
        store: its change log is sent.
        receiver: the webhook.
        every: seconds between two checks for new entries, if nothing wakes the thread.
        pause: seconds before the second attempt; twice as many before each further one.
    """

    def __init__(
        self,
        store: Store,
        receiver: WebhookReceiver,
        *,
        every: float = 5.0,
        pause: float = 1.0,
    ) -> None:
        self._store = store
        self._receiver = receiver
        self._every = every
        self._pause = pause
        self._holder = uuid4().hex
        self._thread = BackgroundThread(self._run, "contractlog-webhook")

    def start(self) -> None:
        """Start; has no effect the second time."""
        self._thread.start()

    def wake(self) -> None:
        """Check for new entries now, unless the webhook has just failed."""
        self._thread.wake()

    def close(self) -> None:
        """Stop after the current request."""
        self._thread.close()

    def send_due(self) -> str | None:
        """Send the next entries, and return the problem: empty if there was none, None if nothing was due."""
        name, now = self._receiver.name, time.time_ns() // 1_000_000
        with self._store.open_snapshot() as snapshot:
            position, head = queries.find_position(snapshot, name), change_log.read_head(snapshot)
        if position is None:
            add = partial(queries.add_position, name=name, sequence=head.sequence)
            self._store.transact(add, contexts=()).result()
            return None
        if position.sequence >= head.sequence or (position.holder != self._holder and position.held_until > now):
            return None
        acquire = partial(queries.acquire_lease, name=name, holder=self._holder, until=now + _LEASE_MS)
        since = self._store.transact(acquire, contexts=()).result()
        return None if since is None else self._send_after(since)

    def _send_after(self, since: int) -> str | None:
        with self._store.open_snapshot() as snapshot:
            changes = change_log.list_changes_after(snapshot, since, _BATCH_SIZE)
            head = change_log.read_head(snapshot)
        if not changes:
            return None
        selected = [change for change in changes if self._receiver.receives(change)]
        problem = self._post(selected, head) if selected else ""
        if not problem:
            advance = partial(
                queries.advance_position,
                name=self._receiver.name,
                holder=self._holder,
                sequence=changes[-1].sequence,
            )
            self._store.transact(advance, contexts=()).result()
        return problem

    def _post(self, changes: Sequence[RecordedChange], head: ChangeLogHead) -> str:
        receiver = self._receiver
        body = json.dumps([format_cloud_event(change, head=head) for change in changes]).encode()
        signature = sign_webhook(body, receiver.secret, int(time.time()))
        headers = {"Content-Type": BATCH_TYPE, SIGNATURE_HEADER: signature}
        return post_to_webhook(receiver.url, body, headers, private=receiver.private, option=f"{_ALLOW_PRIVATE}=true")

    def _run(self) -> None:
        pauses = self._pauses()
        while not self._thread.is_closing:
            problem: str | None
            try:
                problem = self.send_due()
            except ContractlogError:  # the database is unavailable, which is logged elsewhere
                self._thread.pause(next(pauses))
                continue
            except Exception:  # noqa: BLE001 - sending continues as long as the process lives
                _LOG.exception("sending to a webhook failed; trying again")
                problem = "internal error"
            if problem:
                seconds = next(pauses)
                _LOG.warning("entries of the change log wait: %s; trying again in %g seconds", problem, seconds)
                self._thread.pause(seconds)
                continue
            pauses = self._pauses()
            if problem is None:
                self._thread.wait_for_work(self._every)

    def _pauses(self) -> Iterator[float]:
        seconds = self._pause
        while True:
            yield seconds
            seconds = min(seconds * 2, _MAX_PAUSE)

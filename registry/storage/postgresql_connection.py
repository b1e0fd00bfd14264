"""PostgreSQL connections with a client-side deadline for every call.

The server's own ``statement_timeout`` ends long statements, but only while the server runs: one that is stopped, or is
behind a network that drops packets, leaves its clients waiting.
"""

from __future__ import annotations

import select
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from inspect import GEN_CLOSED, getgeneratorstate
from typing import Any, Final, TypeVar

from psycopg import Connection, OperationalError
from psycopg.errors import ConnectionTimeout
from psycopg.waiting import Ready, Wait

from contractlog.registry.storage.database_availability import PendingCalls, WaitingTime

__all__ = ["create_connector"]

T = TypeVar("T")
_EVENTS: Final = {Wait.R: select.POLLIN, Wait.W: select.POLLOUT, Wait.RW: select.POLLIN | select.POLLOUT}


class _NoResponse(OperationalError):
    """The server did not respond in time; the connection is closed."""

    unanswered = True  #: for code that must not import this module, as that loads the driver


class _Connection(Connection[Any]):
    """A connection that gives up calls without response, and is closed then."""

    responses: PendingCalls | None = None
    server_pid: int | None = None  #: of the session's process; behind a pooler it differs from the driver's
    end_blockers: Callable[[int], None] | None = None  #: called while this session waits, with its process id

    def wait(self, gen: Generator[Any, Any, T], interval: float = 0.1, timeout: float | None = None) -> T:
        """Advance a call whenever the socket is ready.

        Raises:
            OperationalError: the server does not respond.
        """
        responses = self.responses
        if responses is None:
            return super().wait(gen, interval, timeout)
        number, responded = responses.begin(), False
        try:
            result = self._proceed(gen, responses, interval)
            responded = True
        finally:
            responses.end(number, responded=responded)
        return result

    def _proceed(self, gen: Generator[Any, Any, T], responses: PendingCalls, interval: float) -> T:
        waited = WaitingTime()
        try:
            return super().wait(
                gen, interval, responses.probe_after_seconds
            )  # in C: ten times faster than the loop below
        except OperationalError:
            if getgeneratorstate(gen) == GEN_CLOSED:
                raise  # the call itself failed; otherwise only ``probe_after_seconds`` is over
        poll = select.poll()
        try:
            event = gen.send(Ready.NONE)
            while True:
                poll.register(self.pgconn.socket, _EVENTS[event])
                seconds = waited.add(responses.probe_after_seconds)
                events = poll.poll(0)  # this process may have been too busy to read a response
                if not events:
                    reason = responses.reason_to_give_up(seconds, responses.limit)
                    events = poll.poll(0 if reason else responses.probe_after_seconds * 1000)
                    if reason is not None and not events:
                        self.pgconn.finish()
                        raise _NoResponse(reason)
                    if not events and self.end_blockers is not None and self.server_pid is not None:
                        self.end_blockers(self.server_pid)
                event = gen.send(_to_ready(events[0][1]) if events else Ready.NONE)
        except StopIteration as end:
            result: T = end.value
            return result


def _to_ready(events: int) -> Ready:
    """Return what a connection is ready for; on errors both, so that the next read or write raises them."""
    failed = select.POLLERR | select.POLLHUP | select.POLLNVAL
    reading, writing = events & (select.POLLIN | failed), events & (select.POLLOUT | failed)
    return Ready((Ready.R if reading else 0) | (Ready.W if writing else 0))


def create_connector(
    responses: PendingCalls, end_blockers: Callable[[int], None] | None = None
) -> Callable[[Any, Any, Sequence[Any], Mapping[str, Any]], Connection[Any]]:
    """Return a listener for SQLAlchemy's event ``do_connect``.

    Args:
        responses: tracks its connections.
        end_blockers: called every ``probe_after_seconds`` while a connection waits for a server that responds, with the
            ``server_pid`` of the connection.
    """

    def connect(_dialect: Any, _record: Any, arguments: Sequence[Any], options: Mapping[str, Any]) -> Connection[Any]:
        if responses.unavailable:
            raise ConnectionTimeout("the database does not respond")
        with responses.connecting():
            connection = _connect_with_deadline(lambda: _Connection.connect(*arguments, **options), responses)
        connection.responses = responses
        connection.end_blockers = end_blockers
        return connection

    return connect


def _connect_with_deadline(connect: Callable[[], _Connection], responses: PendingCalls) -> _Connection:
    """Connect on a separate thread: name resolution has no timeout, and each address has one of its own.

    Raises:
        ConnectionTimeout: it took too long; a connection that is established later is closed.
    """
    attempt: Future[_Connection] = Future()

    def run() -> None:
        try:
            attempt.set_result(connect())
        except BaseException as error:  # noqa: BLE001 - raised again where the future is awaited
            attempt.set_exception(error)

    threading.Thread(target=run, name="contractlog-connecting", daemon=True).start()
    waited, each = WaitingTime(), min(responses.probe_after_seconds, responses.connect_limit)
    while True:
        wait([attempt], each)
        if attempt.done():
            return attempt.result()
        reason = responses.reason_to_give_up(waited.add(each), responses.connect_limit)
        if reason is not None and not attempt.done():
            attempt.add_done_callback(_close)
            raise ConnectionTimeout(reason)


def _close(attempt: Future[_Connection]) -> None:
    with suppress(Exception):
        attempt.result().close()

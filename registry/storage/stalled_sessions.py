"""Sessions of suspended processes that block the writes of others.

PostgreSQL ends a session that sends nothing within a transaction (``idle_in_transaction_session_timeout``), but not one
that stops between the messages of a pipeline: that session counts as active, although it only waits for its client.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic
from typing import Any, Final, NamedTuple

from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

__all__ = ["StalledSessions"]

_LOG: Final = logging.getLogger("contractlog.registry.storage")
#: Active sessions of the same role, database and application that wait for their client. Each message that a session
#: receives changes its ``state_change``.
_STALLED: Final = """
    FROM pg_stat_activity AS waiting JOIN pg_stat_activity AS stalled
    ON (stalled.datid, stalled.usesysid, stalled.application_name)
        = (waiting.datid, waiting.usesysid, waiting.application_name)
    WHERE waiting.pid = :waiting AND stalled.state = 'active'
    AND stalled.wait_event_type = 'Client' AND stalled.wait_event = 'ClientRead'
"""
_LIST: Final = text(
    "SELECT stalled.pid, stalled.backend_start, stalled.state_change,"
    f" stalled.pid = ANY(pg_blocking_pids(waiting.pid)) AS blocks {_STALLED}"
)
_END: Final = text(
    f"SELECT pg_terminate_backend(stalled.pid) {_STALLED} AND stalled.pid = :pid"
    " AND stalled.backend_start = :backend_start AND stalled.state_change = :state_change"
)


class _Session(NamedTuple):
    """A session since the last message from its client."""

    pid: int
    backend_start: Any
    state_change: Any


class StalledSessions:
    """Ends sessions that block a write and have received nothing from their client for too long.

    Sessions that execute a statement, and those of other roles, databases or applications, are never ended.

    Args:
        engine: a connection of its own, with autocommit.
        seconds: without any message, after which a session is ended.
        clock: in seconds.
    """

    def __init__(self, engine: Engine, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._engine = engine
        self._seconds = seconds
        self._clock = clock
        self._first_seen: dict[_Session, float] = {}  #: also between writes, which may be given up sooner

    def end_blockers(self, waiting: int) -> None:
        """End the stalled sessions that block a session; errors are logged.

        Args:
            waiting: process id of the session that waits, on the server.
        """
        try:
            with self._engine.connect() as connection:
                rows = connection.execute(_LIST, {"waiting": waiting}).all()
                now = self._clock()
                sessions = {_Session(*row[:3]): row.blocks for row in rows}
                self._first_seen = {session: self._first_seen.get(session, now) for session in sessions}
                for session, blocks in sessions.items():
                    if blocks and now - self._first_seen[session] >= self._seconds:
                        _LOG.warning(
                            "the session %d of another process blocks a write, and its client has sent nothing for more"
                            " than %g s: it is ended",
                            session.pid,
                            self._seconds,
                        )
                        connection.execute(_END, {"waiting": waiting, **session._asdict()})
        except SQLAlchemyError as error:
            _LOG.warning("the sessions that block a write cannot be listed or ended: %s", error)
